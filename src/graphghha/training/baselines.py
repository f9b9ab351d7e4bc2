"""Rivals of a model: baselines fitted on a small recipe of their own, thresholds from the model's own alert budget.

They see the same windows as the model (its scaler, its expectation), training cases only, and other seeds than the
test. What takes long is kept in a work directory: training windows, thresholds and scores of runs.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from graphghha._version import __version__
from graphghha.alarms import AlarmRule, GroupRule
from graphghha.evaluation.baselines import BASELINES, Baseline, TrainingData, fit_of
from graphghha.evaluation.baselines.base import MEAN_MIN
from graphghha.evaluation.baselines.panel import BaselinePanel
from graphghha.evaluation.frontier import rule_within
from graphghha.evaluation.recording import Footage, Recording, record_panel, simulated
from graphghha.evaluation.scenario import Run, Schedule, attacked_run
from graphghha.models import Model
from graphghha.plants import Plant, load_plant, load_testbed
from graphghha.training.recipe import FIRST_DAY, ROWS_PER_DAY, Recipe
from graphghha.training.windows import CLEAR, flat_values, labelled_windows
from graphghha.windows.features import HISTORY_ROWS, Featurizer
from graphghha.windows.leaks import check_parts
from graphghha.windows.provenance import Span

ATTACKED, NORMAL, VALIDATION = 4, 5, 6  # purposes of seeds, beside those of a recipe
WARM_DAYS = -(-HISTORY_ROWS // ROWS_PER_DAY)

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class RivalConfig:
    """How much the baselines learn from. Days include the warm-up, which is neither learnt from nor judged."""

    names: tuple[str, ...] = BASELINES
    zones: int = 12
    attacked_runs: int = 4
    attacked_days: int = 38
    normal_runs: int = 2
    normal_days: int = 38
    stride_min: int = 60
    extra_at_onset: int = 4
    validation_runs: int = 4
    validation_days: int = 9
    schedule: Schedule = Schedule()


class Rivals:
    """The baselines beside one model. Nothing is computed before it is needed, and nothing twice."""

    def __init__(
        self,
        model: Model,
        config: RivalConfig,
        work: Path,
        *,
        say: Say = lambda text: None,
        on_day: Callable[[], None] = lambda: None,
    ) -> None:
        self.model, self.plant, self._say, self._on_day = model, load_plant(model.plant), say, on_day
        self.budget_per_day = float(model.thresholds["budget_per_day"])
        # an alert budget needs days enough to tell it from none
        least = math.ceil(1 / self.budget_per_day / (config.validation_days - WARM_DAYS))
        self.config = replace(config, validation_runs=max(config.validation_runs, least))
        self._seeds = Recipe(seed=int(model.provenance.get("recipe", {}).get("seed", 0)))
        self.work = work / self._key()
        self.work.mkdir(parents=True, exist_ok=True)

    @cached_property
    def baselines(self) -> Mapping[str, Baseline]:
        """Fitted, by name."""
        data = self._training_data()
        fitted = {}
        for name in self.config.names:
            self._say(f"baseline {name}: fitting")
            fitted[name] = fit_of(name)(self.plant, data)
        return fitted

    @cached_property
    def rules(self) -> Mapping[str, tuple[AlarmRule, bool]]:
        """Each baseline's alarm rule, and whether it keeps the budget on normal validation buildings."""
        file = self.work / "thresholds.json"
        if not file.exists():
            found = {name: {"rule": asdict(rule), "kept": kept} for name, (rule, kept) in self._thresholds().items()}
            _write(file, lambda partial: partial.write_text(json.dumps(found), encoding="utf-8"))
        stored = json.loads(file.read_text(encoding="utf-8"))
        return {name: (AlarmRule(**stored[name]["rule"]), bool(stored[name]["kept"])) for name in self.config.names}

    def refuse_leaks(self, runs: Sequence[Run]) -> None:
        """Fail when a run that is to be judged is of a building that the baselines learn from."""
        config = self.config
        learnt = [
            *self._runs(NORMAL, config.normal_runs, config.normal_days),
            *self._runs(ATTACKED, config.attacked_runs, config.attacked_days),
            *self._runs(VALIDATION, config.validation_runs, config.validation_days),
        ]
        parts = {"baselines": learnt, "test": runs}
        check_parts(
            {part: [Span(run.building, 0, run.days * ROWS_PER_DAY) for run in of] for part, of in parts.items()}
        )

    @property
    def group(self) -> GroupRule:
        return GroupRule(**self.model.thresholds["group"])

    def watch(self, film: Footage, like: Recording) -> dict[str, Recording]:
        """Every baseline on a run that the model has watched already; its truth is taken from there."""
        key = hashlib.sha256(film.identity.encode()).hexdigest()[:16]
        files = {name: self.work / f"{key}-{name}.npy" for name in self.config.names}
        if not all(file.exists() for file in files.values()):
            record_panel(
                self.plant,
                film,
                self._panel(film.run.zones),
                keep=lambda n, p: _spilled(files[n], p),
                on_day=self._on_day,
            )
        return {name: replace(like, probs=np.load(file, mmap_mode="r")) for name, file in files.items()}

    def _panel(self, zones: int) -> BaselinePanel:
        model, graph = self.model, self.plant.template.replicate(zones)
        featurizer = Featurizer(graph, model.template, model.scaler, model.expectation, model.norm)
        return BaselinePanel(featurizer, self.baselines, zones)

    def _thresholds(self) -> dict[str, tuple[AlarmRule, bool]]:
        baselines = self.baselines
        self._say("baselines: alert budget on normal validation buildings")
        runs = self._runs(VALIDATION, self.config.validation_runs, self.config.validation_days)
        recorded: dict[str, list[Recording]] = {name: [] for name in baselines}
        for run in runs:
            found = record_panel(self.plant, simulated(self.plant, run), self._panel(run.zones), on_day=self._on_day)
            for name, recording in found.items():
                recorded[name].append(recording)
        rule = AlarmRule(**self.model.thresholds["rule"])
        return {
            name: rule_within(recordings, rule, self.group, budget_per_day=self.budget_per_day, spans=_spans(runs))
            for name, recordings in recorded.items()
        }

    def _training_data(self) -> TrainingData:
        file = self.work / "training.safetensors"
        if not file.exists():
            self._say("baselines: normal and attacked buildings to learn from")
            found = self._collected()
            _write(file, lambda partial: save_file(found, partial))
        stored = load_file(file)
        return TrainingData(**{**stored, "counts": stored["counts"].astype(np.bool_)}, seed=self._seeds.seed)

    def _collected(self) -> dict[str, NDArray[Any]]:
        config, model = self.config, self.model
        normal = self._runs(NORMAL, config.normal_runs, config.normal_days)
        cases = model.provenance["cases_seen"]
        attacked = [
            attacked_run(run, cases, config.schedule)
            for run in self._runs(ATTACKED, config.attacked_runs, config.attacked_days)
        ]
        parts = []
        for run in (*normal, *attacked):
            windows = labelled_windows(
                self.plant,
                run,
                model.scaler,
                model.expectation,
                model.norm,
                stride_min=config.stride_min,
                extra_at_onset=config.extra_at_onset,
                on_day=self._on_day,
            )
            parts.append((windows.features, windows.labels, (windows.worth == CLEAR).astype(np.uint8)))
        features, labels, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
        readings, means = _normal_readings(self.plant, normal, config.stride_min, self._on_day)
        return {
            "readings": readings,
            "means": means,
            "features": features.reshape(-1, *features.shape[2:]),
            "labels": labels.reshape(-1, labels.shape[-1]),
            "counts": counts.reshape(-1, counts.shape[-1]),
        }

    def _runs(self, purpose: int, count: int, days: int) -> list[Run]:
        """Spread over the year."""
        return [
            Run(
                seed=self._seeds.run_seed(purpose, number),
                start=FIRST_DAY + timedelta(days=10 + number * 365 // count),
                days=days,
                zones=self.config.zones,
            )
            for number in range(count)
        ]

    def _key(self) -> str:
        """Of everything that decides what a baseline learns and sees."""
        model = self.model
        digest = hashlib.sha256(repr((__version__, asdict(self.config), self._seeds.seed)).encode())
        parts = (model.scaler.to_dict(), model.norm.to_dict(), dict(model.thresholds), dict(model.provenance))
        digest.update(json.dumps(parts, sort_keys=True, default=str).encode())
        for _, array in sorted(model.expectation.weights.items()):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]


