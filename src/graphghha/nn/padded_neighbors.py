"""A neighbourhood as tensors: what every layer attends over.

s nodes, d largest degree after the cap.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from graphghha.graph import Neighborhood

BLOCK_LIMIT = 64  # nodes of a zone


@dataclass(frozen=True, eq=False)
class Neighbors:
    """Padded neighbours of one static graph, as wide as the largest degree after the cap."""

    nbr: Int[Tensor, "s d"]
    nbr_mask: Bool[Tensor, "s d"]
    # `adj` of one small zone, when the graph is copies of it and nothing else: layers then train through dense products
    # within each zone, whose gradients cost a third of the gathers'
    block: Bool[Tensor, "n n"] | None = None

    @classmethod
    def from_neighborhood(
        cls, neighborhood: Neighborhood, device: torch.device | str | None = None, *, zone_nodes: int | None = None
    ) -> "Neighbors":
        """`zone_nodes`: how many nodes each copy of a template would have, if the graph is made of copies."""
        nbr, nbr_mask = (torch.as_tensor(array, device=device) for array in neighborhood.padded())
        size = zone_nodes if zone_nodes is not None and zone_nodes <= BLOCK_LIMIT else None
        return cls(nbr, nbr_mask, _repeated_block(nbr, nbr_mask, size) if size else None)

    @property
    def num_nodes(self) -> int:
        return self.nbr.shape[0]

    @property
    def adj(self) -> Bool[Tensor, "s s"]:
        """`adj[i, j]`: i attends to j. Quadratic; only the dense rivals ask for it."""
        # a compiler cannot trace the lock of a cached property
        return _dense(self.nbr, self.nbr_mask) if torch.compiler.is_compiling() else self._kept_adj

    @cached_property
    def _kept_adj(self) -> Bool[Tensor, "s s"]:
        with torch.inference_mode(False):  # it outlives the call, and training may come after
            return _dense(self.nbr, self.nbr_mask)

    def gather(self, X: Float[Tensor, "*b s p w"]) -> Float[Tensor, "*b s d p w"]:
        """What each node's neighbours hold. index_select, whose gradient is far cheaper than that of X[nbr]."""
        return X.index_select(-3, self.nbr.flatten()).reshape(*X.shape[:-3], *self.nbr.shape, *X.shape[-2:])

    def visible(self, node_mask: Bool[Tensor, "*b s"] | None) -> Bool[Tensor, "*#b s d"]:
        """Which padded neighbours count: real ones that are present."""
        return self.nbr_mask if node_mask is None else self.nbr_mask & node_mask[..., self.nbr]

    def visible_dense(self, node_mask: Bool[Tensor, "*b s"] | None) -> Bool[Tensor, "*#b s s"]:
        return self.adj if node_mask is None else self.adj & node_mask[..., None, :]


def _dense(nbr: Int[Tensor, "s d"], nbr_mask: Bool[Tensor, "s d"]) -> Bool[Tensor, "s s"]:
    counts = torch.zeros(len(nbr), len(nbr), dtype=torch.uint8, device=nbr.device)
    # added, not written: padding names a node that may also be a true neighbour
    return counts.scatter_add(1, nbr, nbr_mask.to(torch.uint8)).bool()


def _repeated_block(nbr: Int[Tensor, "s d"], nbr_mask: Bool[Tensor, "s d"], size: int) -> Bool[Tensor, "n n"] | None:
    """`adj` of the first `size` nodes, if every further `size` nodes are wired just so among themselves."""
    if len(nbr) % size:
        return None
    first = torch.arange(0, len(nbr), size, device=nbr.device)[:, None, None]  # [z 1 1] first node of each copy
    local = torch.where(nbr_mask, nbr, first.expand(-1, size, nbr.shape[1]).reshape(nbr.shape))
    local = local.reshape(-1, size, nbr.shape[1]) - first
    masks = nbr_mask.reshape(local.shape)
    if (local < 0).any() or (local >= size).any() or (local != local[:1]).any() or (masks != masks[:1]).any():
        return None
    return _dense(local[0], masks[0])


def every_node(neighbors: Neighbors) -> Int[Tensor, "s s"]:
    """Columns of a dense layer's attention: each row lists all nodes (a view, nothing is allocated)."""
    s = neighbors.num_nodes
    return torch.arange(s, device=neighbors.nbr.device).expand(s, s)
