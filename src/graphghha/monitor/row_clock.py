"""Batches of readings in, closed rows out: one site's clock and grid. No clock of its own, no I/O.

Plant time is the newest time a source has stated. An empty batch adds the time that passed since at the receiver, so
that a wrong clock at the source does no harm. Rows close `lateness_ms` behind plant time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError
from graphghha.sources import Batch, RowBatch
from graphghha.windows import Counters, Grid, GridConfig, Rows

SLICE_ROWS = 512  # of the grid, between two closings: far below what it holds open
DAY_MS = 86_400_000
ADRIFT_TIMES = 3
LONGEST_LEAP_MS = 92 * DAY_MS  # a plant may stand still for a season; what lies further on is another beginning


@dataclass(frozen=True, kw_only=True, slots=True)
class IntakeConfig:
    step_ms: int = 60_000
    lateness_ms: int = 30_000  # how long a row waits for stragglers
    stale_after_ms: int = 300_000

    def __post_init__(self) -> None:
        if self.lateness_ms < 0:
            raise ConfigError(f"intake.lateness_ms {self.lateness_ms} must not be negative")


@dataclass(slots=True)
class _Clock:
    newest_ms: int  # newest believable source time
    received_ms: int  # when the batch that brought it was received
    now_ms: int


class Intake:
    """The grid of one site, driven by batches."""

    def __init__(self, points: Sequence[str], config: IntakeConfig) -> None:
        self.points, self.config = tuple(points), config
        self._grid_config = GridConfig(step_ms=config.step_ms, stale_after_ms=config.stale_after_ms)
        self._grid: Grid | None = None
        self._clock: _Clock | None = None
        self._leaping: set[int] = set()  # points that state times far ahead, since the last believable reading
        self._leaping_to: set[int] = set()  # the times they state, no more of them than needed
        self.is_adrift = False  # most points live in a time that this grid cannot reach
        self.rejected: dict[str, int] = {}  # by the source, by reason

    @property
    def now_ms(self) -> int | None:
        """Plant time, as far as it is known."""
        return self._clock.now_ms if self._clock else None

    @property
    def received_ms(self) -> int | None:
        """The receiver's time, as far as it was followed: with it a silence goes on being counted."""
        clock = self._clock
        return clock.received_ms + clock.now_ms - clock.newest_ms if clock else None

    @property
    def closed_ms(self) -> int | None:
        """The time of the newest closed row."""
        return self._grid.next_time_ms - self.config.step_ms if self._grid else None

    @property
    def counters(self) -> Counters:
        return self._grid.counters if self._grid else Counters()

    def take(self, batch: Batch) -> Iterator[Rows]:
        """Rows that this batch allows to close. Exhaust it: the next batch must find the work done."""
        for reason, count in batch.rejected.items():
            self.rejected[str(reason)] = self.rejected.get(str(reason), 0) + count
        if len(batch):
            yield from self._news(batch)
        elif self._clock:
            elapsed = batch.received_ms - self._clock.received_ms
            self._clock.now_ms = max(self._clock.now_ms, self._clock.newest_ms + elapsed)
        yield from self._close()

    def finish(self) -> Iterator[Rows]:
        """The source has ended: nothing more can come for the open rows."""
        if self._grid and self._clock:
            yield from self._advance(self._clock.newest_ms)

    def _news(self, batch: Batch) -> Iterator[Rows]:
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
        """At the first reading, unless it is a stray one from long ago."""
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
        if self._clock is None:
            self._clock = _Clock(time_ms, received_ms, time_ms)
        elif time_ms >= self._clock.newest_ms:
            self._clock.newest_ms, self._clock.received_ms = time_ms, received_ms
            self._clock.now_ms = max(self._clock.now_ms, time_ms)

    def _leap(self, batch: Batch, times: NDArray[np.int64], left: NDArray[np.bool_]) -> int | None:
        """Where to go on after a long silence; None while too few points say so: one wrong clock moves nobody."""
        first = int(times[left].min())
        assert self._grid is not None
        self._leaping.update(batch.select(left).columns.tolist())
        if 2 * len(self._leaping) < len(self.points):
            return None
        if first - self._grid.next_time_ms <= LONGEST_LEAP_MS:
            return first - self.config.step_ms
        # one row of the year 2099 is a mistake; when time goes on there, the mistake was the beginning
        self._leaping_to.update(np.unique(times[left])[:ADRIFT_TIMES].tolist())
        self.is_adrift = len(self._leaping_to) >= ADRIFT_TIMES
        return None

    def _close(self) -> Iterator[Rows]:
        if self._clock:
            yield from self._advance(self._clock.now_ms - self.config.lateness_ms)

    def _advance(self, watermark_ms: int) -> Iterator[Rows]:
        assert self._grid is not None
        while len(rows := self._grid.advance(watermark_ms)):
            yield rows

    def to_state(self) -> dict[str, Any]:
        clock = self._clock
        return {
            "grid": self._grid.to_state() if self._grid else None,
            "clock": [clock.newest_ms, clock.received_ms, clock.now_ms] if clock else None,
            "leaping": sorted(self._leaping),
            "leaping_to": sorted(self._leaping_to),
            "rejected": dict(self.rejected),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], points: Sequence[str], config: IntakeConfig) -> Self:
        intake = cls(points, config)
        if state["grid"] is not None:
            intake._grid = Grid.from_state(state["grid"], intake.points, intake._grid_config)
        if state["clock"] is not None:
            intake._clock = _Clock(*state["clock"])
        intake._leaping, intake._leaping_to = set(state["leaping"]), set(state.get("leaping_to", ()))
        intake.rejected = dict(state["rejected"])
        return intake
