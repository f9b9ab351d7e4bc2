"""The degree sweep: one graph size, from few neighbours to all of them, with the cap on neighbours binding.

Dense interaction graphs are why the paper caps neighbours: the capped engine should not feel the degree.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from graphghha.graph import CpsGraph, NeighborRule
from graphghha.lab.bench.harness import DEFAULT_EFFORT, Effort, interleaved, machine_info
from graphghha.lab.bench.speed.correctness import check
from graphghha.lab.bench.speed.graphs import ring
from graphghha.lab.bench.speed.latency import config_info
from graphghha.lab.bench.speed.methods import Task, available, build, default_config
from graphghha.nn import AduConfig

DEGREES = (8, 16, 32, 64, 128, 256, 512, 1024)


def run(
    degrees: Sequence[int] = DEGREES,
    nodes: int = 1024,
    threads: int = 1,
    dtype: str = "fp32",
    *,
    cap: int = 16,
    effort: Effort = DEFAULT_EFFORT,
    seed: int = 0,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """JSON with one row per degree and method; `graphghha` keeps at most `cap` neighbours, `graphghha_uncapped` all."""
    capped = default_config()
    capped = replace(capped, neighbors=replace(capped.neighbors, max_neighbors=cap))
    uncapped = replace(capped, neighbors=NeighborRule())
    variants = {
        "graphghha": ("graphghha", capped),
        "graphghha_uncapped": ("graphghha", uncapped),
        "sparsified_gat": ("sparsified_gat", capped),
        "vanilla_gat": ("vanilla_gat", uncapped),
        "pyg_gatconv": ("pyg_gatconv", uncapped),
    }
    rows, gate = [], []
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for degree in (degree for degree in degrees if degree <= nodes):
            graph, small = ring(nodes, degree), ring(24, min(degree, 24))
            tasks = {
                label: (method, _task(graph, config, dtype, threads, seed))
                for label, (method, config) in variants.items()
                if method in available()
            }
            for label in ("graphghha", "graphghha_uncapped"):
                judged = _task(small, variants[label][1], dtype, threads, seed)
                gate.append({"neighbors": degree, "method": label, **check(tasks[label][1], judged)})
            calls = {label: build(method, task) for label, (method, task) in tasks.items()}
            for label, timing in interleaved(calls, effort).items():
                rows.append(
                    {
                        "nodes": nodes,
                        "neighbors": degree,
                        "method": label,
                        "cap": variants[label][1].neighbors.max_neighbors,
                        "dtype": dtype,
                        "ms": timing.ms,
                        "p99_ms": timing.p99_ms,
                    }
                )
            progress(
                f"{degree} neighbours: " + ", ".join(f"{r['method']} {r['ms']:.3f} ms" for r in rows[-len(calls) :])
            )
    finally:
        torch.set_num_threads(before)
    return {
        "bench": "degree",
        "machine": machine_info(),
        "config": config_info(capped, ring(nodes, min(degrees)), 1, threads, seed),
        "gate": gate,
        "rows": rows,
    }


def _task(graph: CpsGraph, config: AduConfig, dtype: str, threads: int, seed: int) -> Task:
    return Task(
        template=graph,
        graph=graph,
        config=config,
        dtype=dtype,  # type: ignore[arg-type]  # a wrong name fails in the gate
        threads=threads,
        seed=seed,
    )