def _spans(runs: Sequence[Run]) -> list[Span]:
    return [Span(run.source, 0, run.days * ROWS_PER_DAY) for run in runs]


def _normal_readings(
    plant: Plant, runs: list[Run], stride_min: int, on_day: Callable[[], None]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[m S] readings and their short means, zones pooled; a stride coprime to the hour favours no minute of it."""
    signals = sum(signal is not None for signal in plant.template.signals)
    readings, means = [], []
    for run in runs:
        for day in load_testbed(plant.name).run(zones=run.zones, days=run.days, start=run.start, seed=run.seed):
            values = flat_values(day)
            for end in range(MEAN_MIN, len(values), stride_min + 1):
                readings.append(values[end].reshape(-1, signals))
                means.append(values[end + 1 - MEAN_MIN : end + 1].mean(axis=0).reshape(-1, signals))
            on_day()
    return np.concatenate(readings).astype(np.float64), np.concatenate(means).astype(np.float64)


def _spilled(file: Path, probs: NDArray[Any]) -> NDArray[Any]:
    _write(file, lambda partial: _save(partial, probs))
    spilled: NDArray[Any] = np.load(file, mmap_mode="r")
    return spilled


def _save(path: Path, array: NDArray[Any]) -> None:
    with path.open("wb") as stream:
        np.save(stream, array)


def _write(file: Path, write: Callable[[Path], Any]) -> None:
    """Whole or not at all."""
    partial = file.with_name(file.name + ".partial")
    write(partial)
    partial.replace(file)
