"""The cyber-physical graph: nodes, edges, neighbourhoods, files, pictures. No torch."""

from graphghha.graph.cps import CpsGraph, Edge, EdgeKind, Node, NodeKind
from graphghha.graph.io import read_graph, write_graph
from graphghha.graph.neighbors import PAPER_RULE, Neighborhood, NeighborRule, neighborhood

__all__ = [
    "PAPER_RULE",
    "CpsGraph",
    "Edge",
    "EdgeKind",
    "NeighborRule",
    "Neighborhood",
    "Node",
    "NodeKind",
    "neighborhood",
    "read_graph",
    "write_graph",
]
