"""Random schedules of devices, delays, duplicates, wrong clocks and outages against a slow and obvious model.

The model looks back at the whole run: a reading of a device with a right clock belongs to the row of its time, whenever
it arrived. Whatever the schedule, the site's rows must say the same about these devices.
"""

from dataclasses import dataclass, field, replace
from random import Random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphghha.monitor import RowClockConfig
from graphghha.monitor.journal.codec import pack, unpack
from graphghha.monitor.row_clock import RowClock
from graphghha.sources import ReadingBatch

MINUTE, START = 60_000, 1_531_200_000_000 // 60_000 * 60_000
LATENESS, POINTS_EACH = 30_000, 2
CONFIG = RowClockConfig(lateness_ms=LATENESS, stale_after_ms=0)
WRONG_S = (90, 590, 3_600, 40_000_000, -90, -590, -3_600, -40_000_000)


@dataclass(frozen=True)
class Reading:
    device: int
    point: int
    row: int
    stated_ms: int
    arrives_ms: int

    @property
    def value(self):
        return float(self.row * 100 + self.device * 10 + self.point)


@dataclass
class Schedule:
    devices: int
    rows: int
    seed: int
    wrong: dict[int, int] = field(default_factory=dict)  # device -> offset of its clock in seconds
    stuck: set[int] = field(default_factory=set)
    silent: dict[int, int] = field(default_factory=dict)  # device -> the row in which it dies
    step_s: int = 0  # of all clocks, from half of the rows on
    outage: tuple[int, int] | None = None  # first row and number of rows that arrive after it
    order: str = "interleaved"  # of what was stored: row by row, or device by device
    copies: int = 1
    echo_s: int = 0  # everything comes once more, so much later, while the devices still speak
    junk: bool = False
    kills: tuple[int, ...] = ()  # batches after which the process is killed

    @property
    def honest(self):
        return [each for each in range(self.devices) if each not in self.wrong and each not in self.stuck]

    def readings(self):
        random = Random(self.seed)
        for device in range(self.devices):
            for row in range(min(self.rows, self.silent.get(device, self.rows))):
                true_ms = START + row * MINUTE
                stated = true_ms + 1000 * self.wrong.get(device, 0)
                stated = START + 5 * MINUTE if device in self.stuck and row >= 5 else stated
                stated += 1000 * self.step_s if row >= self.rows // 2 else 0
                sent = true_ms + random.randint(0, 20_000)
                for point in range(POINTS_EACH):
                    for _ in range(random.randint(1, self.copies)):
                        arrives = sent + random.randint(0, 500)
                        yield Reading(device, point, row, stated, arrives)
                        if self.echo_s and row + self.echo_s / 60 < self.rows - 1:
                            yield Reading(device, point, row, stated, arrives + 1000 * self.echo_s)

    def arrivals(self):
        """Yield (time of reception, readings), in order."""
        readings = list(self.readings())
        if self.outage:
            first, count = self.outage
            back_ms = START + (first + count) * MINUTE + 20_500
            stored = [each for each in readings if each.row >= first and each.arrives_ms < back_ms]
            by_row = sorted(stored, key=lambda each: (each.row, each.device))
            by_device = sorted(stored, key=lambda each: (each.device, each.row))
            queue = by_row if self.order == "interleaved" else by_device
            moved = {id(each): back_ms + 20 * at for at, each in enumerate(queue)}
            readings = [replace(each, arrives_ms=moved.get(id(each), each.arrives_ms)) for each in readings]
            end_ms = back_ms + 20 * len(queue)  # a device's live readings wait behind its stored ones
            readings = [
                replace(each, arrives_ms=max(each.arrives_ms, end_ms)) if back_ms <= each.arrives_ms < end_ms else each
                for each in readings
                if id(each) not in moved
            ] + [each for each in readings if id(each) in moved]
        readings.sort(key=lambda each: (each.arrives_ms, each.stated_ms))
        random, now, together = Random(self.seed + 1), START, []
        for each in readings:
            if together and (each.arrives_ms > together[0].arrives_ms + 50 or random.random() < 0.3):
                yield now, together
                together = []
            for tick in range(now + 5_000, each.arrives_ms, 5_000):
                yield tick, []
            together.append(each)
            now = max(now, each.arrives_ms)
        yield now, together
        for tick in range(now + 5_000, now + 10 * MINUTE, 5_000):
            yield tick, []


