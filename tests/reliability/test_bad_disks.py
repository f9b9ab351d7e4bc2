"""Disks that fail and journals that are damaged: scoring goes on, acknowledged events stay, nobody has to help."""

from faults.damage import try_damage
from faults.disk import try_disks


def test_a_disk_that_takes_nothing_is_an_alarm_and_costs_nothing(figures):
    assert figures(try_disks) == []


def test_torn_and_flipped_journals_open_unaided_and_say_what_is_lost(figures):
    assert figures(try_damage) == []
