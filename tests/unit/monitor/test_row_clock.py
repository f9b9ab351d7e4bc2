"""The row clock: rows close behind plant time, and no wrong clock moves them."""

import numpy as np
import pytest

from graphghha.errors import ConfigError
from graphghha.monitor import RowClockConfig
from graphghha.monitor.row_clock import RowClock
from graphghha.sources import ReadingBatch
from monitor_builders import MINUTE, START, long, wide

POINTS = ("a", "b", "c", "d")
YEAR = 366 * 24 * 60 * MINUTE


def clock(lateness_ms=0):
    return RowClock(POINTS, RowClockConfig(lateness_ms=lateness_ms))


def rows(first, count):
    times = START + MINUTE * np.arange(first, first + count)
    return wide(times, np.tile(np.arange(4.0), (count, 1)))


def closed(batches):
    return [time for rows in batches for time in rows.times_ms.tolist()]


def test_rows_close_with_the_lateness_that_is_allowed():
    assert closed(clock().take(rows(0, 5))) == [START + MINUTE * at for at in range(5)]
    late = clock(lateness_ms=2 * MINUTE)
    assert closed(late.take(rows(0, 5))) == [START + MINUTE * at for at in range(3)]
    assert closed(late.finish()) == [START + 3 * MINUTE, START + 4 * MINUTE]


def test_an_empty_batch_moves_time_on_by_the_receivers_clock():
    made = clock()
    closed(made.take(rows(0, 5)))
    assert made.received_ms == START + 4 * MINUTE + 5
    empty = ReadingBatch.empty("office", START + 7 * MINUTE + 5)
    assert closed(made.take(empty)) == [START + MINUTE * at for at in (5, 6, 7)]
    assert made.now_ms == START + 7 * MINUTE == made.closed_ms


def test_an_empty_batch_before_the_first_reading_does_nothing():
    made = clock()
    assert closed(made.take(ReadingBatch.empty("office", START))) == [] and made.now_ms is made.closed_ms is None


def test_one_point_far_ahead_moves_nothing_and_most_points_do():
    made, day = clock(), START + 24 * 60 * MINUTE
    closed(made.take(rows(0, 5)))
    assert closed(made.take(long([day], [0], [1.0]))) == [] and made.now_ms == START + 4 * MINUTE
    assert closed(made.take(long([day], [1], [1.0])))[-1] == day, "half of the points agree"


def test_points_that_live_far_in_the_future_set_the_clock_adrift():
    made = clock()
    closed(made.take(rows(0, 5)))
    for at in range(3):
        assert not made.is_adrift
        closed(made.take(wide([START + YEAR + at * MINUTE], np.ones((1, 4)))))
    assert made.is_adrift and made.closed_ms == START + 4 * MINUTE


def test_the_state_is_read_back():
    first = clock(lateness_ms=MINUTE)
    closed(first.take(rows(0, 5)))
    second = RowClock.from_state(first.to_state(), POINTS, first.config)
    for made in (first, second):
        assert closed(made.take(rows(5, 3))) == [START + MINUTE * at for at in (4, 5, 6)]
    assert second.to_state().keys() == first.to_state().keys() and second.received_ms == first.received_ms


def test_a_negative_lateness_is_refused():
    with pytest.raises(ConfigError, match="lateness_ms -1 must not be negative"):
        RowClockConfig(lateness_ms=-1)
