"""Dynamic graphs: nodes, edges and zones are added and removed while a model runs.

s nodes, f features per node, c classes.
"""

import ctypes
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine.checks import as_mask, as_windows, features_error, scores_error
from graphghha.engine.frozen import Floats, FrozenModel, freeze
from graphghha.engine.native.plan import PackedModel
from graphghha.engine.native.weights import aligned
from graphghha.errors import GraphError, NotFoundError
from graphghha.graph import CpsGraph, Edge, Node, NodeKind, role_rows

if TYPE_CHECKING:
    from graphghha.models import Model
    from graphghha.nn import ADU

_KINDS = {kind: number for number, kind in enumerate(NodeKind)}


class DynamicEngine:
    """Scores windows of a graph that changes; scores equal those of a new `Engine`. Needs the native backend.

    Weights are packed once. A change rewrites the neighbor rows of the nodes it touches and of those that attend to
    them, so its cost does not depend on the size of the graph (except with `neighbor_divisor`, where every row depends
    on s). Features are laid out in the order of `names`; removing a node moves the last one to its place.
    """

    def __init__(
        self, model: "ADU | FrozenModel | Model | Path | str", graph: CpsGraph, *, dtype: str = "fp32"
    ) -> None:
        frozen = freeze(model)
        self._packed, self._rule = PackedModel(frozen, dtype), frozen.rule
        self._role_names = frozen.role_names
        self._nodes: list[Node] = []
        self._position: dict[str, int] = {}
        self._zones: dict[str | None, set[str]] = {}
        self._edges: dict[tuple[str, str], Edge] = {}
        self._out: list[set[int]] = []  # by row number
        self._in: list[set[int]] = []
        capacity = max(16, 2 * graph.num_nodes)
        self._rows = _RowPool(capacity, 4 * graph.num_edges + capacity)
        self._roles, self._kinds = np.zeros(capacity, np.int32), np.zeros(capacity, np.int8)
        self._score = self._packed.kernel.function("ghha_score", "pppiiipp")
        self._workspace_bytes = self._packed.kernel.function("ghha_workspace_bytes", "pii")
        self._workspace: NDArray[np.uint8] = np.zeros(0, np.uint8)
        self._lock = threading.RLock()
        self.add(graph.nodes, graph.edges)

    @property
    def names(self) -> tuple[str, ...]:
        """The node names in the order of a window's rows."""
        return tuple(node.name for node in self._nodes)

    @property
    def num_nodes(self) -> int:
        """The current number of nodes."""
        return len(self._nodes)

    def graph(self) -> CpsGraph:
        """Return the current graph."""
        with self._lock:
            return CpsGraph(self._nodes, self._edges.values())

    def add(self, nodes: Iterable[Node] = (), edges: Iterable[Edge] = ()) -> None:
        """Add nodes and edges. If one of them is invalid, none is added."""
        nodes, edges = tuple(nodes), tuple(edges)
        with self._lock:
            self._check(nodes, edges)
            touched = {self._add_node(node) for node in nodes}
            for edge in edges:
                touched |= self._add_edge(edge)
            self._rewrite(touched, bool(nodes))

    def remove_edge(self, source: str, target: str) -> None:
        """Remove an edge."""
        with self._lock:
            self._rewrite(self._remove_edge(source, target), False)

    def remove(self, names: Iterable[str]) -> None:
        """Remove nodes and their edges."""
        with self._lock:
            names = tuple(names)
            for name in names:
                self._at(name)
            if len(set(names)) >= self.num_nodes:
                raise GraphError("removing every node would leave an empty graph")
            for name in names:
                self._remove_node(name)

    def add_zone(self, template: CpsGraph, zone: str) -> None:
        """Add a copy of a template, with names as `template.replicate` gives them."""
        if zone in self._zones:
            raise GraphError(f"zone {zone!r} already exists")
        nodes = [Node(f"{zone}/{n.name}", n.kind, n.role, n.signal, zone) for n in template.nodes]
        edges = [Edge(f"{zone}/{e.source}", f"{zone}/{e.target}", e.kind, e.reason) for e in template.edges]
        self.add(nodes, edges)

    def remove_zone(self, zone: str) -> None:
        """Remove all nodes of a zone and their edges."""
        if zone not in self._zones:
            raise NotFoundError(f"no zone is named {zone!r}")
        self.remove(tuple(self._zones[zone]))

    def score(self, window: Any, mask: Any = None) -> Floats:
        """Return the class probabilities of features [s f] or [b s f] in the order of `names`.

        They are NaN where `mask` is False.
        """
        with self._lock:
            x = as_windows(window, self.num_nodes, self._packed.model.in_features)
            present = None if mask is None else as_mask(mask, len(x), self.num_nodes)
            probs = np.empty((*x.shape[:2], self._packed.num_classes), np.float32)
            plan = self._plan(self.num_nodes)
            if len(self._workspace) < self._workspace_bytes(ctypes.addressof(plan), 1, 1):
                roomy = self._plan(len(self._roles))
                size = self._workspace_bytes(ctypes.addressof(roomy), 1, 1)
                self._workspace = aligned(np.zeros(size, np.uint8))
            status = self._score(
                ctypes.addressof(plan),
                x.ctypes.data,
                None if present is None else present.ctypes.data,
                len(x),
                1,
                1,
                self._workspace.ctypes.data,
                probs.ctypes.data,
            )
        if status > 0:
            raise features_error((status - 1) % x.shape[1])
        if status < 0:
            raise scores_error()
        return probs if window.ndim == 3 else probs[0]

    def _plan(self, num_nodes: int) -> ctypes.Structure:
        rows = self._rows
        arrays: dict[str, NDArray[Any]] = {
            "start": rows.start,
            "degree": rows.degree,
            "idx": rows.idx,
            "roles": self._roles,
            "kinds": self._kinds,
        }
        return self._packed.plan(num_nodes, rows.max_degree, arrays)

    def _at(self, name: str) -> int:
        if name not in self._position:
            raise NotFoundError(f"no node is named {name!r} in this graph of {self.num_nodes} nodes")
        return self._position[name]

    def _check(self, nodes: tuple[Node, ...], edges: tuple[Edge, ...]) -> None:
        new = {node.name: node for node in nodes}
        repeated = [node.name for node in nodes if node.name in self._position]
        if repeated or len(new) < len(nodes):
            raise GraphError(f"node {(repeated or [nodes[0].name])[0]!r}: the name appears twice; names must be unique")
        role_rows([node.role for node in nodes], self._role_names)
        ends = {end for edge in edges for end in (edge.source, edge.target)}
        known = [new[end] if end in new else self._nodes[self._at(end)] for end in sorted(ends)]
        if known:
            CpsGraph(known, edges)  # raises where an edge breaks the rules
        if known_edges := [edge for edge in edges if (edge.source, edge.target) in self._edges]:
            raise GraphError(f"edge {known_edges[0].source!r} -> {known_edges[0].target!r}: the edge appears twice")

    def _add_node(self, node: Node) -> int:
        row = self.num_nodes
        if row == len(self._roles):
            capacity = 2 * row
            self._rows.grow(capacity)
            self._roles, self._kinds = _grown(self._roles, capacity), _grown(self._kinds, capacity)
        self._nodes.append(node)
        self._out.append(set())
        self._in.append(set())
        self._place(row, node)
        self._zones.setdefault(node.zone, set()).add(node.name)
        return row

    def _place(self, row: int, node: Node) -> None:
        self._position[node.name] = row
        (self._roles[row],) = role_rows([node.role], self._role_names)
        self._kinds[row] = -1 if node.signal is None else _KINDS[NodeKind(node.kind)]

    def _add_edge(self, edge: Edge) -> set[int]:
        i, j = self._at(edge.source), self._at(edge.target)
        self._edges[edge.source, edge.target] = edge
        self._out[i].add(j)
        self._in[j].add(i)
        return {i, j}

    def _remove_edge(self, source: str, target: str) -> set[int]:
        i, j = self._at(source), self._at(target)
        if (source, target) not in self._edges:
            raise NotFoundError(f"there is no edge {source!r} -> {target!r}")
        del self._edges[source, target]
        self._out[i].discard(j)
        self._in[j].discard(i)
        return {i, j}

    def _remove_node(self, name: str) -> None:
        row, last = self._at(name), self.num_nodes - 1
        touched: set[int] = set()
        for j in tuple(self._out[row]):
            touched |= self._remove_edge(name, self._nodes[j].name)
        for j in tuple(self._in[row]):
            touched |= self._remove_edge(self._nodes[j].name, name)
        zone = self._nodes[row].zone
        self._zones[zone].discard(name)
        if not self._zones[zone]:
            del self._zones[zone]
        del self._position[name]
        if row != last:
            touched |= self._renumber(last, row)
        for column in (self._nodes, self._out, self._in):
            column.pop()
        self._rows.degree[last] = 0
        self._rewrite(touched - {last}, True)

    def _renumber(self, old: int, new: int) -> set[int]:
        """Move the node of row `old` to row `new`; return the rows that refer to it."""
        node, receivers, senders = self._nodes[old], self._out[old], self._in[old]
        for j in receivers:
            self._in[j] = self._in[j] - {old} | {new}
        for j in senders:
            self._out[j] = self._out[j] - {old} | {new}
        self._nodes[new], self._out[new], self._in[new] = node, receivers, senders
        self._place(new, node)
        return {new} | receivers | senders

    def _attended(self, row: int) -> set[int]:
        """Return the rows that a node attends to, before the cap."""
        direction = self._rule.direction
        if direction == "both":
            attended = self._out[row] | self._in[row]
        else:
            attended = self._out[row] if direction == "out" else self._in[row]
        return attended | {row} if self._rule.self_loops else attended

    def _rewrite(self, touched: set[int], size_changed: bool) -> None:
        """Rewrite the rows of these nodes, and of those whose choice among neighbors may depend on their degrees."""
        if size_changed and self._rule.neighbor_divisor is not None:
            touched = set(range(self.num_nodes))
        elif self._rule.cap(self.num_nodes) is not None:
            touched = touched.union(*(self._out[row] | self._in[row] for row in touched))
        for row in touched:
            self._rows.write(row, self._capped(row))

    def _capped(self, row: int) -> list[int]:
        """Return the neighbors of one row, as `graph.neighborhood` chooses them."""
        neighbors, cap = sorted(self._attended(row)), self._rule.cap(self.num_nodes)
        if cap is None or len(neighbors) <= cap:
            return neighbors
        if self._rule.policy == "specific":
            neighbors.sort(key=lambda j: (j != row, len(self._attended(j)), j))
        return sorted(neighbors[:cap])


