"""Which nodes lie near each other: hops in the graph, within one zone, found by a bounded search and remembered."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from graphghha.graph import CpsGraph, NeighborRule, neighborhood


class Proximity:
    """Hops between nodes, edges taken in both directions, never further than asked.

    Zones are kept apart: a path stays in one zone. A node that all zones share (outdoor air, a supervisory
    controller) may end a path but not carry it on, else it would make everything near everything.
    """

    def __init__(self, graph: CpsGraph) -> None:
        self.graph = graph
        self._neighbors = neighborhood(graph, NeighborRule(direction="both", self_loops=False))
        self._hops: dict[tuple[int, int], Mapping[int, int]] = {}
        self._rows: dict[str | None, NDArray[np.int64]] = {}

    def zone(self, node: int) -> str | None:
        return self.graph.zones[node]

    def hops_from(self, node: int, max_hops: int) -> Mapping[int, int]:
        """Every node within reach of one, with its distance; itself included at 0."""
        key = node, max_hops
        if key not in self._hops:
            self._hops[key] = self._search(node, max_hops)
        return self._hops[key]

    def _search(self, start: int, max_hops: int) -> dict[int, int]:
        zones = self.graph.zones
        hops, edge = {start: 0}, [start]
        for distance in range(1, max_hops + 1):
            following = []
            for node in edge:
                if zones[node] is None and node != start and self.has_zones:
                    continue
                for other in self._neighbors.of(node).tolist():
                    apart = zones[other] is not None and zones[node] is not None and zones[other] != zones[node]
                    if other not in hops and not apart:
                        hops[other] = distance
                        following.append(other)
            edge = following
        return hops

    @property
    def has_zones(self) -> bool:
        """A plant without copies is its own one zone, and none of its nodes is shared."""
        return self.zone_rows(None).size < self.graph.num_nodes

    def zone_rows(self, zone: str | None) -> NDArray[np.int64]:
        """The nodes of a zone, in graph order."""
        if zone not in self._rows:
            self._rows[zone] = np.flatnonzero([z == zone for z in self.graph.zones])
        return self._rows[zone]

    def candidates(self, zone: str | None) -> NDArray[np.int64]:
        """Nodes an incident of this zone may be about: the zone's own and the shared ones; all, for a shared root."""
        if zone is None:
            return np.arange(self.graph.num_nodes)
        return np.union1d(self.zone_rows(zone), self.zone_rows(None))
