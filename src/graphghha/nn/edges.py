"""Edge lists in plain torch: self-loops, the neighbor cap, and a softmax per target node.

n nodes, e edges, p heads. An edge list [2 e] has a row of sources and a row of targets.
"""

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from graphghha.graph import Policy
from graphghha.nn.ops import wide


def remove_loops(
    edge_index: Int[Tensor, "2 e"], edge_attr: Float[Tensor, "e a"] | None
) -> tuple[Int[Tensor, "2 e2"], Float[Tensor, "e2 a"] | None]:
    """Return the edges without self-loops."""
    kept = edge_index[0] != edge_index[1]
    return edge_index[:, kept], None if edge_attr is None else edge_attr[kept]


def add_loops(
    edge_index: Int[Tensor, "2 e"], edge_attr: Float[Tensor, "e a"] | None, num_nodes: int
) -> tuple[Int[Tensor, "2 e2"], Float[Tensor, "e2 a"] | None]:
    """Return the edges plus one loop per node, whose attribute is the mean of its in-edges, as in GATConv."""
    loop = torch.arange(num_nodes, device=edge_index.device)
    looped = torch.cat([edge_index, loop.expand(2, -1)], dim=1)
    if edge_attr is None:
        return looped, None
    sums = edge_attr.new_zeros(num_nodes, edge_attr.shape[1]).index_add(0, edge_index[1], edge_attr)
    counts = torch.bincount(edge_index[1], minlength=num_nodes).clamp_min(1)
    return looped, torch.cat([edge_attr, sums / counts[:, None]])


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


def from_adjacency(edges: Any) -> Any:
    """Return edges [2 e] of a sparse adjacency as PyG takes it, transposed (row = target); anything else as it is."""
    if isinstance(edges, Tensor):
        if edges.layout is torch.strided:
            return edges
        target, source = edges.to_sparse_coo().coalesce().indices()
        return torch.stack([source, target])
    if callable(coo := getattr(edges, "coo", None)):  # torch_sparse.SparseTensor
        target, source, _ = coo()
        return torch.stack([source, target])
    return edges


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
