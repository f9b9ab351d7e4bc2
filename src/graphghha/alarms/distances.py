"""Distances between nodes: hops in the graph within one zone, found by a bounded search and cached."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from graphghha.graph import CpsGraph, NeighborRule, neighborhood


class Proximity:
    """The number of hops between nodes, with edges taken in both directions.

    A path stays within one zone. A node that all zones share (outdoor air, a supervisory controller) may end a path
    but not continue it, because otherwise every node would be near every other.
    """

    def __init__(self, graph: CpsGraph) -> None:
        self.graph = graph
        self._neighbors = neighborhood(graph, NeighborRule(direction="both", self_loops=False))
        self._hops: dict[tuple[int, int], Mapping[int, int]] = {}
        self._rows: dict[str | None, NDArray[np.int64]] = {}

    def zone(self, node: int) -> str | None:
        """Return the zone of a node; None if all zones share it."""
        return self.graph.zones[node]

    def hops_from(self, node: int, max_hops: int) -> Mapping[int, int]:
        """Return every node within `max_hops` of a node, with its distance; the node itself is included at 0."""
        key = node, max_hops
        if key not in self._hops:
            self._hops[key] = self._search(node, max_hops)
        return self._hops[key]

    def _search(self, start: int, max_hops: int) -> dict[int, int]:
        zones = self.graph.zones
        hops, frontier = {start: 0}, [start]
        for distance in range(1, max_hops + 1):
            if not frontier:
                break
            following = []
            for node in frontier:
                if zones[node] is None and node != start and self.has_zones:
                    continue
                for other in self._neighbors.neighbors(node).tolist():
                    is_apart = zones[other] is not None and zones[node] is not None and zones[other] != zones[node]
                    if other not in hops and not is_apart:
                        hops[other] = distance
                        following.append(other)
            frontier = following
        return hops

    @property
    def has_zones(self) -> bool:
        """Return whether the graph has named zones; a plant without copies is one zone and shares no node."""
        return self.zone_rows(None).size < self.graph.num_nodes

    def zone_rows(self, zone: str | None) -> NDArray[np.int64]:
        """Return the nodes of a zone, in graph order."""
        if zone not in self._rows:
            self._rows[zone] = np.flatnonzero([z == zone for z in self.graph.zones])
        return self._rows[zone]

    def candidates(self, zone: str | None) -> NDArray[np.int64]:
        """Return the nodes an incident of this zone may concern: its own and the shared ones; all if zone is None."""
        if zone is None:
            return np.arange(self.graph.num_nodes)
        return np.union1d(self.zone_rows(zone), self.zone_rows(None))
