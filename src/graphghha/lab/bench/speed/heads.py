"""Latency against the number of heads, interleaved: the other half of the paper's figure on heads."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from graphghha.graph import CpsGraph
from graphghha.lab.bench.harness import DEFAULT_EFFORT, QUICK_EFFORT, interleaved
from graphghha.lab.bench.speed.correctness import check
from graphghha.lab.bench.speed.latency import task_of
from graphghha.lab.bench.speed.methods import build, default_config

NODES = 1024


def heads_latency(heads: Sequence[int], template: CpsGraph, *, quick: bool = False) -> list[dict[str, Any]]:
    """One thread, batch 1, fp32, the benchmark's width: only the number of heads differs."""
    tasks = {
        count: task_of(template, replace(default_config(), heads=count), NODES, "fp32", 1, 1, 0) for count in heads
    }
    for task in tasks.values():
        check(task)
    calls = {count: build("graphghha", task) for count, task in tasks.items()}
    timings = interleaved(calls, QUICK_EFFORT if quick else DEFAULT_EFFORT)
    return [
        {"heads": count, "nodes": NODES, "ms": timing.ms, "p99_ms": timing.p99_ms} for count, timing in timings.items()
    ]
