"""Events about nodes whose state becomes unknown or known."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import Event
from graphghha.graph import CpsGraph
from graphghha.monitor.pipeline import Step

MOST_NAMED = 20  # nodes named one by one in an event; of more only the zones are complete


def known_changes(graph: CpsGraph, step: Step, *, is_first: bool) -> list[Event]:
    """Return the events of one step; before the first step all nodes count as unknown and as not reported."""
    lost, regained = step.transitions.lost, step.transitions.regained
    if is_first:
        lost, regained = ~regained, np.zeros_like(regained)
    changes = (("nodes.unknown", lost), ("nodes.known", regained))
    return [
        Event(step.time_ms, kind, _name_nodes(graph, np.flatnonzero(changed)))
        for kind, changed in changes
        if changed.any()
    ]


def _name_nodes(graph: CpsGraph, nodes: NDArray[np.int64]) -> dict[str, Any]:
    zones = sorted({graph.zones[node] or "" for node in nodes.tolist()})
    named = [graph.names[node] for node in nodes[:MOST_NAMED].tolist()]
    return {"count": len(nodes), "zones": zones, "nodes": named}
