"""Graphs from models of a site: Brick, ASHRAE 223P, Haystack, equipment sheets, node-link JSON."""

import json
from pathlib import Path
from typing import Any

from graphghha.errors import ConfigError, DataError
from graphghha.exports.topology.to_graph import Imported, graph_of_sheet
from graphghha.graph import read_graph

RDF_SUFFIXES = (".ttl", ".n3", ".nt")  # not JSON-LD and XML, which may make a parser fetch addresses
SUFFIXES = (*RDF_SUFFIXES, ".json", ".csv", ".txt", ".tsv")

__all__ = ["Imported", "graph_of_sheet", "import_graph", "open_graph"]


def import_graph(path: Path) -> Imported:
    """Return the graph of a model, whose form follows from the ending of its name."""
    suffix = path.suffix.lower()
    if suffix in RDF_SUFFIXES:
        from graphghha.exports.topology.rdf import read_rdf

        return graph_of_sheet(read_rdf(path), str(path))
    if suffix == ".json":
        return _import_json(path)
    if suffix in SUFFIXES:
        from graphghha.exports.topology.sheet_csv import read_sheet

        return graph_of_sheet(read_sheet(path), str(path))
    raise ConfigError(f"{path}: a model of a site ends with {' | '.join(SUFFIXES)}")


def open_graph(path: Path) -> Imported:
    """Return the graph of a file in our own form, or of a model of a site."""
    if path.suffix == ".toml" or (path.suffix == ".json" and _is_own(path)):
        return Imported(read_graph(path), (), ())
    return import_graph(path)


def _is_own(path: Path) -> bool:
    data = _json(path)
    return isinstance(data, dict) and str(data.get("format", "")).startswith("graphghha-")


def _import_json(path: Path) -> Imported:
    from graphghha.exports.topology.haystack import sheet_of_haystack
    from graphghha.exports.topology.node_link import graph_of_node_link, is_node_link

    data = _json(path)
    if is_node_link(data):
        return graph_of_node_link(data, str(path))
    return graph_of_sheet(sheet_of_haystack(data, path), str(path))


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise DataError(f"{path}: cannot be read: {exc.strerror}") from exc
    except (ValueError, RecursionError) as exc:
        raise DataError(f"{path}: is not JSON: {exc}") from exc
