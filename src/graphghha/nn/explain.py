"""Why a node got its score: its gates and the neighbours it listened to."""

from dataclasses import dataclass

from graphghha.graph import CpsGraph


@dataclass(frozen=True, slots=True)
class AttendedEdge:
    """A neighbour that a node attended to. `kind`: comm or phys, `self`, or `none` for pairs without an edge."""

    source: str
    weight: float  # mean over heads and layers
    kind: str


@dataclass(frozen=True, slots=True)
class Explanation:
    node: str
    global_gates: tuple[float, ...]  # C1 per layer: how much system-wide evidence was let in
    local_gates: tuple[float, ...]  # C2 per layer: how much came from the neighbours
    edges: tuple[AttendedEdge, ...]  # strongest first


def relation(graph: CpsGraph, source: int, target: int) -> str:
    """How two rows of a graph are joined, whichever way the edge points."""
    if source == target:
        return "self"
    kind = graph.edge_between(source, target) or graph.edge_between(target, source)
    return kind.value if kind else "none"
