"""The graph of a cyber-physical plant: typed nodes, typed directed edges, checked once, never changed."""

import hashlib
import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Self, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import CheckpointError, GraphError, NotFoundError

_E = TypeVar("_E", bound=StrEnum)
_T = TypeVar("_T", bound=np.generic)


class NodeKind(StrEnum):
    SENSOR = "sensor"
    CONTROLLER = "controller"
    ACTUATOR = "actuator"


class EdgeKind(StrEnum):
    COMM = "comm"
    PHYS = "phys"
    NEAR = "near"


NODE_KINDS = tuple(NodeKind)
EDGE_KINDS = tuple(EdgeKind)

# The paper's section on graph abstraction: which kinds of nodes an edge may join. `near` is not in the paper: it joins
# nodes whose readings belong together where nothing says more (Brick's feeds, learned graphs).
RULES: dict[EdgeKind, tuple[frozenset[NodeKind], frozenset[NodeKind], str]] = {
    EdgeKind.COMM: (
        frozenset({NodeKind.SENSOR, NodeKind.CONTROLLER}),
        frozenset({NodeKind.CONTROLLER, NodeKind.ACTUATOR}),
        "comm edges go from sensors and controllers to controllers and actuators",
    ),
    EdgeKind.PHYS: (
        frozenset({NodeKind.ACTUATOR}),
        frozenset({NodeKind.SENSOR}),
        "phys edges go from actuators to sensors",
    ),
    EdgeKind.NEAR: (frozenset(NodeKind), frozenset(NodeKind), "near edges join any two nodes"),
}

_MENDING = "reverse the edge, correct the kind of a node, or make it a near edge"


