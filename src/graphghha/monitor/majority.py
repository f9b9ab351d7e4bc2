"""How far the majority of a site's devices has come, and since when. Reads no clock, no I/O.

All times of the receiver are running time, which leaves out the receiver's own pauses.
"""

from collections import deque
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from graphghha.monitor.device_clocks import NEVER, Times

HOLD_STEPS = 3  # after the last stored reading, rows of a gap wait so long for further ones
CREDIT_MS = 600_000  # a device that gains so much on the clock sends history
MOST_MARKS = 4_096


class Majority:
    """The progress of the majority, its leaps, and the devices that catch up after one."""

    def __init__(self, step_ms: int, lateness_ms: int, num_devices: int) -> None:
        self._step_ms, self._lateness_ms = step_ms, lateness_ms
        self._slack_ms = 2 * step_ms + lateness_ms
        self.time_ms = NEVER
        self.changed_at = 0  # when `time_ms` was reached
        self._marks: deque[tuple[int, int]] = deque()  # when the majority reached which time, oldest first
        self._ripe_ms = NEVER  # reached `lateness_ms` ago
        self._excess_ms = 0  # by how much the majority was faster than the clock of late
        self.gap_end_ms = NEVER  # rows up to here may still get stored readings
        self._history_at = NEVER
        self._credited = np.full(num_devices, NEVER)  # [d] frontier when a device last kept pace or caught up
        self._credited_at = np.zeros(num_devices, np.int64)

    def follow(self, time_ms: int, now: int) -> None:
        """Note that the majority has reached a time."""
        if time_ms <= self.time_ms:
            return
        if self.time_ms != NEVER:
            was_leaping = self._excess_ms > self._slack_ms
            self._excess_ms = max(0, self._excess_ms - (now - self.changed_at)) + time_ms - self.time_ms
            self._excess_ms = min(self._excess_ms, self._slack_ms + self._step_ms)
            if self._excess_ms > self._slack_ms:
                self.gap_end_ms = time_ms
                self._history_at = self._history_at if was_leaping else now
        self.time_ms, self.changed_at = time_ms, now
        if len(self._marks) >= MOST_MARKS:
            self._marks.pop()
        self._marks.append((now, time_ms))

    def is_catching_up(self, frontier: Times, now: int) -> bool:
        """Return whether a device sends history: it moves much faster than the clock, or has just caught up."""
        is_near = np.abs(frontier - self.time_ms) <= self._slack_ms
        is_known = (frontier != NEVER) & (self._credited != NEVER)
        gain = frontier - self._credited - (now - self._credited_at)
        has_caught_up = is_near & (self._credited < self.time_ms - self._slack_ms)
        is_credited = is_known & ((gain >= CREDIT_MS) | has_caught_up)
        # a device that keeps pace with the majority earns no credit
        is_renewed = (is_credited | is_near | (self._credited == NEVER)) & (frontier != NEVER)
        self._credited[is_renewed], self._credited_at[is_renewed] = frontier[is_renewed], now
        if is_credited.any():
            self._history_at = now
        return bool(is_credited.any())

    def is_held(self, next_row_ms: int, now: int) -> bool:
        """Return whether the oldest open row still waits for stored readings."""
        return next_row_ms <= self.gap_end_ms and now - self._history_at < HOLD_STEPS * self._step_ms

    def ripe_ms(self, now: int) -> int:
        """Return the time that the majority had reached `lateness_ms` ago."""
        while self._marks and self._marks[0][0] + self._lateness_ms <= now:
            self._ripe_ms = self._marks.popleft()[1]
        return self._ripe_ms

    def to_state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {
            "numbers": [getattr(self, name) for name in _NUMBERS],
            "marks": [list(each) for each in self._marks],
            "credited": self._credited.copy(),
            "credited_at": self._credited_at.copy(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], step_ms: int, lateness_ms: int) -> Self:
        """Return what `to_state` wrote."""
        majority = cls(step_ms, lateness_ms, len(state["credited"]))
        for name, value in zip(_NUMBERS, state["numbers"], strict=True):
            setattr(majority, name, value)
        majority._marks = deque((at, time_ms) for at, time_ms in state["marks"])
        majority._credited, majority._credited_at = state["credited"].copy(), state["credited_at"].copy()
        return majority


_NUMBERS = ("time_ms", "changed_at", "_ripe_ms", "_excess_ms", "gap_end_ms", "_history_at")
