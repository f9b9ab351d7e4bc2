"""The whole way from a testbed to a trained detector, in stages that are kept: a killed run goes on where it was."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from graphghha.evaluation.scenario import Run, Schedule, attacked_run, split_cases
from graphghha.nn import ADU
from graphghha.plants import Plant, load_plant, load_testbed
from graphghha.training.expectation import fit_expectation
from graphghha.training.fit import FitConfig, Progress, fit
from graphghha.training.windows import (
    LabelledWindows,
    flat_values,
    labelled_windows,
    recent_rows,
    signal_features,
)
from graphghha.windows.expectation import Expectation, noise_floor
from graphghha.windows.features import FEATURE_NAMES, FeatureNorm
from graphghha.windows.provenance import Span
from graphghha.windows.scale import Scaler, fit_scaler

FIRST_DAY = datetime(2018, 1, 1)
ROWS_PER_DAY = 1440

# seeds of a recipe's runs lie apart by purpose, so that nothing is ever seen twice
NORMAL, ATTACKED, VALIDATION = 1, 2, 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """What is simulated, how it is sampled, and how the network is fitted."""

    plant: str = "fcu"
    seed: int = 0
    zones: int = 12
    normal_runs: int = 2
    normal_days: int = 365
    attacked_runs: int = 8
    attacked_days: int = 180
    stride_min: int = 60
    extra_at_onset: int = 4
    expectation_rows_per_day: int = 20
    schedule: Schedule = Schedule()
    fit: FitConfig = FitConfig()
    adu: dict[str, Any] = field(default_factory=dict)  # settings of the ADU
    workers: int = 2

    def run_seed(self, purpose: int, number: int) -> int:
        return 1_000_000 * self.seed + 10_000 * purpose + number

    def normal(self) -> list[Run]:
        return [
            Run(seed=self.run_seed(NORMAL, n), start=FIRST_DAY, days=self.normal_days, zones=self.zones)
            for n in range(self.normal_runs)
        ]

    def attacked(self, cases: Sequence[str]) -> list[Run]:
        runs = []
        for n in range(self.attacked_runs):
            seed = self.run_seed(ATTACKED, n)
            # start days spread over the year, so that every season is attacked
            start = FIRST_DAY + timedelta(days=n * 365 // self.attacked_runs)
            run = Run(seed=seed, start=start, days=self.attacked_days, zones=self.zones)
            runs.append(attacked_run(run, cases, self.schedule))
        return runs


@dataclass(frozen=True, slots=True)
class Trained:
    """A fitted network with everything that turns readings into its input."""

    plant: Plant
    adu: ADU
    scaler: Scaler
    expectation: Expectation
    norm: FeatureNorm
    provenance: dict[str, Any]


Say = Callable[[str], None]


def train(recipe: Recipe, work: Path, *, say: Say, on_step: Callable[[Progress], None]) -> Trained:
    """Simulate, learn what is normal, learn what attacks look like. `work` keeps what is done."""
    work.mkdir(parents=True, exist_ok=True)
    plant = load_plant(recipe.plant)
    cases = split_cases(plant, recipe.seed)
    normal, attacked = recipe.normal(), recipe.attacked(cases.seen)

    say("scaler: a normal year of readings")
    scaler = _kept_json(work / "scaler.json", Scaler, partial(_fit_scaler, plant, normal[0]))
    say("expectation: what each signal should read, given the others")
    expectation = _kept_expectation(work / "expectation.safetensors", recipe, plant, normal, scaler)
    say("features: normal windows")
    collect = partial(_collect, recipe.plant, scaler, expectation)
    norm_file = work / "features.json"
    if not norm_file.exists():
        sample = collect(None, recipe.stride_min, 0, work / "normal-raw", replace(normal[0], days=120))
        norm_file.write_text(json.dumps(FeatureNorm.fit(signal_features(sample, plant)).to_dict()), encoding="utf-8")
    norm = FeatureNorm.from_dict(json.loads(norm_file.read_text(encoding="utf-8")))

    say(f"windows: {len(normal)} normal and {len(attacked)} attacked buildings")
    jobs = [(run, 2 * recipe.stride_min, 0) for run in normal]
    jobs += [(run, recipe.stride_min, recipe.extra_at_onset) for run in attacked]
    with ProcessPoolExecutor(recipe.workers, mp_context=get_context("spawn")) as pool:
        futures = [
            pool.submit(collect, norm, stride, extra, work / f"windows-{run.seed}", run) for run, stride, extra in jobs
        ]
        parts = [future.result() for future in futures]
    data = LabelledWindows(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("features", "labels", "worth"))
    )
    del parts

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        adu = ADU(plant.template, in_features=len(FEATURE_NAMES), **recipe.adu)
    say(f"network: {len(data)} windows of {recipe.zones} zones")
    fit(adu, data, recipe.fit, snapshot=work / "snapshot.pt", on_step=on_step)
    provenance = {
        "recipe": asdict(recipe),
        "cases_seen": list(cases.seen),
        "unseen_severities": list(cases.unseen_severities),
        "unseen_cases": list(cases.unseen_cases),
        "windows": len(data),
    }
    return Trained(plant, adu, scaler, expectation, norm, provenance)


def _fit_scaler(plant: Plant, run: Run) -> Scaler:
    """Every 37th minute of a normal year: coprime to the hour, so that no minute of the hour is favoured."""
    days = load_testbed(plant.name).run(zones=run.zones, days=run.days, start=run.start, seed=run.seed)
    values = np.concatenate([flat_values(day)[::37] for day in days])
    signals = [signal for signal in plant.template.signals if signal is not None]
    fresh = np.ones(values.shape, np.bool_)
    return fit_scaler(values, fresh, signals * run.zones, plant.signals, [Span(run.source, 0, run.days * ROWS_PER_DAY)])


def _kept_json(path: Path, kind: Any, make: Callable[[], Any]) -> Any:
    if not path.exists():
        path.write_text(json.dumps(make().to_dict()), encoding="utf-8")
    return kind.from_dict(json.loads(path.read_text(encoding="utf-8")))


def _kept_expectation(path: Path, recipe: Recipe, plant: Plant, runs: Sequence[Run], scaler: Scaler) -> Expectation:
    if not path.exists():
        rng = np.random.default_rng([recipe.seed, 4])
        days = [rows for run in runs for rows in recent_rows(plant, run, scaler, recipe.expectation_rows_per_day, rng)]
        inputs, values = (np.concatenate(column) for column in zip(*days, strict=True))
        scale = dict(zip(scaler.signals, scaler.scale, strict=True))
        noise = {signal.name: signal.noise for signal in plant.signals}
        signals = [signal for signal in plant.template.signals if signal is not None]
        floor = noise_floor([noise[name] for name in signals], np.array([scale[name] for name in signals]))
        found = fit_expectation(inputs, values, plant.template, floor, seed=recipe.seed)
        save_file({**found.weights, "floor": found.floor}, path)
    weights = load_file(path)
    return Expectation({name: array for name, array in weights.items() if name != "floor"}, weights["floor"])


def _collect(
    plant: str,
    scaler: Scaler,
    expectation: Expectation,
    norm: FeatureNorm | None,
    stride_min: int,
    extra_at_onset: int,
    path: Path,
    run: Run,
) -> LabelledWindows:
    """The windows of one run, from disk if they are there."""
    file = path.with_suffix(".safetensors")
    if not file.exists():
        found = labelled_windows(
            load_plant(plant), run, scaler, expectation, norm, stride_min=stride_min, extra_at_onset=extra_at_onset
        )
        arrays: dict[str, NDArray[Any]] = {
            "features": found.features,
            "labels": found.labels,
            "worth": found.worth,
        }
        partial_file = path.with_suffix(".partial")
        save_file(arrays, partial_file)
        partial_file.replace(file)
    stored = load_file(file)
    return LabelledWindows(stored["features"], stored["labels"], stored["worth"])
