"""Which senders may send how much while more arrives than can be decoded. Pure: the time is handed in.

Messages are decoded in the order in which they arrive, because plant time follows from it: taking senders in turn would
let some run ahead of others after an outage. So nobody is limited as long as the queue empties. A sender that fills the
queue for `PATIENCE_S`, with many times the messages of the others, is limited to an allowance; the rest of its messages
are dropped and counted.
"""

from collections import Counter
from dataclasses import dataclass
from statistics import median

PATIENCE_S = 30.0  # how long the queue may stay long: a gateway may forward what it has stored for hours
RELEASED_AFTER_S = 30.0
WATCH_EVERY_S = 1.0
ALLOWANCE_BYTES_S = 512_000.0
SHARE_OF_QUEUE = 0.25  # of the queued bytes, above which a sender may be the cause
TIMES_OTHERS = 20  # and times the messages of the median sender
SENDERS_REMEMBERED = 10_000
FORGOTTEN_AFTER_S = 600.0


@dataclass(slots=True)
class _Limit:
    since: float
    bytes_left: float
    filled_at: float
    exceeded_at: float


class Overload:
    """Counts what every sender has in the queue, and limits those who send too much."""

    def __init__(self, long_bytes: int) -> None:
        """`long_bytes` is the length from which the queue counts as long."""
        self._long_bytes = long_bytes
        self._bytes: Counter[str] = Counter()
        self._messages: Counter[str] = Counter()
        self._heard: dict[str, float] = {}
        self._heavy_since: dict[str, float] = {}
        self._limits: dict[str, _Limit] = {}
        self._watched_at = -WATCH_EVERY_S

    @property
    def limited(self) -> tuple[str, ...]:
        """The senders that are limited now."""
        return tuple(self._limits)

    def admits(self, sender: str, num_bytes: int, now: float) -> bool:
        """Return whether a message that arrives is queued; otherwise it is dropped."""
        if len(self._heard) >= SENDERS_REMEMBERED:
            self._heard.clear()
        self._heard[sender] = now
        self._watch(now)
        limit = self._limits.get(sender)
        if limit is None:
            return True
        limit.bytes_left = min(
            ALLOWANCE_BYTES_S, limit.bytes_left + ALLOWANCE_BYTES_S * max(0.0, now - limit.filled_at)
        )
        limit.filled_at = now
        if num_bytes <= limit.bytes_left:
            limit.bytes_left -= num_bytes
            if now - limit.exceeded_at > RELEASED_AFTER_S:
                del self._limits[sender]
            return True
        limit.exceeded_at = now
        return False

    def is_dropped(self, sender: str, queued_at: float) -> bool:
        """Return whether a message is dropped that was queued before its sender was limited."""
        limit = self._limits.get(sender)
        return limit is not None and queued_at < limit.since

    def queued(self, sender: str, num_bytes: int) -> None:
        """Count a message in the queue."""
        self._bytes[sender] += num_bytes
        self._messages[sender] += 1

    def removed(self, sender: str, num_bytes: int) -> None:
        """Count a message that has left the queue."""
        self._bytes[sender] -= num_bytes
        self._messages[sender] -= 1
        if not self._messages[sender]:
            del self._messages[sender], self._bytes[sender]

    def _watch(self, now: float) -> None:
        """Look at the queue once a second: which senders fill it, and for how long."""
        if now - self._watched_at < WATCH_EVERY_S:
            return
        self._watched_at = now
        total = self._bytes.total()
        if total < self._long_bytes:
            self._heavy_since.clear()
            return
        heavy = [sender for sender in self._bytes if self._is_heavy(sender, total, now)]
        self._heavy_since = {sender: self._heavy_since.get(sender, now) for sender in heavy}
        for sender, since in self._heavy_since.items():
            if now - since >= PATIENCE_S and sender not in self._limits:
                self._limits[sender] = _Limit(since=now, bytes_left=0.0, filled_at=now, exceeded_at=now)

    def _is_heavy(self, sender: str, total: int, now: float) -> bool:
        if self._bytes[sender] < SHARE_OF_QUEUE * total:
            return False
        others = [
            self._messages[other]
            for other, heard in self._heard.items()
            if other != sender and now - heard < FORGOTTEN_AFTER_S
        ]
        return bool(others) and self._messages[sender] > TIMES_OTHERS * max(1.0, median(others))
