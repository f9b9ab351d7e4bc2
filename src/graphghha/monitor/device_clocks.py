"""The clocks of a site's devices, compared with the receiver's clock and with each other. Reads no clock, no I/O.

A device (a zone) states the times of its readings. Its offset is the stated time minus the time of reception. The
offset of the site is the median of its devices' offsets, so no single device can move it. A device whose offset stays
away from the site's has a wrong clock; one that lags behind and catches up sends what it has stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]  # [d] ms, NEVER where a device has stated none
NEVER = -(2**62)
LONGEST_PAUSE_MS = 10_000  # between two batches; a longer pause was the receiver's, and devices are not blamed for it
TIED_STEPS = 3  # the site's offset stood still for so long: stated time runs as fast as the receiver's clock
ABSENT_STEPS = 3  # a device that is silent for so long, while others report, is not waited for
BAD_MARK, BAD_MARKS = 2, 7  # four bad observations in a row, at least half a step apart, and a clock is wrong
GOOD_MARKS = 5  # good observations in a row, and it is right again
DRIFT_STEPS = 10  # observed for so long before a drift is stated
CATCH_UP_SPEED = 2  # times the receiver's clock: slower is a wrong clock, faster is history being sent


@dataclass(frozen=True, kw_only=True, slots=True)
class Tolerance:
    """How far a device's clock may be off: `ahead_ms` and `behind_ms` of the other clocks."""

    step_ms: int
    ahead_ms: int
    behind_ms: int

    @classmethod
    def of(cls, step_ms: int, lateness_ms: int) -> Self:
        """Return what the rows tolerate: a device further behind misses its rows, one further ahead a later row."""
        return cls(step_ms=step_ms, ahead_ms=max(step_ms, lateness_ms), behind_ms=max(step_ms // 2, lateness_ms))


@dataclass(frozen=True, slots=True)
class ClockChange:
    """A device's clock turned out to be wrong, or is right again."""

    device: str
    offset_ms: int  # against the site's clock, positive: ahead
    is_wrong: bool
    is_stuck: bool = False  # it hardly moves
    drift: float | None = None  # by how much it runs faster than the site's clock, as a share; None if unknown

    @property
    def kind(self) -> str:
        """Return how the clock is wrong: `ahead`, `behind` or `stuck`."""
        return "stuck" if self.is_stuck else "ahead" if self.offset_ms > 0 else "behind"


@dataclass(slots=True)
class Drift:
    """How the offsets [d] of the devices against the site have changed since they last jumped."""

    since: Times  # time of reception and offset of the first observation since then
    first: Times
    last_at: Times  # and of the last one
    last: Times

    @classmethod
    def start(cls, count: int) -> Self:
        """Return the drift of devices of which nothing is known."""
        return cls(*(np.full(count, NEVER) for _ in range(4)))

    def take(self, due: NDArray[np.bool_], received_ms: int, off: Times, tolerance: Tolerance) -> None:
        """Take observations of the devices that are due."""
        is_jump = due & ((self.last == NEVER) | (np.abs(off - self.last) > tolerance.behind_ms))
        self.since[is_jump], self.first[is_jump] = received_ms, off[is_jump]
        self.last_at[due], self.last[due] = received_ms, off[due]

    def rate(self, device: int, tolerance: Tolerance) -> float | None:
        """Return how much faster than the site's clock a clock runs; None if delays could look like that."""
        elapsed, gained = self.last_at[device] - self.since[device], self.last[device] - self.first[device]
        is_clear = elapsed >= DRIFT_STEPS * tolerance.step_ms and 2 * abs(gained) >= tolerance.behind_ms
        return float(gained / elapsed) if is_clear else None


class DeviceClocks:
    """What is known of each device's clock. Arrays are [d], one entry per device."""

    def __init__(self, names: Sequence[str], tolerance: Tolerance) -> None:
        self.names, self.tolerance = tuple(names), tolerance
        count = len(self.names)
        self.frontier = np.full(count, NEVER)  # newest believed time
        self.offset = np.full(count, NEVER)  # stated time minus time of reception, when last believed
        self.is_wrong = np.zeros(count, np.bool_)
        self._heard = np.full(count, NEVER)  # running time when last believed
        self._marked_at = np.full(count, NEVER)  # time of reception and stated time of the last observation
        self._marked = np.full(count, NEVER)
        self._right_at = np.full(count, NEVER)  # time of reception of its last right time
        self._drift = Drift.start(count)
        self._marks = np.zeros(count, np.int64)  # bad marks of a right clock, good marks of a wrong one
        self.running_ms = 0  # receiver's time without its own pauses
        self.received_ms: int | None = None
        self.site_offset_ms: int | None = None
        self._steady_offset_ms = NEVER  # the offset that the site has kept since `_tied_from`
        self._tied_from = 0
        self._resumed = 0  # running time since which silence of single devices counts
        self._began = NEVER  # running time of the first believed reading
        self._newest_heard = NEVER  # running time of the newest believed reading
        self.changes: list[ClockChange] = []  # not reported yet

    @property
    def is_tied(self) -> bool:
        """Return whether stated time runs with the receiver's clock; not so in a backlog or a replay."""
        return self.running_ms - self._tied_from >= TIED_STEPS * self.tolerance.step_ms

    @property
    def is_present(self) -> NDArray[np.bool_]:
        """Return which devices were heard lately, not counting the time in which none was.

        At first all devices count as present: those that happen to report first are not a majority.
        """
        since = self.running_ms - ABSENT_STEPS * self.tolerance.step_ms - self.tolerance.behind_ms
        is_heard = np.maximum(self._heard, self._resumed) >= since
        return np.where(self._heard == NEVER, self._began >= since, is_heard)

    @property
    def is_stalled(self) -> NDArray[np.bool_]:
        """Return which devices have not stated a newer time for more than a row."""
        return self.running_ms - self._heard > self.tolerance.step_ms + self.tolerance.behind_ms

    @property
    def voters(self) -> NDArray[np.bool_]:
        """Return the devices whose times close rows: present, with a right clock."""
        present = self.is_present & ~self.is_wrong
        return present if present.any() else self._heard != NEVER

    def pass_time(self, received_ms: int) -> None:
        """Note the receiver's time. A step of its clock, or a pause of the process, counts as a short while."""
        if self.received_ms is not None:
            self.running_ms += min(max(received_ms - self.received_ms, 0), LONGEST_PAUSE_MS)
        self.received_ms = received_ms

    def note_history(self) -> None:
        """Note that stored readings arrive: silence of the other devices counts from now on."""
        self._resumed = self.running_ms

    def believe(self, newest: Times) -> None:
        """Take over the newest times of readings that fit into rows."""
        assert self.received_ms is not None
        is_new = newest > self.frontier
        if not is_new.any():
            return
        if self._began == NEVER:
            self._began = self.running_ms
        if self.running_ms - self._newest_heard > self.tolerance.step_ms + self.tolerance.behind_ms:
            self._resumed = self.running_ms
        self.frontier[is_new] = newest[is_new]
        self.offset[is_new] = newest[is_new] - self.received_ms
        self._heard[is_new] = self._newest_heard = self.running_ms
        self._find_site_offset()

    def closest(self, devices: NDArray[np.integer[Any]], times_ms: Times) -> Times:
        """Return [d] the time that each device states, of several the one that fits the site's clock best."""
        assert self.received_ms is not None
        off = np.abs(times_ms - self.received_ms - (self.site_offset_ms or 0))
        order = np.argsort(-off, kind="stable")
        stated = np.full(len(self.names), NEVER)
        stated[devices[order]] = times_ms[order]  # the last assignment holds
        return stated

    def observe(self, newest: Times) -> None:
        """Compare the stated times, believed or not, with the site's clock, and mark the devices."""
        assert self.received_ms is not None
        if self.site_offset_ms is None:
            return
        off = newest - self.received_ms - self.site_offset_ms
        is_right = (off <= self.tolerance.ahead_ms) & (off >= -self.tolerance.behind_ms)
        self._right_at[is_right] = self.received_ms
        due = (newest != NEVER) & (self.received_ms - self._marked_at >= self.tolerance.step_ms // 2)
        if not due.any():
            return
        is_first = self._marked_at == NEVER
        elapsed = np.where(is_first, 0, self.received_ms - self._marked_at)
        progress = np.where(is_first, 0, newest - self._marked)
        self._marked_at[due], self._marked[due] = self.received_ms, newest[due]
        if not self.is_tied:
            return
        self._drift.take(due, self.received_ms, off, self.tolerance)
        is_slow = progress < CATCH_UP_SPEED * elapsed
        # old times beside right ones are readings that were sent again
        is_repeated = self.received_ms - self._right_at <= self.tolerance.step_ms + self.tolerance.behind_ms
        is_behind = (off < -self.tolerance.behind_ms) & is_slow & ~is_repeated
        is_bad = due & ~is_first & ((off > self.tolerance.ahead_ms) | is_behind)
        is_good = due & is_right
        adds, resets = (is_bad & ~self.is_wrong) | (is_good & self.is_wrong), is_bad & self.is_wrong
        self._marks[adds] += np.where(self.is_wrong, 1, BAD_MARK)[adds]
        self._marks[resets] = 0
        eases = is_good & ~self.is_wrong
        self._marks[eases] = np.maximum(self._marks[eases] - 1, 0)
        turned = np.flatnonzero(adds & (self._marks >= np.where(self.is_wrong, GOOD_MARKS, BAD_MARKS)))
        for device in turned.tolist():
            self.is_wrong[device] = not self.is_wrong[device]
            self._marks[device] = 0
            is_stuck = bool(2 * progress[device] < elapsed[device])
            wrong = bool(self.is_wrong[device])
            drift = self._drift.rate(device, self.tolerance) if wrong and not is_stuck else None
            self.changes.append(ClockChange(self.names[device], int(off[device]), wrong, wrong and is_stuck, drift))

    def majority_ms(self) -> int | None:
        """Return the time that more than half of the voters have reached."""
        reached = np.sort(self.frontier[self.voters])[::-1]
        return int(reached[len(reached) // 2]) if len(reached) else None

    def slowest_ms(self) -> int | None:
        """Return the time that all voters have reached."""
        reached = self.frontier[self.voters]
        return int(reached.min()) if len(reached) else None

    def newest_ms(self) -> int | None:
        """Return the newest time of the devices that are not ahead of the site."""
        if self.site_offset_ms is None:
            return None
        is_ahead = self.offset > self.site_offset_ms + self.tolerance.ahead_ms
        reached = self.frontier[self.voters & ~is_ahead]
        return int(reached.max()) if len(reached) else self.majority_ms()

    def _find_site_offset(self) -> None:
        known = self.offset[self.is_present & ~self.is_wrong & (self.offset != NEVER)]
        if not len(known):
            known = self.offset[self.offset != NEVER]
        offset = middle_offset(known, self.site_offset_ms or 0)
        if offset > self._steady_offset_ms + self.tolerance.ahead_ms:
            self._steady_offset_ms, self._tied_from = offset, self.running_ms
        self.site_offset_ms = offset

    def to_state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        changes = [list(astuple(each)) for each in self.changes]
        arrays = {name: getattr(self, name).copy() for name in _ARRAYS}
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        return {**arrays, **numbers, "changes": changes, "drift": [each.copy() for each in astuple(self._drift)]}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], names: Sequence[str], tolerance: Tolerance) -> Self:
        """Return the clocks that `to_state` wrote."""
        clocks = cls(names, tolerance)
        for name in _ARRAYS:
            setattr(clocks, name, state[name].copy())
        for name in _NUMBERS:
            setattr(clocks, name, state[name])
        clocks.changes = [ClockChange(*each) for each in state["changes"]]
        if "drift" in state:
            clocks._drift = Drift(*(each.copy() for each in state["drift"]))
        return clocks


_ARRAYS = ("frontier", "offset", "is_wrong", "_heard", "_marked_at", "_marked", "_right_at", "_marks")
_NUMBERS = (
    "running_ms",
    "received_ms",
    "site_offset_ms",
    "_steady_offset_ms",
    "_tied_from",
    "_resumed",
    "_began",
    "_newest_heard",
)


def middle_offset(offsets: Times, near: int) -> int:
    """Return the median; of an even number of offsets, the middle one that is nearer to `near`."""
    ordered = np.sort(offsets)
    middle = ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]
    return int(middle[np.argmin(np.abs(middle - near))])
