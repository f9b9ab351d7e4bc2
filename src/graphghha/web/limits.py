"""Limits against floods of requests and guessed passwords, by address and by account."""

import threading
import time
from collections import OrderedDict

MOST_KEYS = 10_000  # addresses or accounts that are remembered


class TokenBucket:
    """Lets `rate` requests a second pass on average, and `burst` at once, for every key."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str, now: float | None = None) -> float:
        """Take one; return 0, or the seconds after which the key may try again."""
        now = time.monotonic() if now is None else now
        with self._lock:
            left, at = self._left.pop(key, (self._burst, now))
            left = min(self._burst, left + (now - at) * self._rate)
            wait = 0.0 if left >= 1.0 else (1.0 - left) / self._rate
            self._left[key] = (left - 1.0 if not wait else left, now)
            if len(self._left) > MOST_KEYS:
                self._left.popitem(last=False)
        return wait


class Throttle:
    """Slows down who fails again and again: after a few failures the pause doubles with each further one."""

    FREE, LONGEST_S, FORGET_S = 5, 900.0, 3_600.0

    def __init__(self) -> None:
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait_s(self, key: str, now: float | None = None) -> float:
        """Return the seconds for which a key must not try; 0 or less if it may now."""
        now = time.monotonic() if now is None else now
        with self._lock:
            count, at = self._failures.get(key, (0, now))
        if count < self.FREE or now - at > self.FORGET_S:
            return 0.0
        return at + min(self.LONGEST_S, 2.0 ** (count - self.FREE)) - now

    def fail(self, key: str, now: float | None = None) -> None:
        """Count a failure."""
        now = time.monotonic() if now is None else now
        with self._lock:
            count, at = self._failures.pop(key, (0, now))
            self._failures[key] = (1 if now - at > self.FORGET_S else count + 1, now)
            if len(self._failures) > MOST_KEYS:
                self._failures.popitem(last=False)

    def succeed(self, key: str) -> None:
        """Forget the failures of a key."""
        with self._lock:
            self._failures.pop(key, None)
