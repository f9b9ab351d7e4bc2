"""Batches of readings in, closed rows out: the grid of one site and the rules that close its rows. No clock, no I/O.

A row closes when every device with a right clock has stated a later time, or `lateness_ms` after the majority has
reached it. Silence closes nothing before `patience_ms`: what comes after it may be stored readings.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError
from graphghha.monitor.device_clocks import LONGEST_PAUSE_MS, NEVER, ClockChange, DeviceClocks, Times, Tolerance
from graphghha.monitor.majority import Majority
from graphghha.monitor.odd_readings import Readings, StepBack, choose_start, largest_group
from graphghha.sources import Batch, RowBatch
from graphghha.windows import Counters, Grid, GridConfig, Rows

SLICE_ROWS = 512  # rows taken between two closings, far fewer than the grid can hold open
ROWS_AT_ONCE = 256  # closed between two looks at whether to stop
DAY_MS = 86_400_000
ADRIFT_TIMES = 3
LONGEST_LEAP_MS = 92 * DAY_MS  # a plant may be shut down for a season; after a longer gap the site starts afresh
START_WAIT_MS = 60_000  # for the majority of the devices, before the first row
LONG_START_WAIT_MS = 600_000  # if those that were heard state times far from the receiver's
SPARE_ROWS = 60  # open rows beyond the patience, for devices ahead of the majority
LATE_EVERY_MS = 600_000  # between two reports of readings that came too late
BAD_TIME = "bad_time"


@dataclass(frozen=True, kw_only=True, slots=True)
class RowClockConfig:
    """The time step of rows and how long they wait."""

    step_ms: int = 60_000
    lateness_ms: int = 30_000  # how long a row waits for late readings
    stale_after_ms: int = 300_000
    unchanged_for_ms: int = 0  # how long the silence of a point means "unchanged" while its device is silent as well
    patience_ms: int = DAY_MS  # how long rows stay open for readings that were stored while a connection was cut
    point_stale_ms: tuple[int, ...] = ()  # of each point, where points differ

    def __post_init__(self) -> None:
        if self.lateness_ms < 0:
            raise ConfigError(f"lateness_ms {self.lateness_ms} must not be negative")
        if not self.step_ms <= self.patience_ms <= 7 * DAY_MS:
            raise ConfigError(
                f"patience_ms {self.patience_ms} must lie between one step ({self.step_ms}) and a week ({7 * DAY_MS})"
            )

    @property
    def grid(self) -> GridConfig:
        """Return the grid that holds the rows of the patience open."""
        rows = -(-self.patience_ms // self.step_ms) + SPARE_ROWS
        return GridConfig(
            step_ms=self.step_ms,
            stale_after_ms=self.stale_after_ms,
            unchanged_for_ms=self.unchanged_for_ms,
            horizon_rows=max(rows, SLICE_ROWS + SPARE_ROWS),
            point_stale_ms=self.point_stale_ms,
        )


class RowClock:
    """Closes the rows of one site as its batches arrive."""

    def __init__(self, points: Sequence[str], config: RowClockConfig) -> None:
        self.points, self.config = tuple(points), config
        names = [point.rpartition("/")[0] for point in self.points]
        devices = {name: number for number, name in enumerate(dict.fromkeys(names))}
        self._device_of = np.array([devices[name] for name in names], np.int64)
        self.clocks = DeviceClocks(tuple(devices), Tolerance.of(config.step_ms, config.lateness_ms))
        self._majority = Majority(config.step_ms, config.lateness_ms, len(devices))
        self._step_back = StepBack(len(devices), self.clocks.tolerance)
        self._grid: Grid | None = None
        self._waiting = Readings.none()  # before the first row
        self._first_received_ms: int | None = None
        self._shift_ms = 0  # added to stated times since the whole plant's clock was set back
        self._far = np.full(len(devices), NEVER)  # [d] stated times that the grid cannot reach
        self._far_times: set[int] = set()  # no more than needed
        self.silent_ms = 0  # by the receiver's clock, since a device last stated a newer time
        self.ignored = 0  # readings since then
        self.is_adrift = False  # most devices state times that this grid cannot reach
        self.rejected: dict[str, int] = {}  # readings that were not used, by reason
        self._too_late = np.zeros(len(devices), np.int64)  # [d] readings whose rows were closed, not reported yet
        self._late_at = NEVER  # running time of the last report
        self._shifts: list[int] = []  # by which the whole plant's clock was set back or forward again, not reported yet

    @property
    def received_ms(self) -> int | None:
        """Return the receiver's time of the last batch; counting continues from there."""
        return self.clocks.received_ms

    @property
    def closed_ms(self) -> int | None:
        """Return the time of the newest closed row."""
        return self._grid.next_time_ms - self.config.step_ms if self._grid else None

    @property
    def majority_ms(self) -> int | None:
        """Return the time that the majority of the devices has reached."""
        return None if self._majority.time_ms == NEVER else self._majority.time_ms

    @property
    def counters(self) -> Counters:
        return self._grid.counters if self._grid else Counters()

    def take_changes(self) -> list[ClockChange]:
        """Return which clocks turned out to be wrong or right since the last call."""
        changes, self.clocks.changes = self.clocks.changes, []
        return changes

    def take_shifts(self) -> list[int]:
        """Return by how much the whole plant's clock was set, in ms, since the last call."""
        shifts, self._shifts = self._shifts, []
        return shifts

    def take_late(self) -> dict[str, int]:
        """Return how many readings of which device came too late for their rows, at most once in some minutes."""
        now, names = self.clocks.running_ms, self.clocks.names
        if not self._too_late.any() or now - self._late_at < LATE_EVERY_MS:
            return {}
        self._late_at = now
        late = {names[device]: int(self._too_late[device]) for device in np.flatnonzero(self._too_late).tolist()}
        self._too_late[:] = 0
        return late

    def take(self, batch: Batch) -> Iterator[Rows]:
        """Yield the rows that this batch allows to close. Exhaust the iterator before you pass the next batch."""
        for reason, count in batch.rejected.items():
            self.rejected[str(reason)] = self.rejected.get(str(reason), 0) + count
        self._pass_time(batch)
        self.ignored += len(batch) + sum(batch.rejected.values())
        if len(batch.strays):
            self.clocks.observe(self._newest(*batch.strays))
        if len(batch.withdrawn) and self._grid is not None:
            self._grid.withdraw(*batch.withdrawn)
        if isinstance(batch, RowBatch) and len(batch):
            yield from self._take_slices(batch.times_ms, batch)
        elif len(batch):
            yield from self._take_readings(Readings(*batch.readings()))
        elif self._grid is None and len(self._waiting) and self._may_start():
            yield from self._start()
        yield from self._close()

    def _pass_time(self, batch: Batch) -> None:
        """Take over the receiver's time. Only an empty batch states how long the silence was."""
        before = self.clocks.received_ms
        if before is not None:
            elapsed = max(0, batch.received_ms - before)
            self.silent_ms += min(elapsed, LONGEST_PAUSE_MS) if len(batch) else elapsed
        self.clocks.pass_time(batch.received_ms)

    def finish(self) -> Iterator[Rows]:
        """Yield the rows still open, because the source has ended."""
        if self._grid is None and len(self._waiting):
            yield from self._start()
        if self._grid and (newest := self.clocks.newest_ms()) is not None:
            self._put(self._step_back.release())
            yield from self._advance(newest)

    def _take_readings(self, readings: Readings) -> Iterator[Rows]:
        """Take single readings: devices with wrong clocks are left out, old times may be a clock set back."""
        readings = replace(readings, times_ms=readings.times_ms + self._shift_ms)
        devices = self._device_of[readings.columns]
        self.clocks.observe(self.clocks.closest(devices, readings.times_ms))
        if (is_wrong := self.clocks.is_wrong[devices]).any():
            self.rejected[BAD_TIME] = self.rejected.get(BAD_TIME, 0) + int(is_wrong.sum())
            readings, devices = readings.select(~is_wrong), devices[~is_wrong]
        if self._grid is None:
            self._waiting = self._waiting.plus(readings)
            if self._may_start():
                yield from self._start()
            return
        is_odd = self._is_set_back(readings, devices)
        if is_odd.any():
            assert self.clocks.received_ms is not None
            released = self._step_back.hold(readings.select(is_odd), devices[is_odd], self.clocks)
            self._put(released)
            if step_ms := self._step_back.find_step(self.clocks, self._shift_ms):
                self._shift_ms -= step_ms
                self._shifts.append(step_ms)
                held = self._step_back.release()
                readings = held.shifted(-step_ms).plus(readings.select(~is_odd))
            else:
                readings = readings.select(~is_odd)
        yield from self._take_slices(readings.times_ms, readings)

    def _is_set_back(self, readings: Readings, devices: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which readings are older than their device's last ones and too late for their row.

        After the plant's clock was set back, also those that would be right if it were not.
        """
        assert self._grid is not None and self.clocks.received_ms is not None
        off = readings.times_ms - self.clocks.received_ms - (self.clocks.site_offset_ms or 0)
        is_older = (off < -self.clocks.tolerance.behind_ms) & (readings.times_ms <= self.clocks.frontier[devices])
        is_odd = is_older & (readings.times_ms <= self._grid.next_time_ms - self.config.step_ms)
        if self._shift_ms:
            is_odd |= np.abs(off - self._shift_ms) <= self.clocks.tolerance.behind_ms
        return is_odd & self.clocks.is_tied

    def _take_slices(self, times: Times, source: Batch | Readings) -> Iterator[Rows]:
        if self._grid is None:
            self._make_grid(choose_start(times, None))
            self._put(self._waiting)
            self._waiting = Readings.none()
        assert self._grid is not None
        left = np.ones(len(times), np.bool_)
        while left.any():
            reach = self._grid.next_time_ms + (self._grid.config.horizon_rows - 1) * self.config.step_ms
            begin = max(int(times[left].min()), self._grid.next_time_ms)
            now = left & (times <= min(reach, begin + SLICE_ROWS * self.config.step_ms))
            if not now.any():
                target = self._leap(source, left)
                if target is None:
                    self._place(source, left)  # counted as ahead
                    return
                yield from self._advance(target)
                continue
            self._believe(source, now)
            left &= ~now
            if left.any():
                yield from self._close()

    def _believe(self, source: Batch | Readings, now: NDArray[np.bool_]) -> None:
        """Put readings into the grid and take over what they say about their devices' progress."""
        part = source.select(now)
        newest = self._newest_of(part)
        if isinstance(part, Readings):
            self._count_late(part)
        self._place(source, now)
        is_reached = newest != NEVER
        self._far[is_reached] = NEVER
        if (newest > self.clocks.frontier).any():
            self.silent_ms = self.ignored = 0
        self.clocks.believe(newest)
        frontier = np.where(self.clocks.is_wrong, NEVER, self.clocks.frontier)
        if (majority := self.clocks.majority_ms()) is not None:
            self._majority.follow(majority, self.clocks.running_ms)
        if self._majority.is_catching_up(frontier, self.clocks.running_ms):
            self.clocks.note_history()

    def _newest_of(self, part: Batch | Readings) -> Times:
        if isinstance(part, RowBatch):  # all points share the clock of the recording
            return np.full(len(self.clocks.names), part.times_ms.max())
        assert isinstance(part, Readings)
        return self._newest(part.columns, part.times_ms)

    def _newest(self, columns: NDArray[np.int32], times_ms: Times) -> Times:
        newest = np.full(len(self.clocks.names), NEVER)
        np.maximum.at(newest, self._device_of[columns], times_ms)
        return newest

    def _count_late(self, readings: Readings) -> None:
        """Count readings that are new and whose row is closed. Readings sent again are not counted."""
        assert self._grid is not None
        is_late = readings.times_ms <= self._grid.next_time_ms - self.config.step_ms
        if is_late.any():
            columns = readings.columns[is_late]
            is_new = readings.times_ms[is_late] > self._grid.newest_ms[columns]
            np.add.at(self._too_late, self._device_of[columns[is_new]], 1)

    def _place(self, source: Batch | Readings, chosen: NDArray[np.bool_]) -> None:
        assert self._grid is not None
        part = source.select(chosen)
        if isinstance(part, RowBatch):
            self._grid.push_block(part.times_ms, part.values)
        else:
            assert isinstance(part, Readings)
            self._put(part)

    def _put(self, readings: Readings) -> None:
        assert self._grid is not None
        if len(readings):
            self._grid.push_columns(readings.columns, readings.times_ms, readings.values)

    def _may_start(self) -> bool:
        """Return whether enough devices were heard, or were waited for, to know the site's time."""
        received_ms = self.clocks.received_ms
        assert received_ms is not None
        if self._first_received_ms is None:
            self._first_received_ms = received_ms
        if not len(self._waiting):
            return False
        agreed = largest_group(self._waiting.times_ms, self._device_of[self._waiting.columns])
        if 2 * agreed > len(self.clocks.names) or self._waiting.is_full:
            return True
        is_far = abs(int(self._waiting.times_ms[-1]) - received_ms) > DAY_MS
        return received_ms - self._first_received_ms >= (LONG_START_WAIT_MS if is_far else START_WAIT_MS)

    def _start(self) -> Iterator[Rows]:
        waiting, self._waiting = self._waiting, Readings.none()
        if not len(waiting):
            return
        self._make_grid(choose_start(waiting.times_ms, self._device_of[waiting.columns], self.clocks.received_ms))
        yield from self._take_slices(waiting.times_ms, waiting)

    def _make_grid(self, start_ms: int) -> None:
        self._grid = Grid(self.points, self.config.grid, start_ms=start_ms)

    def _leap(self, source: Batch | Readings, left: NDArray[np.bool_]) -> int | None:
        """Return where to continue after a long silence; None while too few devices agree, as a clock may be wrong."""
        assert self._grid is not None
        newest = self._newest_of(source.select(left))
        self._far = np.where(newest != NEVER, newest, self._far)
        is_far = self._far != NEVER
        present = self.clocks.is_present | is_far
        if 2 * int(is_far.sum()) <= int(present.sum()) and not isinstance(source, RowBatch):
            return None
        first = int(source.times_ms[left].min())
        if first - self._grid.next_time_ms <= LONGEST_LEAP_MS:
            return first - self.config.step_ms
        # a single row of the year 2099 is an error; when time advances there, the grid was started at a wrong time
        self._far_times.update(np.unique(source.times_ms[left])[:ADRIFT_TIMES].tolist())
        self.is_adrift = len(self._far_times) >= ADRIFT_TIMES
        return None

    def _close(self) -> Iterator[Rows]:
        now, majority = self.clocks.running_ms, self._majority
        if (present := self.clocks.majority_ms()) is not None:
            majority.follow(present, now)  # it goes on without devices that are no longer waited for
        if self._grid is None or majority.time_ms == NEVER:
            return
        due = majority.time_ms + max(0, now - majority.changed_at) - self.config.patience_ms
        if (slowest := self.clocks.slowest_ms()) is not None:
            due = max(due, slowest - self.config.lateness_ms)
        if not majority.is_held(self._grid.next_time_ms, now):
            due = max(due, majority.ripe_ms(now))
        yield from self._advance(due)

    def _advance(self, watermark_ms: int) -> Iterator[Rows]:
        assert self._grid is not None
        while watermark_ms >= self._grid.next_time_ms:
            furthest = self._grid.next_time_ms + (ROWS_AT_ONCE - 1) * self.config.step_ms
            yield self._without_wrong_clocks(self._grid.advance(min(watermark_ms, furthest)))

    def _without_wrong_clocks(self, rows: Rows) -> Rows:
        if not self.clocks.is_wrong.any():
            return rows
        is_wrong = self.clocks.is_wrong[self._device_of]
        return replace(rows, values=np.where(is_wrong, np.nan, rows.values), fresh=rows.fresh & ~is_wrong)

    def to_state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {
            "grid": self._grid.to_state() if self._grid else None,
            "clocks": self.clocks.to_state(),
            "majority": self._majority.to_state(),
            "step_back": self._step_back.to_state(),
            "waiting": self._waiting.to_state(),
            "first_received_ms": self._first_received_ms,
            "shift_ms": self._shift_ms,
            "far": self._far.copy(),
            "far_times": sorted(self._far_times),
            "silent_ms": self.silent_ms,
            "ignored": self.ignored,
            "rejected": dict(self.rejected),
            "too_late": self._too_late.copy(),
            "late_at": self._late_at,
            "shifts": list(self._shifts),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], points: Sequence[str], config: RowClockConfig) -> Self:
        """Return the clock that `to_state` wrote, also that of version 0.1.0."""
        clock = cls(points, config)
        if (grid := state["grid"]) is not None:
            rows_held = int(grid["open"].max()) - grid["next"] + 1 if len(grid["open"]) else 1
            horizon = max(config.grid.horizon_rows, rows_held)  # the patience may have been shortened since
            clock._grid = Grid.from_state(grid, clock.points, replace(config.grid, horizon_rows=horizon))
        clock.rejected = dict(state["rejected"])
        if "clocks" not in state:
            clock._adopt(state["clock"])
            return clock
        clock.clocks = DeviceClocks.from_state(state["clocks"], clock.clocks.names, clock.clocks.tolerance)
        clock._majority = Majority.from_state(state["majority"], config.step_ms, config.lateness_ms)
        clock._step_back = StepBack.from_state(state["step_back"], clock.clocks.tolerance)
        clock._waiting = Readings.from_state(state["waiting"])
        clock._first_received_ms, clock._shift_ms = state["first_received_ms"], state["shift_ms"]
        clock._far, clock._far_times = state["far"].copy(), set(state["far_times"])
        clock.silent_ms, clock._too_late = state["silent_ms"], state["too_late"].copy()
        clock._shifts, clock.ignored, clock._late_at = list(state["shifts"]), state["ignored"], state["late_at"]
        return clock

    def _adopt(self, plant: Sequence[int] | None) -> None:
        """Take over the one clock that version 0.1.0 kept for a site: newest time, its reception, plant time."""
        if plant is None:
            return
        newest_ms, received_ms, now_ms = plant
        self.clocks.pass_time(received_ms)
        self.clocks.believe(np.full(len(self.clocks.names), newest_ms))
        self._majority.follow(newest_ms, self.clocks.running_ms)
        self.silent_ms = now_ms - newest_ms
        self.clocks.pass_time(received_ms + self.silent_ms)
