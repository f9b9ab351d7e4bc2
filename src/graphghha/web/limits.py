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

    FREE, FORGET_S = 5, 3_600.0

    def __init__(self, longest_s: float) -> None:
        self._longest_s = longest_s
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, key: str, now: float | None = None) -> float:
        """Begin an attempt, which counts as failed until it is taken back; return 0, or the seconds to wait before it.

        It counts from its beginning, so that a hundred attempts at once are a hundred failures.
        """
        now = time.monotonic() if now is None else now
        with self._lock:
            count, at = self._failures.get(key, (0, now))
            if now - at > self.FORGET_S:
                count = 0
            wait_s = at + min(self._longest_s, 2.0 ** min(count - self.FREE, 30)) - now if count >= self.FREE else 0.0
            if wait_s <= 0:
                self._failures.pop(key, None)
                self._failures[key] = (count + 1, now)
                if len(self._failures) > MOST_KEYS:
                    self._failures.popitem(last=False)
        return max(0.0, wait_s)

    def take_back(self, key: str) -> None:
        """Count one failure less: the attempt succeeded."""
        with self._lock:
            count, at = self._failures.get(key, (0, 0.0))
            if count > 1:
                self._failures[key] = (count - 1, at)
            else:
                self._failures.pop(key, None)


class LoginLimit:
    """Slows down who guesses passwords, by address and by name.

    A name is slowed down for half a minute at most, and not at all from an address where its password was right
    before: nobody may keep operators out by guessing their names.
    """

    def __init__(self) -> None:
        self._addresses, self._names = Throttle(900.0), Throttle(30.0)
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def begin(self, name: str, address: str, now: float | None = None) -> float:
        """Begin an attempt; return 0, or the seconds after which it may be made."""
        wait_s = self._addresses.begin(address, now)
        if not wait_s and (name, address) not in self._known and (wait_s := self._names.begin(name, now)):
            self._addresses.take_back(address)
        return wait_s

    def succeed(self, name: str, address: str) -> None:
        """Note that the password was right."""
        self._addresses.take_back(address)
        self._names.take_back(name)
        self._known[name, address] = None
        if len(self._known) > MOST_KEYS:
            self._known.popitem(last=False)
