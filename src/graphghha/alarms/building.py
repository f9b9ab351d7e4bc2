"""Incidents of many zones at once are one incident of the building. Pure: no clock, no I/O.

Nothing is held back to wait for other zones: an incident that was announced before enough zones had followed stays
announced and becomes a member like the rest.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from graphghha.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildingRule:
    """When incidents of zones are joined under one of the building."""

    zones: int = 3  # at least so many
    share: float = 1 / 3  # and at least this share of the building's zones
    within: int = 30  # steps in which they begin, and in which further ones join

    def __post_init__(self) -> None:
        if self.zones < 2 or self.within < 0 or not 0.0 < self.share <= 1.0:
            raise ConfigError(
                f"incident.building: {self.zones} zones, share {self.share} and within {self.within}; use two zones or "
                "more, a share above 0 and at most 1, and a time that is not negative"
            )

    def least(self, num_zones: int) -> int:
        """Return how many zones of a building it takes."""
        return max(self.zones, math.ceil(self.share * num_zones - 1e-9))


@dataclass(frozen=True, slots=True)
class Opening:
    """An open incident of one zone that belongs to no incident of the building yet."""

    key: str
    zone: str
    time_ms: int


def members_of_building(
    openings: Iterable[Opening], now_ms: int, within_ms: int, rule: BuildingRule, num_zones: int
) -> tuple[str, ...]:
    """Return the incidents that are one of the building now: those that began recently, if in enough zones."""
    recent = [each for each in openings if 0 <= now_ms - each.time_ms <= within_ms]
    is_enough = len({each.zone for each in recent}) >= rule.least(num_zones)
    return tuple(each.key for each in recent) if is_enough else ()


def newcomers(
    openings: Iterable[Opening], now_ms: int, within_ms: int, zones: Iterable[str], newest_ms: int
) -> tuple[str, ...]:
    """Return the incidents that join an open one of the building, which has these zones and grew last at `newest_ms`.

    Only zones that are not part of it can join, and only while it grows: what comes later may be another cause.
    """
    known = frozenset(zones)
    if now_ms - newest_ms > within_ms:
        return ()
    return tuple(each.key for each in openings if each.zone not in known and now_ms - each.time_ms <= within_ms)
