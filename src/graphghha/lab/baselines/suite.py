"""The baselines of one model, fitted on the same windows and with thresholds from the same validation buildings.

The buildings are those of the model's recipe, simulated again and preprocessed like the model's. Training windows,
thresholds and scores are cached in a work directory.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha._util.files import atomic_path, atomic_write
from graphghha._version import __version__
from graphghha.alarms import AlarmRule
from graphghha.errors import ConfigError
from graphghha.lab.baselines import BASELINES, Baseline, TrainingData, fit_baseline
from graphghha.lab.baselines.base import MEAN_MIN
from graphghha.lab.baselines.panel import BaselinePanel
from graphghha.lab.metrics import rule_within_budget
from graphghha.lab.runs import LabelledRun, Recording, Run, record_panel, simulated_run
from graphghha.lab.training import (
    VISIBLE,
    LabelledWindows,
    Recipe,
    Validation,
    collect_windows,
    false_alarm_counter,
    flat_values,
    worker_processes,
)
from graphghha.models import Model
from graphghha.plants import Plant, load_plant
from graphghha.windows import Featurizer, check_parts

READINGS_EVERY_MIN = 61  # coprime to 60, so that all minutes of the hour occur equally often


@dataclass(frozen=True, kw_only=True, slots=True)
class BaselineConfig:
    """Which baselines to fit, and on which buildings."""

    names: tuple[str, ...] = BASELINES
    recipe: Recipe | None = None  # None: the recipe of the model
    validation: Validation = Validation()


class BaselineSuite:
    """The baselines of one model. Everything is computed on first use and cached."""

    def __init__(
        self,
        model: Model,
        config: BaselineConfig,
        work: Path,
        *,
        progress: Callable[[str], None] = lambda line: None,
        on_day: Callable[[], None] = lambda: None,
    ) -> None:
        check_can_be_compared(model)
        self.model, self.plant, self._progress, self._on_day = model, load_plant(model.plant), progress, on_day
        self.budget_per_day = model.thresholds.budget_per_day
        self.config = replace(config, validation=config.validation.enough_for(self.budget_per_day))
        self.recipe = config.recipe or Recipe.from_provenance(model.provenance)
        self.work = work / self._key()
        self.work.mkdir(parents=True, exist_ok=True)

    @cached_property
    def baselines(self) -> Mapping[str, Baseline]:
        """The fitted baselines by name."""
        data = self._training_data()
        fitted = {}
        for name in self.config.names:
            self._progress(f"baseline {name}: fitting")
            fitted[name] = fit_baseline(name, self.plant, data)
        return fitted

    @cached_property
    def rules(self) -> Mapping[str, tuple[AlarmRule, bool]]:
        """The alarm rule of each baseline, and whether it keeps the alert budget on the validation buildings."""
        file = self.work / "thresholds.json"
        if not file.exists():
            rules = {name: {"rule": asdict(rule), "kept": kept} for name, (rule, kept) in self._find_rules().items()}
            atomic_write(file, json.dumps(rules))
        stored = json.loads(file.read_text(encoding="utf-8"))
        return {name: (AlarmRule(**stored[name]["rule"]), bool(stored[name]["kept"])) for name in self.config.names}

    def check_leaks(self, runs: Sequence[Run]) -> None:
        """Raise LeakError if a run of the test is of a building that the baselines are fitted on."""
        fitted_on = [*self.recipe.normal(), *self._attacked(), *self._validation()]
        check_parts(
            {
                part: [replace(run.span(self.plant), source=run.building) for run in of]
                for part, of in {"baselines": fitted_on, "test": runs}.items()
            }
        )

    @property
    def shares_validation(self) -> bool:
        """Whether the thresholds come from the same buildings as the model's."""
        search = self.model.thresholds.search
        spans = search.seen.spans if search else ()
        return {span.source for span in spans} == {run.source for run in self._validation()}

    def record(self, labelled: LabelledRun) -> None:
        """Score a run with every baseline and keep the scores on disk."""
        files = {name: self._scores_file(name, labelled) for name in self.config.names}
        if not all(file.exists() for file in files.values()):
            record_panel(
                self.plant,
                labelled,
                self._panel(labelled.run.zones),
                keep=lambda name, probs: _save_mapped(files[name], probs),
                on_day=self._on_day,
            )

    def recording(self, name: str, labelled: LabelledRun, like: Recording) -> Recording:
        """Return a baseline's recording of a recorded run; `like` is the model's, which has the same truth."""
        return replace(like, probs=np.load(self._scores_file(name, labelled), mmap_mode="r"))

    def _scores_file(self, name: str, labelled: LabelledRun) -> Path:
        return self.work / f"{hashlib.sha256(labelled.identity.encode()).hexdigest()[:16]}-{name}.npy"

    def _panel(self, zones: int) -> BaselinePanel:
        model, graph = self.model, self.plant.template.replicate(zones)
        featurizer = Featurizer(graph, model.template, model.node_preprocessing)
        return BaselinePanel(featurizer, self.baselines, zones)

    def _find_rules(self) -> dict[str, tuple[AlarmRule, bool]]:
        baselines = self.baselines
        self._progress("baselines: alert budget on the model's validation buildings")
        runs = self._validation()
        recorded: dict[str, list[Recording]] = {name: [] for name in baselines}
        for run in runs:
            # alarms need P(normal) only, and all classes of all baselines would not fit in memory
            recordings = record_panel(
                self.plant,
                simulated_run(self.plant, run),  # with the labels of a test
                self._panel(run.zones),
                keep=lambda _, probs: probs[..., :1].copy(),
                on_day=self._on_day,
            )
            for name, recording in recordings.items():
                recorded[name].append(recording)
        thresholds = self.model.thresholds
        rules = {}
        for name in baselines:
            self._progress(f"baseline {name}: alert budget")
            own = recorded.pop(name)
            rules[name] = rule_within_budget(
                own,
                thresholds.rule,
                thresholds.group,
                budget_per_day=self.budget_per_day,
                spans=[run.span(self.plant) for run in runs],
                count_false=false_alarm_counter(own, thresholds.group),
            )
        return rules

    def _training_data(self) -> TrainingData:
        normal, attacked = self.recipe.normal(), self._attacked()
        self._progress(f"baselines: {len(normal)} normal and {len(attacked)} attacked buildings for fitting")
        with worker_processes(self.recipe.workers) as pool:
            collect = partial(collect_windows, self.recipe, self.model.node_preprocessing, self.work)
            parts = list(pool.map(collect, (*normal, *attacked)))
        windows = LabelledWindows.concatenate(parts)
        readings, means = _normal_readings(self.plant, normal, self._on_day)
        return TrainingData(
            readings=readings,
            means=means,
            features=_by_zone(windows.features),
            labels=_by_zone(windows.labels),
            counts=_by_zone(windows.label_quality == VISIBLE),
            seed=self.recipe.seed,
        )

    def _attacked(self) -> list[Run]:
        return self.recipe.attacked(self.model.provenance["cases_seen"])

    def _validation(self) -> list[Run]:
        validation = self.config.validation
        attacked = validation.attacked(self.recipe, self.model.provenance["cases_seen"])
        return [*attacked, *validation.normal(self.recipe)]

    def _key(self) -> str:
        """Return a hash of everything that decides what the baselines are fitted on and read."""
        model = self.model
        digest = hashlib.sha256(repr((__version__, asdict(self.config), asdict(self.recipe))).encode())
        parts = (model.scaler.to_dict(), model.norm.to_dict(), model.thresholds.to_dict(), dict(model.provenance))
        digest.update(json.dumps(parts, sort_keys=True, default=str).encode())
        for _, array in sorted(model.expectation.weights.items()):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]


