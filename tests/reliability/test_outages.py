"""Brokers and connections that fail, messages that should never have been sent, sinks that are down."""

from faults.fuzz import try_fuzz
from faults.outage import try_outages
from faults.sinks import try_sinks


def test_outages_leave_a_gap_that_is_told_and_nobody_accused(mosquitto, figures):
    assert figures(try_outages) == []


def test_hostile_messages_are_counted_and_nothing_else(mosquitto, figures):
    assert figures(try_fuzz) == []


def test_sinks_that_were_down_for_the_whole_run_get_all_that_was_produced(mosquitto, figures):
    assert figures(try_sinks) == []
