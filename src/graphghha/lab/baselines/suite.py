"""Rivals of a model: baselines fitted on the windows the model learnt from, thresholds found where its own was.

The buildings are the model's own, simulated again from its recipe, through its scaler and its expectation. What takes
long is kept in a work directory: training windows, thresholds and scores of runs.
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

from graphghha._version import __version__
from graphghha.alarms import AlarmRule, GroupRule
from graphghha.lab.baselines import BASELINES, Baseline, TrainingData, fit_of
from graphghha.lab.baselines.base import MEAN_MIN
from graphghha.lab.baselines.panel import BaselinePanel
from graphghha.lab.metrics.budget_curve import rule_within
from graphghha.lab.runs.recording import LabelledRun, Recording, record_panel, simulated_run
from graphghha.lab.runs.run import Run
from graphghha.lab.training.cache import whole
from graphghha.lab.training.recipe import ROWS_PER_DAY, Recipe, collect
from graphghha.lab.training.validation import Validation, false_alarms, spans
from graphghha.lab.training.windows import CLEAR, LabelledWindows, flat_values
from graphghha.lab.training.workers import worker_processes
from graphghha.models import Model
from graphghha.plants import Plant, load_plant
from graphghha.windows.features import Featurizer
from graphghha.windows.leaks import check_parts
from graphghha.windows.provenance import Span

READINGS_EVERY_MIN = 61  # coprime to the hour: no minute of it is favoured

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class RivalConfig:
    """What the baselines learn from."""

    names: tuple[str, ...] = BASELINES
    recipe: Recipe | None = None  # None: the model's own
    validation: Validation = Validation()


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
        self.budget_per_day = model.thresholds.budget_per_day
        self.config = replace(config, validation=config.validation.enough_for(self.budget_per_day))
        self.recipe = config.recipe or Recipe.of(model.provenance)
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
        """Each baseline's alarm rule, and whether it keeps the budget on validation buildings."""
        file = self.work / "thresholds.json"
        if not file.exists():
            found = {name: {"rule": asdict(rule), "kept": kept} for name, (rule, kept) in self._thresholds().items()}
            with whole(file) as fresh:
                fresh.write_text(json.dumps(found), encoding="utf-8")
        stored = json.loads(file.read_text(encoding="utf-8"))
        return {name: (AlarmRule(**stored[name]["rule"]), bool(stored[name]["kept"])) for name in self.config.names}

    def refuse_leaks(self, runs: Sequence[Run]) -> None:
        """Fail when a run that is to be judged is of a building that the baselines learn from."""
        learnt = [*self.recipe.normal(), *self._attacked(), *self._validation()]
        parts = {"baselines": learnt, "test": runs}
        check_parts(
            {part: [Span(run.building, 0, run.days * ROWS_PER_DAY) for run in of] for part, of in parts.items()}
        )

    @property
    def group(self) -> GroupRule:
        return self.model.thresholds.group

    @property
    def shares_validation(self) -> bool:
        """Whether thresholds come from the very buildings that the model's comes from."""
        search = self.model.thresholds.search
        spans = search.seen.spans if search else ()
        return {span.source for span in spans} == {run.source for run in self._validation()}

    def watch(self, labelled: LabelledRun) -> None:
        """Show a run to every baseline; what each says of it is kept on disk."""
        files = {name: self._said(name, labelled) for name in self.config.names}
        if not all(file.exists() for file in files.values()):
            record_panel(
                self.plant,
                labelled,
                self._panel(labelled.run.zones),
                keep=lambda n, p: _spilled(files[n], p),
                on_day=self._on_day,
            )

    def recording(self, name: str, labelled: LabelledRun, like: Recording) -> Recording:
        """One baseline's view of a run it was shown; the truth is taken from the model's recording."""
        return replace(like, probs=np.load(self._said(name, labelled), mmap_mode="r"))

    def _said(self, name: str, labelled: LabelledRun) -> Path:
        return self.work / f"{hashlib.sha256(labelled.identity.encode()).hexdigest()[:16]}-{name}.npy"

    def _panel(self, zones: int) -> BaselinePanel:
        model, graph = self.model, self.plant.template.replicate(zones)
        featurizer = Featurizer(graph, model.template, model.preprocessing)
        return BaselinePanel(featurizer, self.baselines, zones)

    def _thresholds(self) -> dict[str, tuple[AlarmRule, bool]]:
        baselines = self.baselines
        self._say("baselines: alert budget on the model's validation buildings")
        runs = self._validation()
        recorded: dict[str, list[Recording]] = {name: [] for name in baselines}
        for run in runs:
            # an alarm needs P(attack) only, and all classes of all baselines would not fit in memory
            found = record_panel(
                self.plant,
                simulated_run(self.plant, run),  # labels as in a test: rules know no lessons
                self._panel(run.zones),
                keep=lambda _, probs: probs[..., :1].copy(),
                on_day=self._on_day,
            )
            for name, recording in found.items():
                recorded[name].append(recording)
        rule = self.model.thresholds.rule
        rules = {}
        for name in baselines:
            self._say(f"baseline {name}: alert budget")
            recordings = recorded.pop(name)
            rules[name] = rule_within(
                recordings,
                rule,
                self.group,
                budget_per_day=self.budget_per_day,
                spans=spans(runs),
                count_false=false_alarms(recordings, self.group),
            )
        return rules

    def _training_data(self) -> TrainingData:
        normal, attacked = self.recipe.normal(), self._attacked()
        self._say(f"baselines: {len(normal)} normal and {len(attacked)} attacked buildings to learn from")
        with worker_processes(self.recipe.workers) as pool:
            parts = list(
                pool.map(partial(collect, self.recipe, self.model.preprocessing, self.work), (*normal, *attacked))
            )
        windows = LabelledWindows.joined(parts)
        readings, means = _normal_readings(self.plant, normal, self._on_day)
        return TrainingData(
            readings=readings,
            means=means,
            features=_by_zone(windows.features),
            labels=_by_zone(windows.labels),
            counts=_by_zone(windows.worth == CLEAR),
            seed=self.recipe.seed,
        )

    def _attacked(self) -> list[Run]:
        return self.recipe.attacked(self.model.provenance["cases_seen"])

    def _validation(self) -> list[Run]:
        validation = self.config.validation
        attacked = validation.attacked(self.recipe, self.model.provenance["cases_seen"])
        return [*attacked, *validation.normal(self.recipe)]

    def _key(self) -> str:
        """Of everything that decides what a baseline learns and sees."""
        model = self.model
        digest = hashlib.sha256(repr((__version__, asdict(self.config), asdict(self.recipe))).encode())
        parts = (model.scaler.to_dict(), model.norm.to_dict(), model.thresholds.to_dict(), dict(model.provenance))
        digest.update(json.dumps(parts, sort_keys=True, default=str).encode())
        for _, array in sorted(model.expectation.weights.items()):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]


def _by_zone(array: NDArray[Any]) -> NDArray[Any]:
    """[w Z ..] to [w*Z ..]."""
    return array.reshape(-1, *array.shape[2:])


def _normal_readings(
    plant: Plant, runs: list[Run], on_day: Callable[[], None]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[m S] readings and their short means, zones pooled."""
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


def _spilled(file: Path, probs: NDArray[Any]) -> NDArray[Any]:
    with whole(file) as fresh, fresh.open("wb") as stream:
        np.save(stream, probs)
    spilled: NDArray[Any] = np.load(file, mmap_mode="r")
    return spilled
