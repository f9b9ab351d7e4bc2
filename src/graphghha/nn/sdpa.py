"""Scaled dot-product attention, Eqs. (5)-(11): over all nodes, or masked by the adjacency.

b windows in a batch, s nodes, k width, p heads, w = k/p.
"""

import math
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from graphghha.graph import NeighborRule
from graphghha.nn.block import Attended, AttentionBlock
from graphghha.nn.ops import masked_softmax, split_heads
from graphghha.nn.padded_neighbors import Neighbors, every_node


class ScaledDotProduct(AttentionBlock):
    """Softmax(Q K^T / sqrt(w)) V per head; quadratic in the nodes, masked or not."""

    default_neighbors = NeighborRule()

    def __init__(self, width: int, heads: int = 1, *, masked: bool = True, **block: Any) -> None:
        super().__init__(width, heads, **block)
        self.masked = masked

    def columns(self, neighbors: Neighbors) -> Int[Tensor, "s s"]:
        return every_node(neighbors)

    def build(self) -> None:
        self.W_QKV = nn.Linear(self.width, 3 * self.width, bias=False)

    def attend(
        self, H: Float[Tensor, "*b s k"], neighbors: Neighbors, node_mask: Bool[Tensor, "*b s"] | None
    ) -> Attended:
        Q, K, V = (split_heads(X, self.heads) for X in self.W_QKV(H).chunk(3, dim=-1))  # [*b s p w]
        S = torch.einsum("...ipw,...jpw->...ipj", Q, K) / math.sqrt(Q.shape[-1])
        if self.masked:
            seen = neighbors.visible_dense(node_mask)
        else:
            s = H.shape[-2]
            all_pairs = torch.ones(s, s, dtype=torch.bool, device=H.device)
            seen = all_pairs if node_mask is None else all_pairs & node_mask[..., None, :]
        A = masked_softmax(S, seen[..., :, None, :])  # [*b s p s]
        return Attended(torch.einsum("...ipj,...jpw->...ipw", A, V).flatten(-2), A)
