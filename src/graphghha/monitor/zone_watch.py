"""Zones that were seen and no longer are: silent, marked bad, flapping, or heard only now and then. No clock, no I/O.

A zone is seen in a row if at least half of its points are fresh, of those that ever were. Only closed rows count, so
the same rows give the same events.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha._util.times import iso
from graphghha.alarms import Event

BLIND_WEIGHT = 2  # of a row in which a zone is not seen
RAISE_AT, HIGHEST = 10, 30  # five blind rows in a row raise the alarm; thirty rows in which it is seen end any
# One short gap is not reported, but a device that makes them again and again keeps its nodes unknown too often to be
# judged: three within half an hour raise the alarm (or more, if they are rarer), two hours without any end it.
GAP_WEIGHT, GAPS_RAISE_AT, GAPS_HIGHEST = 30, 60, 120


@dataclass(frozen=True, slots=True)
class ZoneChange:
    """A zone became blind, or is seen again, after a row."""

    row: int  # number in the rows that were taken
    zone: str
    is_blind: bool
    since_ms: int  # the last row in which it was seen, before it became blind or the first of its gaps

    def event(self, time_ms: int) -> Event:
        """Return the change as an event of that time."""
        body: dict[str, Any] = {"zone": self.zone, "since": iso(self.since_ms)}
        if self.is_blind:
            return Event(time_ms, "zone.blind", body | {"priority": "high"})
        return Event(time_ms, "zone.seen", body)


class ZoneWatch:
    """Counts the rows in which each zone is not seen. Arrays are [z]."""

    def __init__(self, zone_of_point: Sequence[str]) -> None:
        self.zones = tuple(dict.fromkeys(zone_of_point))
        numbers = {zone: number for number, zone in enumerate(self.zones)}
        zone_of = np.array([numbers[zone] for zone in zone_of_point], np.int64)
        self._by_zone = np.argsort(zone_of, kind="stable")  # points, zone after zone
        self._first = np.searchsorted(zone_of[self._by_zone], np.arange(len(self.zones)))
        self._was_fresh = np.zeros(len(zone_of), np.bool_)  # [p] whether a point ever was
        self._score = np.zeros(len(self.zones), np.int64)
        self._seen_ms = np.full(len(self.zones), -1)  # newest row in which it was seen, -1 before the first
        self._since_ms = np.full(len(self.zones), -1)
        self._gaps = np.zeros(len(self.zones), np.int64)  # weight of the gaps of the last hours
        self._was_seen = np.ones(len(self.zones), np.bool_)  # in the last row
        self.is_blind = np.zeros(len(self.zones), np.bool_)

    def take(self, times_ms: NDArray[np.int64], fresh: NDArray[np.bool_]) -> list[ZoneChange]:
        """Take closed rows; return the zones that changed. Rows without any fresh reading are the whole site's loss."""
        if not len(times_ms):
            return []
        ever = np.logical_or.accumulate(np.concatenate([self._was_fresh[None], fresh]))[1:]
        self._was_fresh = ever[-1].copy()
        count, most = (
            np.add.reduceat(each[:, self._by_zone], self._first, axis=1, dtype=int) for each in (fresh, ever)
        )
        seen = (2 * count >= most) & (count > 0)
        changes = []
        for row in np.flatnonzero(fresh.any(axis=1)).tolist():
            if seen[row].all() and not (self._score.any() or self._gaps.any()):
                self._seen_ms[:], self._was_seen[:] = times_ms[row], True  # the usual case
                continue
            changes += self._count(row, int(times_ms[row]), seen[row])
        return changes

    def _count(self, row: int, time_ms: int, seen: NDArray[np.bool_]) -> list[ZoneChange]:
        was_seen = self._seen_ms >= 0
        begins = ~seen & (self._score == 0) & (self._gaps == 0)
        self._since_ms[begins] = self._seen_ms[begins]
        self._score = np.clip(self._score + np.where(seen, -1, BLIND_WEIGHT), 0, HIGHEST) * was_seen
        is_gap = was_seen & ~seen & self._was_seen
        self._gaps = np.clip(self._gaps + np.where(is_gap, GAP_WEIGHT, -1), 0, GAPS_HIGHEST)
        self._was_seen = seen.copy()
        self._seen_ms[seen] = time_ms
        is_bad = (self._score >= RAISE_AT) | (self._gaps >= GAPS_RAISE_AT)
        turned = (~self.is_blind & is_bad) | (self.is_blind & (self._score == 0) & (self._gaps == 0))
        self.is_blind ^= turned
        return [
            ZoneChange(row, self.zones[zone], bool(self.is_blind[zone]), int(self._since_ms[zone]))
            for zone in np.flatnonzero(turned).tolist()
        ]

    def to_state(self) -> list[Any]:
        """Return the state for a checkpoint."""
        return [getattr(self, name).copy() for name in _ARRAYS]

    @classmethod
    def from_state(cls, state: Mapping[str, Any], zone_of_point: Sequence[str]) -> Self:
        """Return the watch of a site's state; a new one if version 0.1.0 wrote it."""
        watch = cls(zone_of_point)
        for name, array in zip(_ARRAYS, state.get("zones", ()), strict=False):
            setattr(watch, name, array.copy())
        return watch


_ARRAYS = ("_was_fresh", "_score", "_seen_ms", "_since_ms", "is_blind", "_gaps", "_was_seen")