@dataclass(frozen=True, slots=True)
class Node:
    """A sensor, controller or actuator. `role` is its place in the template and defaults to its name."""

    name: str
    kind: NodeKind | str
    role: str = ""
    signal: str | None = None
    zone: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise GraphError(f"node {self.name!r}: a name must be a non-empty string")
        for field, value in (("role", self.role or None), ("signal", self.signal), ("zone", self.zone)):
            if value is not None and (not isinstance(value, str) or not value.strip()):
                raise GraphError(f"node {self.name!r}: {field} {value!r} must be a non-empty string, or absent")
        object.__setattr__(self, "kind", _member(NodeKind, self.kind, f"node {self.name!r}"))
        object.__setattr__(self, "role", self.role or self.name)


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed edge between two node names. `reason` documents it and is not part of the content hash."""

    source: str
    target: str
    kind: EdgeKind | str
    reason: str = ""

    def __post_init__(self) -> None:
        where = f"edge {self.source!r} -> {self.target!r}"
        object.__setattr__(self, "kind", _member(EdgeKind, self.kind, where))


def _member(enum: type[_E], value: str, where: str) -> _E:
    try:
        return enum(value)
    except ValueError:
        raise GraphError(f"{where}: unknown kind {value!r}; use {' | '.join(enum)}") from None


class CpsGraph:
    """Sensors, controllers and actuators joined by comm, phys and near edges.

    Node order is kept (features are laid out in it); edges are sorted, so that two graphs with the same
    content have the same hash. Everything is held in columns: memory grows with nodes plus edges.
    """

    names: tuple[str, ...]
    roles: tuple[str, ...]  # per node
    zones: tuple[str | None, ...]  # per node; None for nodes that all zones share
    signals: tuple[str | None, ...]  # per node; None for equipment without a sensor
    kinds: NDArray[np.uint8]  # [s] index into NODE_KINDS
    edge_index: NDArray[np.int64]  # [2 e] source row, target row; sorted by (source, target)
    edge_kinds: NDArray[np.uint8]  # [e] index into EDGE_KINDS
    reasons: tuple[str, ...]  # [e]

    def __init__(self, nodes: Iterable[Node], edges: Iterable[Edge] = ()) -> None:
        nodes, edges = tuple(nodes), tuple(edges)
        if not nodes:
            raise GraphError("the graph is empty: give it at least one node")
        index: dict[str, int] = {}
        for i, node in enumerate(nodes):
            if index.setdefault(node.name, i) != i:
                raise GraphError(f"node {node.name!r}: the name appears twice; names must be unique")
        for edge in edges:
            for end in (edge.source, edge.target):
                if end not in index:
                    raise GraphError(f"edge {edge.source!r} -> {edge.target!r}: no node is named {end!r}")
        pairs = [(index[e.source], index[e.target]) for e in edges]
        self._fill(
            names=tuple(n.name for n in nodes),
            roles=tuple(n.role for n in nodes),
            zones=tuple(n.zone for n in nodes),
            signals=tuple(n.signal for n in nodes),
            kinds=np.array([NODE_KINDS.index(NodeKind(n.kind)) for n in nodes], np.uint8),
            edge_index=np.array(pairs, np.int64).reshape(-1, 2).T,
            edge_kinds=np.array([EDGE_KINDS.index(EdgeKind(e.kind)) for e in edges], np.uint8),
            reasons=tuple(e.reason for e in edges),
        )

    def _fill(
        self,
        *,
        names: tuple[str, ...],
        roles: tuple[str, ...],
        zones: tuple[str | None, ...],
        signals: tuple[str | None, ...],
        kinds: NDArray[np.uint8],
        edge_index: NDArray[np.int64],
        edge_kinds: NDArray[np.uint8],
        reasons: Sequence[str],
    ) -> None:
        order = np.lexsort((edge_index[1], edge_index[0]))
        columns = {
            "names": names,
            "roles": roles,
            "zones": zones,
            "signals": signals,
            "kinds": _frozen(kinds),
            "edge_index": _frozen(edge_index[:, order]),
            "edge_kinds": _frozen(edge_kinds[order]),
            "reasons": tuple(reasons[i] for i in order),
        }
        for name, column in columns.items():
            object.__setattr__(self, name, column)
        self._check_edges()

    def _check_edges(self) -> None:
        source, target = self.edge_index

        def refuse(wrong: NDArray[np.bool_], why: str) -> None:
            if wrong.any():
                e = int(np.argmax(wrong))
                i, j = int(source[e]), int(target[e])
                raise GraphError(
                    f"edge {self.names[i]!r} ({NODE_KINDS[self.kinds[i]]}) -> {self.names[j]!r} "
                    f"({NODE_KINDS[self.kinds[j]]}), {EDGE_KINDS[self.edge_kinds[e]]}: {why}"
                )

        refuse(source == target, "a node cannot be its own neighbour; NeighborRule(self_loops=True) adds self-loops")
        for number, kind in enumerate(EDGE_KINDS):
            sources, targets, rule = RULES[kind]
            may_send = np.array([k in sources for k in NODE_KINDS])
            may_receive = np.array([k in targets for k in NODE_KINDS])
            allowed = may_send[self.kinds[source]] & may_receive[self.kinds[target]]
            refuse((self.edge_kinds == number) & ~allowed, f"{rule}; {_MENDING}")
        twice = np.zeros(len(source), np.bool_)
        twice[1:] = (source[1:] == source[:-1]) & (target[1:] == target[:-1])
        refuse(twice, "the edge appears twice")

    def __setattr__(self, name: str, value: object) -> None:
        # cached_property writes to __dict__ and so still works
        raise AttributeError(f"a CpsGraph never changes; build a new one instead of setting {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a CpsGraph never changes; {name!r} cannot be deleted")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), {name: getattr(self, name) for name in CpsGraph.__annotations__})

    @property
    def num_nodes(self) -> int:
        return len(self.names)

    @property
    def num_edges(self) -> int:
        return int(self.edge_index.shape[1])

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        columns = zip(self.names, self.kinds, self.roles, self.signals, self.zones, strict=True)
        return tuple(Node(name, NODE_KINDS[kind], role, signal, zone) for name, kind, role, signal, zone in columns)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        return tuple(
            Edge(self.names[i], self.names[j], EDGE_KINDS[kind], reason)
            for i, j, kind, reason in zip(*self.edge_index, self.edge_kinds, self.reasons, strict=True)
        )

    @cached_property
    def zone_names(self) -> tuple[str, ...]:
        """The zones of this graph, in the order of their nodes."""
        return tuple(dict.fromkeys(zone for zone in self.zones if zone is not None))

    @cached_property
    def signal_nodes(self) -> NDArray[np.int64]:
        """[p] the rows of the nodes that carry a signal."""
        return _frozen(np.flatnonzero([signal is not None for signal in self.signals]))

    @cached_property
    def points(self) -> tuple[str, ...]:
        """[p] the names of the nodes that carry a signal: the columns of a row of readings."""
        return tuple(self.names[node] for node in self.signal_nodes)

    @cached_property
    def point_signals(self) -> tuple[str, ...]:
        """[p] the signal of each point."""
        return tuple(signal for signal in self.signals if signal is not None)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def index(self, name: str) -> int:
        """Return the row of the node with this name."""
        if name not in self._positions:
            raise NotFoundError(f"no node is named {name!r} in this graph of {self.num_nodes} nodes")
        return self._positions[name]

    def place(self, node: int) -> str:
        """Return how people name a node within its zone: its role, or its name if it belongs to no zone."""
        return self.names[node] if self.zones[node] is None else self.roles[node]

    def edge_between(self, source: int, target: int) -> EdgeKind | None:
        """Return the kind of the edge from one row to another, or None if there is no such edge."""
        rows = self.edge_index[0]
        start, stop = np.searchsorted(rows, [source, source + 1])
        at = start + int(np.searchsorted(self.edge_index[1, start:stop], target))
        return EDGE_KINDS[self.edge_kinds[at]] if at < stop and self.edge_index[1, at] == target else None

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of nodes and edges, without the reasons, which are documentation."""
        digest = hashlib.sha256(b"graphghha-graph/1")
        for column in (self.names, self.roles, self.zones, self.signals):
            digest.update(repr(column).encode())
        for array in (self.kinds, self.edge_index, self.edge_kinds):
            digest.update(array.astype("<i8").tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CpsGraph) and self.content_hash == other.content_hash

    def __hash__(self) -> int:
        return hash(self.content_hash)

    def __repr__(self) -> str:
        counts = np.bincount(self.kinds, minlength=len(NODE_KINDS))
        kinds = ", ".join(f"{n} {kind}s" for n, kind in zip(counts, NODE_KINDS, strict=True))
        return f"CpsGraph({self.num_nodes} nodes: {kinds}; {self.num_edges} edges)"

    def replicate(self, zones: int | Sequence[str], shared: Iterable[str] = ()) -> Self:
        """Return one graph with a copy of this template for every zone.

        Nodes become `zone/name` and keep their role. Nodes named in `shared` (outdoor air, a supervisory controller)
        stay single, keep their name, come first, and have the template's edges to every zone.
        """
        zone_names = _zone_names(zones)
        if any(zone is not None for zone in self.zones):
            raise GraphError("only a template can be replicated; this graph already consists of zones")
        is_shared = np.zeros(self.num_nodes, np.bool_)
        is_shared[[self.index(name) for name in shared]] = True
        num_shared, num_zones = int(is_shared.sum()), len(zone_names)
        own = np.flatnonzero(~is_shared)
        if not len(own):
            raise GraphError("every node is shared: nothing is left to replicate")

        # row of template node i in zone z: shared rows first, then one block per zone
        row = np.empty((num_zones, self.num_nodes), np.int64)
        row[:, is_shared] = np.arange(num_shared)
        row[:, own] = num_shared + np.arange(num_zones)[:, None] * len(own) + np.arange(len(own))
        edge_index = row[:, self.edge_index].transpose(1, 0, 2)  # [2 z e]
        # an edge between two shared nodes exists once, not once per zone
        keep = np.ones(edge_index.shape[1:], np.bool_)
        keep[1:, is_shared[self.edge_index].all(axis=0)] = False

        order = np.concatenate([np.flatnonzero(is_shared), np.tile(own, num_zones)])
        node_zones = [None] * num_shared + [zone for zone in zone_names for _ in own]
        names = tuple(
            self.names[i] if zone is None else f"{zone}/{self.names[i]}"
            for i, zone in zip(order, node_zones, strict=True)
        )
        if len(set(names)) < len(names):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise GraphError(f"node {twice!r}: the name appears twice; give zones and shared nodes other names")
        graph = object.__new__(type(self))
        graph._fill(
            names=names,
            roles=tuple(self.roles[i] for i in order),
            zones=tuple(node_zones),
            signals=tuple(self.signals[i] for i in order),
            kinds=self.kinds[order],
            edge_index=edge_index[:, keep],
            edge_kinds=np.broadcast_to(self.edge_kinds, keep.shape)[keep],
            reasons=[reason for zone in keep for reason, kept in zip(self.reasons, zone, strict=True) if kept],
        )
        return graph


