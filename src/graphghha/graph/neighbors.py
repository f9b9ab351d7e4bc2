"""The nodes each node attends to: the adjacency of a graph, directed, capped, in CSR and padded form.

s nodes, e attended pairs after the cap, d largest degree after the cap.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError, GraphError
from graphghha.graph.cps import CpsGraph

Direction = Literal["in", "out", "both"]
Policy = Literal["first", "specific"]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class NeighborRule:
    """How a neighbourhood is taken from a graph.

    `out` is the paper (targets of a node's out-edges), `in` is PyG (sources of its in-edges). `both` lets a valve
    attend to its command and to what it acts on. The cap is `max_neighbors`, or the paper's s/n through
    `neighbor_divisor` = n; Alg. 1 counts while count < s/n, so a fractional s/n rounds up.

    Policies, when the cap binds:
    - `first`: the lowest node indices (Alg. 1). Which neighbours survive then depends on the numbering.
    - `specific`: the node itself, then neighbours with the fewest edges in either direction. A hub that is joined to
      everything says little about any one node, and the global branch carries it anyway.
    """

    direction: Direction = "both"
    self_loops: bool = True
    max_neighbors: int | None = None
    neighbor_divisor: int | None = None
    policy: Policy = "specific"

    def __post_init__(self) -> None:
        for name, value, known in (
            ("direction", self.direction, get_args(Direction)),
            ("policy", self.policy, get_args(Policy)),
        ):
            if value not in known:
                raise ConfigError(f"neighbours: unknown {name} {value!r}; use {' | '.join(known)}")
        for name, cap in (("max_neighbors", self.max_neighbors), ("neighbor_divisor", self.neighbor_divisor)):
            if cap is not None and not (isinstance(cap, int) and cap >= 1):
                raise ConfigError(f"neighbours: {name} = {cap} must be a whole number from 1, or absent for no cap")
        if self.max_neighbors is not None and self.neighbor_divisor is not None:
            raise ConfigError("neighbours: give max_neighbors or neighbor_divisor, not both")

    def cap(self, num_nodes: int) -> int | None:
        """Return the largest number of neighbours in a graph of this size, or None for no cap."""
        if self.neighbor_divisor is not None:
            return -(-num_nodes // self.neighbor_divisor)
        return self.max_neighbors


PAPER_RULE = NeighborRule(direction="out", self_loops=False, neighbor_divisor=8, policy="first")


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """CSR rows: node i attends to `idx[ptr[i]:ptr[i + 1]]`, ascending."""

    ptr: Ints  # [s + 1]
    idx: Ints  # [e]

    @property
    def num_nodes(self) -> int:
        return len(self.ptr) - 1

    @property
    def degrees(self) -> Ints:
        return np.diff(self.ptr)

    @property
    def max_degree(self) -> int:
        return int(self.degrees.max(initial=0))

    @cached_property
    def rows(self) -> Ints:
        """[e] the attending node of each entry of `idx`."""
        return np.repeat(np.arange(self.num_nodes), self.degrees)

    def neighbors(self, node: int) -> Ints:
        """Return the nodes this node attends to, ascending."""
        return self.idx[self.ptr[node] : self.ptr[node + 1]]

    def padded(self) -> tuple[Ints, NDArray[np.bool_]]:
        """Return `nbr` [s d] and its mask, d the largest degree (at least 1). Padding points at the node itself."""
        width = max(1, self.max_degree)
        nbr = np.repeat(np.arange(self.num_nodes)[:, None], width, axis=1)
        mask = np.arange(width) < self.degrees[:, None]
        nbr[mask] = self.idx
        return nbr, mask

    def dense(self) -> NDArray[np.bool_]:
        """Return `adj` [s s], which only the dense methods and the reference implementation need."""
        adj = np.zeros((self.num_nodes, self.num_nodes), np.bool_)
        adj[self.rows, self.idx] = True
        return adj


def neighborhood(graph: CpsGraph, rule: NeighborRule = NeighborRule()) -> Neighborhood:
    """Return the capped neighbourhood of every node of a graph."""
    source, target = graph.edge_index
    attends = {
        "out": (source, target),
        "in": (target, source),
        "both": (np.concatenate([source, target]), np.concatenate([target, source])),
    }[rule.direction]
    return from_pairs(*attends, graph.num_nodes, rule)


def from_pairs(rows: Ints, cols: Ints, num_nodes: int, rule: NeighborRule) -> Neighborhood:
    """Cap and sort raw "row attends to col" pairs. Duplicates are merged; the direction of `rule` is not used."""
    rows, cols = rows.astype(np.int64, copy=False), cols.astype(np.int64, copy=False)
    if len(rows) and not (min(rows.min(), cols.min()) >= 0 and max(rows.max(), cols.max()) < num_nodes):
        raise GraphError(f"an edge points outside the {num_nodes} nodes: use indices 0 to {num_nodes - 1}")
    if rule.self_loops:
        loop = np.arange(num_nodes)
        rows, cols = np.concatenate([rows, loop]), np.concatenate([cols, loop])
    keys = np.unique(rows * num_nodes + cols)
    rows, cols = np.divmod(keys, num_nodes)
    cap = rule.cap(num_nodes)
    if cap is not None:
        kept = _POLICIES[rule.policy](rows, cols, num_nodes) < cap
        rows, cols = rows[kept], cols[kept]
    ptr = np.zeros(num_nodes + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=num_nodes), out=ptr[1:])
    return Neighborhood(ptr, cols)


def _first(rows: Ints, cols: Ints, num_nodes: int) -> Ints:
    return _rank(rows, num_nodes)


def _specific(rows: Ints, cols: Ints, num_nodes: int) -> Ints:
    degree = np.bincount(rows, minlength=num_nodes) + np.bincount(cols, minlength=num_nodes)
    order = np.lexsort((cols, degree[cols], rows != cols, rows))
    rank = np.empty_like(rows)
    rank[order] = _rank(rows[order], num_nodes)
    return rank


def _rank(sorted_rows: Ints, num_nodes: int) -> Ints:
    """Return the position of each entry within its row."""
    counts = np.bincount(sorted_rows, minlength=num_nodes)
    starts = np.cumsum(counts) - counts
    return np.arange(len(sorted_rows)) - starts[sorted_rows]


_POLICIES: dict[Policy, Callable[[Ints, Ints, int], Ints]] = {"first": _first, "specific": _specific}
