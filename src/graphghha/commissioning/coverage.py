"""What the chosen days of a site really hold: gaps, silent zones and rejected readings would make a model of nothing.

d days, r rows, p points, Z zones, S signals.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from graphghha.commissioning.commission import LEAST_DAYS
from graphghha.errors import DataError
from graphghha.graph import CpsGraph
from graphghha.windows.multiscale import DAY

LEAST_POINTS = 8  # of a zone; with fewer there is next to nothing to compare
HELD = 0.5  # of the minutes of a day with usable readings, and of the zones that a minute has them of
DAY_MS = DAY * 1000
NAMED = 5  # zones or points in a sentence


class Coverage:
    """Counts what can be used of a site's rows, day by day, zone by zone and point by point."""

    def __init__(self, graph: CpsGraph, template: CpsGraph, *, first_ms: int, days: int, step_ms: int) -> None:
        self._zones = graph.zone_names or ("",)
        self._signals = template.point_signals
        self._first_ms, self._rows_per_day = first_ms, DAY_MS // step_ms
        self._by_zone = np.zeros((days, len(self._zones)), np.int64)  # [d Z] rows in which a zone has usable readings
        self._together = np.zeros(days, np.int64)  # [d] rows in which most zones have
        self._heard = np.zeros((len(self._zones), len(self._signals)), np.bool_)  # [Z S]

    def push(self, times_ms: NDArray[np.int64], fresh: NDArray[np.bool_]) -> None:
        """Count rows [r p] of the chosen days."""
        fresh = fresh.reshape(len(times_ms), *self._heard.shape)
        zones = fresh.any(axis=2)  # [r Z]
        day = (times_ms - self._first_ms) // DAY_MS
        np.add.at(self._by_zone, day, zones)
        np.add.at(self._together, day, zones.mean(axis=1) >= HELD)
        self._heard |= fresh.any(axis=0)

    @property
    def days(self) -> int:
        """The days with usable readings of most zones for at least half of their minutes."""
        return int(self._is_held.sum())

    @property
    def short_zones(self) -> dict[str, int]:
        """The zones that were heard on too few days to learn what is normal in them, and on how many."""
        days = (self._by_zone >= HELD * self._rows_per_day).sum(axis=0).tolist()
        return {zone: count for zone, count in zip(self._zones, days, strict=True) if count < LEAST_DAYS}

    def require_enough(self, where: str, out_of_limits: Mapping[str, int]) -> None:
        """Raise unless every zone was heard, and enough points on enough days; `out_of_limits` are rejected readings.

        `where` names the data in the error.
        """
        rejected = sum(out_of_limits.values())
        why = f" ({rejected:,} readings of {len(out_of_limits)} points are out of limits)" if rejected else ""
        points = self._heard.sum(axis=1)  # [Z]
        if not points.any():
            raise DataError(
                f"{where}: has no usable reading in the chosen days{why}; check names and units of the data, or choose "
                "other days"
            )
        if len(silent := [zone for zone, count in zip(self._zones, points.tolist(), strict=True) if not count]):
            raise DataError(
                f"{where}: {_listed(silent)} of {len(self._zones)} zones {_are(silent)} never heard in "
                f"the chosen days{why}; choose days with readings of every zone, or leave such zones out"
            )
        least = min(LEAST_POINTS, len(self._signals))
        if points.max() < least:
            best = int(points.argmax())
            names = [name for name, heard in zip(self._signals, self._heard[best], strict=True) if heard]
            raise DataError(
                f"{where}: only {len(names)} of the {len(self._signals)} points of a zone {_are(names)} ever usable, "
                f"{_listed(names)}{why}, and a zone with fewer than {least} cannot be judged; give more points, or "
                "correct names and units"
            )
        if self.days < LEAST_DAYS:
            raise DataError(
                f"{where}: only {self.days} of the {len(self._is_held)} chosen days hold usable readings in half of "
                f"their minutes{self._longest_gap()}, and fewer than {LEAST_DAYS} make a model worse than the shipped "
                "one; choose days without a gap"
            )

    @property
    def _is_held(self) -> NDArray[np.bool_]:
        return np.asarray(self._together >= HELD * self._rows_per_day)  # [d]

    def _longest_gap(self) -> str:
        """Return from when to when the longest run of days lacks readings, in words."""
        edges = np.flatnonzero(np.diff(np.concatenate([[True], self._is_held, [True]]).astype(np.int8)))
        if not len(edges):
            return ""
        runs = edges.reshape(-1, 2)  # first day without, next day with
        begin, end = runs[(runs[:, 1] - runs[:, 0]).argmax()].tolist()
        first, last = (datetime.fromtimestamp(self._first_ms / 1000 + day * DAY, UTC) for day in (begin, end))
        return f" (gap from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC)"


def _are(names: list[str]) -> str:
    return "was" if len(names) == 1 else "were"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
