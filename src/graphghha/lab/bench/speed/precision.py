"""Table IV: the shipped model in fp32, fp16 and bf16: how well it detects, how fast, how far its scores move.

The buildings of the deploy protocol are simulated and turned into windows once; every dtype scores the same windows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine import Engine, EngineConfig
from graphghha.engine.scorer import Scored, Scorer
from graphghha.graph import CpsGraph
from graphghha.lab.bench.harness import DEFAULT_EFFORT, Effort, Timing, interleaved, machine_info
from graphghha.lab.bench.speed.correctness import check
from graphghha.lab.bench.speed.latency import config_info, task_of
from graphghha.lab.evaluation import DeployConfig, deploy_task, without_nan
from graphghha.lab.metrics import report_card
from graphghha.lab.runs import Recording, Schedule, record
from graphghha.models import Model, load_model
from graphghha.nn import AduConfig
from graphghha.plants import load_plant

DTYPES = ("fp32", "fp16", "bf16")
DEFAULT_TEST = DeployConfig(runs=4, days=7)
QUICK_TEST = DeployConfig(runs=1, days=1, zones=4, schedule=Schedule(mean_gap_days=0.1, rest_min=60, lasting_share=0.0))
FIGURES = ("p", "r", "f1", "macro_f1", "event_recall", "false_alarms_per_day", "hit_at_1")


def run(
    directory: Path,
    nodes: int = 1024,
    threads: int = 1,
    dtypes: Sequence[str] = DTYPES,
    *,
    test: DeployConfig = DEFAULT_TEST,
    effort: Effort = DEFAULT_EFFORT,
    seed: int = 0,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """JSON with one row per dtype; differences and flips are those to fp32, over every node-minute of the test."""
    model = load_model(directory)
    config = AduConfig.from_dict(model.adu_config)
    tasks = {name: task_of(model.template, config, nodes, name, 1, threads, seed) for name in dtypes}
    gate = [{"nodes": nodes, **check(task)} for task in tasks.values()]
    first = tasks[dtypes[0]]
    engines = _engines(model, first.graph, dtypes, threads)
    window = first.windows()[0]
    timings = interleaved({name: partial(engine.score, window) for name, engine in engines.items()}, effort)
    progress("latency: " + ", ".join(f"{name} {timing.ms:.3f} ms" for name, timing in timings.items()))
    recordings = record_every(model, replace(test, seed=seed), dtypes, threads, progress)
    rows = [_row(name, model, recordings, timings, dtypes[0]) | {"nodes": nodes} for name in dtypes]
    found: dict[str, Any] = without_nan(
        {
            "bench": "precision",
            "machine": machine_info(),
            "config": {
                **config_info(config, model.template, 1, threads, seed),
                "test": {name: value for name, value in asdict(test).items() if name != "schedule"},
                "node_minutes": sum(recording.truth.size for recording in recordings[dtypes[0]]),
            },
            "gate": gate,
            "rows": rows,
        }
    )
    return found


class _EveryDtype:
    """A detector that gives the scores of the first dtype and keeps those of the others."""

    def __init__(self, scorer: Scorer, engines: Mapping[str, Engine]) -> None:
        self._scorer, self._engines = scorer, engines
        self.kept: dict[str, list[NDArray[np.float32]]] = {name: [] for name in engines}

    def push(self, values: NDArray[Any], fresh: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Scored:
        windows = self._scorer.featurizer.push(values, fresh, wanted)
        for name, engine in self._engines.items():
            shape = (len(windows.rows), engine.num_nodes, len(engine.classes))
            raw = engine.score(windows.features, windows.known) if len(windows.rows) else np.empty(shape, np.float32)
            self.kept[name].append(self._scorer.calibrate(raw))
        return Scored(windows.rows, next(iter(self.kept.values()))[-1])


def record_every(
    model: Model, test: DeployConfig, dtypes: Sequence[str], threads: int, progress: Callable[[str], None]
) -> dict[str, list[Recording]]:
    """Recordings of the same buildings by dtype."""
    plant = load_plant(model.plant)
    graph = plant.template.replicate(test.zones)
    engines = _engines(model, graph, dtypes, threads)
    found: dict[str, list[Recording]] = {name: [] for name in dtypes}
    runs = deploy_task(model, test).runs
    for number, building in enumerate(runs, 1):
        detector = _EveryDtype(Scorer(model, graph, EngineConfig(threads=threads)), engines)
        recording = record(plant, building, detector)
        for name, probs in detector.kept.items():
            found[name].append(replace(recording, probs=np.concatenate(probs)))
        progress(f"building {number} of {len(runs)}: {recording.num_steps} minutes, {len(recording.attacks)} attacks")
    return found


def _engines(model: Model, graph: CpsGraph, dtypes: Sequence[str], threads: int) -> dict[str, Engine]:
    return {name: Engine(model, graph, dtype=name, threads=threads) for name in dtypes}  # type: ignore[arg-type]


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
