"""A site's source as the monitor's loop uses it: polled, timed, and paused for a while after a failure."""

import time
from bisect import bisect_left
from dataclasses import dataclass, replace

from graphghha.monitor.backoff import BackOff
from graphghha.monitor.outage import Outage
from graphghha.sources import Batch, ReadingBatch, Source, SourceStatus

EMPTY_BATCH_EVERY_S = 1.0
LONGEST_PAUSE_S = 5.0  # between two polls; what exceeds it is a pause of this process and no silence of the source
FIRST_RETRY_S, LONGEST_RETRY_S = 1.0, 30.0
# upper bounds, in seconds, for the time from receiving a batch to having its events in the journal
BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Durations:
    """A histogram: how many durations ended within each bound and beyond the last, and their sum."""

    counts: tuple[int, ...] = (0,) * (len(BOUNDS_S) + 1)
    total_s: float = 0.0

    def plus(self, seconds: float) -> "Durations":
        """Return the histogram with one more duration."""
        at = bisect_left(BOUNDS_S, seconds)
        counts = (*self.counts[:at], self.counts[at] + 1, *self.counts[at + 1 :])
        return Durations(counts, self.total_s + seconds)


class Feed:
    """The source of one site, with what the loop and the health report need to know about it."""

    def __init__(self, site: str, source: Source, received_ms: int | None) -> None:
        """`received_ms` is the time up to which silence was counted before, None if no reading ever arrived."""
        self.site, self._source, self._received_ms = site, source, received_ms
        self._back_off = BackOff(FIRST_RETRY_S, LONGEST_RETRY_S, seed=site)
        self._not_before = 0.0
        self.polled_at = self._polled_batch_at = self._heard_at = self._empty_at = self._began = time.monotonic()
        self._is_awaited = received_ms is None
        self.is_silent = False  # it was reported that nothing usable has ever arrived
        self.failure = ""  # why the last poll failed; empty if it did not
        self.outage = Outage()
        self.durations = Durations()

    @property
    def status(self) -> SourceStatus:
        return self._source.status

    @property
    def pause_s(self) -> float:
        """Return the seconds until the source may be polled again after a failure; 0 or less if it may be now."""
        return self._not_before - time.monotonic()

    @property
    def is_failing(self) -> bool:
        """Return whether the last poll failed."""
        return bool(self.failure)

    def poll(self, timeout_s: float) -> Batch | None:
        """Return the next batch; an empty one every second of silence; None when there is nothing to do yet."""
        began = time.monotonic()
        self._heard_at += max(0.0, began - self.polled_at - LONGEST_PAUSE_S)
        self.polled_at = began
        batch = self._source.poll(timeout_s)
        self._polled_batch_at = now = time.monotonic()
        if batch is None and not self._source.status.is_finished:
            batch = self._empty_batch(now)
        elif batch is not None and len(batch):
            self._received_ms, self._heard_at, self._is_awaited = batch.received_ms, now, False
        elif batch is not None and self._received_ms is not None:
            batch = replace(batch, received_ms=self._silent_until(now))  # nothing usable: silence goes on
        if batch is not None:
            self._back_off.reset()
            self.failure = ""
        return batch

    def acknowledge(self, batch: Batch) -> None:
        """Acknowledge to the source that a batch is in the journal, and record how long that took.

        A batch is scored and written before the next one is polled, unless the journal fails meanwhile.
        """
        self.durations = self.durations.plus(time.monotonic() - self._polled_batch_at)
        self._source.acknowledge(batch)

    def note_failure(self, reason: str) -> float:
        """Stop polling the source for a while, longer after each failure; return for how many seconds."""
        self.failure = reason
        delay_s = self._back_off.next_delay_s()
        self._not_before = time.monotonic() + delay_s
        return delay_s

    def is_overdue(self, after_s: float) -> bool:
        """Return True once if the source ended or stayed silent for this long without ever sending a reading."""
        is_over = self._source.status.is_finished or time.monotonic() - self._began >= after_s
        if not (self._is_awaited and is_over):
            return False
        self._is_awaited, self.is_silent = False, True
        return True

    def look(self) -> str | None:
        """Return "lost" when the missing connection is to be reported, "found" when it is back, else None."""
        status = self._source.status
        return self.outage.look(status.is_connected or status.is_finished, time.monotonic())

    @property
    def away_s(self) -> float | None:
        """Return for how long the source has not been connected, None if it is or that was not reported yet."""
        outage = self.outage
        return time.monotonic() - outage.since if outage.reported and outage.since is not None else None

    def close(self) -> None:
        """Close the source."""
        self._source.close()

    def _empty_batch(self, now: float) -> Batch | None:
        """Return a batch that states how much time has passed without readings, by a clock that cannot be set."""
        if self._received_ms is None or now - self._empty_at < EMPTY_BATCH_EVERY_S:
            return None
        self._empty_at = now
        return ReadingBatch.empty(self.site, self._silent_until(now))

    def _silent_until(self, now: float) -> int:
        assert self._received_ms is not None
        return self._received_ms + int(max(0.0, now - self._heard_at) * 1000)
