"""Rivals of the layer look at neighbours only, so that a building of like zones is a batch of zones: nothing s x s.

b windows in a batch, z zones, n nodes of the template, s = z n, f features per node.
"""

from typing import Any

import numpy as np

from graphghha.engine.engine import Engine
from graphghha.engine.frozen import Floats
from graphghha.graph import CpsGraph
from graphghha.models import Model

LOCAL_LAYERS = ("vanilla_gat", "sparsified_gat", "quantized_gat")


class ZoneEngine(Engine):
    """An engine on the template that takes windows of the whole building."""

    def __init__(self, model: Model, zones: int, **engine: Any) -> None:
        super().__init__(model, model.template, **engine)
        self.zones = zones

    def score(self, window: Any, mask: Any = None) -> Floats:
        """[b s f] -> [b s c]; the same values as an engine on the building's graph."""
        nodes = self.graph.num_nodes
        by_zone = np.asarray(window).reshape(-1, nodes, self.in_features)
        probs = super().score(by_zone, None if mask is None else np.asarray(mask).reshape(-1, nodes))
        return probs.reshape(*window.shape[:-1], -1)


def engine_for(model: Model, graph: CpsGraph, **engine: Any) -> Engine:
    """The engine that scores this building soonest."""
    zones = graph.num_nodes // model.template.num_nodes
    if model.adu_config["layer"] in LOCAL_LAYERS and _is_copies(graph, model.template, zones):
        return ZoneEngine(model, zones, **engine)
    return Engine(model, graph, **engine)


def _is_copies(graph: CpsGraph, template: CpsGraph, zones: int) -> bool:
    """Zone after zone like the template, with no edge between two of them."""
    copies = template.replicate(zones)
    return graph.roles == copies.roles and np.array_equal(graph.edge_index, copies.edge_index)
