"""What more threads bring to the engine: all thread counts interleaved in one run, so that their ratio holds."""

from collections.abc import Callable, Sequence
from typing import Any

from graphghha.errors import ConfigError
from graphghha.graph import CpsGraph
from graphghha.lab.bench.harness import DEFAULT_EFFORT, Effort, interleaved, machine_info
from graphghha.lab.bench.speed.correctness import check
from graphghha.lab.bench.speed.graphs import synthetic_template
from graphghha.lab.bench.speed.latency import config_info, task_of
from graphghha.lab.bench.speed.methods import build, default_config
from graphghha.nn import AduConfig

SIZES = (256, 512, 1024, 1536, 12_288)


def run(
    sizes: Sequence[int] = SIZES,
    threads: Sequence[int] = (1, 2),
    dtype: str = "fp32",
    *,
    template: CpsGraph | None = None,
    config: AduConfig | None = None,
    effort: Effort = DEFAULT_EFFORT,
    seed: int = 0,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """JSON with one row per size and thread count."""
    template, config = template or synthetic_template(seed), config or default_config()
    if threads[0] != 1:
        raise ConfigError(f"bench threads: {threads[0]} comes first; speedups are against 1 thread, so begin with it")
    rows, gate = [], []
    for size in sizes:
        tasks = {count: task_of(template, config, size, dtype, 1, count, seed) for count in threads}
        gate += [{"nodes": size, "threads": count, **check(task)} for count, task in tasks.items()]
        timings = interleaved({count: build("graphghha", task) for count, task in tasks.items()}, effort)
        for count, timing in timings.items():
            rows.append(
                {
                    "nodes": size,
                    "method": "graphghha",
                    "dtype": dtype,
                    "threads": count,
                    "ms": timing.ms,
                    "p99_ms": timing.p99_ms,
                    "speedup": timings[threads[0]].ms / timing.ms,
                }
            )
            progress(f"{size} nodes, {count} thread(s): {timing.ms:.3f} ms")
    return {
        "bench": "threads",
        "machine": machine_info(),
        "config": config_info(config, template, 1, max(threads), seed),
        "gate": gate,
        "rows": rows,
    }
