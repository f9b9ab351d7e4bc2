"""Whether a site as a whole sends readings. Reads no clock, no I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from graphghha._util.times import iso
from graphghha.alarms import Event
from graphghha.monitor.row_clock import RowClock


@dataclass(slots=True)
class Silence:
    """The silence of one site, by its rows and by the receiver's clock."""

    lost_after_ms: int
    settle_rows: int  # rows not to be scored after a gap
    heard_ms: int | None = None
    is_lost: bool = False
    settling: int = 0  # rows not to be scored yet after a loss
    since_ms: int | None = None  # the newest row with readings when the site was lost
    reason: str = ""  # why nothing of what arrives can be used, if anything does

    def listen(self, time_ms: int, is_heard: bool) -> tuple[bool, list[Event]]:
        """Take a closed row; return whether it can be scored, and events."""
        events = []
        before_ms = self.heard_ms if self.heard_ms is not None else time_ms
        is_gap = time_ms - before_ms >= self.lost_after_ms
        if is_heard:
            if self.is_lost and time_ms > (self.since_ms or 0):
                gap = {"from": iso(before_ms), "to": iso(time_ms), "minutes": (time_ms - before_ms) / 60_000}
                events.append(Event(time_ms, "source.found", gap))
                self.is_lost, self.reason = False, ""
                self.settling = self.settle_rows if is_gap else self.settling  # otherwise it was stored
            self.heard_ms = time_ms
        elif is_gap and not self.is_lost:
            self.is_lost, self.since_ms = True, before_ms
            events.append(Event(time_ms, "source.lost", {"since": iso(before_ms), "priority": "high"}))
        if self.settling:
            self.settling -= 1
            return False, events
        return is_heard or not is_gap, events

    def report(self, clock: RowClock) -> list[Event]:
        """Report a site that is silent by the receiver's clock; its rows stay open for what was stored meanwhile."""
        newest_ms, step_ms = clock.majority_ms, clock.config.step_ms
        if self.is_lost or newest_ms is None or clock.silent_ms < self.lost_after_ms:
            return []
        self.is_lost, self.since_ms = True, -(-newest_ms // step_ms) * step_ms
        body: dict[str, Any] = {"since": iso(self.since_ms), "priority": "high"}
        if clock.ignored:
            self.reason = f"{clock.ignored} readings arrived and none of them has a new and plausible time"
            body["reason"] = self.reason
        return [Event(self.since_ms + self.lost_after_ms, "source.lost", body)]

    def to_state(self) -> list[Any]:
        """Return the state for a checkpoint."""
        return [self.heard_ms, self.is_lost, self.settling, self.since_ms]

    @classmethod
    def from_state(cls, state: Sequence[Any], lost_after_ms: int, settle_rows: int) -> Self:
        """Return what `to_state` wrote."""
        return cls(lost_after_ms, settle_rows, *state)
