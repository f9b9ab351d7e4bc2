"""Fit the preprocessing on normal operation: the scaler, the expectation and the norm of the features."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from graphghha._util.files import atomic_path, atomic_write
from graphghha.lab.runs import Run
from graphghha.lab.training.cache import reading
from graphghha.lab.training.expectation import fit_expectation
from graphghha.lab.training.windows import LabelledWindows, flat_values, labelled_windows, recent_rows, signal_features
from graphghha.lab.training.workers import OnPart, counted, no_parts
from graphghha.plants import Plant
from graphghha.windows import Expectation, FeatureNorm, Preprocessing, Scaler, fit_scaler, noise_floor

NORM_STRIDE_MIN = 60


def fit_preprocessing(
    plant: Plant,
    runs: Sequence[Run],
    work: Path,
    pool: Executor,
    *,
    rows_per_day: int,
    seed: int,
    progress: Callable[[str], None] = lambda line: None,
    on_part: OnPart = no_parts,
) -> Preprocessing:
    """Fit on normal runs; parts that an earlier run left in `work` are read from there."""
    work.mkdir(parents=True, exist_ok=True)
    progress("scaler: reading normal buildings")
    scaler = _cached_json(work / "scaler.json", Scaler, partial(_fit_scaler, plant, runs, on_part))
    progress("expectation: predicting each signal from the others")
    expectation = _cached_expectation(
        work / "expectation.safetensors", plant, runs, scaler, rows_per_day, seed, on_part
    )
    progress("features: measuring their spread in normal operation")
    norm = _cached_json(work / "features.json", FeatureNorm, partial(_fit_norm, plant, runs, scaler, expectation, pool))
    return Preprocessing(scaler, expectation, norm)


def _fit_scaler(plant: Plant, runs: Sequence[Run], on_part: OnPart) -> Scaler:
    """Fit on every 37th minute; 37 is coprime to 60, so that all minutes of the hour occur equally often."""
    every = counted(runs, len(runs), on_part)
    values = np.concatenate([flat_values(day)[::37] for run in every for day in run.simulate(plant)])
    signals = plant.template.point_signals
    fresh = np.ones(values.shape, np.bool_)
    return fit_scaler(values, fresh, signals * runs[0].zones, plant.signals, [run.span(plant) for run in runs])


def _fit_norm(
    plant: Plant, runs: Sequence[Run], scaler: Scaler, expectation: Expectation, pool: Executor
) -> FeatureNorm:
    raw = partial(labelled_windows, plant, preprocessing=Preprocessing(scaler, expectation), stride_min=NORM_STRIDE_MIN)
    return FeatureNorm.fit(signal_features(LabelledWindows.concatenate(list(pool.map(raw, runs))), plant))


def _cached_json(path: Path, kind: Any, make: Callable[[], Any]) -> Any:
    if not path.exists():
        atomic_write(path, json.dumps(make().to_dict()))
    with reading(path):
        return kind.from_dict(json.loads(path.read_text(encoding="utf-8")))


def _cached_expectation(
    path: Path, plant: Plant, runs: Sequence[Run], scaler: Scaler, rows_per_day: int, seed: int, on_part: OnPart
) -> Expectation:
    if not path.exists():
        rng = np.random.default_rng([seed, 4])
        every = counted(runs, len(runs), on_part)
        days = [rows for run in every for rows in recent_rows(plant, run, scaler, rows_per_day, rng)]
        inputs, values = (np.concatenate(column) for column in zip(*days, strict=True))
        scale = dict(zip(scaler.signals, scaler.scale, strict=True))
        noise = {signal.name: signal.noise for signal in plant.signals}
        signals = plant.template.point_signals
        floor = noise_floor([noise[name] for name in signals], np.array([scale[name] for name in signals]))
        expectation = fit_expectation(inputs, values, plant.template, floor, seed=seed)
        with atomic_path(path) as partial_file:
            save_file({**expectation.weights, "floor": expectation.floor}, partial_file)
    with reading(path):
        weights = load_file(path)
        floor = weights.pop("floor")
    return Expectation(weights, floor)
