"""Fit the preprocessing of a model that judges zones, on normal days of random buildings.

n zone-rows, S signals, I inputs of the expectation.
"""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from graphghha._util.files import atomic_path, atomic_write
from graphghha.commissioning.levels import central_width, pooled_levels, summarize_days
from graphghha.lab.runs import Run
from graphghha.lab.training.cache import reading
from graphghha.lab.training.windows import flat_values
from graphghha.lab.training.zone_expectation import fit_zone_expectation
from graphghha.lab.training.zone_recipe import EXPECTATION, ZoneRecipe
from graphghha.lab.training.zone_windows import compared_days
from graphghha.plants import Plant, load_plant
from graphghha.windows import (
    EvidencePreprocessing,
    Levels,
    ScaleConfig,
    Scaler,
    Summarizer,
    ZoneExpectation,
    fit_scaler,
    noise_floor,
)
from graphghha.windows.evidence import HISTORY, RECENT, Summary, switch_signals
from graphghha.windows.levels import CLIP
from graphghha.windows.peers import median_of_others

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

SCALE = ScaleConfig(clip=30.0)  # positions and flows of a building are often far from their median over all buildings
SCALER_EVERY = 5  # one building in five
SCALER_STRIDE_MIN = 37  # coprime to 60, so that all minutes of the hour occur equally often
NOISE_SHARE = 0.4  # of the noise of one reading that is left in a mean of five minutes
LEAST_SPREAD = 5e-4
RESIDUAL_STRIDE, SUMMARY_STRIDE = 15, 3


def fit_zone_preprocessing(
    recipe: ZoneRecipe, work: Path, pool: Executor, *, progress: Callable[[str], None]
) -> EvidencePreprocessing:
    """Fit scaler, expectation and pooled levels; parts that an earlier run left in `work` are read from there."""
    plant = load_plant(recipe.plant)
    progress(f"scaler: normal days of {-(-recipe.expectation_buildings // SCALER_EVERY)} random buildings")
    scaler = _cached_scaler(work / "scaler.json", plant, recipe, pool)
    signals = [plant.signal(str(name)) for name in plant.template.point_signals]
    parts = {
        "switches": switch_signals(signals),
        "ranges": np.array([[signal.low, signal.high] for signal in signals]),
    }
    expectation = _cached_expectation(work / "expectation.safetensors", plant, recipe, scaler, pool, progress)
    count = 1 + len(signals) + len(parts["switches"])
    bare = EvidencePreprocessing(scaler, expectation, _no_levels(len(signals), count), **parts)  # type: ignore[arg-type]
    progress(f"levels: normal days of {recipe.level_buildings} random buildings")
    return bare.with_levels(_cached_levels(work / "levels.safetensors", plant, recipe, bare, count, pool))


def _cached_scaler(path: Path, plant: Plant, recipe: ZoneRecipe, pool: Executor) -> Scaler:
    if not path.exists():
        numbers = range(0, recipe.expectation_buildings, SCALER_EVERY)
        runs = [run for number in numbers for run in recipe.normal(EXPECTATION, number)]
        values = np.concatenate(list(pool.map(partial(_sampled, plant), runs, chunksize=8)))
        spans = [run.span(plant) for run in runs]
        columns = plant.template.point_signals
        scaler = fit_scaler(values, np.isfinite(values), columns, plant.signals, spans, SCALE)
        atomic_write(path, json.dumps(scaler.to_dict()))
    with reading(path):
        return Scaler.from_dict(json.loads(path.read_text(encoding="utf-8")))


def _sampled(plant: Plant, run: Run) -> NDArray[np.floating[Any]]:
    """Return some readings [n S] of all zones of a run."""
    rows = np.concatenate([flat_values(day)[::SCALER_STRIDE_MIN] for day in run.simulate(plant)])
    return rows.reshape(-1, len(plant.signals))


def _cached_expectation(
    path: Path, plant: Plant, recipe: ZoneRecipe, scaler: Scaler, pool: Executor, progress: Callable[[str], None]
) -> ZoneExpectation:
    if not path.exists():
        progress(f"expectation: normal days of {recipe.expectation_buildings} random buildings")
        collect = partial(expectation_rows, plant, recipe, scaler)
        parts = list(pool.map(collect, range(recipe.expectation_buildings), chunksize=4))
        inputs, targets = (np.concatenate(column) for column in zip(*parts, strict=True))
        del parts
        progress(f"expectation: {len(inputs)} rows, {recipe.expectation_epochs} passes")
        expectation = fit_zone_expectation(
            inputs,
            targets,
            plant.template,
            spread_floor(plant, scaler),
            seed=recipe.seed,
            epochs=recipe.expectation_epochs,
            on_epoch=lambda epoch, loss: progress(f"expectation: pass {epoch + 1}, loss {loss:.3f}"),
        )
        with atomic_path(path) as partial_file:
            save_file({**expectation.weights, "floor": expectation.floor}, partial_file)
    with reading(path):
        weights = load_file(path)
        floor = weights.pop("floor")
    return ZoneExpectation(weights, floor)


