"""A plant's graph as the tensors an ADU reads: neighbours, kinds, roles.

s nodes, d largest degree after the cap.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from graphghha.errors import CheckpointError
from graphghha.graph import CpsGraph, NeighborRule, NodeKind, neighborhood
from graphghha.nn.padded_neighbors import Neighbors


@dataclass(frozen=True, eq=False)
class GraphTensors:
    """One static graph, ready for a model: build it once, score it many times."""

    neighbors: Neighbors
    kinds: Float[Tensor, "s 3"]  # one-hot by kind; a zero row for a node without a signal
    roles: Int[Tensor, " s"]  # row of the role embedding

    @property
    def num_nodes(self) -> int:
        return self.neighbors.num_nodes

    @property
    def measured(self) -> Bool[Tensor, " s"]:
        return self.kinds.any(dim=-1)


@lru_cache(maxsize=16)
def graph_tensors(graph: CpsGraph, roles: tuple[str, ...], rule: NeighborRule, device: torch.device) -> GraphTensors:
    """Tensors of a graph whose roles a model knows. Cached by the graph's content."""
    row = {role: i for i, role in enumerate(roles)}
    strange = sorted(set(graph.roles) - row.keys())
    if strange:
        raise CheckpointError(
            f"the graph has roles this model was not built for: {', '.join(strange[:5])}; "
            "use a graph of the model's own template (template.replicate(zones))"
        )
    measured = np.array([signal is not None for signal in graph.signals])
    kinds = np.eye(len(NodeKind), dtype=np.float32)[graph.kinds] * measured[:, None]
    with torch.inference_mode(False):  # they are kept, and training may come after scoring
        return GraphTensors(
            Neighbors.of(neighborhood(graph, rule), device, zone_nodes=_zone_nodes(graph)),
            torch.as_tensor(kinds, device=device),
            torch.tensor([row[role] for role in graph.roles], device=device),
        )


def _zone_nodes(graph: CpsGraph) -> int | None:
    """Nodes of each zone, when all have as many."""
    _, counts = np.unique([zone or "" for zone in graph.zones], return_counts=True)
    return int(counts[0]) if len(set(counts.tolist())) == 1 else None
