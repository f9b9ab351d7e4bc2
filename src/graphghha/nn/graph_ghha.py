"""GraphGHHA: graph-native gated hybrid-head attention, Eq. (13) and Algorithm 1, batched on one static graph.

b windows in a batch, s nodes, k width = k1 global + k2 local, p heads, w = k1/p = k2/p, d padded neighbors.
"""

import math
from typing import Any, Literal, get_args

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from graphghha.classes import FIXED_GATES
from graphghha.errors import ConfigError
from graphghha.nn.block import Attended, AttentionBlock
from graphghha.nn.ops import (
    GlobalNorm,
    bounded,
    check_global_norm,
    global_mix,
    masked_softmax,
    split_heads,
    wide,
)
from graphghha.nn.padded_neighbors import Neighbors

Gate = Literal["learned", "open", "global", "local"]


class GatedHybridBlock(AttentionBlock):
    """A global linear branch, a local softmax branch, and a gate per node that weighs them.

    `gate` is for ablations: `open` keeps both branches as they are, `global` and `local` remove the other one.
    """

    def __init__(
        self, width: int, heads: int = 1, *, global_norm: GlobalNorm = "rms", gate: Gate = "learned", **block: Any
    ) -> None:
        check_global_norm(global_norm)
        if gate not in get_args(Gate):
            raise ConfigError(f"unknown gate {gate!r}; use {' | '.join(get_args(Gate))}")
        if heads >= 1 and width % (2 * heads):
            raise ConfigError(
                f"{type(self).__name__}: width {width} must be a multiple of 2 x heads = {2 * heads}: "
                "every head has a global and a local half"
            )
        super().__init__(width, heads, **block)
        self.global_norm, self.gate = global_norm, gate

    def build(self) -> None:
        self.W_QKV = nn.Linear(self.width, 3 * self.width, bias=False)  # rows Q, K, V, each [global | local]
        self.W_C = nn.Linear(self.width, 2, bias=False)

    def branches(
        self, H: Float[Tensor, "*b s k"]
    ) -> tuple[tuple[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]:
        """Return (Q1, K1, V1), (Q2, K2, V2), each [*b s p w] (Alg. 1 l. 1-4)."""
        six = bounded(self.W_QKV(H)).chunk(6, dim=-1)
        Q1, Q2, K1, K2, V1, V2 = (split_heads(X, self.heads) for X in six)
        return (Q1, K1, V1), (Q2, K2, V2)

    def fuse(
        self, H: Float[Tensor, "*b s k"], H1: Float[Tensor, "*b s p w"], H2: Float[Tensor, "*b s p w"], alpha: Tensor
    ) -> Attended:
        """Multiply the branches with the gates and concatenate them (Alg. 1 l. 18-19)."""
        gates = wide(self.W_C(H)).sigmoid().to(H.dtype)  # [*b s 2]
        if self.gate != "learned":
            gates = torch.zeros_like(gates) + gates.new_tensor(FIXED_GATES[self.gate])
        C1, C2 = gates.split(1, dim=-1)
        H_cat = torch.cat([C1 * H1.flatten(-2), C2 * H2.flatten(-2)], dim=-1)  # [*b s k]
        return Attended(H_cat, alpha, gates)


class GraphGHHA(GatedHybridBlock):
    """The paper's layer: the local branch is softmax attention over the capped graph neighborhood.

        H_cat = [C1 * ReLU^2(Q1) (ReLU^2(K1)^T V1),  C2 * Softmax_N(i)(Q2 K2^T / sqrt(w)) V2]

    `global_norm="raw"` is Eq. (13) as printed; the default bounds the influence of one node on the others
    (docs/decisions/global-branch.md).
    """

    def attend(
        self, H: Float[Tensor, "*b s k"], neighbors: Neighbors, node_mask: Bool[Tensor, "*b s"] | None
    ) -> Attended:
        (Q1, K1, V1), (Q2, K2, V2) = self.branches(H)
        H1 = global_mix(Q1, K1, V1, self.global_norm, node_mask)  # [*b s p w]  l. 5
        if self.training and neighbors.block is not None:
            return self.fuse(H, H1, *attend_in_blocks(Q2, K2, V2, neighbors.block, node_mask))

        # elementwise products and sums: a batched matrix product of such short rows is mostly overhead
        S2 = (wide(Q2)[..., None, :, :] * neighbors.gather(K2)).sum(dim=-1) / math.sqrt(
            Q2.shape[-1]
        )  # [*b s d p]  l. 11
        A2 = masked_softmax(S2.mT, neighbors.visible(node_mask)[..., None, :]).to(H.dtype)  # [*b s p d]  l. 15
        H2 = (A2.mT[..., None] * neighbors.gather(V2)).sum(dim=-3)  # [*b s p w]  l. 16
        return self.fuse(H, H1, H2, A2)


def attend_in_blocks(
    Q2: Float[Tensor, "*b s p w"],
    K2: Float[Tensor, "*b s p w"],
    V2: Float[Tensor, "*b s p w"],
    block: Bool[Tensor, "n n"],
    node_mask: Bool[Tensor, "*b s"] | None,
) -> tuple[Float[Tensor, "*b s p w"], Float[Tensor, "*b s p n"]]:
    """Return the local branch and its weights within copies of one zone of n nodes: the same values."""
    n = len(block)

    def by_zone(X: Tensor) -> Tensor:
        return X.reshape(*X.shape[:-3], -1, n, *X.shape[-2:]).transpose(-3, -2)  # [*b z p n w]

    S2 = by_zone(wide(Q2) / math.sqrt(Q2.shape[-1])) @ by_zone(wide(K2)).mT  # [*b z p n n]
    seen = block if node_mask is None else block & node_mask.reshape(*node_mask.shape[:-1], -1, 1, 1, n)
    A2 = masked_softmax(S2, seen).to(V2.dtype)
    H2 = (A2 @ by_zone(V2)).transpose(-3, -2).flatten(-4, -3)
    return H2, A2.transpose(-3, -2).flatten(-4, -3)