def role_rows(roles: Iterable[str], known: Sequence[str]) -> list[int]:
    """Return the position of each role in `known`, the roles a model was built for; CheckpointError names others."""
    row = {role: number for number, role in enumerate(known)}
    roles = tuple(roles)
    if unknown := sorted(set(roles) - row.keys()):
        raise CheckpointError(
            f"the graph has roles this model was not built for: {', '.join(unknown[:5])}; "
            "use a graph of the model's own template (template.replicate(zones))"
        )
    return [row[role] for role in roles]


def _zone_names(zones: int | Sequence[str]) -> tuple[str, ...]:
    if isinstance(zones, SupportsIndex):
        zones = operator.index(zones)
        if zones < 1:
            raise GraphError(f"{zones} zones: a graph needs at least one")
        digits = max(2, len(str(zones)))
        return tuple(f"zone-{z:0{digits}d}" for z in range(1, zones + 1))
    names = (zones,) if isinstance(zones, str) else tuple(zones)
    if not names or len(set(names)) < len(names) or not all(isinstance(n, str) and n.strip() for n in names):
        raise GraphError(f"zones {list(names)}: give at least one name, each of them once and none of them empty")
    return names


def _restored(cls: type[CpsGraph], columns: dict[str, Any]) -> CpsGraph:
    """Return a pickled graph, read-only like the original."""
    graph = object.__new__(cls)
    graph._fill(**columns)
    return graph


def _frozen(array: NDArray[_T]) -> NDArray[_T]:
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array
