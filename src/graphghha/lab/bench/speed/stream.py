"""Throughput of the engine: graphs and node-windows per second and core, window by window and in batches.

The sources' part is `stream_sources`.
"""

from collections.abc import Callable, Sequence
from typing import Any

from graphghha.graph import CpsGraph
from graphghha.lab.bench.harness import DEFAULT_EFFORT, Effort, interleaved, machine_info
from graphghha.lab.bench.speed.correctness import check
from graphghha.lab.bench.speed.graphs import synthetic_template
from graphghha.lab.bench.speed.latency import config_info, task_of
from graphghha.lab.bench.speed.methods import build, default_config
from graphghha.nn import AduConfig

SIZES = (32, 384, 1536, 12_288)


def run(
    sizes: Sequence[int] = SIZES,
    threads: int = 1,
    dtype: str = "fp32",
    batches: Sequence[int] = (1, 64),
    *,
    template: CpsGraph | None = None,
    config: AduConfig | None = None,
    effort: Effort = DEFAULT_EFFORT,
    seed: int = 0,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """The engine part of `bench stream`."""
    template, config = template or synthetic_template(seed), config or default_config()
    rows, gate = [], []
    for size in sizes:
        tasks = {batch: task_of(template, config, size, dtype, batch, threads, seed) for batch in batches}
        gate.append({"nodes": size, **check(tasks[batches[0]])})
        calls = {batch: build("graphghha", task) for batch, task in tasks.items()}
        for batch, timing in interleaved(calls, effort).items():
            graphs_per_s = batch / (timing.ms / 1e3)
            rows.append(
                {
                    "nodes": size,
                    "method": "graphghha",
                    "dtype": dtype,
                    "batch": batch,
                    "ms": timing.ms,
                    "p99_ms": timing.p99_ms,
                    "graphs_per_s": graphs_per_s,
                    "graphs_per_s_per_core": graphs_per_s / threads,
                    "node_windows_per_s_per_core": graphs_per_s * size / threads,
                }
            )
            progress(f"{size} nodes, batch {batch}: {graphs_per_s:.0f} graphs/s")
    return {
        "bench": "stream",
        "part": "engine",
        "machine": machine_info(),
        "config": config_info(config, template, max(batches), threads, seed),
        "gate": gate,
        "rows": rows,
    }
