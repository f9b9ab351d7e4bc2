"""What turns readings into features, learned from normal operation: scaler, expectation, norm of the features."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from graphghha.lab.runs.run import Run
from graphghha.lab.training.cache import stored, whole
from graphghha.lab.training.expectation import fit_expectation
from graphghha.lab.training.windows import LabelledWindows, flat_values, labelled_windows, recent_rows, signal_features
from graphghha.plants import Plant
from graphghha.windows.expectation import Expectation, noise_floor
from graphghha.windows.features import FeatureNorm, Preprocessing
from graphghha.windows.provenance import Span
from graphghha.windows.scale import Scaler, fit_scaler

ROWS_PER_DAY = 1440
NORM_STRIDE_MIN = 60


def fit_preprocessing(
    plant: Plant,
    runs: Sequence[Run],
    work: Path,
    pool: Executor,
    *,
    rows_per_day: int,
    seed: int,
    say: Callable[[str], None] = lambda text: None,
) -> Preprocessing:
    """From normal runs, or from `work` where an earlier run left it."""
    work.mkdir(parents=True, exist_ok=True)
    say("scaler: readings of normal buildings")
    scaler = _kept_json(work / "scaler.json", Scaler, partial(_fit_scaler, plant, runs))
    say("expectation: what each signal should read, given the others")
    expectation = _kept_expectation(work / "expectation.safetensors", plant, runs, scaler, rows_per_day, seed)
    say("features: their spread in normal operation")
    norm = _kept_json(work / "features.json", FeatureNorm, partial(_fit_norm, plant, runs, scaler, expectation, pool))
    return Preprocessing(scaler, expectation, norm)


def _fit_scaler(plant: Plant, runs: Sequence[Run]) -> Scaler:
    """Every 37th minute: coprime to the hour, so that no minute of the hour is favoured."""
    values = np.concatenate([flat_values(day)[::37] for run in runs for day in run.simulate(plant)])
    signals = plant.template.point_signals
    fresh = np.ones(values.shape, np.bool_)
    spans = [Span(run.source, 0, run.days * ROWS_PER_DAY) for run in runs]
    return fit_scaler(values, fresh, signals * runs[0].zones, plant.signals, spans)


def _fit_norm(
    plant: Plant, runs: Sequence[Run], scaler: Scaler, expectation: Expectation, pool: Executor
) -> FeatureNorm:
    raw = partial(labelled_windows, plant, preprocessing=Preprocessing(scaler, expectation), stride_min=NORM_STRIDE_MIN)
    return FeatureNorm.fit(signal_features(LabelledWindows.joined(list(pool.map(raw, runs))), plant))


def _kept_json(path: Path, kind: Any, make: Callable[[], Any]) -> Any:
    if not path.exists():
        with whole(path) as fresh:
            fresh.write_text(json.dumps(make().to_dict()), encoding="utf-8")
    with stored(path):
        return kind.from_dict(json.loads(path.read_text(encoding="utf-8")))


def _kept_expectation(
    path: Path, plant: Plant, runs: Sequence[Run], scaler: Scaler, rows_per_day: int, seed: int
) -> Expectation:
    if not path.exists():
        rng = np.random.default_rng([seed, 4])
        days = [rows for run in runs for rows in recent_rows(plant, run, scaler, rows_per_day, rng)]
        inputs, values = (np.concatenate(column) for column in zip(*days, strict=True))
        scale = dict(zip(scaler.signals, scaler.scale, strict=True))
        noise = {signal.name: signal.noise for signal in plant.signals}
        signals = plant.template.point_signals
        floor = noise_floor([noise[name] for name in signals], np.array([scale[name] for name in signals]))
        found = fit_expectation(inputs, values, plant.template, floor, seed=seed)
        with whole(path) as fresh:
            save_file({**found.weights, "floor": found.floor}, fresh)
    with stored(path):
        weights = load_file(path)
        floor = weights.pop("floor")
    return Expectation(weights, floor)