class _RowPool:
    """Neighbor rows as the arrays `start`, `degree`, `idx`. A row that outgrows its place moves to the end."""

    def __init__(self, capacity: int, pool: int) -> None:
        self.start = np.zeros(capacity, np.int64)
        self.degree = np.zeros(capacity, np.int32)
        self._room = np.zeros(capacity, np.int32)  # length of each row's stretch
        self.idx = np.zeros(max(1, pool), np.int32)
        self._end = 0
        self.max_degree = 1  # never shrinks: scratch memory is sized by it

    def __getitem__(self, node: int) -> NDArray[np.int32]:
        return self.idx[self.start[node] : self.start[node] + self.degree[node]]

    def write(self, node: int, row: list[int]) -> None:
        if len(row) > self._room[node]:
            self._move(node, 2 * len(row))
        self.degree[node] = len(row)
        self[node][:] = row
        self.max_degree = max(self.max_degree, len(row))

    def _move(self, node: int, room: int) -> None:
        if self._end + room > len(self.idx):
            self._compact(room)
        self.start[node], self._room[node] = self._end, room
        self._end += room

    def _compact(self, room: int) -> None:
        """Close the holes that moved rows left and double the pool, so that writing stays cheap on average."""
        used = np.flatnonzero(self._room).tolist()
        idx = np.zeros(2 * (int(self._room[used].sum()) + room), np.int32)
        end = 0
        for node in used:
            row = self[node]
            idx[end : end + len(row)] = row
            self.start[node] = end
            end += int(self._room[node])
        self.idx, self._end = idx, end

    def grow(self, capacity: int) -> None:
        self.start, self.degree, self._room = (_grown(a, capacity) for a in (self.start, self.degree, self._room))


def _grown(array: NDArray[Any], capacity: int) -> NDArray[Any]:
    """Return a copy of the array with zeros appended up to the capacity."""
    out = np.zeros(capacity, array.dtype)
    out[: len(array)] = array
    return out
