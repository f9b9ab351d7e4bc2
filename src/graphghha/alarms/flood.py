"""How much an operator is told at once. Pure: no clock, no I/O.

Annunciations are metered: `burst` at once, then one per `refill_ms`, hence at most ten in any ten minutes. What has
to wait is not lost: it is journaled, shown, and told as soon as there is room, the strongest first and those of zones
nobody has been told about before the rest. So a new attack is heard in the midst of a flood.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

MINUTE_MS = 60_000


@dataclass(frozen=True, kw_only=True, slots=True)
class FloodRule:
    """ISA-18.2: a flood begins above ten alarms in ten minutes and ends below five."""

    window_ms: int = 10 * MINUTE_MS
    begins_above: int = 10
    ends_below: int = 5
    burst: int = 5
    refill_ms: int = 2 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something that wants to be told."""

    key: str
    zone: str | None
    strength: float


@dataclass(frozen=True, slots=True)
class FloodState:
    full_at_ms: int = 0  # when the meter will have forgotten everything told so far
    wanted_ms: tuple[int, ...] = ()  # times of what wanted telling in the last window
    told: Mapping[str, int] | None = None  # zone -> when it was last told about, in this flood or window
    waiting: tuple[Waiting, ...] = ()
    since_ms: int | None = None  # of the flood

    @property
    def is_flood(self) -> bool:
        return self.since_ms is not None

    def to_dict(self) -> dict[str, Any]:
        waiting = [[w.key, w.zone, w.strength] for w in self.waiting]
        return {
            "full_at_ms": self.full_at_ms,
            "wanted_ms": list(self.wanted_ms),
            "told": dict(self.told or {}),
            "waiting": waiting,
            "since_ms": self.since_ms,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        waiting = tuple(Waiting(*entry) for entry in data["waiting"])
        return cls(data["full_at_ms"], tuple(data["wanted_ms"]), dict(data["told"]), waiting, data["since_ms"])


@dataclass(frozen=True, slots=True)
class Told:
    """What may be told now, and whether a flood began or ended."""

    keys: tuple[str, ...]
    began: bool = False
    ended: bool = False


def meter(
    state: FloodState, now_ms: int, new: Iterable[Waiting], gone: Iterable[str], rule: FloodRule
) -> tuple[FloodState, Told]:
    """One step: `new` wants to be told, `gone` no longer does."""
    new, left = tuple(new), frozenset(gone)
    oldest = now_ms - rule.window_ms
    wanted = tuple(time for time in state.wanted_ms if time > oldest) + (now_ms,) * len(new)
    told = {zone: time for zone, time in (state.told or {}).items() if time > oldest}
    queue = sorted(
        (entry for entry in (*state.waiting, *new) if entry.key not in left),
        key=lambda entry: ((entry.zone or "") in told, -entry.strength, entry.key),
    )
    full_at_ms, keys = max(state.full_at_ms, now_ms), []
    while queue and full_at_ms - now_ms <= (rule.burst - 1) * rule.refill_ms:
        entry = queue.pop(0)
        keys.append(entry.key)
        told[entry.zone or ""] = now_ms
        full_at_ms += rule.refill_ms
    began = not state.is_flood and len(wanted) > rule.begins_above
    ended = state.is_flood and len(wanted) < rule.ends_below and not queue
    since_ms = now_ms if began else None if ended else state.since_ms
    return FloodState(full_at_ms, wanted, told, tuple(queue), since_ms), Told(tuple(keys), began, ended)
