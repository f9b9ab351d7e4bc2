"""Table IV: detection, latency and score differences of the shipped model in fp32, fp16 and bf16.

The buildings of the deploy protocol are simulated once; every dtype scores the same readings.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine import AnyScorer, Engine, EngineConfig, Scored, open_scorer
from graphghha.engine.per_zone import engine_for
from graphghha.graph import CpsGraph
from graphghha.lab.bench.harness import Timing, interleaved
from graphghha.lab.bench.results import make_result
from graphghha.lab.bench.speed.correctness import check
from graphghha.lab.bench.speed.methods import Setup
from graphghha.lab.evaluation import DeployConfig, deploy_task, without_nan
from graphghha.lab.metrics import report_card
from graphghha.lab.runs import Recording, Schedule, record
from graphghha.models import Model, load_model
from graphghha.plants import load_plant

DTYPES = ("fp32", "fp16", "bf16")
DEFAULT_TEST = DeployConfig(runs=4, days=7)
QUICK_TEST = DeployConfig(runs=1, days=1, zones=4, schedule=Schedule(mean_gap_days=0.1, rest_min=60, lasting_share=0.0))
FIGURES = ("p", "r", "f1", "macro_f1", "event_recall", "false_alarms_per_day", "hit_at_1")


def run(
    setup: Setup,
    directory: Path,
    nodes: int = 1024,
    threads: int = 1,
    dtypes: Sequence[str] = DTYPES,
    *,
    test: DeployConfig = DEFAULT_TEST,
) -> dict[str, Any]:
    """Return one row per dtype; differences and flips are those to fp32, over every node-minute of the test."""
    model = load_model(directory)
    own = setup.for_model(model)
    tasks = {name: own.task(nodes, name, threads=threads) for name in dtypes}
    gate = [{"nodes": nodes, **check(task)} for task in tasks.values()]
    first = tasks[dtypes[0]]
    engines = _engines(model, first.graph, dtypes, threads)
    window = first.windows()[0]
    timings = interleaved({name: partial(engine.score, window) for name, engine in engines.items()}, setup.effort)
    setup.progress("latency: " + ", ".join(f"{name} {timing.ms:.3f} ms" for name, timing in timings.items()))
    recordings = record_all_dtypes(model, replace(test, seed=setup.seed), dtypes, threads, setup.progress)
    rows = [_row(name, model, recordings, timings, dtypes[0]) | {"nodes": nodes} for name in dtypes]
    config = own.describe(threads=threads) | {
        "test": {name: value for name, value in asdict(test).items() if name != "schedule"},
        "node_minutes": sum(recording.truth.size for recording in recordings[dtypes[0]]),
    }
    result: dict[str, Any] = without_nan(make_result("precision", config, rows, gate=gate))
    return result


class _AllDtypes:
    """A scorer that returns the scores of the first dtype and keeps those of all dtypes."""

    def __init__(self, scorers: Mapping[str, AnyScorer]) -> None:
        self._scorers = scorers
        self.kept: dict[str, list[NDArray[np.float32]]] = {name: [] for name in scorers}

    def push(self, values: NDArray[Any], fresh: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Scored:
        scored = {name: scorer.push(values, fresh, wanted) for name, scorer in self._scorers.items()}
        for name, each in scored.items():
            self.kept[name].append(each.probs)
        return next(iter(scored.values()))


def record_all_dtypes(
    model: Model, test: DeployConfig, dtypes: Sequence[str], threads: int, progress: Callable[[str], None]
) -> dict[str, list[Recording]]:
    """Return recordings of the same buildings by dtype."""
    plant = load_plant(model.plant)
    graph = plant.template.replicate(test.zones)
    recordings: dict[str, list[Recording]] = {name: [] for name in dtypes}
    runs = deploy_task(model, test).runs
    for number, building in enumerate(runs, 1):
        scorer = _AllDtypes({name: open_scorer(model, graph, _config(name, threads)) for name in dtypes})
        recording = record(plant, building, scorer)
        for name, probs in scorer.kept.items():
            recordings[name].append(replace(recording, probs=np.concatenate(probs)))
        progress(f"building {number} of {len(runs)}: {recording.num_steps} minutes, {len(recording.attacks)} attacks")
    return recordings


def _engines(model: Model, graph: CpsGraph, dtypes: Sequence[str], threads: int) -> dict[str, Engine]:
    return {name: engine_for(model, graph, _config(name, threads)) for name in dtypes}


def _config(dtype: str, threads: int) -> EngineConfig:
    return EngineConfig(dtype=dtype, threads=threads)  # type: ignore[arg-type]  # a wrong name fails in the engine


def _row(
    name: str, model: Model, recordings: Mapping[str, list[Recording]], timings: Mapping[str, Timing], base: str
) -> dict[str, Any]:
    rule, group = model.thresholds.rule, model.thresholds.group
    card = report_card(recordings[name], rule, group).row()
    probs, exact = (np.concatenate([recording.probs for recording in recordings[key]]) for key in (name, base))
    over, exactly_over = (1.0 - p[..., 0] >= rule.raise_at for p in (probs, exact))
    return {
        "method": "graphghha",
        "dtype": name,
        **{figure: card[figure] for figure in FIGURES},
        "ms": timings[name].ms,
        "p99_ms": timings[name].p99_ms,
        "reduction_percent": 100 * (1 - timings[name].ms / timings[base].ms),
        "max_difference": float(np.nanmax(np.abs(probs - exact))),
        "flipped": float((probs.argmax(-1) != exact.argmax(-1)).mean()),
        "threshold_flipped": float((over != exactly_over).mean()),
    }
