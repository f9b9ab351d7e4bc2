"""A source as seen from outside: when it was last asked, and how long its batches took to be safe."""

import time
from bisect import bisect_left
from dataclasses import dataclass

from graphghha.sources import Batch, Source, SourceStatus

# seconds from a batch in hand to its events in the journal
BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Durations:
    """A histogram: how many ended within each bound and beyond the last, and their sum."""

    counts: tuple[int, ...] = (0,) * (len(BOUNDS_S) + 1)
    total_s: float = 0.0

    def plus(self, seconds: float) -> "Durations":
        at = bisect_left(BOUNDS_S, seconds)
        counts = (*self.counts[:at], self.counts[at] + 1, *self.counts[at + 1 :])
        return Durations(counts, self.total_s + seconds)


class WatchedSource:
    """Hands everything on."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.polled_at = time.monotonic()
        self.durations = Durations()
        self._given_at = self.polled_at

    def poll(self, timeout_s: float) -> Batch | None:
        self.polled_at = time.monotonic()
        batch = self._source.poll(timeout_s)
        self._given_at = time.monotonic()
        return batch

    def acknowledge(self, batch: Batch) -> None:
        """A batch is judged and written before the next is asked for, unless the journal fails meanwhile."""
        self.durations = self.durations.plus(time.monotonic() - self._given_at)
        self._source.acknowledge(batch)

    @property
    def status(self) -> SourceStatus:
        return self._source.status

    def close(self) -> None:
        self._source.close()
