"""The grid: irregular readings become rows at the plant's regular step. It reads no clock; the caller passes the time.

Row k is at time k * step and takes each point's latest reading in (time - step, time]. A point without a reading
keeps its last value until it is stale; then its cell is NaN and not fresh.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError, SchemaError

NEVER = -(2**62)  # far enough that no age overflows


class Outcome(IntEnum):
    """How one reading was handled. Every reading has exactly one outcome."""

    ACCEPTED = 0
    SUPERSEDED = 1  # its row already has a later reading
    DUPLICATE = 2  # same point, time and value
    CONFLICT = 3  # same point and time, another value: the larger one is kept, in any order
    LATE = 4  # its row is closed
    AHEAD = 5  # later than the open rows: a wrong clock, or `advance` was not called
    NOT_FINITE = 6
    UNKNOWN_POINT = 7


_OUT_OF_ORDER, _GAP, _STALE = range(len(Outcome), len(Outcome) + 3)


@dataclass(frozen=True, kw_only=True, slots=True)
class Counters:
    """Counts of readings by outcome and of readings out of order, and of cells held over a gap or stale."""

    accepted: int = 0
    superseded: int = 0
    duplicate: int = 0
    conflict: int = 0
    late: int = 0
    ahead: int = 0
    not_finite: int = 0
    unknown_point: int = 0
    out_of_order: int = 0
    gap: int = 0
    stale: int = 0

    @property
    def readings(self) -> int:
        """The number of all readings."""
        return sum(getattr(self, outcome.name.lower()) for outcome in Outcome)


@dataclass(frozen=True, slots=True)
class Rows:
    """Closed rows in time order: r rows, p points. Values are NaN where they are not fresh."""

    times_ms: NDArray[np.int64]  # [r]
    values: NDArray[np.floating[Any]]  # [r p]
    fresh: NDArray[np.bool_]  # [r p]
    heard: NDArray[np.bool_]  # [r] whether the row got a reading

    def __len__(self) -> int:
        return len(self.times_ms)


@dataclass(frozen=True, kw_only=True, slots=True)
class GridConfig:
    """The step of the rows, and how long values and rows are kept."""

    step_ms: int = 60_000
    stale_after_ms: int = 300_000  # a value older than this at the row's time is dropped
    unchanged_for_ms: int = 0  # unless its device was heard within this time: then silence means "unchanged"
    horizon_rows: int = 1_500  # rows that are open at most: a little more than a day of minutes
    point_stale_ms: tuple[int, ...] = ()  # of each point, where points differ

    def __post_init__(self) -> None:
        for name, least in (("step_ms", 1), ("stale_after_ms", 0), ("unchanged_for_ms", 0), ("horizon_rows", 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"grid.{name} {getattr(self, name)} must be at least {least}")


class Grid:
    """Takes readings in any order and closes rows when time advances."""

    def __init__(self, points: Sequence[str], config: GridConfig, *, start_ms: int) -> None:
        """The first row is at `start_ms` or at the next step after it."""
        self.points = tuple(points)
        self.config = config
        self._columns = {point: column for column, point in enumerate(self.points)}
        if not self.points or len(self._columns) < len(self.points):
            raise ConfigError("grid: give at least one point, and each point once")
        names = [point.rpartition("/")[0] for point in self.points]
        devices = {name: number for number, name in enumerate(dict.fromkeys(names))}
        self._device_of = np.array([devices[name] for name in names], np.int64)
        open_cells = (config.horizon_rows, len(self.points))
        self._stale_ms = np.array(config.point_stale_ms or [config.stale_after_ms] * len(self.points), np.int64)
        self._next = -(-start_ms // config.step_ms)  # number of the oldest open row
        self._value = np.zeros(open_cells)
        self._time = np.full(open_cells, NEVER)
        self._touched = np.zeros(config.horizon_rows, np.bool_)  # open rows that may have readings
        self._held_value = np.full(len(self.points), np.nan)
        self._held_time = np.full(len(self.points), NEVER)
        self._newest = np.full(len(self.points), NEVER)
        self._counts = np.zeros((_STALE + 1, len(self.points)), np.int64)
        self._unknown = 0

    @property
    def next_time_ms(self) -> int:
        """The time of the oldest open row."""
        return self._next * self.config.step_ms

    @property
    def counters(self) -> Counters:
        """The counts over all points so far."""
        totals = dict(zip(Counters.__dataclass_fields__, self._counts.sum(axis=1).tolist(), strict=True))
        return Counters(**totals | {"unknown_point": self._unknown})

    @property
    def newest_ms(self) -> NDArray[np.int64]:
        """The newest time of each point that an open row has taken."""
        return self._newest

    def push(self, point: str, time_ms: int, value: float) -> Outcome:
        """Add one reading."""
        column = self._columns.get(point)
        if column is None:
            self._unknown += 1
            return Outcome.UNKNOWN_POINT
        outcome = self._place(column, time_ms, value + 0.0)  # + 0.0 turns minus zero into zero
        self._counts[outcome, column] += 1
        return outcome

    def _place(self, column: int, time_ms: int, value: float) -> Outcome:
        if not math.isfinite(value):
            return Outcome.NOT_FINITE
        row = -(-time_ms // self.config.step_ms)
        if row < self._next:
            again = time_ms == self._held_time[column] and value == self._held_value[column]
            return Outcome.DUPLICATE if again else Outcome.LATE
        if row >= self._next + self.config.horizon_rows:
            return Outcome.AHEAD
        if time_ms < self._newest[column]:
            self._counts[_OUT_OF_ORDER, column] += 1
        else:
            self._newest[column] = time_ms
        cell = row % self.config.horizon_rows, column
        self._touched[cell[0]] = True
        present = self._time[cell]
        if time_ms < present:
            return Outcome.SUPERSEDED
        if time_ms > present:
            self._time[cell], self._value[cell] = time_ms, value
            return Outcome.ACCEPTED
        if value == self._value[cell]:
            return Outcome.DUPLICATE
        self._value[cell] = max(value, self._value[cell])
        return Outcome.CONFLICT

    def withdraw(self, columns: NDArray[np.int32], times_ms: NDArray[np.int64]) -> None:
        """Take back the values of points [n] from these times on, until they are heard again.

        It matters where silence means "unchanged": a point that its sender calls bad is unknown, not unchanged.
        """
        if not self.config.unchanged_for_ms:
            return
        for column, time_ms in zip(columns.tolist(), times_ms.tolist(), strict=True):
            row = -(-time_ms // self.config.step_ms)
            if row < self._next:
                if time_ms >= self._held_time[column]:
                    self._held_value[column] = np.nan
            elif row < self._next + self.config.horizon_rows:
                cell = row % self.config.horizon_rows, column
                if time_ms >= self._time[cell]:
                    self._time[cell], self._value[cell] = time_ms, np.nan
                    self._touched[cell[0]] = True

    def push_columns(
        self, columns: NDArray[np.int32], times_ms: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None:
        """Add readings [n] in long form, as if pushed in turn. A column beyond the points counts as unknown."""
        rows = -(-times_ms // self.config.step_ms)
        if self._takes_each(columns, rows, times_ms, values):
            cells = rows % self.config.horizon_rows, columns
            self._time[cells], self._value[cells] = times_ms, values + 0.0
            self._touched[cells[0]] = True
            np.add.at(self._counts[Outcome.ACCEPTED], columns, 1)
            np.add.at(self._counts[_OUT_OF_ORDER], columns[times_ms < self._newest[columns]], 1)
            np.maximum.at(self._newest, columns, times_ms)
            return
        for column, time_ms, value in zip(columns.tolist(), times_ms.tolist(), values.tolist(), strict=True):
            if 0 <= column < len(self.points):
                self._counts[self._place(column, time_ms, value + 0.0), column] += 1
            else:
                self._unknown += 1

    def _takes_each(
        self,
        columns: NDArray[np.int32],
        rows: NDArray[np.int64],
        times_ms: NDArray[np.int64],
        values: NDArray[np.float64],
    ) -> bool:
        """Return whether all readings are valid, in order, and each falls into an open empty cell of its own."""
        inside = (rows >= self._next) & (rows < self._next + self.config.horizon_rows)
        known = (columns >= 0) & (columns < len(self.points))
        if not (inside & known & np.isfinite(values)).all() or (np.diff(times_ms) < 0).any():
            return False
        cells = rows * len(self.points) + columns
        return len(np.unique(cells)) == len(cells) and bool(
            (self._time[rows % self.config.horizon_rows, columns] == NEVER).all()
        )

    def push_block(self, times_ms: NDArray[np.int64], values: NDArray[Any]) -> None:
        """Add readings [n p] at times [n], as if pushed row by row. NaN is an empty cell."""
        values = np.asarray(values, np.float64) + 0.0
        if values.shape != (len(times_ms), len(self.points)):
            raise SchemaError(
                f"grid: values of shape {values.shape} do not fit {len(times_ms)} times x {len(self.points)} points"
            )
        times_ms = np.asarray(times_ms, np.int64)
        rows = -(-times_ms // self.config.step_ms)
        if len(rows) and self._takes_whole(rows):
            self._push_whole(times_ms, rows, values)
            return
        for time_ms, row, cells in zip(times_ms.tolist(), rows.tolist(), values, strict=True):
            self._push_row(time_ms, row, cells)

    def _takes_whole(self, rows: NDArray[np.int64]) -> bool:
        """Return whether every row is open and empty and gets one reading per cell, so that no case is special."""
        inside = rows[0] >= self._next and rows[-1] < self._next + self.config.horizon_rows
        distinct = bool((np.diff(rows) > 0).all())
        return bool(inside and distinct and (self._time[rows % self.config.horizon_rows] == NEVER).all())

    def _push_whole(self, times_ms: NDArray[np.int64], rows: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        finite = np.isfinite(values)
        stamped = np.where(finite, times_ms[:, None], NEVER)
        slots = rows % self.config.horizon_rows
        self._time[slots] = stamped
        self._touched[slots] = True
        self._value[slots] = np.where(finite, values, 0.0)
        self._counts[Outcome.ACCEPTED] += finite.sum(axis=0)
        self._counts[Outcome.NOT_FINITE] += (~finite).sum(axis=0)
        self._counts[_OUT_OF_ORDER] += (finite & (stamped < self._newest)).sum(axis=0)
        self._newest = np.maximum(self._newest, stamped.max(axis=0))

    def _push_row(self, time_ms: int, row: int, values: NDArray[np.float64]) -> None:
        finite = np.isfinite(values)
        self._counts[Outcome.NOT_FINITE] += ~finite
        if row < self._next:
            again = finite & (self._held_time == time_ms) & (self._held_value == values)
            self._counts[Outcome.DUPLICATE] += again
            self._counts[Outcome.LATE] += finite & ~again
            return
        if row >= self._next + self.config.horizon_rows:
            self._counts[Outcome.AHEAD] += finite
            return
        self._counts[_OUT_OF_ORDER] += finite & (time_ms < self._newest)
        self._newest = np.where(finite, np.maximum(self._newest, time_ms), self._newest)
        self._touched[row % self.config.horizon_rows] = True
        present_time, present_value = (array[row % self.config.horizon_rows] for array in (self._time, self._value))
        later, equal = finite & (time_ms > present_time), finite & (time_ms == present_time)
        same = equal & (values == present_value)
        self._counts[Outcome.ACCEPTED] += later
        self._counts[Outcome.SUPERSEDED] += finite & (time_ms < present_time)
        self._counts[Outcome.DUPLICATE] += same
        self._counts[Outcome.CONFLICT] += equal & ~same
        present_value[later] = values[later]
        present_value[equal] = np.maximum(values[equal], present_value[equal])
        present_time[later] = time_ms

    def advance(self, watermark_ms: int) -> Rows:
        """Close and return the rows up to `watermark_ms`, at most `horizon_rows` of them per call."""
        step, horizon = self.config.step_ms, self.config.horizon_rows
        count = max(0, min(watermark_ms // step - self._next + 1, horizon))
        rows = np.arange(self._next, self._next + count, dtype=np.int64)
        slots = rows % horizon
        time = np.concatenate([self._held_time[None], self._time[slots]])
        value = np.concatenate([self._held_value[None], self._value[slots]])
        self._time[slots] = NEVER
        self._touched[slots] = False
        self._next += count

        # carry each point's last reading forward: index of the latest filled row, 0 = the value held before
        filled = time[1:] != NEVER
        order = np.arange(1, count + 1)[:, None]
        latest = np.maximum.accumulate(np.where(filled, order, 0), axis=0)
        time = np.concatenate([time[:1], np.take_along_axis(time, latest, axis=0)])
        value = np.concatenate([value[:1], np.take_along_axis(value, latest, axis=0)])
        self._held_time, self._held_value = time[-1].copy(), value[-1].copy()

        times_ms = rows * step
        fresh = times_ms[:, None] - time[1:] <= self._stale_ms
        if self.config.unchanged_for_ms:
            heard = times_ms[:, None] - self._newest_of_device(time[1:]) <= self.config.unchanged_for_ms
            fresh |= heard & (time[1:] != NEVER)
            fresh &= np.isfinite(value[1:])
        self._counts[_GAP] += (fresh & ~filled).sum(axis=0)
        self._counts[_STALE] += (~fresh).sum(axis=0)
        return Rows(times_ms, np.where(fresh, value[1:], np.nan), fresh, filled.any(axis=1))

    def _newest_of_device(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return when the device of every point was last heard, from when every point was, [r p]."""
        newest = np.full((self._device_of.max() + 1, len(times)), NEVER)
        np.maximum.at(newest, self._device_of, times.T)
        return newest[self._device_of].T

    def to_state(self) -> dict[str, Any]:
        """Return the state as numbers and arrays; of the open rows, only those with readings."""
        open_rows = np.arange(self._next, self._next + self.config.horizon_rows)
        open_rows = open_rows[self._touched[open_rows % self.config.horizon_rows]]
        slots = open_rows % self.config.horizon_rows
        return {
            "next": self._next,
            "open": open_rows,
            "time": self._time[slots],
            "value": self._value[slots],
            "held_time": self._held_time,
            "held_value": self._held_value,
            "newest": self._newest,
            "counts": self._counts,
            "unknown": self._unknown,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], points: Sequence[str], config: GridConfig) -> Self:
        """Return the grid that `to_state` was called on."""
        grid = cls(points, config, start_ms=state["next"] * config.step_ms)
        slots = state["open"] % config.horizon_rows
        grid._time[slots], grid._value[slots] = state["time"], state["value"]
        grid._touched[slots] = True
        grid._held_time, grid._held_value = state["held_time"].copy(), state["held_value"].copy()
        grid._newest, grid._counts = state["newest"].copy(), state["counts"].copy()
        grid._unknown = state["unknown"]
        return grid
