"""Failing brokers and connections, hostile messages, sinks that are down."""

from faults.fuzz import try_fuzz
from faults.outage import try_outages
from faults.sinks import try_sinks


def test_outages_are_reported_as_gaps_and_raise_no_alarm(mosquitto, failures):
    assert failures(try_outages) == []


def test_hostile_messages_are_rejected_and_counted(mosquitto, failures):
    assert failures(try_fuzz) == []


def test_sinks_that_were_down_for_the_whole_run_get_every_event(mosquitto, failures):
    assert failures(try_sinks) == []
