"""From a fitted network to a complete model: calibration and thresholds, both found on validation buildings."""

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha._version import __version__
from graphghha.alarms import AlarmRule, GroupRule
from graphghha.classes import CLASSES
from graphghha.engine import Engine, EngineConfig, FrozenModel, Scorer
from graphghha.errors import ConfigError
from graphghha.lab.metrics import counted, threshold_for_budget
from graphghha.lab.runs import Recording, Run, canonical_run, record
from graphghha.lab.training.recipe import Recipe
from graphghha.lab.training.temperature_scaling import fit_calibration
from graphghha.lab.training.validation import Validation, false_alarm_counter
from graphghha.lab.training.workers import OnPart, no_parts, worker_processes
from graphghha.models import Calibration, Model, Thresholds, log_probabilities
from graphghha.nn import ADU
from graphghha.plants import Plant, load_plant
from graphghha.windows import FEATURE_NAMES, Fingerprint, Preprocessing

IDENTITY = Calibration(1.0, (0.0,) * len(CLASSES), Fingerprint((), ""))
DOUBTFUL = 1e-3  # normal node-minutes with a higher P(attack) are all used for the calibration
THINNED = 50  # of the other normal node-minutes, one in this many is used


@dataclass(frozen=True, kw_only=True, slots=True)
class CalibrationConfig:
    """The validation buildings, the alert budget and the alarm logic that thresholds are found for."""

    validation: Validation = Validation()
    budget_per_day: float = 0.2  # false alarms allowed in a 12-zone building, attacked or not
    rule: AlarmRule = AlarmRule()
    group: GroupRule = GroupRule()
    engine: EngineConfig = EngineConfig()


@dataclass(frozen=True, slots=True)
class TrainedNetwork:
    """A fitted network with the preprocessing of its input."""

    plant: Plant
    adu: ADU
    preprocessing: Preprocessing
    provenance: dict[str, Any]


def calibrate_and_threshold(
    trained: TrainedNetwork,
    recipe: Recipe,
    config: CalibrationConfig,
    *,
    progress: Callable[[str], None],
    on_part: OnPart = no_parts,
) -> Model:
    """Score the validation buildings, fit calibration and threshold on them, and assemble the model."""
    model = _assemble(trained, IDENTITY, Thresholds(rule=config.rule, group=config.group))
    if not config.validation.attacked_runs:
        raise ConfigError("calibration: attacked_runs is 0; give at least one attacked validation building")
    attacked = config.validation.attacked(recipe, trained.provenance["cases_seen"])
    normal = config.validation.normal(recipe)
    progress(f"calibration and alert budget: {len(attacked)} attacked and {len(normal)} normal validation buildings")
    with worker_processes(recipe.workers, on_part) as pool:
        recordings = list(pool.map(partial(_record, model, config.engine), [*attacked, *normal]))
    calibration = _calibrate(recordings[: len(attacked)], trained.plant)
    recordings = [_apply(calibration, recording) for recording in recordings]
    thresholds = threshold_for_budget(
        [recording.attack for recording in recordings],
        recordings[0].near,
        config.rule,
        config.group,
        budget_per_day=config.budget_per_day,
        step_s=trained.plant.step_s,
        spans=[run.span(trained.plant) for run in (*attacked, *normal)],
        count_false=false_alarm_counter(recordings, config.group),
    )
    return _assemble(trained, calibration, thresholds)


def _record(model: Model, engine: EngineConfig, run: Run) -> Recording:
    graph, plant = model.template.replicate(run.zones), load_plant(model.plant)
    return record(plant, canonical_run(plant, run), Scorer(model, graph, engine))


def _apply(calibration: Calibration, recording: Recording) -> Recording:
    return replace(recording, probs=calibration.recalibrate(recording.probs))


def _calibrate(recordings: Sequence[Recording], plant: Plant) -> Calibration:
    """Fit on all attacked and doubtful node-minutes that count, and on a weighted sample of the others."""
    logits, labels, weights = [], [], []
    for recording in recordings:
        _, kept = counted(recording.truth > 0, recording.observable, recording.recovering)
        probs, truth = recording.probs[kept], recording.truth[kept]
        informative = (truth > 0) | (probs[:, 0] < 1 - DOUBTFUL)
        chosen = informative.copy()
        chosen[::THINNED] = True
        logits.append(log_probabilities(probs[chosen]))
        labels.append(truth[chosen])
        weights.append(np.where(informative[chosen], 1, THINNED))
    return fit_calibration(
        np.concatenate(logits),
        np.concatenate(labels),
        [recording.run.span(plant) for recording in recordings],
        weights=np.concatenate(weights),
        biases="one",  # with a few dozen attacks per class, biases per class would depend on single long attacks
    )


def _assemble(trained: TrainedNetwork, calibration: Calibration, thresholds: Thresholds) -> Model:
    frozen = FrozenModel.from_adu(trained.adu)
    template = trained.plant.template
    return Model(
        plant=trained.plant.name,
        template=template,
        adu_config=trained.adu.config.to_dict(),
        weights=dict(frozen.weights),
        preprocessing=trained.preprocessing,
        calibration=calibration,
        thresholds=thresholds,
        known_answer=_known_answer(frozen, template.num_nodes, trained),
        provenance={
            **trained.provenance,
            "versions": {"graphghha": __version__, "numpy": np.__version__, "python": platform.python_version()},
        },
    )


def _known_answer(frozen: FrozenModel, num_nodes: int, trained: TrainedNetwork) -> dict[str, NDArray[Any]]:
    features = np.random.default_rng(0).normal(0, 1, (num_nodes, len(FEATURE_NAMES))).astype(np.float32)
    engine = Engine(frozen, trained.plant.template, backend="torch")
    return {"features": features, "probabilities": engine.score(features)}
