"""Edge lists in plain torch: self-loops, the neighbor cap, and a softmax per target node.

n nodes, e edges, p heads. An edge list [2 e] has a row of sources and a row of targets.
"""

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from graphghha.errors import ConfigError, GraphError
from graphghha.graph import Policy
from graphghha.nn.ops import wide

FillValue = float | Tensor | str
REDUCTIONS = {"mean": "mean", "add": "sum", "sum": "sum", "min": "amin", "max": "amax", "mul": "prod"}  # PyG's: torch's


def remove_loops(
    edge_index: Int[Tensor, "2 e"], edge_attr: Float[Tensor, "e a"] | None
) -> tuple[Int[Tensor, "2 e2"], Float[Tensor, "e2 a"] | None]:
    """Return the edges without self-loops."""
    kept = edge_index[0] != edge_index[1]
    return edge_index[:, kept], None if edge_attr is None else edge_attr[kept]


def add_loops(
    edge_index: Int[Tensor, "2 e"],
    edge_attr: Float[Tensor, "e a"] | None,
    num_nodes: int,
    fill_value: FillValue = "mean",
) -> tuple[Int[Tensor, "2 e2"], Float[Tensor, "e2 a"] | None]:
    """Return the edges plus one loop per node, whose attributes `fill_value` gives as in GATConv."""
    loop = torch.arange(num_nodes, device=edge_index.device)
    looped = torch.cat([edge_index, loop.expand(2, -1)], dim=1)
    if edge_attr is None:
        return looped, None
    return looped, torch.cat([edge_attr, _loop_attributes(edge_index[1], edge_attr, num_nodes, fill_value)])


def check_fill_value(fill_value: Any) -> None:
    """Raise ConfigError unless it is a number, a tensor or the name of a reduction over the in-edges of a node."""
    if (
        fill_value not in REDUCTIONS
        if isinstance(fill_value, str)
        else not isinstance(fill_value, int | float | Tensor)
    ):
        raise ConfigError(f"fill_value {fill_value!r} is neither a number, a tensor nor one of {', '.join(REDUCTIONS)}")


def _loop_attributes(
    target: Int[Tensor, " e"], edge_attr: Float[Tensor, "e a"], num_nodes: int, fill_value: FillValue
) -> Float[Tensor, "n a"]:
    shape = (num_nodes, edge_attr.shape[1])
    if not isinstance(fill_value, str):
        return torch.as_tensor(fill_value, dtype=edge_attr.dtype, device=edge_attr.device).expand(shape)
    reduction = REDUCTIONS[fill_value]
    start = edge_attr.new_ones(shape) if reduction == "prod" else edge_attr.new_zeros(shape)
    return start.scatter_reduce(0, target[:, None].expand_as(edge_attr), edge_attr, reduction, include_self=False)


def cap_edges(edge_index: Int[Tensor, "2 e"], num_nodes: int, cap: int, policy: Policy) -> Bool[Tensor, " e"]:
    """Return which edges remain if every target keeps at most `cap`, chosen as `graph.NeighborRule` describes."""
    source, target = edge_index
    order = source.argsort(stable=True)
    if policy == "specific":
        degree = torch.bincount(edge_index.flatten(), minlength=num_nodes)
        rarity = torch.where(source == target, -1, degree[source])
        order = order[rarity[order].argsort(stable=True)]
    order = order[target[order].argsort(stable=True)]
    counts = torch.bincount(target, minlength=num_nodes)
    starts = counts.cumsum(0) - counts
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order), device=order.device) - starts[target[order]]
    return rank < cap


def edge_softmax(S: Float[Tensor, "*b e p"], target: Int[Tensor, " e"], num_nodes: int) -> Float[Tensor, "*b e p"]:
    """Return the softmax over the in-edges of every target, computed in at least fp32."""
    scores = wide(S)
    shape = (*scores.shape[:-2], num_nodes, scores.shape[-1])
    spread = target[:, None].expand_as(scores)
    highest = scores.new_full(shape, -torch.inf).scatter_reduce(-2, spread, scores.detach(), "amax")
    E = (scores - highest[..., target, :]).exp()
    total = scores.new_zeros(shape).index_add(-2, target, E)
    return (E / total[..., target, :]).to(S.dtype)


def from_adjacency(edges: Any, num_nodes: int) -> tuple[Any, Tensor | None]:
    """Return edges [2 e] and values of a sparse adjacency as PyG takes it, transposed (row = target).

    Anything else is returned as it is, without values.
    """
    if isinstance(edges, Tensor):
        if edges.layout is torch.strided:
            return edges, None
        adjacency = edges.to_sparse_coo().coalesce()
        (target, source), values, sizes = adjacency.indices(), adjacency.values(), adjacency.shape[:2]
    elif callable(coo := getattr(edges, "coo", None)):  # torch_sparse.SparseTensor
        (target, source, values), sizes = coo(), edges.sizes()[:2]
    else:
        return edges, None
    if tuple(sizes) != (num_nodes, num_nodes):
        raise GraphError(f"the sparse adjacency must be [{num_nodes}, {num_nodes}], one row a node, got {list(sizes)}")
    return torch.stack([source, target]), values


@torch.no_grad()
def count_components(edge_index: Tensor, num_nodes: int) -> int:
    """Return into how many connected components the edges fall; nodes without an edge are not counted."""
    if not edge_index.numel():
        return 0
    source, target = edge_index
    label = torch.arange(num_nodes, device=edge_index.device)
    while True:
        low = torch.minimum(label[source], label[target])
        new = label.scatter_reduce(0, source, low, "amin").scatter_reduce(0, target, low, "amin")
        new = new[new]  # follow the labels' own labels, so that long chains need few rounds
        if torch.equal(new, label):
            return int(label[source].unique().numel())
        label = new
