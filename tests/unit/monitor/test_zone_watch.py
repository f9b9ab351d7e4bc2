"""Zones that are no longer seen are noticed, however their readings stay away."""

import numpy as np
import pytest

from graphghha.monitor.journal.codec import pack, unpack
from graphghha.monitor.zone_watch import ZoneWatch

ZONES = ["one"] * 4 + ["two"] * 4
MINUTE = 60_000


def rows(count, blind=(), points=slice(4, 8)):
    """Rows in which zone two has no fresh points (or only some) where `blind` says so."""
    fresh = np.ones((count, 8), np.bool_)
    for row in blind:
        fresh[row, points] = False
    return MINUTE * np.arange(1, count + 1), fresh


def changes(fresh_rows, watch=None):
    times, fresh = fresh_rows
    watch = watch or ZoneWatch(ZONES)
    return [(change.row, change.zone, change.is_blind) for change in watch.take(times, fresh)]


def test_a_zone_that_falls_silent_is_an_alarm_once_and_its_return_ends_it():
    silent = range(20, 60)
    assert changes(rows(120, silent)) == [(24, "two", True), (89, "two", False)]


@pytest.mark.parametrize("every, is_raised", [(2, True), (3, True), (11, True), (20, True), (30, False), (60, False)])
def test_a_zone_with_gaps_again_and_again_is_blind_too(every, is_raised):
    found = changes(rows(400, range(20, 400, every)))
    assert ([each[1:] for each in found] == [("two", True)]) == is_raised


def test_gaps_are_an_alarm_with_the_third_and_end_it_after_two_hours_without_any():
    watch = ZoneWatch(ZONES)
    times, fresh = rows(300, range(20, 64, 11))
    raised, cleared = watch.take(times, fresh)
    assert (raised.row, raised.since_ms) == (42, 20 * MINUTE), "since the first gap"
    assert not cleared.is_blind and cleared.row == 53 + 90


def test_a_zone_with_few_of_its_points_left_is_blind():
    assert changes(rows(60, range(20, 60), slice(5, 8))) == [(24, "two", True)]
    assert changes(rows(60, range(20, 60), slice(6, 8))) == [], "half of them are left"


def test_a_zone_that_was_never_seen_and_a_site_that_is_silent_as_a_whole_are_no_alarm_here():
    assert changes(rows(60, range(60))) == []
    assert changes(rows(60, range(20, 60), slice(0, 8))) == []


def test_portions_and_restarts_do_not_matter():
    times, fresh = rows(120, [*range(20, 60), *range(70, 90, 2)])
    watch, found = ZoneWatch(ZONES), []
    for begin in range(0, 120, 7):
        part = watch.take(times[begin : begin + 7], fresh[begin : begin + 7])
        found += [(begin + change.row, change.zone, change.is_blind) for change in part]
        watch = ZoneWatch.from_state(unpack(pack({"zones": watch.to_state()})), ZONES)
    assert found == changes((times, fresh))


def test_the_state_of_an_older_version_starts_anew():
    assert changes(rows(60, range(20, 60)), ZoneWatch.from_state({}, ZONES)) == [(24, "two", True)]
