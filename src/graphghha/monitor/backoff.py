"""Exponential back-off between repeated attempts."""

import random


class BackOff:
    """Doubles the delay after every failure, up to a maximum; adds jitter, so that clients do not retry all at once."""

    def __init__(self, first_s: float, longest_s: float, *, seed: str) -> None:
        self._first_s, self._longest_s = first_s, longest_s
        self._random = random.Random(seed)
        self.failures = 0  # in a row

    def next_delay_s(self) -> float:
        """Count a failure and return how long to wait before the next attempt."""
        longest = min(self._longest_s, self._first_s * 2.0 ** min(self.failures, 16))
        self.failures += 1
        return longest * self._random.uniform(0.5, 1.0)

    def reset(self) -> None:
        """Forget the failures after a success."""
        self.failures = 0
