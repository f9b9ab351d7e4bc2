"""The row clock: rows close behind the majority of the devices, and no wrong clock moves them."""

import numpy as np
import pytest

from graphghha.errors import ConfigError
from graphghha.monitor import RowClockConfig
from graphghha.monitor.journal.codec import pack, unpack
from graphghha.monitor.row_clock import RowClock
from graphghha.sources import ReadingBatch
from monitor_builders import MINUTE, START, long, wide

POINTS = ("one/a", "two/a", "three/a", "four/a")
DAY = 24 * 60 * MINUTE
YEAR = 366 * DAY


def clock(lateness_ms=0, **more):
    return RowClock(POINTS, RowClockConfig(lateness_ms=lateness_ms, **more))


def rows(first, count):
    times = START + MINUTE * np.arange(first, first + count)
    return wide(times, np.tile(np.arange(4.0), (count, 1)))


def row(at, devices=(0, 1, 2, 3), received_ms=None):
    received_ms = START + at * MINUTE + 5 if received_ms is None else received_ms
    return long(
        [START + at * MINUTE] * len(devices), devices, np.full(len(devices), float(at)), received_ms=received_ms
    )


def tick(received_ms):
    return ReadingBatch.empty("office", received_ms)


def wait(made, from_ms, to_ms):
    """Pass the time in steps of five seconds; return the rows that close."""
    return [time for at in range(from_ms, to_ms + 1, 5_000) for time in closed(made.take(tick(at)))]


def closed(batches):
    return [time for rows in batches for time in rows.times_ms.tolist()]


def minutes(times):
    return [(time - START) // MINUTE for time in times]


def test_rows_of_a_recording_close_with_the_lateness_that_is_allowed():
    assert minutes(closed(clock().take(rows(0, 5)))) == [0, 1, 2, 3, 4]
    late = clock(lateness_ms=2 * MINUTE)
    assert minutes(closed(late.take(rows(0, 5)))) == [0, 1, 2]
    assert minutes(closed(late.finish())) == [3, 4]


def test_a_row_closes_when_all_devices_are_past_it_or_some_time_after_the_majority_has_reached_it():
    made = clock(lateness_ms=30_000)
    assert closed(made.take(row(0))) == [] and minutes(closed(made.take(row(1)))) == [0]
    assert closed(made.take(row(2, devices=(0, 1, 2)))) == [], "one device is missing"
    now = made.received_ms
    assert minutes(wait(made, now, now + 25_000)) == [1], "all four have stated row 1"
    assert minutes(wait(made, now + 30_000, now + 35_000)) == [2]


def test_silence_closes_nothing_before_the_patience_is_over():
    made = clock(patience_ms=60 * MINUTE)
    closed(made.take(rows(0, 5)))
    now = made.received_ms
    assert wait(made, now, now + 60 * MINUTE) == [] and made.silent_ms == 60 * MINUTE
    assert minutes(wait(made, now + 60 * MINUTE, now + 63 * MINUTE)) == [5, 6, 7]


def test_an_empty_batch_before_the_first_reading_does_nothing():
    made = clock()
    assert closed(made.take(tick(START))) == [] and made.majority_ms is made.closed_ms is None


def test_the_first_row_waits_for_the_majority_so_that_a_dead_clock_does_not_set_the_time():
    made = clock()
    dead = long([946_684_800_000], [3], [1.0], received_ms=START)
    assert closed(made.take(dead)) == [] and made.closed_ms is None
    assert minutes(closed(made.take(row(0, devices=(0, 1, 2))))) == [0] and made.counters.late == 1


@pytest.mark.parametrize("offset_ms, waits_ms", [(0, 60_000), (-YEAR, 600_000)], ids=["near", "far-off"])
def test_a_site_of_which_few_devices_speak_starts_after_a_while(offset_ms, waits_ms):
    made = clock()
    first = long([START + offset_ms], [2], [1.0], received_ms=START)
    assert closed(made.take(first)) == [] and wait(made, START, START + waits_ms - 5_000) == []
    assert wait(made, START + waits_ms, START + waits_ms + 3 * MINUTE) == [], "the others may be late"
    assert wait(made, made.received_ms, made.received_ms + MINUTE) == [START + offset_ms]


def test_one_device_far_ahead_moves_nothing_and_most_devices_do():
    made = clock()
    closed(made.take(rows(0, 5)))
    now = made.received_ms
    for device, expected in ((0, START + 4 * MINUTE), (1, START + 4 * MINUTE), (2, START + 2 * DAY)):
        closed(made.take(long([START + 2 * DAY], [device], [1.0], received_ms=now)))
        assert made.closed_ms == pytest.approx(expected, abs=MINUTE)


def test_devices_that_live_far_in_the_future_set_the_clock_adrift():
    made = clock()
    closed(made.take(rows(0, 5)))
    for at in range(3):
        assert not made.is_adrift
        closed(made.take(wide([START + YEAR + at * MINUTE], np.ones((1, 4)))))
    assert made.is_adrift and made.closed_ms == START + 4 * MINUTE


def test_rows_close_in_portions_so_that_a_long_gap_can_be_interrupted():
    made = clock()
    closed(made.take(rows(0, 5)))
    sizes = [len(some) for some in made.take(wide([START + 20 * DAY], np.ones((1, 4))))]
    assert sum(sizes) == 20 * 1440 - 4 and max(sizes) == 256


def test_readings_that_come_too_late_are_counted_once_and_readings_sent_again_are_not():
    made = clock()
    for at in range(5):
        closed(made.take(row(at, devices=(0, 1, 2) if at else (0, 1, 2, 3))))
        wait(made, made.received_ms, START + (at + 1) * MINUTE)
    closed(made.take(row(4, devices=(0, 1, 2), received_ms=START + 5 * MINUTE + 6)))
    assert made.take_late() == {}
    closed(made.take(row(3, devices=(3,), received_ms=START + 5 * MINUTE + 7)))
    assert made.take_late() == {"four": 1} and made.take_late() == {}


@pytest.mark.parametrize("lateness_ms", [0, MINUTE])
def test_the_state_is_read_back(lateness_ms):
    first = clock(lateness_ms=lateness_ms)
    closed(first.take(row(0, devices=(1,))))
    second = RowClock.from_state(unpack(pack(first.to_state())), POINTS, first.config)
    for made in (first, second):
        closed(made.take(rows(0, 5)))
        closed(made.take(row(6, devices=(0, 1))))
    third = RowClock.from_state(unpack(pack(second.to_state())), POINTS, first.config)
    for made in (first, second, third):
        closed(made.take(rows(7, 3)))
    assert pack(first.to_state()) == pack(second.to_state()) == pack(third.to_state())


def test_a_shorter_patience_keeps_the_rows_that_are_open():
    first = clock(lateness_ms=MINUTE)
    closed(first.take(row(0)))
    closed(first.take(long([START + 1000 * MINUTE], [0], [7.0], received_ms=START + 10)))
    short = RowClockConfig(lateness_ms=MINUTE, patience_ms=60 * MINUTE)
    second = RowClock.from_state(first.to_state(), POINTS, short)
    assert minutes(closed(second.take(row(1002)))) == list(range(1002))


@pytest.mark.parametrize("settings, message", [({"lateness_ms": -1}, "lateness_ms -1"), ({"patience_ms": 5}, "a week")])
def test_settings_out_of_bounds_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        RowClockConfig(**settings)
