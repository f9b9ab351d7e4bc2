"""The typical zone of a building: of every signal, the median over the zones that read it.

Zones are compared with each other, so that weather and schedules do not matter. What all zones do at once cancels in
that comparison; it is seen when the typical zone is judged like a building that has no other zones.

r rows, p points of the building, Z zones, S signals of a zone.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.graph import CpsGraph
from graphghha.windows.features import zone_layout

Bools = NDArray[np.bool_]

LEAST_ZONES = 6  # with fewer zones an attack on one of them moves the median, too
LEAST_SHARE = 0.5  # of the zones must read a signal


class TypicalZone:
    """Reads the typical zone from readings of a building."""

    def __init__(self, graph: CpsGraph, template: CpsGraph) -> None:
        roles = [template.roles[node] for node in template.signal_nodes]
        self._zones, self._order = zone_layout(graph, roles)

    @classmethod
    def of(cls, graph: CpsGraph, template: CpsGraph) -> "TypicalZone | None":
        """Return the typical zone of a building, None if it has too few zones for one."""
        return cls(graph, template) if len(graph.zone_names) >= LEAST_ZONES else None

    def __call__(self, values: NDArray[Any], fresh: Bools) -> tuple[NDArray[Any], Bools]:
        """Return readings [r S] and their freshness from those of the building [r p]."""
        shape = (len(values), self._zones, len(self._order) // self._zones)
        known = (fresh & np.isfinite(values))[:, self._order].reshape(shape)
        ascending = np.sort(np.where(known, values[:, self._order].reshape(shape), np.inf), axis=1)
        count = known.sum(axis=1, keepdims=True)  # [r 1 S]
        places = (np.maximum(count - 1, 0) // 2, np.minimum(count // 2, self._zones - 1))
        low, high = (np.take_along_axis(ascending, place, axis=1)[:, 0] for place in places)
        is_known: Bools = count[:, 0] >= LEAST_SHARE * self._zones
        return np.where(is_known, 0.5 * (low + high), np.nan), is_known
