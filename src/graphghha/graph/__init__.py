"""The cyber-physical graph: nodes, edges, neighbourhoods, files, pictures. No torch."""

from graphghha.graph.cps import EDGE_KINDS, NODE_KINDS, RULES, CpsGraph, Edge, EdgeKind, Node, NodeKind, role_rows
from graphghha.graph.draw import draw_graph, place_nodes
from graphghha.graph.edit import edit_graph, read_overrides
from graphghha.graph.io import graph_from_dict, graph_to_dict, read_graph, summarize_graph, write_graph
from graphghha.graph.neighbors import (
    PAPER_RULE,
    Direction,
    Neighborhood,
    NeighborRule,
    Policy,
    from_pairs,
    neighborhood,
)

__all__ = [
    "EDGE_KINDS",
    "NODE_KINDS",
    "PAPER_RULE",
    "RULES",
    "CpsGraph",
    "Direction",
    "Edge",
    "EdgeKind",
    "NeighborRule",
    "Neighborhood",
    "Node",
    "NodeKind",
    "Policy",
    "draw_graph",
    "edit_graph",
    "from_pairs",
    "graph_from_dict",
    "graph_to_dict",
    "neighborhood",
    "place_nodes",
    "read_graph",
    "read_overrides",
    "role_rows",
    "summarize_graph",
    "write_graph",
]
