"""Small plants and tensors that tests build on."""

import numpy as np
import torch

from graphghha.graph import CpsGraph, Edge, NeighborRule, Node, neighborhood
from graphghha.nn import Neighbors


def loop_template() -> CpsGraph:
    """Two control loops that share a supervisor; one actuator is equipment that nobody measures."""
    nodes = [
        Node("outdoor", "sensor", signal="outdoor"),
        Node("supervisor", "controller", signal="supervisor"),
        Node("temp", "sensor", signal="temp"),
        Node("temp_pid", "controller", signal="temp_pid"),
        Node("valve", "actuator", signal="valve"),
        Node("flow", "sensor", signal="flow"),
        Node("flow_pid", "controller", signal="flow_pid"),
        Node("pump", "actuator"),
    ]
    edges = [
        Edge("outdoor", "supervisor", "comm", "reset by weather"),
        Edge("supervisor", "temp_pid", "comm"),
        Edge("supervisor", "flow_pid", "comm"),
        Edge("temp", "temp_pid", "comm"),
        Edge("temp_pid", "valve", "comm"),
        Edge("valve", "temp", "phys", "heat"),
        Edge("flow", "flow_pid", "comm"),
        Edge("flow_pid", "pump", "comm"),
        Edge("pump", "flow", "phys"),
        Edge("pump", "temp", "phys"),
    ]
    return CpsGraph(nodes, edges)


def random_graph(num_nodes: int, num_edges: int, seed: int = 0) -> CpsGraph:
    """A lawful graph with the wanted number of edges (or as many as exist)."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["sensor", "controller", "actuator"], num_nodes)
    lawful = [
        (i, j, "phys" if kinds[i] == "actuator" else "comm")
        for i in range(num_nodes)
        for j in range(num_nodes)
        if i != j and (kinds[j] == "sensor") == (kinds[i] == "actuator")
    ]
    chosen = rng.permutation(len(lawful))[:num_edges]
    nodes = [Node(f"n{i}", str(kind), signal=f"n{i}") for i, kind in enumerate(kinds)]
    return CpsGraph(nodes, [Edge(f"n{lawful[c][0]}", f"n{lawful[c][1]}", lawful[c][2]) for c in chosen])


def neighbors_of(graph: CpsGraph, **rule: object) -> tuple[Neighbors, torch.Tensor]:
    """The padded form that layers read and the dense adjacency that the oracle reads."""
    found = neighborhood(graph, NeighborRule(**rule))
    return Neighbors.from_neighborhood(found), torch.as_tensor(found.dense())
