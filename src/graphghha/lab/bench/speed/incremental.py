"""Event-driven scoring against full passes: time, error and flipped labels by tolerance, and the least possible work.

There are two streams: a model on normal operation of its plant, and a synthetic calm one in which most nodes change by
little noise only.

t windows of a stream, Z zones, s nodes, f features per node, c classes.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine import Engine, IncrementalEngine
from graphghha.errors import ConfigError
from graphghha.lab.bench.results import make_result
from graphghha.lab.bench.speed.correctness import check
from graphghha.lab.bench.speed.methods import Setup, Task, default_config, synthetic_template
from graphghha.models import Model, load_model
from graphghha.nn import ADU
from graphghha.plants import load_plant, load_testbed
from graphghha.windows import HISTORY_ROWS, Featurizer

# pairs of tolerances for features and for the global state; in normal operation a feature changes by 0.3 a minute
PLANT_SETTINGS = ((0.0, 0.0), (0.05, 0.02), (0.05, 0.1), (0.1, 0.1), (0.2, 0.1), (0.5, 0.1), (1.0, 0.2))
CALM_SETTINGS = ((0.0, 0.05), (0.01, 0.05), (0.03, 0.05), (0.1, 0.05))
ALLOWED = 1e-3  # largest probability difference that counts as the same score
BOUNDS = (1e-3, 1e-2, 1e-1)
REPEATS = 3
CALM_STEPS = 60
DAY = datetime(2018, 7, 5)  # a Thursday in summer: occupied, with cooling
FIRST_HOUR = 8


def run(
    setup: Setup,
    directory: Path,
    zones: Sequence[int] = (12, 48),
    minutes: int = 480,
    dtype: str = "fp32",
    *,
    calm_nodes: int = 1536,
) -> dict[str, Any]:
    """Return rows by stream and tolerance, and the share of zones that even perfect foresight would recompute."""
    model = load_model(directory)
    if model.judges_zones:
        raise ConfigError("bench events: give a model that judges single nodes; this one judges each zone by itself")
    own, zone_nodes = setup.for_model(model), model.template.num_nodes
    rows, bounds, gate = [], [], []
    for count in zones:
        task = own.task(count * zone_nodes, dtype)
        gate.append({"nodes": task.graph.num_nodes, **check(task)})
        stream = normal_windows(model, count, minutes, setup.seed)
        rows += sweep("normal operation", model, task, stream, PLANT_SETTINGS, setup.progress)
        bounds += foresight(Engine(model, task.graph, backend="native"), stream, count)
    synthetic = replace(setup, template=synthetic_template(setup.seed), network=default_config())
    calm = synthetic.task(calm_nodes, dtype)
    gate.append({"nodes": calm.graph.num_nodes, **check(calm)})
    adu = calm.adu("graphghha", "fp32")
    rows += sweep("calm", adu, calm, calm_stream(calm, CALM_STEPS), CALM_SETTINGS, setup.progress)
    config = own.describe() | {"minutes": minutes, "allowed": ALLOWED, "zone_nodes": zone_nodes}
    best = [best_setting(rows, "normal operation", count * zone_nodes) for count in zones]
    return make_result("events", config, rows, gate=gate, bounds=bounds, best=best)


def sweep(
    name: str,
    model: ADU | Model,
    task: Task,
    stream: NDArray[np.float32],
    settings: Sequence[tuple[float, float]],
    progress: Callable[[str], None] = lambda line: None,
) -> list[dict[str, Any]]:
    """Return one row per pair of tolerances for features and for the global state."""
    engine = Engine(model, task.graph, dtype=task.dtype, backend="native")
    rows = []
    for tolerance, state_tolerance in settings:

        def new_engine(tolerance: float = tolerance, state_tolerance: float = state_tolerance) -> IncrementalEngine:
            return IncrementalEngine(
                model, task.graph, tolerance=tolerance, state_tolerance=state_tolerance, dtype=task.dtype
            )

        row = {
            "stream": name,
            "nodes": task.graph.num_nodes,
            "dtype": task.dtype,
            "tolerance": tolerance,
            "state_tolerance": state_tolerance,
            **_compare(new_engine, engine, stream),
        }
        rows.append(row)
        progress(
            f"{name}, {row['nodes']} nodes, tolerance {tolerance:g} and {state_tolerance:g}: "
            f"{row['ratio']:.2f} of a full pass, largest difference {row['max_difference']:.1e}"
        )
    return rows


def best_setting(rows: Sequence[dict[str, Any]], stream: str, nodes: int) -> dict[str, Any]:
    """Return the fastest setting whose scores still count as the same; `tolerance` is None if none saves time."""
    fitting = [
        row
        for row in rows
        if row["stream"] == stream
        and row["nodes"] == nodes
        and row["max_difference"] <= ALLOWED
        and row["flipped"] == 0.0
        and row["rows_share"] < 1.0
        and row["ratio"] < 1.0
    ]
    best = min(fitting, key=lambda row: row["ratio"], default=None)
    return {"nodes": nodes, "tolerance": best and best["tolerance"], "ratio": best and best["ratio"]}


def foresight(engine: Engine, stream: NDArray[np.float32], zones: int) -> list[dict[str, Any]]:
    """Return the mean share of zones whose scores differ from those last shown by more than a bound.

    An engine that knew the scores beforehand would still have to recompute these zones. Three layers spread a change
    over a whole zone of this plant, so a zone is the least that can be recomputed.
    """
    probs = engine.score(stream).reshape(len(stream), zones, -1)  # [t Z n*c]
    rows = []
    for bound in BOUNDS:
        shown, shares = probs[0].copy(), []
        for current in probs[1:]:
            moved = np.abs(current - shown).max(axis=-1) > bound
            shown[moved] = current[moved]
            shares.append(moved.mean())
        rows.append({"nodes": engine.num_nodes, "bound": bound, "zones_share": float(np.mean(shares))})
    return rows


def _compare(
    new_engine: Callable[[], IncrementalEngine], engine: Engine, stream: NDArray[np.float32]
) -> dict[str, float]:
    """Score the stream several times with both engines; the time of a step is its best, free of disturbances."""
    took_s = np.full((2, len(stream)), np.inf)
    for _ in range(REPEATS):
        events = new_engine()
        worst, flipped, shares, full_passes = 0.0, 0, [], 0
        for step, window in enumerate(stream):
            started = time.perf_counter()
            got = events.score(window)
            between = time.perf_counter()
            want = engine.score(window)
            ended = time.perf_counter()
            took_s[:, step] = np.minimum(took_s[:, step], (between - started, ended - between))
            assert events.last is not None
            if step == 0:
                continue  # the first window of a stream is a full pass for both
            worst = max(worst, float(np.abs(got - want).max()))
            flipped += int((got.argmax(-1) != want.argmax(-1)).sum())
            shares.append(events.last.share)
            full_passes += events.last.full
    events_ms, full_ms = (float(ms) for ms in took_s[:, 1:].mean(axis=1) * 1e3)
    return {
        "ms": events_ms,
        "full_ms": full_ms,
        "ratio": events_ms / full_ms,
        "rows_share": float(np.mean(shares)),
        "full_passes_share": full_passes / len(shares),
        "max_difference": worst,
        "flipped": flipped / (len(shares) * stream.shape[1]),
    }


def calm_stream(task: Task, steps: int) -> NDArray[np.float32]:
    """Return [t s f]: small noise everywhere, and in every step a twentieth of the zones takes a new working point."""
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


def normal_windows(model: Model, zones: int, minutes: int, seed: int) -> NDArray[np.float32]:
    """Return consecutive windows [t s f] of an undisturbed building from eight in the morning on.

    The simulation begins as many days before as the longest window needs.
    """
    graph = model.template.replicate(zones)
    featurizer = Featurizer(graph, model.template, model.node_preprocessing)
    rows_per_day = round(24 * 3600 / load_plant(model.plant).step_s)
    warm_days = -(-HISTORY_ROWS // rows_per_day)
    first = warm_days * rows_per_day + FIRST_HOUR * rows_per_day // 24
    windows, done = [], 0
    days = -(-(first + minutes) // rows_per_day)
    start = DAY - timedelta(days=warm_days)
    for day in load_testbed(model.plant).run(zones=zones, days=days, start=start, seed=seed):
        values = day.values.reshape(len(day.times), -1)
        rows = np.arange(done, done + len(values))
        wanted = (rows >= first) & (rows < first + minutes)
        windows.append(featurizer.push(values, np.ones(values.shape, np.bool_), wanted).features)
        done += len(values)
    return np.concatenate(windows)
