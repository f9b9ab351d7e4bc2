"""Table I and its figure: latency of all methods against the size of the graph."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from graphghha.errors import ConfigError
from graphghha.graph import CpsGraph, neighborhood
from graphghha.lab.bench.harness import DEFAULT_EFFORT, Call, Effort, interleaved, machine_info, peak_mb
from graphghha.lab.bench.speed.correctness import check
from graphghha.lab.bench.speed.graphs import synthetic_template
from graphghha.lab.bench.speed.methods import (
    DENSE,
    METHODS,
    Task,
    available,
    build,
    default_config,
    method_dtype,
    windows_per_call,
)
from graphghha.nn import AduConfig

TABLE_I_SIZES = (32, 64, 128, 256, 512, 1024, 1536)
LARGE_SIZES = (12_288, 98_304)  # for the methods that are linear in the nodes
_LARGEST_DENSE = 1536


def run(
    sizes: Sequence[int] = TABLE_I_SIZES,
    threads: int = 1,
    dtype: str | Sequence[str] = "fp32",
    batch: int = 1,
    *,
    template: CpsGraph | None = None,
    config: AduConfig | None = None,
    methods: Sequence[str] | None = None,
    effort: Effort = DEFAULT_EFFORT,
    seed: int = 0,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """The JSON of `bench latency`. Several dtypes are measured interleaved, so that their ratio holds too."""
    template = template or synthetic_template(seed)
    config = config or default_config()
    dtypes = [dtype] if isinstance(dtype, str) else list(dtype)
    chosen = tuple(methods or available())
    if left_out := [name for name in METHODS if name not in available()]:
        progress(f"left out, for want of an extra: {', '.join(left_out)}; pip install 'graphghha[pyg]'")
    if strange := set(chosen) - set(available()):
        raise ConfigError(f"bench latency: unknown or missing methods {sorted(strange)}; use {' | '.join(available())}")
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        rows, gate = [], []
        for size in sizes:
            tasks = [task_of(template, config, size, name, batch, threads, seed) for name in dtypes]
            gate += [{"nodes": size, **check(task)} for task in tasks]
            measured = measure(tasks, chosen, effort)
            rows += measured
            times = ", ".join(f"{row['method']} {row['dtype']} {row['ms']:.3f} ms" for row in measured)
            progress(f"{size} nodes: {times}")
    finally:
        torch.set_num_threads(before)
    return {
        "bench": "latency",
        "machine": machine_info(),
        "config": config_info(config, template, batch, threads, seed),
        "gate": gate,
        "rows": rows,
    }


def config_info(config: AduConfig, template: CpsGraph, batch: int, threads: int, seed: int) -> dict[str, Any]:
    """What was measured, as it stands in the JSON."""
    return {
        "layers": config.layers,
        "heads": config.heads,
        "width": config.width,
        "mlp_ratio": config.mlp_ratio,
        "in_features": config.in_features,
        "edges": len(neighborhood(template, config.neighbors).idx),  # attended pairs of one zone
        "max_neighbors": config.neighbors.max_neighbors,
        "batch": batch,
        "threads": threads,
        "seed": seed,
    }


def task_of(template: CpsGraph, config: AduConfig, size: int, dtype: str, batch: int, threads: int, seed: int) -> Task:
    zones, rest = divmod(size, template.num_nodes)
    if rest or not zones:
        raise ConfigError(f"bench: {size} nodes are no multiple of the template's {template.num_nodes}")
    graph = template.replicate(zones)
    return Task(
        template=template,
        graph=graph,
        config=config,
        dtype=dtype,  # type: ignore[arg-type]  # a wrong name fails in the gate
        batch=batch,
        threads=threads,
        seed=seed,
    )


def measure(tasks: Sequence[Task], methods: Sequence[str], effort: Effort) -> list[dict[str, Any]]:
    """Rows of all methods on one graph, in the dtypes of the tasks, measured interleaved; times are per window."""
    calls: dict[tuple[str, str], Call] = {}
    memory: dict[tuple[str, str], float | None] = {}
    windows: dict[tuple[str, str], int] = {}
    for task in tasks:
        for name in methods:
            key = (name, method_dtype(name, task))
            too_large = name in DENSE and task.graph.num_nodes > _LARGEST_DENSE
            if not too_large and key not in calls:
                part = replace(task, batch=windows_per_call(name, task))
                windows[key] = part.batch
                calls[key], memory[key] = peak_mb(partial(build, name, part))
    timings = {key: timing.per(windows[key]) for key, timing in interleaved(calls, effort).items()}
    return [
        {
            "nodes": tasks[0].graph.num_nodes,
            "method": name,
            "dtype": dtype,
            "ms": timing.ms,
            "p99_ms": timing.p99_ms,
            "best_ms": timing.best_ms,
            "calls": timing.calls,
            "windows_per_call": windows[name, dtype],
            "peak_mb": memory[name, dtype],
        }
        for (name, dtype), timing in timings.items()
    ]
