"""GraphGHHAConv: GraphGHHA with the call forms of PyG's GATConv, in plain torch.

n nodes of all graphs in the call, e edges, p heads, w sub-head width.
"""

import math
import warnings
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from graphghha.errors import ConfigError, DataError, GraphError, SchemaError
from graphghha.graph import NeighborRule, Policy
from graphghha.nn.edges import add_loops, cap_edges, count_components, edge_softmax, from_adjacency, remove_loops
from graphghha.nn.ops import GlobalNorm, bounded, check_global_norm, feature_maps, global_mix, split_heads, wide

COMPONENT_CHECKS = 3  # calls of a layer in which it looks for several graphs
NO_BIPARTITE = (
    "bipartite input is not supported, because the global branch attends to all nodes of one graph; put sources and "
    "targets into one x, with edges from the sources to the targets"
)
NO_BATCH = (
    "GraphGHHAConv: the edges of this call fall into several components, and no batch was given: if they are several "
    "graphs, the global branch mixes them; pass batch=data.batch (zeros if it is one graph)"
)


class GraphGHHAConv(nn.Module):
    """A drop-in replacement for `GATConv`. It computes the mixing only, H_cat W_H + bias.

    Edges point from source to target and a node attends to the sources of its in-edges, as in PyG. For a
    **mini-batch of graphs, pass `batch`**: the global branch attends to all nodes of the call, and without `batch`
    it would mix the graphs. `negative_slope` is accepted and unused; `edge_attr` is used if `edge_dim` is set.
    `max_neighbors` caps the in-edges of a node, chosen by `policy` (`graph.NeighborRule`). As in PyG, `in_channels` -1
    is taken from the first call, and a sparse adjacency, transposed (row = target), may take the place of `edge_index`.

    Shapes: x [n F] or [B n F] on one static graph; out [.. n heads*out] or [.. n out] without `concat`.
    """

    def __init__(
        self,
        in_channels: Any,  # an int; the checks below name what else arrives
        out_channels: int,
        heads: int = 1,
        concat: bool = True,
        *,
        negative_slope: float = 0.2,
        dropout: float = 0.0,
        add_self_loops: bool = True,
        edge_dim: int | None = None,
        bias: bool = True,
        max_neighbors: int | None = None,
        policy: Policy = "specific",
        global_norm: GlobalNorm = "rms",
    ) -> None:
        super().__init__()
        if isinstance(in_channels, tuple | list):
            raise ConfigError(f"GraphGHHAConv: in_channels {in_channels!r}: {NO_BIPARTITE}")
        is_open = in_channels == -1
        if not isinstance(in_channels, int) or (in_channels < 1 and not is_open) or min(out_channels, heads) < 1:
            raise ConfigError(
                f"GraphGHHAConv: in_channels {in_channels!r}, out_channels {out_channels}, heads {heads} must be "
                "positive integers (in_channels may be -1: it is then taken from the first call)"
            )
        check_global_norm(global_norm)
        rule = NeighborRule(max_neighbors=max_neighbors, policy=policy)  # checks both
        self.in_channels: int = in_channels
        self.out_channels, self.heads, self.concat = out_channels, heads, concat
        self.add_self_loops, self.edge_dim, self.global_norm = add_self_loops, edge_dim, global_norm
        self.max_neighbors, self.policy = rule.max_neighbors, rule.policy
        width = 2 * heads * -(-out_channels // 2)  # k: both halves of every head are ceil(out / 2) wide
        # rows Q, K, V, each [global | local]
        self.W_QKV = nn.LazyLinear(3 * width, False) if is_open else nn.Linear(in_channels, 3 * width, bias=False)
        self.W_C = nn.LazyLinear(2, False) if is_open else nn.Linear(in_channels, 2, bias=False)
        self.W_E = nn.Linear(edge_dim, heads, bias=False) if edge_dim is not None else None
        self.W_H = nn.Linear(width, out_channels * (heads if concat else 1), bias=False)
        self.bias = nn.Parameter(torch.empty(self.W_H.out_features)) if bias else None
        self.dropout = nn.Dropout(dropout)
        self._checks_left = COMPONENT_CHECKS
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new random weights."""
        for linear in (self.W_QKV, self.W_C, self.W_E, self.W_H):
            if linear is not None and not is_lazy(linear.weight):
                nn.init.xavier_uniform_(linear.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(
        self,
        x: Any,  # Float[Tensor, "*b n f"]; the checks below name what else arrives
        edge_index: Any,  # Int[Tensor, "2 e"], or a sparse adjacency
        edge_attr: Float[Tensor, "e ..."] | None = None,
        *,
        batch: Int[Tensor, " n"] | None = None,
        return_attention_weights: bool | None = None,
    ) -> Float[Tensor, "*b n out"] | tuple[Float[Tensor, "*b n out"], tuple[Tensor, Tensor]]:
        """Return out or, with `return_attention_weights`, (out, (attended edge_index, alpha [.. e heads]))."""
        edge_index = from_adjacency(edge_index)
        if self.in_channels == -1:
            self._take_channels(x)
        if self.edge_dim is None:
            edge_attr = None
        elif edge_attr is not None and edge_attr.ndim == 1:
            edge_attr = edge_attr[:, None]
        self._check(x, edge_index, edge_attr, batch)
        num_nodes = x.shape[-2]
        if batch is None and self._checks_left > 0 and not torch.compiler.is_compiling():
            self._checks_left -= 1
            if count_components(edge_index, num_nodes) > 1:
                self._checks_left = 0
                warnings.warn(NO_BATCH, stacklevel=4)  # the caller of the module
        edge_index, edge_attr = self._attended_edges(edge_index, edge_attr, num_nodes)

        six = bounded(self.W_QKV(x)).chunk(6, dim=-1)
        Q1, Q2, K1, K2, V1, V2 = (split_heads(X, self.heads) for X in six)  # [.. n p w]
        H1 = self._global(Q1, K1, V1, batch)

        source, target = edge_index
        pairs = wide(Q2).index_select(-3, target) * K2.index_select(-3, source)  # [.. e p w]
        S2 = pairs.sum(dim=-1) / math.sqrt(Q2.shape[-1])
        if self.W_E is not None and edge_attr is not None:
            S2 = S2 + self.W_E(edge_attr)
        alpha = self.dropout(edge_softmax(S2, target, num_nodes).to(x.dtype))  # [.. e p]
        H2 = torch.zeros_like(V2).index_add(-3, target, alpha[..., None] * V2.index_select(-3, source))

        C1, C2 = wide(self.W_C(x)).sigmoid().to(x.dtype).split(1, dim=-1)
        out = self.W_H(torch.cat([C1 * H1.flatten(-2), C2 * H2.flatten(-2)], dim=-1))
        out = out if self.bias is None else out + self.bias
        return (out, (edge_index, alpha)) if return_attention_weights else out

    def _take_channels(self, x: Any) -> None:
        """Take the number of input channels from the first call, or from weights that were loaded before it."""
        if not isinstance(x, Tensor) or x.ndim not in (2, 3):
            return  # refused with the other inputs
        fresh = [linear for linear in (self.W_QKV, self.W_C) if is_lazy(linear.weight)]
        with torch.no_grad():
            for linear in (self.W_QKV, self.W_C):
                linear(x[..., :1, :])  # a lazy layer takes its shape from its first input
        for linear in fresh:
            nn.init.xavier_uniform_(linear.weight)
        self.in_channels = self.W_QKV.weight.shape[1]

    def _attended_edges(
        self, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int
    ) -> tuple[Tensor, Tensor | None]:
        if self.add_self_loops:
            edge_index, edge_attr = add_loops(*remove_loops(edge_index, edge_attr), num_nodes)
        if self.max_neighbors is not None:
            kept = cap_edges(edge_index, num_nodes, self.max_neighbors, self.policy)
            edge_index, edge_attr = edge_index[:, kept], None if edge_attr is None else edge_attr[kept]
        return edge_index, edge_attr

    def _global(self, Q1: Tensor, K1: Tensor, V1: Tensor, batch: Tensor | None) -> Float[Tensor, "*b n p w"]:
        """Return the global branch, with one state per graph of the batch."""
        if batch is None:
            return global_mix(Q1, K1, V1, self.global_norm, None)
        _, graph = batch.unique(return_inverse=True)  # ids may have gaps and come in any order
        sizes = torch.bincount(graph)
        # the share of a node depends on the size of its graph, so every node is treated as a graph of one: [.. n 1 p w]
        Q1, K1, V1 = (X.unsqueeze(-3) for X in (Q1, K1, V1))
        phi_Q, phi_K, V1 = (X.squeeze(-3) for X in feature_maps(Q1, K1, V1, self.global_norm, sizes[graph]))
        terms = phi_K[..., :, None] * V1[..., None, :]  # [.. n p w v]
        states = terms.new_zeros(*terms.shape[:-4], len(sizes), *terms.shape[-3:]).index_add(-4, graph, terms)
        return torch.einsum("...npw,...npwv->...npv", phi_Q, states.index_select(-4, graph))

    def _check(self, x: Any, edge_index: Any, edge_attr: Tensor | None, batch: Tensor | None) -> None:
        if isinstance(x, tuple | list):
            raise SchemaError(f"x: {NO_BIPARTITE}")
        if not isinstance(x, Tensor) or x.ndim not in (2, 3) or x.shape[-1] != self.in_channels:
            shape = list(x.shape) if isinstance(x, Tensor) else type(x).__name__
            raise SchemaError(f"x must be [N, {self.in_channels}] or [B, N, {self.in_channels}], got {shape}")
        if not x.is_floating_point():
            raise SchemaError(f"x must be floating point, got {x.dtype}; call x.float()")
        if not isinstance(edge_index, Tensor):
            raise SchemaError(f"edge_index must be int64 [2, E] or a sparse adjacency, got {type(edge_index).__name__}")
        if edge_index.ndim != 2 or edge_index.shape[0] != 2 or edge_index.dtype != torch.long:
            raise SchemaError(f"edge_index must be int64 [2, E], got {edge_index.dtype} {list(edge_index.shape)}")
        if edge_attr is not None and edge_attr.shape != (edge_index.shape[1], self.edge_dim):
            raise SchemaError(
                f"edge_attr must be [{edge_index.shape[1]}, {self.edge_dim}], got {list(edge_attr.shape)}"
            )
        if batch is not None and (batch.shape != (x.shape[-2],) or batch.dtype != torch.long):
            raise SchemaError(f"batch must be int64 [{x.shape[-2]}], got {batch.dtype} {list(batch.shape)}")
        if torch.compiler.is_compiling():
            return
        if edge_index.numel() and not (edge_index.min() >= 0 and edge_index.max() < x.shape[-2]):
            raise GraphError(f"edge_index points outside the {x.shape[-2]} nodes: use 0 to {x.shape[-2] - 1}")
        if not x.isfinite().all():
            raise DataError("x contains NaN or Inf; impute or drop those nodes first")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, heads={self.heads})"