def check_can_be_compared(model: Model) -> None:
    """Raise ConfigError if the baselines cannot be fitted on the features of a model."""
    if model.judges_zones:
        raise ConfigError(
            "baselines: they need a model that judges single nodes, and this one judges zones; run "
            "graphghha bench whether-where --model MODEL instead"
        )


def _by_zone(array: NDArray[Any]) -> NDArray[Any]:
    """Reshape [w Z ..] to [w*Z ..]."""
    return array.reshape(-1, *array.shape[2:])


def _normal_readings(
    plant: Plant, runs: list[Run], on_day: Callable[[], None]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return readings [m S] of normal runs and their short means, all zones together."""
    signals = len(plant.template.points)
    readings, means = [], []
    for run in runs:
        for day in run.simulate(plant):
            values = flat_values(day)
            for end in range(MEAN_MIN, len(values), READINGS_EVERY_MIN):
                readings.append(values[end].reshape(-1, signals))
                means.append(values[end + 1 - MEAN_MIN : end + 1].mean(axis=0).reshape(-1, signals))
            on_day()
    return np.concatenate(readings).astype(np.float64), np.concatenate(means).astype(np.float64)


def _save_mapped(file: Path, probs: NDArray[Any]) -> NDArray[Any]:
    """Save the probabilities and return them mapped from disk."""
    with atomic_path(file) as partial_file, partial_file.open("wb") as stream:
        np.save(stream, probs)
    mapped: NDArray[Any] = np.load(file, mmap_mode="r")
    return mapped
