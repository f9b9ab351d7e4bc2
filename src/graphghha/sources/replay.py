"""Recorded or simulated batches as a source: as fast as the reader takes them, or at a multiple of the plant's time."""

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from graphghha._util.times import iso
from graphghha.sources.base import Batch, SourceStatus
from graphghha.sources.mapping import Mapper

DAY_MS = 86_400_000
MAX_READINGS = 1 << 16  # per batch, so that a monitor that is asked to stop has little left to score


class Replay:
    """Hands out the rows of an iterator of batches, which must come in the order of time.

    Its clock is the plant's: a batch counts as received when its newest reading was measured, so two replays of one
    recording are equal to the last byte.
    """

    def __init__(
        self,
        batches: Iterator[Batch],
        mapper: Mapper,
        *,
        name: str,
        speed: float | None = None,
        live_from_ms: int | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.mapper = mapper
        self.notes = notes  # what was guessed about the recording or left out of it
        self._batches = batches
        self._name = name
        self._speed = speed
        self._live_from_ms = live_from_ms  # rows before it are due at once, whatever the speed
        self._block: Batch | None = None
        self._row = 0  # next row of the block to hand out
        self._start: tuple[float, int] | None = None  # this machine's clock and the plant's at the first row
        self._newest_ms: int | None = None
        self._is_finished = False

    @property
    def status(self) -> SourceStatus:
        newest = "" if self._newest_ms is None else f", read up to {iso(self._newest_ms)}"
        end = " (end)" if self._is_finished else ""
        return SourceStatus(not self._is_finished, f"{self._name}{newest}{end}", is_finished=self._is_finished)

    def poll(self, timeout_s: float) -> Batch | None:
        block = self._current_block()
        if block is None:
            return None
        if not len(block.times_ms):
            self._block = None
            return replace(block, received_ms=self._newest_ms or 0)
        stop = self._rows_due(block)
        if stop <= self._row:
            time.sleep(min(timeout_s, self._seconds_to_next_row(block)))
            stop = self._rows_due(block)
        return self._hand_out(block, stop) if stop > self._row else None

    def _current_block(self) -> Batch | None:
        if self._block is None and not self._is_finished:
            self._block, self._row = next(self._batches, None), 0
            self._is_finished = self._block is None
        return self._block

    def _rows_due(self, block: Batch) -> int:
        """Return one past the last row to hand out now."""
        readings_per_time = len(block) // len(block.times_ms)  # one, or a row of them
        stop = min(len(block.times_ms), self._row + max(1, MAX_READINGS // max(1, readings_per_time)))
        stop = self._row + self._rows_of_a_day(block.times_ms[self._row : stop])
        if self._speed is None:
            return stop
        if self._live_from_ms is not None and self._start is None:
            early = int(np.searchsorted(block.times_ms[self._row : stop], self._live_from_ms, "left"))
            if early:
                return self._row + early
        if self._start is None:
            self._start = time.monotonic(), int(block.times_ms[self._row])
        our_start, plant_start_ms = self._start
        now_ms = plant_start_ms + (time.monotonic() - our_start) * 1000 * self._speed
        return self._row + int(
            np.searchsorted(np.maximum.accumulate(block.times_ms[self._row : stop]), now_ms, "right")
        )

    def _rows_of_a_day(self, times_ms: NDArray[np.int64]) -> int:
        """Return how many rows lie within a day of the first, so that the start of a coarse file is not far behind.

        A first row that stands alone may have a wrong clock; it is handed out together with what follows.
        """
        within = int(np.searchsorted(np.maximum.accumulate(times_ms), times_ms[0] + DAY_MS, "right"))
        return within if within > 1 else len(times_ms)

    def _seconds_to_next_row(self, block: Batch) -> float:
        assert self._start is not None and self._speed is not None
        our_start, plant_start_ms = self._start
        due = our_start + (int(block.times_ms[self._row]) - plant_start_ms) / 1000 / self._speed
        return max(0.0, due - time.monotonic())

    def _hand_out(self, block: Batch, stop: int) -> Batch:
        rows = slice(self._row, stop)
        newest = int(block.times_ms[rows].max())
        self._newest_ms = newest if self._newest_ms is None else max(newest, self._newest_ms)
        batch = replace(block.select(rows), received_ms=self._newest_ms)
        if self._row > 0:  # the first part of the block has handed them over
            batch = replace(batch, rejected={}, refused={})
        self._row = stop
        if stop == len(block.times_ms):
            self._block = None
        return batch

    def acknowledge(self, batch: Batch) -> None:
        """Do nothing: a recording can be read again."""

    def close(self) -> None:
        self._is_finished, self._block = True, None
