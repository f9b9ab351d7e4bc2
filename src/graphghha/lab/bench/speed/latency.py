"""Table I and its figure: latency of all methods against the size of the graph."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from graphghha.errors import ConfigError
from graphghha.lab.bench.harness import Call, Effort, interleaved, peak_mb
from graphghha.lab.bench.results import make_result
from graphghha.lab.bench.speed.correctness import check
from graphghha.lab.bench.speed.methods import (
    DENSE,
    LARGEST_DENSE,
    METHODS,
    Setup,
    Task,
    available,
    build,
    method_dtype,
    torch_threads,
    windows_per_call,
)

TABLE_I_SIZES = (32, 64, 128, 256, 512, 1024, 1536)
LARGE_SIZES = (12_288, 98_304)  # for the methods that are linear in the nodes


def run(
    setup: Setup,
    sizes: Sequence[int] = TABLE_I_SIZES,
    threads: int = 1,
    dtype: str | Sequence[str] = "fp32",
    batch: int = 1,
    *,
    methods: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the result of `bench latency`. Several dtypes are measured interleaved, so that their ratios hold too."""
    dtypes = [dtype] if isinstance(dtype, str) else list(dtype)
    chosen = tuple(methods or available())
    if missing := [name for name in METHODS if name not in available()]:
        setup.progress(f"not measured because not installed: {', '.join(missing)}; pip install 'graphghha[pyg]'")
    if unknown := set(chosen) - set(available()):
        raise ConfigError(
            f"bench latency: unknown or not installed methods {sorted(unknown)}; use {' | '.join(available())}"
        )
    rows: list[dict[str, Any]] = []
    gate: list[dict[str, Any]] = []
    with torch_threads(threads):
        for size in sizes:
            tasks = [setup.task(size, name, batch=batch, threads=threads) for name in dtypes]
            gate += [{"nodes": size, **check(task)} for task in tasks]
            measured = measure(tasks, chosen, setup.effort)
            rows += measured
            times = ", ".join(f"{row['method']} {row['dtype']} {row['ms']:.3f} ms" for row in measured)
            setup.progress(f"{size} nodes: {times}")
    return make_result("latency", setup.describe(batch=batch, threads=threads), rows, gate=gate)


def measure(tasks: Sequence[Task], methods: Sequence[str], effort: Effort) -> list[dict[str, Any]]:
    """Return rows of all methods on one graph in the dtypes of the tasks, interleaved; times are per window."""
    calls: dict[tuple[str, str], Call] = {}
    memory: dict[tuple[str, str], float | None] = {}
    windows: dict[tuple[str, str], int] = {}
    for task in tasks:
        for name in methods:
            key = (name, method_dtype(name, task))
            too_large = name in DENSE and task.graph.num_nodes > LARGEST_DENSE
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
