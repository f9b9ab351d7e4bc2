"""Latency against the number of neighbors: one graph size, from few neighbors to all, with the cap binding.

Dense interaction graphs are why the paper caps neighbors: the latency of the capped engine should not depend on them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from graphghha.graph import CpsGraph, Edge, NeighborRule, Node
from graphghha.lab.bench.harness import interleaved
from graphghha.lab.bench.results import make_result
from graphghha.lab.bench.speed.correctness import check
from graphghha.lab.bench.speed.methods import Setup, Task, available, build, torch_threads
from graphghha.nn import AduConfig

DEGREES = (8, 16, 32, 64, 128, 256, 512, 1024)
CAP = 16
_SMALL = 24  # nodes of the graph on which Algorithm 1 is computed
_CHECKED = ("graphghha", "graphghha_uncapped")


def run(
    setup: Setup,
    degrees: Sequence[int] = DEGREES,
    nodes: int = 1024,
    threads: int = 1,
    dtype: str = "fp32",
    *,
    cap: int = CAP,
) -> dict[str, Any]:
    """Return a row per degree and method; `graphghha` keeps at most `cap` neighbors, `graphghha_uncapped` all."""
    capped = replace(setup.network, neighbors=replace(setup.network.neighbors, max_neighbors=cap))
    uncapped = replace(capped, neighbors=NeighborRule())
    variants = {
        "graphghha": ("graphghha", capped),
        "graphghha_uncapped": ("graphghha", uncapped),
        "sparsified_gat": ("sparsified_gat", capped),
        "vanilla_gat": ("vanilla_gat", uncapped),
        "pyg_gatconv": ("pyg_gatconv", uncapped),
    }
    rows: list[dict[str, Any]] = []
    gate: list[dict[str, Any]] = []
    with torch_threads(threads):
        for degree in (degree for degree in degrees if degree <= nodes):
            graph, small = ring(nodes, degree), ring(_SMALL, min(degree, _SMALL))
            tasks = {
                label: (method, _task(setup, graph, network, dtype, threads))
                for label, (method, network) in variants.items()
            }
            for label in _CHECKED:
                verdict = check(tasks[label][1], _task(setup, small, variants[label][1], dtype, threads))
                gate.append({"neighbors": degree, "method": label, **verdict})
            rows += _rows(setup, degree, tasks)
    smallest = replace(setup, template=ring(nodes, min(degrees)), network=capped)
    return make_result("degree", smallest.describe(threads=threads), rows, gate=gate)


def _task(setup: Setup, graph: CpsGraph, network: AduConfig, dtype: str, threads: int) -> Task:
    return replace(setup, template=graph, network=network).task(graph.num_nodes, dtype, threads=threads)


def _rows(setup: Setup, degree: int, tasks: dict[str, tuple[str, Task]]) -> list[dict[str, Any]]:
    calls = {label: build(method, task) for label, (method, task) in tasks.items() if method in available()}
    timings = interleaved(calls, setup.effort)
    setup.progress(f"{degree} neighbors: " + ", ".join(f"{label} {t.ms:.3f} ms" for label, t in timings.items()))
    return [
        {
            "nodes": tasks[label][1].graph.num_nodes,
            "neighbors": degree,
            "method": label,
            "cap": tasks[label][1].config.neighbors.max_neighbors,
            "dtype": tasks[label][1].dtype,
            "ms": timing.ms,
            "p99_ms": timing.p99_ms,
        }
        for label, timing in timings.items()
    ]


def ring(num_nodes: int, degree: int) -> CpsGraph:
    """Return a graph in which every node is joined to the `degree` (an even number) nearest others on a ring."""
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
