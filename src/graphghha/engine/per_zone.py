"""Zone-wise scoring: layers that attend to graph neighbors only can treat a building as a batch of zones.

Nothing is then quadratic in the nodes of the building.

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
ZONES_PER_CALL = 128  # their node pairs fit in the cache: twice as fast as all zones of 64 windows at once


class ZoneEngine(Engine):
    """An engine on a building whose backend scores single zones: the same values, faster."""

    def __init__(self, model: Model, graph: CpsGraph, config: EngineConfig) -> None:
        self._template = model.template
        super().__init__(model, graph, config.dtype, config.threads, config.backend)

    def _backend(self, name: str, model: FrozenModel) -> Backend:
        return _ByZone(open_backend(name, model, self._template, self.dtype, self.threads), self._template.num_nodes)


class _ByZone:
    """Scores windows of a building with a backend on the template."""

    def __init__(self, backend: Backend, num_nodes: int) -> None:
        self._backend, self._nodes = backend, num_nodes

    def score(self, x: Floats, mask: Mask | None) -> Floats:
        """Return the probabilities [b s c] of features [b s f]."""
        zones = x.reshape(-1, self._nodes, x.shape[-1])
        known = None if mask is None else mask.reshape(-1, self._nodes)
        parts = [slice(at, at + ZONES_PER_CALL) for at in range(0, max(1, len(zones)), ZONES_PER_CALL)]
        scored = [self._backend.score(zones[part], None if known is None else known[part]) for part in parts]
        probs = np.concatenate(scored)
        return probs.reshape(*x.shape[:2], probs.shape[-1])

    def describe(self) -> dict[str, Any]:
        return {**self._backend.describe(), "zone_by_zone": True}

    def close(self) -> None:
        self._backend.close()


def engine_for(model: Model, graph: CpsGraph, config: EngineConfig = EngineConfig()) -> Engine:
    """Return the engine that scores this building fastest."""
    by_zone = model.judges_zones or _is_zonewise(model, graph)
    return ZoneEngine(model, graph, config) if by_zone else Engine.from_config(model, graph, config)


def _is_zonewise(model: Model, graph: CpsGraph) -> bool:
    """Return whether each zone can be scored alone.

    The layer must be local, its neighbor cap must not depend on the size of the graph, and the zones must be copies of
    the template.
    """
    settings, template = model.adu_config, model.template
    if settings["layer"] not in LOCAL_LAYERS or settings["neighbors"]["neighbor_divisor"] is not None:
        return False
    zones, rest = divmod(graph.num_nodes, template.num_nodes)
    if zones < 1 or rest:
        return False
    copies = template.replicate(zones)
    return graph.roles == copies.roles and np.array_equal(graph.edge_index, copies.edge_index)
