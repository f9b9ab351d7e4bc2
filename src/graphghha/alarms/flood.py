"""Alarm flood control: how many incidents are annunciated to the operator at once. Pure: no clock, no I/O.

Annunciations are throttled to `burst` at once and then one per `refill_ms`, hence at most ten in any ten minutes. An
incident that has to wait is not lost: it is journaled, displayed, and annunciated as soon as there is room. Incidents
of zones that have not been announced recently come first, then the strongest. So the operator hears of a new attack
even in the middle of a flood.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

MINUTE_MS = 60_000


@dataclass(frozen=True, kw_only=True, slots=True)
class FloodRule:
    """The limits of ISA-18.2: a flood begins above ten alarms in ten minutes and ends below five."""

    window_ms: int = 10 * MINUTE_MS
    begins_above: int = 10
    ends_below: int = 5
    burst: int = 5
    refill_ms: int = 2 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class QueuedIncident:
    """An incident that waits to be annunciated."""

    key: str
    zone: str | None
    strength: float


@dataclass(frozen=True, slots=True)
class FloodState:
    """The throttle's memory between two steps."""

    full_at_ms: int = 0  # when the whole burst will be available again
    requested_ms: tuple[int, ...] = ()  # when incidents asked to be annunciated, within the last window
    announced: Mapping[str, int] | None = None  # zone -> time of its last annunciation within the last window
    queue: tuple[QueuedIncident, ...] = ()
    since_ms: int | None = None  # when the present flood began

    @property
    def is_flood(self) -> bool:
        return self.since_ms is not None

    def to_dict(self) -> dict[str, Any]:
        """Return the state as it is kept in a checkpoint."""
        return {
            "full_at_ms": self.full_at_ms,
            "wanted_ms": list(self.requested_ms),
            "told": dict(self.announced or {}),
            "waiting": [[entry.key, entry.zone, entry.strength] for entry in self.queue],
            "since_ms": self.since_ms,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the state that `to_dict` wrote."""
        queue = tuple(QueuedIncident(*entry) for entry in data["waiting"])
        return cls(data["full_at_ms"], tuple(data["wanted_ms"]), dict(data["told"]), queue, data["since_ms"])


@dataclass(frozen=True, slots=True)
class ThrottleResult:
    """Which incidents may be annunciated now, and whether a flood began or ended."""

    keys: tuple[str, ...]
    began: bool = False
    ended: bool = False


def throttle(
    state: FloodState, now_ms: int, new: Iterable[QueuedIncident], gone: Iterable[str], rule: FloodRule
) -> tuple[FloodState, ThrottleResult]:
    """Advance by one step: queue the `new` incidents, drop those that are `gone`, and release what the rule allows."""
    new, dropped = tuple(new), frozenset(gone)
    oldest = now_ms - rule.window_ms
    requested = tuple(time for time in state.requested_ms if time > oldest) + (now_ms,) * len(new)
    announced = {zone: time for zone, time in (state.announced or {}).items() if time > oldest}
    queue = sorted(
        (entry for entry in (*state.queue, *new) if entry.key not in dropped),
        key=lambda entry: ((entry.zone or "") in announced, -entry.strength, entry.key),
    )
    full_at_ms, keys = max(state.full_at_ms, now_ms), []
    while queue and full_at_ms - now_ms <= (rule.burst - 1) * rule.refill_ms:
        entry = queue.pop(0)
        keys.append(entry.key)
        announced[entry.zone or ""] = now_ms
        full_at_ms += rule.refill_ms
    began = not state.is_flood and len(requested) > rule.begins_above
    ended = state.is_flood and len(requested) < rule.ends_below and not queue
    since_ms = now_ms if began else None if ended else state.since_ms
    after = FloodState(full_at_ms, requested, announced, tuple(queue), since_ms)
    return after, ThrottleResult(tuple(keys), began, ended)
