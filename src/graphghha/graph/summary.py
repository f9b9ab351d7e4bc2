"""What a graph holds, in the words and figures a person asks for first."""

from typing import Any

import numpy as np

from graphghha.graph.cps import EDGE_KINDS, NODE_KINDS, CpsGraph
from graphghha.graph.neighbors import NeighborRule, neighborhood


def summarize(graph: CpsGraph) -> dict[str, Any]:
    """Counts, degrees, and the nodes worth a second look."""
    kinds = np.bincount(graph.kinds, minlength=len(NODE_KINDS))
    edges = np.bincount(graph.edge_kinds, minlength=len(EDGE_KINDS))
    degrees = neighborhood(graph, NeighborRule(self_loops=False)).degrees
    return {
        "nodes": graph.num_nodes,
        **{f"{kind}s": int(n) for kind, n in zip(NODE_KINDS, kinds, strict=True)},
        "zones": len({zone for zone in graph.zones if zone is not None}) or 1,
        "edges": graph.num_edges,
        **{f"{kind}_edges": int(n) for kind, n in zip(EDGE_KINDS, edges, strict=True)},
        "mean_neighbours": round(float(degrees.mean()), 2),
        "max_neighbours": int(degrees.max()),
        "without_signal": [name for name, signal in zip(graph.names, graph.signals, strict=True) if signal is None],
        "isolated": [graph.names[i] for i in np.flatnonzero(degrees == 0)],
        "content_hash": graph.content_hash,
    }
