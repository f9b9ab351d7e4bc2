"""How the engine scales: throughput by batch size, latency by number of threads and by number of heads.

Within a graph size all variants are measured interleaved, so that their ratios hold on a noisy machine.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from graphghha.errors import ConfigError
from graphghha.lab.bench.harness import Timing, interleaved
from graphghha.lab.bench.results import make_result
from graphghha.lab.bench.speed.correctness import check
from graphghha.lab.bench.speed.methods import Setup, Task, build

STREAM_SIZES = (32, 384, 1536, 12_288)
THREADS_SIZES = (256, 512, 1024, 1536, 12_288)
HEADS_SIZE = 1024
Key = TypeVar("Key", bound=Hashable)


def throughput(
    setup: Setup,
    sizes: Sequence[int] = STREAM_SIZES,
    threads: int = 1,
    dtype: str = "fp32",
    batches: Sequence[int] = (1, 64),
) -> dict[str, Any]:
    """Return the engine part of `bench stream`: graphs and node-windows per second and core, by batch size."""
    rows, gate = [], []
    for size in sizes:
        tasks = {batch: setup.task(size, dtype, batch=batch, threads=threads) for batch in batches}
        gate.append({"nodes": size, **check(tasks[batches[0]])})
        for batch, timing in _timings(setup, tasks).items():
            graphs_per_s = batch / (timing.ms / 1e3)
            rows.append(
                _row(size, dtype, timing, batch=batch)
                | {
                    "graphs_per_s": graphs_per_s,
                    "graphs_per_s_per_core": graphs_per_s / threads,
                    "node_windows_per_s_per_core": graphs_per_s * size / threads,
                }
            )
            setup.progress(f"{size} nodes, batch {batch}: {graphs_per_s:.0f} graphs/s")
    config = setup.describe(batch=max(batches), threads=threads)
    return make_result("stream", config, rows, part="engine", gate=gate)


def thread_speedup(
    setup: Setup, sizes: Sequence[int] = THREADS_SIZES, threads: Sequence[int] = (1, 2), dtype: str = "fp32"
) -> dict[str, Any]:
    """Return the result of `bench threads`: a row per size and thread count, with the speed-up over one thread."""
    if threads[0] != 1:
        raise ConfigError(f"bench threads: --threads begins with {threads[0]}; it must begin with 1 for the speed-ups")
    rows: list[dict[str, Any]] = []
    gate: list[dict[str, Any]] = []
    for size in sizes:
        tasks = {count: setup.task(size, dtype, threads=count) for count in threads}
        gate += [{"nodes": size, "threads": count, **check(task)} for count, task in tasks.items()]
        timings = _timings(setup, tasks)
        for count, timing in timings.items():
            rows.append(_row(size, dtype, timing, threads=count) | {"speedup": timings[1].ms / timing.ms})
            setup.progress(f"{size} nodes, {count} thread(s): {timing.ms:.3f} ms")
    return make_result("threads", setup.describe(threads=max(threads)), rows, gate=gate)


def heads_latency(setup: Setup, heads: Sequence[int]) -> list[dict[str, Any]]:
    """Return a row per number of heads on one thread in fp32; nothing else of the network differs."""
    tasks = {
        count: replace(setup, network=replace(setup.network, heads=count)).task(HEADS_SIZE, "fp32") for count in heads
    }
    for task in tasks.values():
        check(task)
    return [
        {"heads": count, "nodes": HEADS_SIZE, "ms": timing.ms, "p99_ms": timing.p99_ms}
        for count, timing in _timings(setup, tasks).items()
    ]


def _timings(setup: Setup, tasks: Mapping[Key, Task]) -> dict[Key, Timing]:
    return interleaved({key: build("graphghha", task) for key, task in tasks.items()}, setup.effort)


def _row(size: int, dtype: str, timing: Timing, **variant: int) -> dict[str, Any]:
    times = {"ms": timing.ms, "p99_ms": timing.p99_ms}
    return {"nodes": size, "method": "graphghha", "dtype": dtype, **variant, **times}
