"""Alarms get out whatever fails, and what is no longer seen is an alarm itself."""

from faults.announce import try_announcing
from faults.blind import try_blindness
from faults.held import try_held
from faults.siem import try_siem


def test_attacks_are_announced_whatever_fails_in_the_process(failures):
    assert failures(try_announcing) == []


def test_what_can_no_longer_be_seen_is_an_alarm_that_ends(mosquitto, failures):
    assert failures(try_blindness) == []


def test_a_siem_that_hung_gets_everything_and_a_dead_one_is_not_up(failures):
    assert failures(try_siem) == []


def test_what_always_held_goes_on_to_hold(failures):
    assert failures(try_held) == []
