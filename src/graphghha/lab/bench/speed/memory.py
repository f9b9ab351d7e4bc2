"""Memory of one forward pass on a large graph, which must grow with the edges and not with the square of the nodes."""

import resource
import sys
import time
from typing import Any

import torch

from graphghha.engine.machine import machine
from graphghha.nn import ADU
from graphghha.plants import load_plant


def measure_memory(nodes: int, plant: str, seed: int = 0) -> dict[str, Any]:
    """Measure the peak memory of this process in one eager forward pass over at least `nodes` nodes."""
    template = load_plant(plant).template
    start = time.perf_counter()
    graph = template.replicate(-(-nodes // template.num_nodes))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        adu = ADU(template, in_features=16).eval()
    tensors = adu.tensors(graph)
    built_s = time.perf_counter() - start
    x = torch.randn(graph.num_nodes, 16, generator=torch.Generator().manual_seed(seed))
    before_mb = _peak_mb()
    start = time.perf_counter()
    with torch.no_grad():
        probs = adu(x, tensors)
    assert probs.isfinite().all()
    row = {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "max_neighbors": tensors.neighbors.nbr.shape[1],
        "build_s": round(built_s, 2),
        "forward_s": round(time.perf_counter() - start, 2),
        "before_mb": round(before_mb),
        "peak_mb": round(_peak_mb()),
    }
    config = {"plant": plant, "layer": adu.config.layer, "layers": adu.config.layers, "width": adu.config.width}
    return {"bench": "memory", "machine": machine(), "config": config, "rows": [row]}


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
