"""Graphs as JSON: one readable file, checked on the way in."""

import json
from pathlib import Path
from typing import Any

from graphghha.errors import DataError, GraphError
from graphghha.graph.cps import CpsGraph, Edge, Node

FORMAT = "graphghha-graph/1"


def to_dict(graph: CpsGraph) -> dict[str, Any]:
    """Defaults (role = name, no signal, no zone, no reason) are left out."""

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


def from_dict(data: Any, where: str = "graph") -> CpsGraph:
    """Raises GraphError with the offending entry."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, dict) else type(data).__name__
        raise GraphError(f"{where}: expected a JSON object with format {FORMAT!r}, found {found!r}")
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
    path.write_text(json.dumps(to_dict(graph), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_graph(path: Path) -> CpsGraph:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise DataError(f"{path}: cannot be read: {exc.strerror}") from exc
    except ValueError as exc:
        raise DataError(f"{path}: is not JSON: {exc}") from exc
    return from_dict(data, str(path))