def spread_floor(plant: Plant, scaler: Scaler) -> Floats:
    """Return the least expected spread of every signal [S], in scaled units."""
    scale = dict(zip(scaler.signals, scaler.scale, strict=True))
    noise = {signal.name: signal.noise for signal in plant.signals}
    signals = plant.template.point_signals
    floor = noise_floor([noise[str(name)] for name in signals], np.array([scale[str(name)] for name in signals]))
    least: Floats = np.maximum(NOISE_SHARE * floor, LEAST_SPREAD).astype(np.float32)
    return least


def expectation_rows(plant: Plant, recipe: ZoneRecipe, scaler: Scaler, number: int) -> tuple[Floats, Floats]:
    """Return random rows of one building: inputs [n I] of the expectation, and targets [n S], NaN where unknown."""
    inputs, targets = [], []
    for run in recipe.normal(EXPECTATION, number):
        rng = np.random.default_rng([run.seed, 4, run.start.toordinal()])
        for x, y in _random_rows(plant, run, scaler, recipe.expectation_rows_per_day, rng):
            inputs.append(x)
            targets.append(y)
    return np.concatenate(inputs), np.concatenate(targets)


def _random_rows(
    plant: Plant, run: Run, scaler: Scaler, per_day: int, rng: np.random.Generator
) -> Sequence[tuple[Floats, Floats]]:
    signals = plant.template.point_signals
    scale = scaler.columns(signals * run.zones)
    summarizer = Summarizer(len(signals) * run.zones, RECENT)
    shape = (per_day, run.zones, len(signals))
    rows = []
    for number, day in enumerate(run.simulate(plant)):
        values = flat_values(day)
        fresh = np.isfinite(values)
        wanted = np.zeros(len(values), np.bool_)
        first = RECENT.history_rows if number == 0 else 0
        wanted[rng.choice(np.arange(first, len(values)), per_day, replace=False)] = True
        means = summarizer.push(scale(values, fresh), fresh, wanted).reshape(*shape, -1)
        recent = np.ascontiguousarray(means[..., 0])
        others, has_others = median_of_others(recent, means[..., -1] < 1.0)
        inputs = np.concatenate([means, others[..., None], has_others[..., None]], axis=-1, dtype=np.float32)
        targets = np.where(fresh[wanted].reshape(shape), recent, np.float32(np.nan))
        rows.append((inputs.reshape(per_day * run.zones, -1), targets.reshape(per_day * run.zones, -1)))
    return rows


def _cached_levels(
    path: Path, plant: Plant, recipe: ZoneRecipe, bare: EvidencePreprocessing, count: int, pool: Executor
) -> Levels:
    if not path.exists():
        runs = [recipe.level_run(number) for number in range(recipe.level_buildings)]
        residuals = list(pool.map(partial(_residuals, plant, bare), runs))
        width = central_width(*(np.concatenate(column) for column in zip(*residuals, strict=True)))
        summaries = list(pool.map(partial(_summary, plant, bare, width), runs))
        levels = pooled_levels(summaries, width, count)
        with atomic_path(path) as partial_file:
            save_file({name: np.ascontiguousarray(each) for name, each in levels.to_arrays().items()}, partial_file)
    with reading(path):
        return Levels.from_arrays(load_file(path))


def _residuals(plant: Plant, bare: EvidencePreprocessing, run: Run) -> tuple[Floats, Bools]:
    """Return raw residuals of all zones as those of one [n 1 S], and where they are fresh."""
    compared = compared_days(plant, run, bare).compared
    shape = (-1, 1, compared.fresh.shape[-1])
    return compared.residuals[::RESIDUAL_STRIDE].reshape(shape), compared.fresh[::RESIDUAL_STRIDE].reshape(shape)


def _summary(plant: Plant, bare: EvidencePreprocessing, width: Floats, run: Run) -> tuple[Summary, Bools, Bools]:
    compared = compared_days(plant, run, bare).compared
    summary, kept = summarize_days(np.clip(compared.residuals / width, -CLIP, CLIP), compared)
    rows = np.flatnonzero(kept)
    full = np.flatnonzero(rows >= HISTORY)[::SUMMARY_STRIDE]
    chosen = Summary(*(getattr(summary, name)[full] for name in Summary.__dataclass_fields__))
    return chosen, compared.fresh[rows[full]], compared.has_others[rows[full]]


def _no_levels(signals: int, predictors: int) -> Levels:
    """Return levels that change nothing, for residuals as the expectation gives them."""

    def each(*values: float) -> Floats:
        return np.tile(np.array(values, np.float32), (1, signals, 1))

    return Levels(
        slopes=np.zeros((1, signals, predictors), np.float32),
        bounds=each(0.0, 0.0),
        width=np.ones((1, signals), np.float32),
        spans=each(1.0, 1.0, 1.0, 1.0, 1.0),
        sizes=each(1.0, 1.0),
        restlessness=each(-1.0, 0.0, 1.0),
        gap=each(0.0, 1.0),
        heard=np.ones((1, signals), np.bool_),
    )
