"""The block that all attention layers share: mixing, W_H, residual, LayerNorm, MLP, residual.

b windows in a batch, s nodes, k width, p heads, d padded neighbors (or s, in dense layers).
"""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from graphghha.errors import ConfigError
from graphghha.graph import NeighborRule
from graphghha.nn.dtype import DtypeName, LayerNorm32, torch_dtype
from graphghha.nn.padded_neighbors import Neighbors


class Attended(NamedTuple):
    """The result of mixing, and the attention weights it used, for explanations."""

    H_cat: Float[Tensor, "*b s k"]
    alpha: Float[Tensor, "*b s p d"]
    gates: Float[Tensor, "*b s 2"] | None = None  # C1 (global), C2 (local)


class AttentionBlock(nn.Module, ABC):
    """H_att = mix(H) W_H + H;  H' = MLP(LN(H_att)) + H_att   (Alg. 1 l. 20-21)."""

    default_dtype: ClassVar[DtypeName] = "fp32"
    default_neighbors: ClassVar[NeighborRule] = NeighborRule(max_neighbors=16)

    def __init__(
        self,
        width: int,
        heads: int = 1,
        *,
        mlp_ratio: float = 2.0,
        dropout: float = 0.0,
        dtype: DtypeName | None = None,
    ) -> None:
        super().__init__()
        if not _is_count(width) or not _is_count(heads) or width % heads:
            raise ConfigError(f"{type(self).__name__}: width {width} must be a positive multiple of heads {heads}")
        if not mlp_ratio > 0 or not 0 <= dropout < 1:
            raise ConfigError(
                f"{type(self).__name__}: mlp_ratio {mlp_ratio} must be positive, dropout {dropout} in [0, 1)"
            )
        self.width, self.heads = width, heads
        hidden = max(1, round(mlp_ratio * width))
        self.W_H = nn.Linear(width, width, bias=False)
        self.norm = LayerNorm32(width)
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width))
        self.dropout = nn.Dropout(dropout)
        self.build()
        self.to(torch_dtype(dtype or self.default_dtype))

    @abstractmethod
    def build(self) -> None:
        """Create the parameters of the mixing."""

    @abstractmethod
    def attend(
        self, H: Float[Tensor, "*b s k"], neighbors: Neighbors, node_mask: Bool[Tensor, "*b s"] | None
    ) -> Attended:
        """Mix every node with those it attends to. Absent nodes must not influence the others."""

    def columns(self, neighbors: Neighbors) -> Int[Tensor, "s d"]:
        """Return the node that each column of alpha belongs to."""
        return neighbors.nbr

    def forward(
        self,
        H: Float[Tensor, "*b s k"],
        neighbors: Neighbors,
        node_mask: Bool[Tensor, "*b s"] | None = None,
    ) -> Float[Tensor, "*b s k"]:
        """Return the layer's output for node states H."""
        if node_mask is not None:
            H = torch.where(node_mask[..., None], H, 0.0)  # the state of an absent node is never read
        return self.finish(H, self.attend(H, neighbors, node_mask), node_mask)

    def finish(
        self,
        H: Float[Tensor, "*b s k"],
        attended: Attended,
        node_mask: Bool[Tensor, "*b s"] | None,
        *,
        use_dropout: bool = True,
    ) -> Float[Tensor, "*b s k"]:
        """Return the layer's output from the result of mixing; an absent node attends to nothing."""
        dropout = self.dropout if use_dropout else nn.Identity()
        H_cat = attended.H_cat if node_mask is None else attended.H_cat * node_mask[..., None]
        H_att: Tensor = dropout(self.W_H(H_cat)) + H
        out: Tensor = dropout(self.mlp(self.norm(H_att))) + H_att
        return out

    def extra_repr(self) -> str:
        return f"width={self.width}, heads={self.heads}"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 1
