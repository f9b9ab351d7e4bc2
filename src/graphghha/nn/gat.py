"""The graph attention layers that the paper compares with, Eqs. (1)-(4): dense, capped, and in reduced precision.

b windows in a batch, s nodes, k width, p heads, w = k/p, d padded neighbors.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from graphghha.graph import NeighborRule
from graphghha.nn.block import Attended, AttentionBlock
from graphghha.nn.ops import masked_softmax, split_heads
from graphghha.nn.padded_neighbors import Neighbors, every_node

NEGATIVE_SLOPE = 0.2


class GraphAttention(AttentionBlock):
    """Base of the GAT layers. e_ij = LeakyReLU(a^T [W h_i, W h_j]) is a sum of one term per node: a has two halves."""

    def build(self) -> None:
        self.W_GAL = nn.Linear(self.width, self.width, bias=False)
        self.a_i = nn.Parameter(torch.empty(self.heads, self.width // self.heads))
        self.a_j = nn.Parameter(torch.empty(self.heads, self.width // self.heads))
        for a in (self.a_i, self.a_j):
            nn.init.xavier_uniform_(a)

    def terms(self, H: Float[Tensor, "*b s k"]) -> tuple[Tensor, Tensor, Tensor]:
        """Return W h [*b s p w] and its products with both halves of a, [*b s p] each."""
        WH = split_heads(self.W_GAL(H), self.heads)
        return WH, (WH * self.a_i).sum(dim=-1), (WH * self.a_j).sum(dim=-1)

    def attend_in_blocks(
        self, H: Float[Tensor, "*b s k"], block: Bool[Tensor, "n n"], node_mask: Bool[Tensor, "*b s"] | None
    ) -> Attended:
        """Attend within copies of one zone of n nodes: the same values, with alpha over the nodes of the zone."""
        n = len(block)
        WH, e_i, e_j = (X.reshape(*H.shape[:-2], -1, n, *X.shape[len(H.shape) - 1 :]) for X in self.terms(H))
        e = F.leaky_relu(e_i.mT[..., :, None] + e_j.mT[..., None, :], NEGATIVE_SLOPE)  # [*b z p n n]
        seen = block if node_mask is None else block & node_mask.reshape(*node_mask.shape[:-1], -1, 1, 1, n)
        alpha = masked_softmax(e, seen)
        mixed = (alpha @ WH.transpose(-3, -2)).transpose(-3, -2)  # [*b z n p w]
        return Attended(F.elu(mixed.flatten(-2).flatten(-3, -2)), alpha.transpose(-3, -2).flatten(-4, -3))


class VanillaGAT(GraphAttention):
    """Dense and masked, as in the paper: every pair is scored, then pairs without an edge are masked out."""

    default_neighbors = NeighborRule()

    def columns(self, neighbors: Neighbors) -> Int[Tensor, "s s"]:
        return every_node(neighbors)

    def attend(
        self, H: Float[Tensor, "*b s k"], neighbors: Neighbors, node_mask: Bool[Tensor, "*b s"] | None
    ) -> Attended:
        if self.training and neighbors.block is not None:
            return self.attend_in_blocks(H, neighbors.block, node_mask)
        WH, e_i, e_j = self.terms(H)
        # heads before nodes: softmax and product then run over contiguous rows
        e = F.leaky_relu(e_i.mT[..., :, None] + e_j.mT[..., None, :], NEGATIVE_SLOPE)  # [*b p s s]  Eq. (1)
        alpha = masked_softmax(e, neighbors.visible_dense(node_mask)[..., None, :, :])  # Eq. (2)
        mixed = alpha @ WH.transpose(-3, -2)  # [*b p s w]
        H_cat = F.elu(mixed.transpose(-3, -2).flatten(-2))  # Eqs. (3), (4)
        return Attended(H_cat, alpha.transpose(-3, -2))


class SparsifiedGAT(GraphAttention):
    """The same parameters over a padded, capped neighborhood; equal to VanillaGAT if the cap removes no neighbor."""

    def attend(
        self, H: Float[Tensor, "*b s k"], neighbors: Neighbors, node_mask: Bool[Tensor, "*b s"] | None
    ) -> Attended:
        if self.training and neighbors.block is not None:
            return self.attend_in_blocks(H, neighbors.block, node_mask)
        WH, e_i, e_j = self.terms(H)
        near = neighbors.gather(e_j[..., None])[..., 0]  # [*b s d p]
        e = F.leaky_relu(e_i[..., None, :] + near, NEGATIVE_SLOPE).mT  # [*b s p d]
        alpha = masked_softmax(e, neighbors.visible(node_mask)[..., None, :])
        mixed = (alpha.mT[..., None] * neighbors.gather(WH)).sum(dim=-3)
        return Attended(F.elu(mixed.flatten(-2)), alpha)


class QuantizedGAT(VanillaGAT):
    """VanillaGAT in reduced precision: fp16 by default, or bf16."""

    default_dtype = "fp16"
