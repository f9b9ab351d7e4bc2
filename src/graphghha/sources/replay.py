"""Recorded or simulated batches as a source: as fast as they are taken, or at a multiple of the plant's own time."""

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from graphghha.sources.base import Batch, SourceStatus
from graphghha.sources.mapping import Mapper
from graphghha.sources.timestamps import iso

MAX_READINGS = 1 << 16  # per batch: who is told to stop must not have much left to judge


class Replay:
    """Hands out the rows of an iterator of batches, which must come in the order of time.

    Its clock is the plant's: a batch is received when its newest reading was measured, so that two replays of one
    recording are the same to the last byte.
    """

    def __init__(self, batches: Iterator[Batch], mapper: Mapper, *, what: str, speed: float | None = None) -> None:
        self.mapper = mapper
        self._batches = batches
        self._what = what
        self._speed = speed
        self._block: Batch | None = None
        self._row = 0  # of the block, next to be handed out
        self._began: tuple[float, int] | None = None  # our clock and the plant's at the first row
        self._newest_ms: int | None = None
        self._is_finished = False

    @property
    def status(self) -> SourceStatus:
        upto = "" if self._newest_ms is None else f", read up to {iso(self._newest_ms)}"
        end = " (end)" if self._is_finished else ""
        return SourceStatus(not self._is_finished, f"{self._what}{upto}{end}", is_finished=self._is_finished)

    def poll(self, timeout_s: float) -> Batch | None:
        block = self._current()
        if block is None:
            return None
        if not len(block.times_ms):
            self._block = None
            return replace(block, received_ms=self._newest_ms or 0)
        stop = self._due(block)
        if stop <= self._row:
            time.sleep(min(timeout_s, self._wait_s(block)))
            stop = self._due(block)
        return self._hand_out(block, stop) if stop > self._row else None

    def _current(self) -> Batch | None:
        if self._block is None and not self._is_finished:
            self._block, self._row = next(self._batches, None), 0
            self._is_finished = self._block is None
        return self._block

    def _due(self, block: Batch) -> int:
        """One past the last row to hand out now."""
        per_time = len(block) // len(block.times_ms)  # one reading, or a row of them
        stop = min(len(block.times_ms), self._row + max(1, MAX_READINGS // max(1, per_time)))
        if self._speed is None:
            return stop
        if self._began is None:
            self._began = time.monotonic(), int(block.times_ms[0])
        ours, plants = self._began
        now_ms = plants + (time.monotonic() - ours) * 1000 * self._speed
        return self._row + int(
            np.searchsorted(np.maximum.accumulate(block.times_ms[self._row : stop]), now_ms, "right")
        )

    def _wait_s(self, block: Batch) -> float:
        assert self._began is not None and self._speed is not None
        ours, plants = self._began
        due = ours + (int(block.times_ms[self._row]) - plants) / 1000 / self._speed
        return max(0.0, due - time.monotonic())

    def _hand_out(self, block: Batch, stop: int) -> Batch:
        rows = slice(self._row, stop)
        newest = int(block.times_ms[rows].max())
        self._newest_ms = newest if self._newest_ms is None else max(newest, self._newest_ms)
        rejected = block.rejected if self._row == 0 else {}
        batch = replace(block.select(rows), received_ms=self._newest_ms, rejected=rejected)
        self._row = stop
        if stop == len(block.times_ms):
            self._block = None
        return batch

    def acknowledge(self, batch: Batch) -> None:
        """A recording forgets nothing: nothing to tell it."""

    def close(self) -> None:
        self._is_finished, self._block = True, None
