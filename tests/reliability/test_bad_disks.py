"""Failing disks and damaged journals: scoring continues, acknowledged events stay, no manual repair is needed."""

from faults.damage import try_damage
from faults.disk import try_disks


def test_a_failing_disk_raises_an_alarm_and_loses_nothing(failures):
    assert failures(try_disks) == []


def test_cut_and_flipped_journals_open_unaided_and_report_what_is_lost(failures):
    assert failures(try_damage) == []
