"""Rivals of the layer look at neighbours only, so that a building of like zones is a batch of zones: nothing s x s.

b windows in a batch, z zones, n nodes of the template, s = z n, f features per node.
"""

from typing import Any

import numpy as np

from graphghha.engine.backends import Backend, open_backend
from graphghha.engine.checks import Mask
from graphghha.engine.engine import Engine, EngineConfig
from graphghha.engine.frozen import Floats, FrozenModel
from graphghha.graph import CpsGraph
from graphghha.models import Model

LOCAL_LAYERS = ("vanilla_gat", "sparsified_gat", "quantized_gat")
ZONES_AT_ONCE = 128  # their pairs stay in the cache: twice as fast as all zones of 64 windows


class ZoneEngine(Engine):
    """An engine on a building whose backend sees one zone at a time: the same values, sooner."""

    def __init__(self, model: Model, graph: CpsGraph, config: EngineConfig) -> None:
        self._template = model.template
        super().__init__(model, graph, config.dtype, config.threads, config.backend)

    def _backend(self, name: str, model: FrozenModel) -> Backend:
        return _ByZone(open_backend(name, model, self._template, self.dtype, self.threads), self._template.num_nodes)


class _ByZone:
    """A backend of the template behind windows of the building."""

    def __init__(self, backend: Backend, num_nodes: int) -> None:
        self._backend, self._nodes = backend, num_nodes

    def score(self, x: Floats, mask: Mask | None) -> Floats:
        """[b s f] -> [b s c]"""
        zones = x.reshape(-1, self._nodes, x.shape[-1])
        known = None if mask is None else mask.reshape(-1, self._nodes)
        parts = [slice(at, at + ZONES_AT_ONCE) for at in range(0, max(1, len(zones)), ZONES_AT_ONCE)]
        scored = [self._backend.score(zones[part], None if known is None else known[part]) for part in parts]
        probs = np.concatenate(scored)
        return probs.reshape(*x.shape[:2], probs.shape[-1])

    def describe(self) -> dict[str, Any]:
        return {**self._backend.describe(), "zone_by_zone": True}

    def close(self) -> None:
        self._backend.close()


def engine_for(model: Model, graph: CpsGraph, config: EngineConfig = EngineConfig()) -> Engine:
    """Return the engine that scores this building fastest."""
    return ZoneEngine(model, graph, config) if _is_zonewise(model, graph) else Engine.from_config(model, graph, config)


def _is_zonewise(model: Model, graph: CpsGraph) -> bool:
    """A layer that looks at neighbours, at as many of them in any graph, and zones that are copies of the template."""
    settings, template = model.adu_config, model.template
    if settings["layer"] not in LOCAL_LAYERS or settings["neighbors"]["neighbor_divisor"] is not None:
        return False
    zones, rest = divmod(graph.num_nodes, template.num_nodes)
    if zones < 1 or rest:
        return False
    copies = template.replicate(zones)
    return graph.roles == copies.roles and np.array_equal(graph.edge_index, copies.edge_index)
