"""Batches of readings in, closed rows out: the plant clock and the grid of one site. Reads no clock, no I/O.

Plant time is the newest time that the source has stated. An empty batch adds the time that has passed at the receiver
since then, so that a wrong clock at the source does no harm. Rows close `lateness_ms` after their time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError
from graphghha.sources import Batch, RowBatch
from graphghha.windows import Counters, Grid, GridConfig, Rows

SLICE_ROWS = 512  # rows taken between two closings, far fewer than the grid can hold open
DAY_MS = 86_400_000
ADRIFT_TIMES = 3
LONGEST_LEAP_MS = 92 * DAY_MS  # a plant may be shut down for a season; after a longer gap the site starts afresh


@dataclass(frozen=True, kw_only=True, slots=True)
class RowClockConfig:
    """The time step of rows and how long they wait."""

    step_ms: int = 60_000
    lateness_ms: int = 30_000  # how long a row waits for late readings
    stale_after_ms: int = 300_000

    def __post_init__(self) -> None:
        if self.lateness_ms < 0:
            raise ConfigError(f"lateness_ms {self.lateness_ms} must not be negative")


@dataclass(slots=True)
class _PlantTime:
    """Plant time and what it is derived from."""

    newest_ms: int  # newest plausible source time
    received_ms: int  # when the batch with that time was received
    now_ms: int


class RowClock:
    """Closes the rows of one site as its batches arrive."""

    def __init__(self, points: Sequence[str], config: RowClockConfig) -> None:
        self.points, self.config = tuple(points), config
        self._grid_config = GridConfig(step_ms=config.step_ms, stale_after_ms=config.stale_after_ms)
        self._grid: Grid | None = None
        self._time: _PlantTime | None = None
        self._leaping: set[int] = set()  # points with times far ahead, since the last plausible reading
        self._leaping_to: set[int] = set()  # the times they state, no more than needed
        self.is_adrift = False  # most points state times that this grid cannot reach
        self.rejected: dict[str, int] = {}  # readings the source rejected, by reason

    @property
    def now_ms(self) -> int | None:
        """Return the plant time, None before the first reading."""
        return self._time.now_ms if self._time else None

    @property
    def received_ms(self) -> int | None:
        """Return the receiver's time up to which silence has been counted; counting continues from there."""
        plant = self._time
        return plant.received_ms + plant.now_ms - plant.newest_ms if plant else None

    @property
    def closed_ms(self) -> int | None:
        """Return the time of the newest closed row."""
        return self._grid.next_time_ms - self.config.step_ms if self._grid else None

    @property
    def counters(self) -> Counters:
        return self._grid.counters if self._grid else Counters()

    def take(self, batch: Batch) -> Iterator[Rows]:
        """Yield the rows that this batch allows to close. Exhaust the iterator before you pass the next batch."""
        for reason, count in batch.rejected.items():
            self.rejected[str(reason)] = self.rejected.get(str(reason), 0) + count
        if len(batch):
            yield from self._take_readings(batch)
        elif self._time:
            elapsed = batch.received_ms - self._time.received_ms
            self._time.now_ms = max(self._time.now_ms, self._time.newest_ms + elapsed)
        yield from self._close()

    def finish(self) -> Iterator[Rows]:
        """Yield the rows still open, because the source has ended."""
        if self._grid and self._time:
            yield from self._advance(self._time.newest_ms)

    def _take_readings(self, batch: Batch) -> Iterator[Rows]:
        times = np.asarray(batch.times_ms, np.int64)
        left = np.ones(len(times), np.bool_)
        if self._grid is None:
            self._start(times)
        assert self._grid is not None
        while left.any():
            reach = self._grid.next_time_ms + SLICE_ROWS * self.config.step_ms
            now = left & (times <= reach)
            if not now.any():
                target = self._leap(batch, times, left)
                if target is None:
                    self._put(batch, left)  # counted as ahead
                    return
                yield from self._advance(target)
                continue
            self._leaping.clear()
            self._leaping_to.clear()
            self._put(batch, now)
            self._believe(int(times[now].max()), batch.received_ms)
            left &= ~now
            if left.any():
                yield from self._close()

    def _start(self, times: NDArray[np.int64]) -> None:
        """Start the grid at the first reading, unless that is a stray one from long ago."""
        middle = int(np.median(times))
        start_ms = int(times[times >= middle - DAY_MS].min())
        self._grid = Grid(self.points, self._grid_config, start_ms=start_ms)

    def _put(self, batch: Batch, chosen: NDArray[np.bool_]) -> None:
        assert self._grid is not None
        part = batch.select(chosen)
        if isinstance(part, RowBatch):
            self._grid.push_block(part.times_ms, part.values)
        else:
            self._grid.push_columns(*part.readings())

    def _believe(self, time_ms: int, received_ms: int) -> None:
        if self._time is None:
            self._time = _PlantTime(time_ms, received_ms, time_ms)
        elif time_ms >= self._time.newest_ms:
            self._time.newest_ms, self._time.received_ms = time_ms, received_ms
            self._time.now_ms = max(self._time.now_ms, time_ms)

    def _leap(self, batch: Batch, times: NDArray[np.int64], left: NDArray[np.bool_]) -> int | None:
        """Return where to continue after a long silence; None while too few points agree, as one clock may be wrong."""
        first = int(times[left].min())
        assert self._grid is not None
        self._leaping.update(batch.select(left).columns.tolist())
        if 2 * len(self._leaping) < len(self.points):
            return None
        if first - self._grid.next_time_ms <= LONGEST_LEAP_MS:
            return first - self.config.step_ms
        # a single row of the year 2099 is an error; when time advances there, the grid was started at a wrong time
        self._leaping_to.update(np.unique(times[left])[:ADRIFT_TIMES].tolist())
        self.is_adrift = len(self._leaping_to) >= ADRIFT_TIMES
        return None

    def _close(self) -> Iterator[Rows]:
        if self._time:
            yield from self._advance(self._time.now_ms - self.config.lateness_ms)

    def _advance(self, watermark_ms: int) -> Iterator[Rows]:
        assert self._grid is not None
        while len(rows := self._grid.advance(watermark_ms)):
            yield rows

    def to_state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        plant = self._time
        return {
            "grid": self._grid.to_state() if self._grid else None,
            "clock": [plant.newest_ms, plant.received_ms, plant.now_ms] if plant else None,
            "leaping": sorted(self._leaping),
            "leaping_to": sorted(self._leaping_to),
            "rejected": dict(self.rejected),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], points: Sequence[str], config: RowClockConfig) -> Self:
        """Return the clock that `to_state` wrote."""
        clock = cls(points, config)
        if state["grid"] is not None:
            clock._grid = Grid.from_state(state["grid"], clock.points, clock._grid_config)
        if state["clock"] is not None:
            clock._time = _PlantTime(*state["clock"])
        clock._leaping, clock._leaping_to = set(state["leaping"]), set(state.get("leaping_to", ()))
        clock.rejected = dict(state["rejected"])
        return clock