def play(schedule):
    """Return the closed rows, by time, and the clock."""
    points = tuple(f"zone-{device}/p{point}" for device in range(schedule.devices) for point in range(POINTS_EACH))
    clock, rows = RowClock(points, CONFIG), {}

    def take(batch):
        for closed in clock.take(batch):
            for time_ms, values in zip(closed.times_ms.tolist(), closed.values, strict=True):
                assert time_ms not in rows, "a row closes once"
                assert not rows or time_ms == max(rows) + MINUTE, "no row is left out"
                rows[time_ms] = values

    for number, (received_ms, readings) in enumerate(schedule.arrivals()):
        batch = ReadingBatch(
            "office",
            received_ms,
            np.array([each.stated_ms for each in readings], np.int64),
            np.array([each.value for each in readings]),
            np.array([each.device * POINTS_EACH + each.point for each in readings], np.int32),
        )
        if schedule.junk and number % 7 == 0:
            take(ReadingBatch.empty("office", received_ms, {"unmapped": 3}))
        take(batch)
        if number in schedule.kills:
            clock = RowClock.from_state(unpack(pack(clock.to_state())), points, CONFIG)
            take(batch)  # what was not acknowledged comes again
    return rows, clock


def expected(schedule, rows):
    """The model: cells of devices with right clocks, by the times at which they were measured."""
    cells = {}
    for each in schedule.readings():
        if each.device in schedule.honest and START + each.row * MINUTE in rows:
            cells[START + each.row * MINUTE, each.device * POINTS_EACH + each.point] = each.value
    return cells


def check(schedule):
    rows, clock = play(schedule)
    assert len(rows) >= schedule.rows - 2 - max(0, -schedule.step_s // 60), "judging goes on"
    own = [device * POINTS_EACH + point for device in schedule.honest for point in range(POINTS_EACH)]
    cells = expected(schedule, rows)
    for time_ms, values in rows.items():
        for column in own:
            want = cells.get((time_ms, column))
            got = None if np.isnan(values[column]) else float(values[column])
            assert got == want, f"row {(time_ms - START) // MINUTE}, column {column}: {got} instead of {want}"
    return rows, clock


MINORITY = st.integers(3, 8).flatmap(
    lambda devices: st.tuples(st.just(devices), st.sets(st.integers(0, devices - 1), max_size=(devices - 1) // 2))
)
SLOW = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)


@SLOW
@given(MINORITY, st.data())
def test_devices_with_right_clocks_are_judged_as_if_no_clock_were_wrong(minority, data):
    devices, bad = minority
    wrong = {device: data.draw(st.sampled_from((*WRONG_S, None))) for device in sorted(bad)}
    schedule = Schedule(
        devices=devices,
        rows=25,
        seed=data.draw(st.integers(0, 2**20)),
        wrong={device: offset for device, offset in wrong.items() if offset is not None},
        stuck={device for device, offset in wrong.items() if offset is None},
        copies=data.draw(st.integers(1, 3)),
        echo_s=data.draw(st.sampled_from([0, 150, 420])),
        junk=data.draw(st.booleans()),
        kills=tuple(data.draw(st.lists(st.integers(5, 400), max_size=3))),
    )
    _, clock = check(schedule)
    assert clock.take_shifts() == []
    names = {f"zone-{device}" for device in bad}
    assert {change.device for change in clock.take_changes() if change.is_wrong} == names


@SLOW
@given(MINORITY, st.integers(2, 12), st.integers(1, 40), st.sampled_from(["interleaved", "by device"]), st.data())
def test_after_an_outage_nothing_is_lost_in_whatever_order_it_comes(minority, first, count, order, data):
    devices, dead = minority
    schedule = Schedule(
        devices=devices,
        rows=first + count + 12,
        seed=data.draw(st.integers(0, 2**20)),
        silent={device: data.draw(st.integers(1, first + count)) for device in sorted(dead)},
        outage=(first, count),
        order=order,
        copies=data.draw(st.integers(1, 2)),
        junk=data.draw(st.booleans()),
        kills=tuple(data.draw(st.lists(st.integers(5, 600), max_size=3))),
    )
    _, clock = check(schedule)
    assert clock.take_late() == {} and clock.take_changes() == []


@SLOW
@given(st.integers(1, 8), st.sampled_from([-120, -300, -301, -480, -3_600, -40_000]), st.data())
def test_when_the_whole_plant_is_set_back_the_rows_go_on(devices, step_s, data):
    schedule = Schedule(
        devices=devices,
        rows=30,
        seed=data.draw(st.integers(0, 2**20)),
        step_s=step_s,
        copies=data.draw(st.integers(1, 3)),
        kills=tuple(data.draw(st.lists(st.integers(5, 400), max_size=3))),
    )
    _, clock = check(schedule)
    assert clock.take_changes() == []


def test_two_wrong_clocks_of_five_that_agree_and_are_heard_first_do_not_set_the_time():
    for offset_s in (40_000_000, -40_000_000):
        _, clock = check(Schedule(devices=5, rows=25, seed=0, copies=3, wrong={0: offset_s, 1: offset_s}))
        assert {change.device for change in clock.take_changes()} == {"zone-0", "zone-1"}
