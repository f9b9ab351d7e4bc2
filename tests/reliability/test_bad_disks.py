"""Failing disks and damaged journals: scoring continues, acknowledged events stay, no manual repair is needed."""

from faults.damage import try_damage
from faults.disk import try_disks
from faults.full_disk import try_full_disk
from faults.large_journal import try_large_journal


def test_a_failing_disk_raises_an_alarm_and_loses_nothing(failures):
    assert failures(try_disks) == []


def test_cut_and_flipped_journals_open_unaided_and_report_what_is_lost(failures):
    assert failures(try_damage) == []


def test_an_end_while_the_disk_is_full_loses_nothing_that_was_acknowledged(mosquitto, failures):
    assert failures(try_full_disk) == []


def test_a_large_journal_keeps_its_events_and_costs_no_memory(mosquitto, failures):
    assert failures(try_large_journal) == []
