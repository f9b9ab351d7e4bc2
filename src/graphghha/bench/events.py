"""Event-driven scoring against full passes on a stream of windows: time, error and flipped labels by tolerance.

t windows of a stream, s nodes, f features per node.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.bench.gate import check
from graphghha.bench.graphs import synthetic_template
from graphghha.bench.harness import machine_info
from graphghha.bench.latency import config_info, task_of
from graphghha.bench.methods import Task, default_config
from graphghha.engine import Engine
from graphghha.engine.events import EventEngine
from graphghha.graph import CpsGraph
from graphghha.nn import ADU

TOLERANCES = (0.0, 0.01, 0.03, 0.1)


def run(
    nodes: int = 1536,
    tolerances: Sequence[float] = TOLERANCES,
    state_tolerance: float = 0.05,
    *,
    template: CpsGraph | None = None,
    model: ADU | None = None,
    windows: NDArray[np.float32] | None = None,
    steps: int = 60,
    dtype: str = "fp32",
    seed: int = 0,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """JSON with one row per tolerance. `windows` [t, s, f]: scaled telemetry; else a made-up calm stream."""
    template = model.template if model else template or synthetic_template(seed)
    config = model.config if model else default_config()
    task = task_of(template, config, nodes, dtype, 1, 1, seed)
    gate = [{"nodes": nodes, **check(task)}]
    adu = model or task.adu("graphghha", "fp32")
    stream = windows if windows is not None else calm_stream(task, steps)
    engine = Engine(adu, task.graph, dtype=dtype)  # type: ignore[arg-type]  # checked by the gate
    rows = []
    for tolerance in tolerances:
        events = EventEngine(adu, task.graph, tolerance=tolerance, state_tolerance=state_tolerance, dtype=dtype)
        row = {"nodes": nodes, "dtype": dtype, "tolerance": tolerance, **_compare(events, engine, stream)}
        rows.append(row)
        progress(f"tolerance {tolerance}: {row['ratio']:.2f} of a full pass, {row['max_difference']:.1e} off")
    return {
        "bench": "events",
        "machine": machine_info(),
        "config": {**config_info(config, template, 1, 1, seed), "state_tolerance": state_tolerance},
        "gate": gate,
        "rows": rows,
    }


def _compare(events: EventEngine, engine: Engine, stream: NDArray[np.float32]) -> dict[str, float]:
    took: dict[str, list[float]] = {"events": [], "full": []}
    worst, flipped, shares, full_passes = 0.0, 0, [], 0
    for step, window in enumerate(stream):
        started = time.perf_counter()
        got = events.score(window)
        between = time.perf_counter()
        want = engine.score(window)
        ended = time.perf_counter()
        if step == 0:
            continue  # the first window of a stream is a full pass for both
        took["events"].append(between - started)
        took["full"].append(ended - between)
        worst = max(worst, float(np.abs(got - want).max()))
        flipped += int((got.argmax(-1) != want.argmax(-1)).sum())
        assert events.last is not None
        shares.append(events.last.share)
        full_passes += events.last.full
    means = {name: float(np.mean(seconds)) * 1e3 for name, seconds in took.items()}
    return {
        "ms": means["events"],
        "full_ms": means["full"],
        "ratio": means["events"] / means["full"],
        "rows_share": float(np.mean(shares)),
        "full_passes_share": full_passes / len(shares),
        "max_difference": worst,
        "flipped": flipped / (len(shares) * stream.shape[1]),
    }


def calm_stream(task: Task, steps: int) -> NDArray[np.float32]:
    """[t s f]: small noise everywhere, and every step a twentieth of the zones takes a new working point."""
    rng = np.random.default_rng(task.seed)
    x = task.windows()[0]
    size = task.template.num_nodes
    zones = len(x) // size
    stream = [x]
    for _ in range(steps - 1):
        x = x + rng.normal(0, 0.002, x.shape).astype(np.float32)
        for zone in rng.choice(zones, max(1, zones // 20), replace=False):
            x[zone * size : (zone + 1) * size] += rng.normal(0, 0.3, (size, x.shape[1])).astype(np.float32)
        stream.append(x)
    return np.stack(stream)
