"""A source as the monitor's loop sees it: when it was last heard, and how long to leave it alone after a failure."""

import time

from graphghha.sources import Batch, ReadingBatch, Source

TICK_EVERY_S = 1.0
BACK_OFF_S = (1.0, 30.0)


class Feed:
    """One source, and when it was last heard."""

    def __init__(self, source: Source, received_ms: int | None) -> None:
        """`received_ms` is how far its silence was followed before, if it was ever heard."""
        self.source = source
        self.not_before, self.back_off_s = 0.0, BACK_OFF_S[0]
        self._received_ms = received_ms
        self.is_awaited = received_ms is None
        self.began = self._at = self._ticked = time.monotonic()

    @property
    def is_first_failure(self) -> bool:
        return self.back_off_s == BACK_OFF_S[0]

    def back_off(self, now: float) -> None:
        """Leave it alone for a while, each time for longer."""
        self.not_before = now + self.back_off_s
        self.back_off_s = min(2 * self.back_off_s, BACK_OFF_S[1])

    def heard(self, batch: Batch, now: float) -> None:
        self.back_off_s = BACK_OFF_S[0]
        if len(batch):
            self._received_ms, self._at, self.is_awaited = batch.received_ms, now, False

    def tick(self, site: str, now: float) -> Batch | None:
        """Time has passed without news, by a clock nobody can set."""
        if self._received_ms is None or now - self._ticked < TICK_EVERY_S:
            return None
        self._ticked = now
        return tick(site, self._received_ms + int((now - self._at) * 1000))


def tick(site: str, received_ms: int) -> Batch:
    """An empty batch."""
    return ReadingBatch.empty(site, received_ms)
