"""Graphs as JSON or TOML: a readable file that is checked when it is read, and a summary of what a graph holds."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from graphghha._util.files import atomic_write
from graphghha._util.toml import quoted
from graphghha.errors import DataError, GraphError
from graphghha.graph.cps import EDGE_KINDS, NODE_KINDS, CpsGraph, Edge, Node
from graphghha.graph.neighbors import NeighborRule, neighborhood

FORMAT = "graphghha-graph/1"


def graph_to_dict(graph: CpsGraph) -> dict[str, Any]:
    """Return the graph as a dictionary for JSON, without the defaults (role = name, no signal, no zone, no reason)."""

    def brief(**fields: str | None) -> dict[str, str]:
        return {name: str(value) for name, value in fields.items() if value}

    return {
        "format": FORMAT,
        "nodes": [
            brief(name=n.name, kind=n.kind, role=n.role if n.role != n.name else None, signal=n.signal, zone=n.zone)
            for n in graph.nodes
        ],
        "edges": [brief(source=e.source, target=e.target, kind=e.kind, reason=e.reason) for e in graph.edges],
    }


def graph_from_dict(data: Any, where: str = "graph") -> CpsGraph:
    """Return the graph of such a dictionary, or raise a GraphError that names the offending entry."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        given = data.get("format") if isinstance(data, dict) else type(data).__name__
        raise GraphError(f"{where}: expected a graph with format {FORMAT!r}, found {given!r}")
    try:
        nodes = [_entry(Node, entry, f"nodes[{i}]") for i, entry in enumerate(_list(data, "nodes"))]
        edges = [_entry(Edge, entry, f"edges[{i}]") for i, entry in enumerate(_list(data, "edges"))]
        return CpsGraph(nodes, edges)
    except GraphError as exc:
        raise GraphError(f"{where}: {exc}") from exc


def _list(data: dict[str, Any], key: str) -> list[Any]:
    entries = data.get(key, [])
    if not isinstance(entries, list):
        raise GraphError(f"{key} must be a list, found {type(entries).__name__}")
    return entries


def _entry(cls: type[Any], entry: Any, where: str) -> Any:
    if not isinstance(entry, dict) or not all(isinstance(v, str) for v in entry.values()):
        raise GraphError(f"{where}: expected an object whose values are strings, found {entry!r:.80}")
    try:
        return cls(**entry)
    except TypeError:
        fields = list(cls.__dataclass_fields__)
        raise GraphError(f"{where}: fields {sorted(entry)} do not fit; use {fields}") from None


def write_graph(graph: CpsGraph, path: Path) -> None:
    """Write a graph to a JSON file, or to a TOML file if the name ends with .toml."""
    data = graph_to_dict(graph)
    text = "\n".join(_toml_lines(data)) if path.suffix == ".toml" else json.dumps(data, indent=1, ensure_ascii=False)
    atomic_write(path, text + "\n")


def _toml_lines(data: dict[str, Any]) -> Iterator[str]:
    yield f"format = {quoted(data['format'])}"
    for table in ("nodes", "edges"):
        for entry in data[table]:
            yield ""
            yield f"[[{table}]]"
            for key, value in entry.items():
                yield f"{key} = {quoted(value)}"


def read_graph(path: Path) -> CpsGraph:
    """Read a graph from a JSON or TOML file."""
    is_toml = path.suffix == ".toml"
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text) if is_toml else json.loads(text)
    except OSError as exc:
        raise DataError(f"{path}: cannot be read: {exc.strerror}") from exc
    except (ValueError, RecursionError) as exc:
        raise DataError(f"{path}: is not {'TOML' if is_toml else 'JSON'}: {exc}") from exc
    return graph_from_dict(data, str(path))


def summarize_graph(graph: CpsGraph) -> dict[str, Any]:
    """Return counts, degrees, and the nodes worth a second look, ready for JSON."""
    kinds = np.bincount(graph.kinds, minlength=len(NODE_KINDS))
    edges = np.bincount(graph.edge_kinds, minlength=len(EDGE_KINDS))
    degrees = neighborhood(graph, NeighborRule(self_loops=False)).degrees
    return {
        "nodes": graph.num_nodes,
        **{f"{kind}s": int(n) for kind, n in zip(NODE_KINDS, kinds, strict=True)},
        "zones": len(graph.zone_names) or 1,
        "edges": graph.num_edges,
        **{f"{kind}_edges": int(n) for kind, n in zip(EDGE_KINDS, edges, strict=True)},
        "mean_neighbours": round(float(degrees.mean()), 2),
        "max_neighbours": int(degrees.max()),
        "without_signal": [node.name for node in graph.nodes if node.signal is None],
        "isolated": [graph.names[i] for i in np.flatnonzero(degrees == 0)],
        "content_hash": graph.content_hash,
    }
