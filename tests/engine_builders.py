"""Small plants and models for the engine's tests."""

import numpy as np
import torch

from graphghha.graph import CpsGraph, Edge, Node
from graphghha.nn import ADU

KINDS = ("sensor", "controller", "actuator")


def plant(num_nodes: int, seed: int = 0, edges_per_node: int = 4) -> CpsGraph:
    """Random nodes of all kinds; every seventh has no signal, the last one no edge."""
    rng = np.random.default_rng(seed)
    kinds = [KINDS[i % 3] for i in range(num_nodes)]
    nodes = [Node(f"n{i}", kind, signal=None if i % 7 == 6 else f"x{i}") for i, kind in enumerate(kinds)]
    allowed = {
        ("sensor", "controller"): "comm",
        ("sensor", "actuator"): "comm",
        ("controller", "actuator"): "comm",
        ("actuator", "sensor"): "phys",
    }
    pairs = {tuple(pair) for pair in rng.integers(0, max(1, num_nodes - 1), (edges_per_node * num_nodes, 2)).tolist()}
    edges = [
        Edge(f"n{i}", f"n{j}", allowed[kinds[i], kinds[j]])
        for i, j in sorted(pairs)
        if i != j and (kinds[i], kinds[j]) in allowed
    ]
    return CpsGraph(nodes, edges)


def model(template: CpsGraph, seed: int = 0, **settings: object) -> ADU:
    """An ADU whose every parameter is random: a forgotten one cannot hide behind a zero or a one."""
    torch.manual_seed(seed)
    adu = ADU(template, **{"in_features": 5, **settings}).eval()
    with torch.no_grad():
        for parameter in adu.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return adu


def windows(graph: CpsGraph, batch: int = 1, features: int = 5, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((batch, graph.num_nodes, features)).astype(np.float32)


def masks(graph: CpsGraph, batch: int = 1, seed: int = 0, share: float = 0.7) -> np.ndarray:
    return np.random.default_rng(seed).random((batch, graph.num_nodes)) < share


def judge(adu: ADU, x: np.ndarray, graph: CpsGraph, mask: np.ndarray | None = None) -> np.ndarray:
    """What the ADU itself says."""
    with torch.inference_mode():
        return adu(torch.from_numpy(x), graph, None if mask is None else torch.from_numpy(mask)).numpy()


def difference(got: np.ndarray, want: np.ndarray) -> float:
    """Largest probability difference; unknown rows must be unknown in both."""
    assert got.shape == want.shape and got.dtype == np.float32
    assert (np.isnan(got) == np.isnan(want)).all()
    return float(np.nanmax(np.abs(got - want), initial=0.0))
