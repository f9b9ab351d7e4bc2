"""Whether a site as a whole sends readings. Reads no clock, no I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from graphghha._util.times import iso
from graphghha.alarms import Event
from graphghha.monitor.row_clock import RowClock

REGULAR_GAPS = 3  # of one length, with hardly a row between them, are the interval of a slow source
MOST_ROWS = 3  # heard between two of them: devices do not send in the same minute
LIKE_MS = 120_000  # by which they may differ
PROMPT_ROWS = 30  # heard without a gap end a slow source


def slow_source_advice(every_s: float) -> str:
    """Return what to do about a source whose points send only this often, in the keys of a settings file."""
    return (
        f"its nodes are unknown most of the time; have them sent more often, or set stale_after_s = {1.5 * every_s:g} "
        f"and lost_after_s = {2 * every_s:g} of the site, which costs accuracy"
    )


@dataclass(slots=True)
class Silence:
    """The silence of one site, by its rows and by the receiver's clock.

    A source that sends less often than `lost_after_ms` is lost and found a few times, then recognized as slow: it is
    lost from then on if two of its own intervals pass without a reading. A new process recognizes it again, because its
    settings may have changed.
    """

    lost_after_ms: int
    settle_rows: int  # rows not to be scored after a gap
    heard_ms: int | None = None
    is_lost: bool = False
    settling: int = 0  # rows not to be scored yet after a loss
    since_ms: int | None = None  # the newest row with readings when the site was lost
    reason: str = ""  # why nothing of what arrives can be used, if anything does
    every_ms: int | None = None  # interval of a slow source
    gaps_ms: list[int] = field(default_factory=list)  # the newest ones, while they are alike
    rows_heard: int = 0  # since the last gap

    @property
    def patience_ms(self) -> int:
        """How long the site may be silent before it is lost."""
        return max(self.lost_after_ms, 2 * (self.every_ms or 0))

    @property
    def slowness(self) -> str:
        """What is known about a slow source and can be done about it, in a sentence; empty if the source is not."""
        if self.every_ms is None:
            return ""
        every_s = self.every_ms / 1000
        return f"its readings come every {every_s / 60:g} min: {slow_source_advice(every_s)}"

    def listen(self, time_ms: int, is_heard: bool) -> tuple[bool, list[Event]]:
        """Take a closed row; return whether it can be scored, and events."""
        events: list[Event] = []
        before_ms = self.heard_ms if self.heard_ms is not None else time_ms
        is_gap = time_ms - before_ms >= self.patience_ms
        if is_heard:
            rows_before, is_late = self.rows_heard, time_ms - before_ms >= self.lost_after_ms
            self.rows_heard = 1 if is_late else rows_before + 1
            if self.is_lost and time_ms > (self.since_ms or 0):
                gap = {"from": iso(before_ms), "to": iso(time_ms), "minutes": (time_ms - before_ms) / 60_000}
                events.append(Event(time_ms, "source.found", gap))
                events += self._recognize_interval(time_ms, time_ms - before_ms, rows_before)
                self.is_lost, self.reason = False, ""
                self.settling = self.settle_rows if is_gap else self.settling  # otherwise it was stored
            elif self.every_ms is not None and self.rows_heard >= PROMPT_ROWS:
                self.every_ms, self.gaps_ms = None, []
                events.append(Event(time_ms, "source.prompt", {}))
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
        if self.is_lost or newest_ms is None or clock.silent_ms < self.patience_ms:
            return []
        self.is_lost, self.since_ms = True, -(-newest_ms // step_ms) * step_ms
        body: dict[str, Any] = {"since": iso(self.since_ms), "priority": "high"}
        if clock.ignored:
            self.reason = f"{clock.ignored} readings arrived and none of them has a new and plausible time"
            body["reason"] = self.reason
        return [Event(self.since_ms + self.patience_ms, "source.lost", body)]

    def _recognize_interval(self, time_ms: int, gap_ms: int, rows_before: int) -> list[Event]:
        """Take a gap that has just ended; report a source that is slow by nature once gaps show it."""
        is_like = rows_before <= MOST_ROWS and all(abs(gap - gap_ms) <= LIKE_MS for gap in self.gaps_ms)
        self.gaps_ms = [*self.gaps_ms, gap_ms] if is_like else [gap_ms]
        if len(self.gaps_ms) < REGULAR_GAPS or self.every_ms is not None:
            return []
        self.every_ms = sorted(self.gaps_ms)[REGULAR_GAPS // 2]
        body = {"every_s": self.every_ms / 1000, "reason": self.slowness, "priority": "high"}
        return [Event(time_ms, "source.slow", body)]

    def to_state(self) -> list[Any]:
        """Return the state for a checkpoint."""
        return [self.heard_ms, self.is_lost, self.settling, self.since_ms]

    @classmethod
    def from_state(cls, state: Sequence[Any], lost_after_ms: int, settle_rows: int) -> Self:
        """Return what `to_state` wrote."""
        return cls(lost_after_ms, settle_rows, *state)
