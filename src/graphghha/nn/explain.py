"""Explanations of a score: the gates of a node and the neighbors it attended to."""

from dataclasses import dataclass

from graphghha.graph import CpsGraph


@dataclass(frozen=True, slots=True)
class AttendedEdge:
    """A neighbor that a node attended to. `kind` is comm, phys or near, `self`, or `none` for pairs without an edge."""

    source: str
    weight: float  # mean over heads and layers
    kind: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The gates and strongest edges of one node in one window."""

    node: str
    global_gates: tuple[float, ...]  # C1 per layer: the weight of the global branch
    local_gates: tuple[float, ...]  # C2 per layer: the weight of the local branch
    edges: tuple[AttendedEdge, ...]  # strongest first


def relation(graph: CpsGraph, source: int, target: int) -> str:
    """Return the kind of edge between two nodes, in either direction."""
    if source == target:
        return "self"
    kind = graph.edge_between(source, target) or graph.edge_between(target, source)
    return kind.value if kind else "none"
