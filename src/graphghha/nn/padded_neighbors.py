"""The neighbors of every node as tensors, which the layers attend to.

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
    """The neighbors of every node of one static graph, padded to the largest degree after the cap."""

    nbr: Int[Tensor, "s d"]
    nbr_mask: Bool[Tensor, "s d"]
    # `adj` of one small zone, if the graph consists of copies of it. Layers then train with dense products within each
    # zone, whose gradients cost a third of those of gathers.
    block: Bool[Tensor, "n n"] | None = None

    @classmethod
    def from_neighborhood(
        cls, neighborhood: Neighborhood, device: torch.device | str | None = None, *, zone_nodes: int | None = None
    ) -> "Neighbors":
        """Return a neighborhood as tensors. `zone_nodes` is the number of nodes per zone, if all have as many."""
        nbr, nbr_mask = (torch.as_tensor(array, device=device) for array in neighborhood.padded())
        size = zone_nodes if zone_nodes is not None and zone_nodes <= BLOCK_LIMIT else None
        return cls(nbr, nbr_mask, _repeated_block(nbr, nbr_mask, size) if size else None)

    @property
    def num_nodes(self) -> int:
        """The number of nodes s."""
        return self.nbr.shape[0]

    @property
    def adj(self) -> Bool[Tensor, "s s"]:
        """`adj[i, j]` is True if node i attends to node j. Quadratic; used by dense layers only."""
        # a compiler cannot trace the lock of a cached property
        return _dense(self.nbr, self.nbr_mask) if torch.compiler.is_compiling() else self._kept_adj

    @cached_property
    def _kept_adj(self) -> Bool[Tensor, "s s"]:
        with torch.inference_mode(False):  # it is kept, and may be used in training later
            return _dense(self.nbr, self.nbr_mask)

    def gather(self, X: Float[Tensor, "*b s p w"]) -> Float[Tensor, "*b s d p w"]:
        """Return the rows of X of each node's neighbors."""
        # the gradient of index_select is much cheaper than that of X[nbr]
        return X.index_select(-3, self.nbr.flatten()).reshape(*X.shape[:-3], *self.nbr.shape, *X.shape[-2:])

    def visible(self, node_mask: Bool[Tensor, "*b s"] | None) -> Bool[Tensor, "*#b s d"]:
        """Return which padded neighbors are real and present."""
        return self.nbr_mask if node_mask is None else self.nbr_mask & node_mask[..., self.nbr]

    def visible_dense(self, node_mask: Bool[Tensor, "*b s"] | None) -> Bool[Tensor, "*#b s s"]:
        """Return `adj` without absent nodes."""
        return self.adj if node_mask is None else self.adj & node_mask[..., None, :]


def _dense(nbr: Int[Tensor, "s d"], nbr_mask: Bool[Tensor, "s d"]) -> Bool[Tensor, "s s"]:
    counts = torch.zeros(len(nbr), len(nbr), dtype=torch.uint8, device=nbr.device)
    # added, not written: a padding entry may repeat a real neighbor
    return counts.scatter_add(1, nbr, nbr_mask.to(torch.uint8)).bool()


def _repeated_block(nbr: Int[Tensor, "s d"], nbr_mask: Bool[Tensor, "s d"], size: int) -> Bool[Tensor, "n n"] | None:
    """Return `adj` of the first `size` nodes if the graph consists of copies of them, else None."""
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
    """Return the columns of a dense layer's attention: every row lists all nodes (a view, without a copy)."""
    s = neighbors.num_nodes
    return torch.arange(s, device=neighbors.nbr.device).expand(s, s)
