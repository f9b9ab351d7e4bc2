"""GHHA: the base mechanism of Eq. (12). The local branch is softmax attention inside blocks of the node order.

b windows in a batch, s nodes, k width, p heads, w sub-head width, n blocks of m = ceil(s / n) nodes.
"""

import math
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from graphghha.errors import ConfigError
from graphghha.nn.block import Attended
from graphghha.nn.graph_ghha import GatedHybridBlock
from graphghha.nn.ops import global_mix, masked_softmax
from graphghha.nn.padded_neighbors import Neighbors


class GHHA(GatedHybridBlock):
    """The local branch attends within `num_blocks` blocks of the node order; f forms the blocks and g undoes it.

    The last block is padded if s is not divisible. Of the neighborhood, only the number of nodes is used.
    """

    def __init__(self, width: int, heads: int = 1, *, num_blocks: int = 8, **block: Any) -> None:
        if num_blocks < 1:
            raise ConfigError(f"GHHA: num_blocks {num_blocks} must be at least 1")
        super().__init__(width, heads, **block)
        self.num_blocks = num_blocks

    def columns(self, neighbors: Neighbors) -> Int[Tensor, "s m"]:
        s = neighbors.num_nodes
        size = -(-s // self.num_blocks)
        node = torch.arange(s, device=neighbors.nbr.device)
        starts = node // size * size
        return (starts[:, None] + torch.arange(size, device=node.device)).clamp_max(s - 1)

    def attend(
        self, H: Float[Tensor, "*b s k"], neighbors: Neighbors, node_mask: Bool[Tensor, "*b s"] | None
    ) -> Attended:
        (Q1, K1, V1), (Q2, K2, V2) = self.branches(H)
        H1 = global_mix(Q1, K1, V1, self.global_norm, node_mask)

        s = H.shape[-2]
        size = -(-s // self.num_blocks)  # m
        blocks = -(-s // size)  # n
        padding = blocks * size - s

        def f(X: Float[Tensor, "*b s p w"]) -> Float[Tensor, "*b n m p w"]:
            padded = F.pad(X, (0, 0, 0, 0, 0, padding))
            return padded.reshape(*X.shape[:-3], blocks, size, *X.shape[-2:])

        present = torch.ones(H.shape[:-1], dtype=torch.bool, device=H.device) if node_mask is None else node_mask
        seen = F.pad(present, (0, padding)).reshape(*H.shape[:-2], blocks, 1, 1, size)  # [*b n 1 1 m]
        S2 = torch.einsum("...ipw,...jpw->...ipj", f(Q2), f(K2)) / math.sqrt(Q2.shape[-1])  # [*b n m p m]
        A2 = masked_softmax(S2, seen)
        mixed = torch.einsum("...ipj,...jpw->...ipw", A2, f(V2))

        def g(X: Float[Tensor, "*b n m p x"]) -> Float[Tensor, "*b s p x"]:
            return X.flatten(-4, -3)[..., :s, :, :]

        return self.fuse(H, H1, g(mixed), g(A2))
