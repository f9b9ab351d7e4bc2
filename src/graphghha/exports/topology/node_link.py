"""Graphs in JSON as networkx writes them: `nodes` with an id, and `links` or `edges` between two ids."""

from typing import Any

from graphghha.errors import GraphError
from graphghha.exports.notes import Guess, Omission
from graphghha.exports.topology.kinds import kind_of_point
from graphghha.exports.topology.to_graph import Imported, usual_kind
from graphghha.graph import RULES, CpsGraph, Edge, EdgeKind, Node, NodeKind

_EDGE_KINDS = {
    **{kind.value: kind for kind in EdgeKind},
    **dict.fromkeys(("communication", "cyber", "network", "control"), EdgeKind.COMM),
    **dict.fromkeys(("physical", "process"), EdgeKind.PHYS),
}


def is_node_link(data: Any) -> bool:
    """Return whether some JSON is such a graph."""
    return isinstance(data, dict) and isinstance(data.get("nodes"), list) and _edges(data) is not None


def _edges(data: dict[str, Any]) -> list[Any] | None:
    return next((data[key] for key in ("links", "edges") if isinstance(data.get(key), list)), None)


def graph_of_node_link(data: dict[str, Any], where: str) -> Imported:
    """Return the graph; nodes without a kind get that of their name."""
    guesses: list[Guess] = []
    omissions: list[Omission] = []
    nodes: dict[str, Node] = {}
    for number, entry in enumerate(data["nodes"]):
        if not isinstance(entry, dict) or not (name := str(entry.get("id") or entry.get("name") or "").strip()):
            raise GraphError(f"{where}: nodes[{number}] has neither an id nor a name")
        stated = str(entry.get("kind") or entry.get("type") or "").lower()
        if stated not in set(NodeKind):
            if (kind := kind_of_point(name, stated)) is None:
                omissions.append(Omission(name, "node", 1, "its kind is neither stated nor clear from its name"))
                continue
            guesses.append(Guess(name, "kind", kind.role, kind.reason))
            stated = kind.role
        signal = entry.get("signal", name)
        nodes[name] = Node(name, stated, role=str(entry.get("role") or ""), signal=signal, zone=entry.get("zone"))
    if not nodes:
        raise GraphError(f"{where}: no node could be used; give each a kind: {' | '.join(NodeKind)}")
    edges = _graph_edges(_edges(data) or [], nodes, where, omissions)
    try:
        return Imported(CpsGraph(nodes.values(), edges), tuple(guesses), tuple(omissions))
    except GraphError as exc:
        raise GraphError(f"{where}: {exc}") from exc


def _graph_edges(entries: list[Any], nodes: dict[str, Node], where: str, omissions: list[Omission]) -> list[Edge]:
    found: dict[tuple[str, str], Edge] = {}
    for number, entry in enumerate(entries):
        ends = _ends(entry)
        if ends is None:
            raise GraphError(f"{where}: edges[{number}] names no source and target")
        if absent := next((end for end in ends if end not in nodes), None):
            omissions.append(Omission(f"{ends[0]} -> {ends[1]}", "edge", 1, f"{absent!r} is not a node"))
            continue
        source, target = (nodes[end] for end in ends)
        if source is target or ends in found:
            omissions.append(
                Omission(f"{ends[0]} -> {ends[1]}", "edge", 1, "it is repeated, or joins a node to itself")
            )
            continue
        stated = str(entry.get("type") or entry.get("kind") or "").lower() if isinstance(entry, dict) else ""
        kind = _EDGE_KINDS.get(stated, usual_kind(source, target))
        if source.kind not in RULES[kind][0] or target.kind not in RULES[kind][1]:
            reason = f"stated as {stated}, but {RULES[kind][2]}; it became a near edge"
            omissions.append(Omission(f"{ends[0]} -> {ends[1]}", "kind", 1, reason))
            kind = EdgeKind.NEAR
        found[ends] = Edge(*ends, kind)
    return list(found.values())


def _ends(entry: Any) -> tuple[str, str] | None:
    if isinstance(entry, list) and len(entry) >= 2:
        return str(entry[0]), str(entry[1])
    if isinstance(entry, dict):
        for source, target in (("source", "target"), ("src", "dst"), ("from", "to")):
            if source in entry and target in entry:
                return str(entry[source]), str(entry[target])
    return None
