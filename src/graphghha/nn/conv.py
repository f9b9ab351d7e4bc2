"""GraphGHHAConv: GraphGHHA with the call forms of PyG's GATConv, in plain torch.

n nodes of all graphs in the call, e edges, p heads, w sub-head width.
"""

import math
import warnings
from numbers import Integral
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from graphghha.errors import ConfigError, DataError, GraphError, SchemaError
from graphghha.graph import NeighborRule, Policy
from graphghha.nn.edges import (
    FillValue,
    add_loops,
    cap_edges,
    check_fill_value,
    count_components,
    edge_softmax,
    from_adjacency,
    remove_loops,
)
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
    it would mix the graphs. The positional arguments are GATConv's, in its order. `negative_slope` is accepted and
    unused; `edge_attr` is used if `edge_dim` is set, and `fill_value` says what a self-loop has in its place.
    `residual` adds a linear map of x. `size` is accepted if it describes one set of nodes.
    `max_neighbors` caps the in-edges of a node, chosen by `policy` (`graph.NeighborRule`). As in PyG, `in_channels` -1
    is taken from the first call, and a sparse adjacency, transposed (row = target), may take the place of `edge_index`;
    its values are the edge attributes if `edge_dim` is set and `edge_attr` is not given. Runs under `torch.autocast`
    and compiles whole (`torch.compile(fullgraph=True)`); `torch.jit.script` is not supported.

    Shapes: x [n F] or [B n F] on one static graph; out [.. n heads*out] or [.. n out] without `concat`.
    """

    def __init__(
        self,
        in_channels: Any,  # an int; the checks below name what else arrives
        out_channels: int,
        heads: int = 1,
        concat: bool = True,
        negative_slope: float = 0.2,
        dropout: float = 0.0,
        add_self_loops: bool = True,
        edge_dim: int | None = None,
        fill_value: FillValue = "mean",
        bias: bool = True,
        residual: bool = False,
        *,
        max_neighbors: int | None = None,
        policy: Policy = "specific",
        global_norm: GlobalNorm = "rms",
    ) -> None:
        super().__init__()
        if isinstance(in_channels, tuple | list):
            raise ConfigError(f"GraphGHHAConv: in_channels {in_channels!r}: {NO_BIPARTITE}")
        is_open = in_channels == -1
        sizes = (1 if is_open else in_channels, out_channels, heads, 1 if edge_dim is None else edge_dim)
        if not all(isinstance(size, Integral) and int(size) >= 1 for size in sizes):
            raise ConfigError(
                f"GraphGHHAConv: in_channels {in_channels!r}, out_channels {out_channels!r}, heads {heads!r} and "
                f"edge_dim {edge_dim!r} must be positive integers (in_channels may be -1: it is then taken from the "
                "first call; edge_dim may be None)"
            )
        check_fill_value(fill_value)
        check_global_norm(global_norm)
        rule = NeighborRule(max_neighbors=max_neighbors, policy=policy)  # checks both
        self.in_channels: int = in_channels
        self.out_channels, self.heads, self.concat = out_channels, heads, concat
        self.add_self_loops, self.edge_dim, self.global_norm = add_self_loops, edge_dim, global_norm
        self.fill_value = fill_value
        self.max_neighbors, self.policy = rule.max_neighbors, rule.policy
        width = 2 * heads * -(-out_channels // 2)  # k: both halves of every head are ceil(out / 2) wide
        # rows Q, K, V, each [global | local]
        self.W_QKV = nn.LazyLinear(3 * width, False) if is_open else nn.Linear(in_channels, 3 * width, bias=False)
        self.W_C = nn.LazyLinear(2, False) if is_open else nn.Linear(in_channels, 2, bias=False)
        self.W_E = nn.Linear(edge_dim, heads, bias=False) if edge_dim is not None else None
        self.W_H = nn.Linear(width, out_channels * (heads if concat else 1), bias=False)
        self.W_R = None
        if residual:
            out = self.W_H.out_features
            self.W_R = nn.LazyLinear(out, False) if is_open else nn.Linear(in_channels, out, bias=False)
        self.bias = nn.Parameter(torch.empty(self.W_H.out_features)) if bias else None
        self.dropout = nn.Dropout(dropout)
        self._checks_left = COMPONENT_CHECKS
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new random weights."""
        for linear in (self.W_QKV, self.W_C, self.W_E, self.W_H, self.W_R):
            if linear is not None and not is_lazy(linear.weight):
                nn.init.xavier_uniform_(linear.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(
        self,
        x: Any,  # Float[Tensor, "*b n f"]; the checks below name what else arrives
        edge_index: Any,  # Int[Tensor, "2 e"], or a sparse adjacency
        edge_attr: Float[Tensor, "e ..."] | None = None,
        size: tuple[int, int] | None = None,
        return_attention_weights: bool | None = None,
        *,
        batch: Int[Tensor, " n"] | None = None,
    ) -> Float[Tensor, "*b n out"] | tuple[Float[Tensor, "*b n out"], tuple[Tensor, Tensor]]:
        """Return out or, with `return_attention_weights`, (out, (attended edge_index, alpha [.. e heads]))."""
        if self.in_channels == -1:
            self._take_channels(x)
        self._check_x(x, size)
        num_nodes = x.shape[-2]
        edge_index, values = from_adjacency(edge_index, num_nodes)
        edge_attr = self._edge_attributes(edge_attr if edge_attr is not None else values)
        self._check_edges(edge_index, edge_attr, num_nodes)
        self._check_batch(batch, num_nodes)
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
        alpha = self.dropout(edge_softmax(S2, target, num_nodes).to(V2.dtype))  # [.. e p]
        H2 = torch.zeros_like(V2).index_add(-3, target, alpha[..., None] * V2.index_select(-3, source))

        C1, C2 = wide(self.W_C(x)).sigmoid().to(V2.dtype).split(1, dim=-1)
        out = self.W_H(torch.cat([C1 * H1.flatten(-2), C2 * H2.flatten(-2)], dim=-1))
        if self.W_R is not None:
            out = out + self.W_R(x)
        if self.bias is not None:
            out = out + self.bias.to(out.dtype)
        return (out, (edge_index, alpha)) if return_attention_weights else out

    def _take_channels(self, x: Any) -> None:
        """Take the number of input channels from the first call, or from weights that were loaded before it."""
        if not isinstance(x, Tensor) or x.ndim not in (2, 3):
            return  # refused with the other inputs
        of_x = [linear for linear in (self.W_QKV, self.W_C, self.W_R) if linear is not None]
        fresh = [linear for linear in of_x if is_lazy(linear.weight)]
        with torch.no_grad():
            for linear in of_x:
                linear(x[..., :1, :])  # a lazy layer takes its shape from its first input
        for linear in fresh:
            nn.init.xavier_uniform_(linear.weight)
        self.in_channels = self.W_QKV.weight.shape[1]

    def _attended_edges(
        self, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int
    ) -> tuple[Tensor, Tensor | None]:
        if self.add_self_loops:
            edge_index, edge_attr = add_loops(*remove_loops(edge_index, edge_attr), num_nodes, self.fill_value)
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

    def _edge_attributes(self, edge_attr: Any) -> Any:
        """Return attributes as [e, edge_dim], or None if the layer does not use any."""
        if self.edge_dim is None or not isinstance(edge_attr, Tensor):
            return None if self.edge_dim is None else edge_attr
        edge_attr = edge_attr.to(self.W_H.weight.dtype)
        return edge_attr[:, None] if edge_attr.ndim == 1 else edge_attr

    def _check_x(self, x: Any, size: tuple[int, int] | None) -> None:
        if isinstance(x, tuple | list):
            raise SchemaError(f"x: {NO_BIPARTITE}")
        if not isinstance(x, Tensor) or x.ndim not in (2, 3) or x.shape[-1] != self.in_channels:
            shape = list(x.shape) if isinstance(x, Tensor) else type(x).__name__
            raise SchemaError(f"x must be [N, {self.in_channels}] or [B, N, {self.in_channels}], got {shape}")
        if not x.is_floating_point():
            raise SchemaError(f"x must be floating point, got {x.dtype}; call x.float()")
        if x.layout is not torch.strided:
            raise SchemaError(f"x must be dense, got {x.layout}; call x.to_dense()")
        dtype = self.W_H.weight.dtype
        if x.dtype != dtype and not torch.is_autocast_enabled(x.device.type):
            raise SchemaError(f"x is {x.dtype}, the weights are {dtype}; call x.to({dtype}) or conv.to({x.dtype})")
        if size is not None and tuple(size) != (x.shape[-2], x.shape[-2]):
            raise SchemaError(f"size {size} of {x.shape[-2]} nodes: {NO_BIPARTITE}")
        if not torch.compiler.is_compiling() and not x.isfinite().all():
            raise DataError("x contains NaN or Inf; impute or drop those nodes first")

    def _check_edges(self, edge_index: Any, edge_attr: Any, num_nodes: int) -> None:
        if not isinstance(edge_index, Tensor):
            raise SchemaError(f"edge_index must be int64 [2, E] or a sparse adjacency, got {type(edge_index).__name__}")
        if edge_index.ndim != 2 or edge_index.shape[0] != 2 or edge_index.dtype != torch.long:
            raise SchemaError(f"edge_index must be int64 [2, E], got {edge_index.dtype} {list(edge_index.shape)}")
        num_edges = edge_index.shape[1]
        if edge_attr is not None:
            shape = list(edge_attr.shape) if isinstance(edge_attr, Tensor) else type(edge_attr).__name__
            if shape != [num_edges, self.edge_dim]:
                raise SchemaError(f"edge_attr must be [{num_edges}, {self.edge_dim}], got {shape}")
        if torch.compiler.is_compiling() or not num_edges:
            return
        if not (edge_index.min() >= 0 and edge_index.max() < num_nodes):
            raise GraphError(f"edge_index points outside the {num_nodes} nodes: use 0 to {num_nodes - 1}")

    @staticmethod
    def _check_batch(batch: Any, num_nodes: int) -> None:
        if batch is None or (isinstance(batch, Tensor) and batch.shape == (num_nodes,) and batch.dtype == torch.long):
            return
        got = f"{batch.dtype} {list(batch.shape)}" if isinstance(batch, Tensor) else type(batch).__name__
        raise SchemaError(f"batch must be int64 [{num_nodes}], got {got}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, heads={self.heads})"
