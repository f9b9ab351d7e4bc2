"""Reordered readings change nothing; an alarm flood is annunciated sparingly and recorded in full."""

from faults.disorder import try_disorder
from faults.flood import try_flood


def test_duplicates_and_reordering_within_the_allowed_lateness_leave_the_same_journal(failures):
    assert failures(try_disorder) == []


def test_a_flood_and_an_oscillating_probability_give_few_annunciations(failures):
    assert failures(try_flood) == []
