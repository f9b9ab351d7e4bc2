"""A graph as the tensors that an ADU reads: neighbors, kinds, roles.

s nodes, d largest degree after the cap.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from graphghha.graph import CpsGraph, NeighborRule, NodeKind, neighborhood, role_rows
from graphghha.nn.padded_neighbors import Neighbors


@dataclass(frozen=True, eq=False)
class GraphTensors:
    """The tensors of one static graph, built once for many scores."""

    neighbors: Neighbors
    kinds: Float[Tensor, "s 3"]  # one-hot by kind; a zero row for a node without a signal
    roles: Int[Tensor, " s"]  # row of the role embedding

    @property
    def num_nodes(self) -> int:
        """The number of nodes s."""
        return self.neighbors.num_nodes

    @property
    def measured(self) -> Bool[Tensor, " s"]:
        """Which nodes have a signal."""
        return self.kinds.any(dim=-1)


@lru_cache(maxsize=16)
def graph_tensors(graph: CpsGraph, roles: tuple[str, ...], rule: NeighborRule, device: torch.device) -> GraphTensors:
    """Return the tensors of a graph for a model with these roles, cached by the graph's content."""
    rows = role_rows(graph.roles, roles)
    measured = np.array([signal is not None for signal in graph.signals])
    kinds = np.eye(len(NodeKind), dtype=np.float32)[graph.kinds] * measured[:, None]
    with torch.inference_mode(False):  # they are kept, and may be used in training later
        return GraphTensors(
            Neighbors.from_neighborhood(neighborhood(graph, rule), device, zone_nodes=_zone_nodes(graph)),
            torch.as_tensor(kinds, device=device),
            torch.tensor(rows, device=device),
        )


def _zone_nodes(graph: CpsGraph) -> int | None:
    """Return the number of nodes per zone if all zones have the same number."""
    _, counts = np.unique([zone or "" for zone in graph.zones], return_counts=True)
    return int(counts[0]) if len(set(counts.tolist())) == 1 else None
