"""Readings in disorder change nothing; a flood is told in few words and kept in full."""

from faults.disorder import try_disorder
from faults.flood import try_flood


def test_duplicates_and_reordering_within_the_watermark_leave_the_same_journal(figures):
    assert figures(try_disorder) == []


def test_a_flood_and_a_swinging_probability_are_told_in_few_words(figures):
    assert figures(try_flood) == []
