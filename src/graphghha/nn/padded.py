"""A neighbourhood as tensors: what every layer attends over.

s nodes, d largest degree after the cap.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from graphghha.graph import Neighborhood


@dataclass(frozen=True, eq=False)
class Neighbors:
    """Padded neighbours of one static graph, as wide as the largest degree after the cap."""

    nbr: Int[Tensor, "s d"]
    nbr_mask: Bool[Tensor, "s d"]

    @classmethod
    def of(cls, neighborhood: Neighborhood, device: torch.device | str | None = None) -> "Neighbors":
        nbr, nbr_mask = neighborhood.padded()
        return cls(torch.as_tensor(nbr, device=device), torch.as_tensor(nbr_mask, device=device))

    @property
    def num_nodes(self) -> int:
        return self.nbr.shape[0]

    @property
    def adj(self) -> Bool[Tensor, "s s"]:
        """`adj[i, j]`: i attends to j. Quadratic; only the dense rivals ask for it."""
        # a compiler cannot trace the lock of a cached property
        return self._dense() if torch.compiler.is_compiling() else self._kept_adj

    @cached_property
    def _kept_adj(self) -> Bool[Tensor, "s s"]:
        with torch.inference_mode(False):  # it outlives the call, and training may come after
            return self._dense()

    def _dense(self) -> Bool[Tensor, "s s"]:
        counts = torch.zeros(self.num_nodes, self.num_nodes, dtype=torch.uint8, device=self.nbr.device)
        # added, not written: padding names a node that may also be a true neighbour
        return counts.scatter_add(1, self.nbr, self.nbr_mask.to(torch.uint8)).bool()

    def gather(self, X: Float[Tensor, "*b s p w"]) -> Float[Tensor, "*b s d p w"]:
        """What each node's neighbours hold. index_select, whose gradient is far cheaper than that of X[nbr]."""
        return X.index_select(-3, self.nbr.flatten()).reshape(*X.shape[:-3], *self.nbr.shape, *X.shape[-2:])

    def visible(self, node_mask: Bool[Tensor, "*b s"] | None) -> Bool[Tensor, "*#b s d"]:
        """Which padded neighbours count: real ones that are present."""
        return self.nbr_mask if node_mask is None else self.nbr_mask & node_mask[..., self.nbr]

    def visible_dense(self, node_mask: Bool[Tensor, "*b s"] | None) -> Bool[Tensor, "*#b s s"]:
        return self.adj if node_mask is None else self.adj & node_mask[..., None, :]


def every_node(neighbors: Neighbors) -> Int[Tensor, "s s"]:
    """Columns of a dense layer's attention: each row lists all nodes (a view, nothing is allocated)."""
    s = neighbors.num_nodes
    return torch.arange(s, device=neighbors.nbr.device).expand(s, s)
