"""Graphs to measure on: a synthetic unit of 32 nodes, and rings of any degree."""

import numpy as np

from graphghha.graph import CpsGraph, Edge, Node


def synthetic_template(seed: int = 0) -> CpsGraph:
    """32 nodes (18 sensors, 6 controllers, 8 actuators, 3 of them unmeasured) that attend to about 8 others each."""
    rng = np.random.default_rng(seed)
    kinds = ["sensor"] * 18 + ["controller"] * 6 + ["actuator"] * 8
    rows = {kind: [i for i, k in enumerate(kinds) if k == kind] for kind in ("sensor", "controller", "actuator")}
    names = [f"{kind}-{i:02d}" for i, kind in enumerate(kinds)]
    nodes = [Node(names[i], kinds[i], signal=None if i >= 29 else f"x{i:02d}") for i in range(32)]
    edges = []
    for sender, receiver, kind, count in (
        ("sensor", "controller", "comm", 3),
        ("controller", "actuator", "comm", 4),
        ("actuator", "sensor", "phys", 6),
    ):
        for i in rows[sender]:
            edges += [Edge(names[i], names[j], kind) for j in rng.choice(rows[receiver], count, replace=False)]
    return CpsGraph(nodes, edges)


def ring(num_nodes: int, degree: int) -> CpsGraph:
    """Every node is joined to the `degree` (an even number) nearest others on a ring, at most to all of them."""
    names = [f"c{i:04d}" for i in range(num_nodes)]
    reach = min(degree, num_nodes) // 2
    pairs = {
        tuple(sorted((i, (i + step) % num_nodes)))
        for i in range(num_nodes)
        for step in range(1, reach + 1)
        if (i + step) % num_nodes != i
    }
    nodes = [Node(name, "controller", signal=name) for name in names]
    return CpsGraph(nodes, [Edge(names[i], names[j], "comm") for i, j in sorted(pairs)])
