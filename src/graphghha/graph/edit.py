"""Changes to a graph from a small file: edges added, removed or reversed, nodes corrected, added or removed.

[[node]]                      # corrects a node, or adds one if `add = true`
name = "FIT-101"
kind = "sensor"               # also role, signal, zone

[[add]]                       # an edge; without a kind it is near
from = "P-101"
to = "FIT-101"
kind = "phys"

[[reverse]]
from = "LIT-101"
to = "MV-101"

[[remove]]                    # an edge, or with `node` a node and its edges
node = "spare"
"""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphghha._util.suggest import did_you_mean
from graphghha.errors import DataError, GraphError
from graphghha.graph.cps import CpsGraph, Edge, EdgeKind, Node

_TABLES = {
    "node": {"name", "kind", "role", "signal", "zone", "add"},
    "add": {"from", "to", "kind", "reason"},
    "remove": {"from", "to", "node"},
    "reverse": {"from", "to", "kind"},
}


def read_overrides(path: Path) -> dict[str, Any]:
    """Read a file of changes."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise DataError(f"{path}: cannot be read: {exc.strerror}") from exc
    except ValueError as exc:
        raise DataError(f"{path}: is not TOML: {exc}") from exc


def edit_graph(graph: CpsGraph, overrides: Mapping[str, Any], where: str = "overrides") -> CpsGraph:
    """Return the graph with all changes made; a GraphError names the entry that cannot be carried out."""
    nodes = {node.name: node for node in graph.nodes}
    edges = {(edge.source, edge.target): edge for edge in graph.edges}
    for table, number, entry in _entries(overrides, where):
        place = f"{where}: {table}[{number}]"
        if table == "node":
            _set_node(nodes, entry, place)
        elif table == "remove" and "node" in entry:
            _known(nodes, entry["node"], place)
            del nodes[entry["node"]]
            edges = {pair: edge for pair, edge in edges.items() if entry["node"] not in pair}
        elif table == "add":
            pair = _pair(nodes, entry, place)
            if pair in edges:
                raise GraphError(f"{place}: the edge {pair[0]!r} -> {pair[1]!r} exists; remove it first")
            edges[pair] = Edge(*pair, entry.get("kind", EdgeKind.NEAR), entry.get("reason", "added by hand"))
        else:
            pair = _pair(nodes, entry, place)
            if pair not in edges:
                there = ": it goes the other way" if pair[::-1] in edges else ""
                raise GraphError(f"{place}: there is no edge {pair[0]!r} -> {pair[1]!r}{there}")
            old = edges.pop(pair)
            if table == "reverse":
                edges[pair[::-1]] = Edge(pair[1], pair[0], entry.get("kind", old.kind), old.reason)
    try:
        return CpsGraph(nodes.values(), edges.values())
    except GraphError as exc:
        raise GraphError(f"{where}: {exc}") from exc


def _entries(overrides: Mapping[str, Any], where: str) -> list[tuple[str, int, dict[str, Any]]]:
    """Return the entries in the order in which they take effect: nodes, removals, reversals, additions."""
    if unknown := set(overrides) - _TABLES.keys():
        name = sorted(unknown)[0]
        hint = did_you_mean(name, _TABLES)
        raise GraphError(f"{where}: there is no table {name!r}{hint or ';'} use {' | '.join(_TABLES)}")
    found = []
    for table in ("node", "remove", "reverse", "add"):
        entries = overrides.get(table, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise GraphError(f"{where}: write [[{table}]] for every entry")
        for number, entry in enumerate(entries):
            if odd := sorted(set(entry) - _TABLES[table]):
                raise GraphError(f"{where}: {table}[{number}] has {odd[0]!r}; use {' | '.join(sorted(_TABLES[table]))}")
            found.append((table, number, entry))
    return found


def _set_node(nodes: dict[str, Node], entry: dict[str, Any], place: str) -> None:
    fields = {key: value for key, value in entry.items() if key not in ("add", "name")}
    name = entry.get("name")
    if entry.get("add"):
        if name in nodes:
            raise GraphError(f"{place}: node {name!r} exists; leave out add")
        if "kind" not in fields:
            raise GraphError(f"{place}: a new node needs a kind: sensor | controller | actuator")
        nodes[str(name)] = Node(name=str(name), **fields)
        return
    _known(nodes, name, place)
    nodes[str(name)] = replace(nodes[str(name)], **fields)


def _pair(nodes: Mapping[str, Node], entry: Mapping[str, Any], place: str) -> tuple[str, str]:
    return _known(nodes, entry.get("from"), place), _known(nodes, entry.get("to"), place)


def _known(nodes: Mapping[str, Node], name: Any, place: str) -> str:
    if not isinstance(name, str) or name not in nodes:
        raise GraphError(f"{place}: no node is named {name!r}{did_you_mean(str(name), nodes)}")
    return name
