"""Readings whose time is not understood yet: before the first row, and after a clock was set back. No clock, no I/O."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.monitor.device_clocks import NEVER, DeviceClocks, Times, Tolerance

MOST_READINGS = 50_000
DAY_MS = 86_400_000
HOLD_STEPS = 5  # for so long readings are held until it is clear whether the plant's clock was set back


@dataclass(frozen=True, slots=True)
class Readings:
    """Single readings [n] of a site."""

    columns: NDArray[np.int32]
    times_ms: Times
    values: NDArray[np.float64]

    @classmethod
    def none(cls) -> Self:
        return cls(np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0))

    def __len__(self) -> int:
        return len(self.times_ms)

    @property
    def is_full(self) -> bool:
        """Return whether no more readings should be held back."""
        return len(self) >= MOST_READINGS

    def select(self, which: NDArray[np.bool_]) -> "Readings":
        return Readings(self.columns[which], self.times_ms[which], self.values[which])

    def plus(self, more: "Readings") -> "Readings":
        if not len(self):
            return more
        columns, times = (self.columns, more.columns), (self.times_ms, more.times_ms)
        return Readings(np.concatenate(columns), np.concatenate(times), np.concatenate([self.values, more.values]))

    def shifted(self, by_ms: int) -> "Readings":
        return replace(self, times_ms=self.times_ms + by_ms)

    def to_state(self) -> list[Any]:
        return [self.columns, self.times_ms, self.values]

    @classmethod
    def from_state(cls, state: list[Any]) -> Self:
        return cls(*(array.copy() for array in state))


class StepBack:
    """Holds readings with times that were closed long ago until it is clear what they are.

    If most devices go on at the pace of the clock, only earlier than before by the same amount, and no longer state the
    times of before, the plant's clock was set back: the readings are new. Otherwise they are late.
    """

    def __init__(self, num_devices: int, tolerance: Tolerance) -> None:
        self._tolerance = tolerance
        self._held = Readings.none()
        self._held_since = 0
        self._first = np.full((2, num_devices), NEVER)  # reception and stated time of the first such reading
        self._last = np.full((2, num_devices), NEVER)

    def hold(self, readings: Readings, devices: NDArray[np.int64], clocks: DeviceClocks) -> Readings:
        """Hold readings; return those that were held for too long and are late."""
        assert clocks.received_ms is not None
        late = Readings.none()
        is_over = clocks.running_ms - self._held_since > HOLD_STEPS * self._tolerance.step_ms
        if len(self._held) and (is_over or self._held.is_full):
            late = self.release()
        if not len(self._held):
            self._held_since = clocks.running_ms
        self._held = self._held.plus(readings)
        newest = np.full(self._first.shape[1], NEVER)
        np.maximum.at(newest, devices, readings.times_ms)
        stated = np.flatnonzero(newest != NEVER)
        seen = np.stack([np.full(len(stated), clocks.received_ms), newest[stated]])
        received, time = seen - self._first[:, stated]
        is_broken = (self._first[0, stated] == NEVER) | (np.abs(time - received) > self._tolerance.behind_ms)
        self._first[:, stated[is_broken]] = seen[:, is_broken]
        self._last[:, stated] = seen
        return late

    def find_step(self, clocks: DeviceClocks, shift_ms: int) -> int:
        """Return by how much the plant's clock was set, 0 if that is not what happened.

        It is set back (negative), or forward by what it was set back before (`shift_ms`).
        """
        is_paced = (self._last[0] - self._first[0] >= self._tolerance.step_ms // 2) & (clocks.offset != NEVER)
        is_paced &= clocks.is_stalled
        steps = (self._last[1] - self._last[0] - clocks.offset)[is_paced]
        if not len(steps):
            return 0
        step = int(np.median(steps))
        alike = int((np.abs(steps - step) <= self._tolerance.behind_ms).sum())
        electorate = int(((clocks.offset != NEVER) & ~clocks.is_wrong).sum())
        is_undone = shift_ms > 0 and abs(step - shift_ms) <= self._tolerance.behind_ms
        if 2 * alike <= electorate or (step > -self._tolerance.behind_ms and not is_undone):
            return 0
        if is_undone:
            return shift_ms
        # delays blur the step; but devices measure at the same moments of a row as before
        row_ms = self._tolerance.step_ms
        moments = (self._last[1] - clocks.frontier)[is_paced]
        exact = step + (moments - step + row_ms // 2) % row_ms - row_ms // 2
        return int(np.sort(exact)[len(exact) // 2])

    def release(self) -> Readings:
        """Return what is held, and forget it."""
        held, self._held = self._held, Readings.none()
        self._first[:] = self._last[:] = NEVER
        return held

    def to_state(self) -> list[Any]:
        """Return the state for a checkpoint."""
        return [self._held.to_state(), self._held_since, self._first.copy(), self._last.copy()]

    @classmethod
    def from_state(cls, state: list[Any], tolerance: Tolerance) -> Self:
        """Return what `to_state` wrote."""
        held, since, first, last = state
        step_back = cls(first.shape[1], tolerance)
        step_back._held, step_back._held_since = Readings.from_state(held), since
        step_back._first, step_back._last = first.copy(), last.copy()
        return step_back


def choose_start(times_ms: Times, devices: NDArray[np.int64] | None, near_ms: int | None = None) -> int:
    """Return the time of the first row: the oldest that most devices agree on within a day.

    Of two groups of the same size, the one nearer to `near_ms` counts. Without `devices` the times share a clock.
    """
    if devices is None:
        return int(times_ms[times_ms >= int(np.median(times_ms)) - DAY_MS].min())
    votes, supporters = _votes(times_ms, devices)
    best = votes[supporters == supporters.max()]
    middle = int(best[np.argmin(np.abs(best - (near_ms if near_ms is not None else best[0])))])
    return int(times_ms[np.abs(times_ms - middle) <= DAY_MS].min())


def largest_group(times_ms: Times, devices: NDArray[np.int64]) -> int:
    """Return how many devices agree on the time within a day."""
    return int(_votes(times_ms, devices)[1].max())


def _votes(times_ms: Times, devices: NDArray[np.int64]) -> tuple[Times, NDArray[np.int64]]:
    """Return the newest time of each device that was heard, and how many devices are within a day of it."""
    votes = np.full(int(devices.max()) + 1, NEVER)
    np.maximum.at(votes, devices, times_ms)
    votes = votes[votes != NEVER]
    return votes, (np.abs(votes[:, None] - votes) <= DAY_MS).sum(axis=1)
