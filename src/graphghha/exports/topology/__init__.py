"""Graphs from models of a site: Brick, ASHRAE 223P, Haystack, equipment sheets."""

from pathlib import Path

from graphghha.errors import ConfigError
from graphghha.exports.topology.to_graph import Imported, graph_of_sheet

RDF_SUFFIXES = (".ttl", ".n3", ".nt")  # not JSON-LD and XML, which may make a parser fetch addresses
SUFFIXES = (*RDF_SUFFIXES, ".json", ".csv", ".txt", ".tsv")

__all__ = ["Imported", "graph_of_sheet", "import_graph"]


def import_graph(path: Path) -> Imported:
    """Return the graph of a model, whose form is told by the ending of its name."""
    suffix = path.suffix.lower()
    if suffix in RDF_SUFFIXES:
        from graphghha.exports.topology.rdf import read_rdf

        return graph_of_sheet(read_rdf(path), str(path))
    if suffix == ".json":
        from graphghha.exports.topology.haystack import read_haystack

        return graph_of_sheet(read_haystack(path), str(path))
    if suffix in SUFFIXES:
        from graphghha.exports.topology.sheet_csv import read_sheet

        return graph_of_sheet(read_sheet(path), str(path))
    raise ConfigError(f"{path}: a model of a site ends with {' | '.join(SUFFIXES)}")
