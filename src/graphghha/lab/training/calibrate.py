"""From a fitted network to a model that can be shipped: calibrated on validation, thresholds from an alert budget."""

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
from graphghha.engine import Engine, EngineConfig, FrozenModel
from graphghha.engine.scorer import LEAST, Scorer
from graphghha.errors import ConfigError
from graphghha.lab.metrics.budget import threshold_for_budget
from graphghha.lab.metrics.metrics import counted
from graphghha.lab.runs.equivalent_cases import canonical_run
from graphghha.lab.runs.recording import STEP_S, Recording, record
from graphghha.lab.runs.run import Run
from graphghha.lab.training.recipe import Recipe, Trained
from graphghha.lab.training.validation import Validation, false_alarms, spans
from graphghha.lab.training.workers import worker_processes
from graphghha.models import Calibration, Model, Thresholds
from graphghha.models.calibration import fit_calibration
from graphghha.plants import load_plant
from graphghha.windows.features import FEATURE_NAMES
from graphghha.windows.provenance import Fingerprint

IDENTITY = Calibration(1.0, (0.0,) * len(CLASSES), Fingerprint((), ""))
DOUBT = 1e-3  # P(attack) from which a normal node-minute has something to say about calibration
PLAIN_STRIDE = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class FinishConfig:
    """What a model is calibrated on, and what its alarms may cost."""

    validation: Validation = Validation()
    budget_per_day: float = 0.2  # false alarms of a 12-zone building, attacked or not
    rule: AlarmRule = AlarmRule()
    group: GroupRule = GroupRule()
    engine: EngineConfig = EngineConfig()


def finish(trained: Trained, recipe: Recipe, config: FinishConfig, *, say: Callable[[str], None]) -> Model:
    """Record validation runs, fit calibration and threshold on them, add the known answer."""
    model = _assemble(trained, IDENTITY, Thresholds(rule=config.rule, group=config.group))
    if not config.validation.attacked_runs:
        raise ConfigError("finish: calibration needs attacked validation buildings; give at least one")
    attacked = config.validation.attacked(recipe, trained.provenance["cases_seen"])
    normal = config.validation.normal(recipe)
    say(f"calibration and alert budget: {len(attacked)} attacked and {len(normal)} normal validation buildings")
    with worker_processes(recipe.workers) as pool:
        recordings = list(pool.map(partial(_record, model, config.engine), [*attacked, *normal]))
    calibration = _calibrate(recordings[: len(attacked)])
    recordings = [_calibrated(recording, calibration) for recording in recordings]
    thresholds = threshold_for_budget(
        [recording.attack for recording in recordings],
        recordings[0].near,
        config.rule,
        config.group,
        budget_per_day=config.budget_per_day,
        step_s=STEP_S,
        spans=spans([*attacked, *normal]),
        count_false=false_alarms(recordings, config.group),
    )
    return _assemble(trained, calibration, thresholds)


def _record(model: Model, engine: EngineConfig, run: Run) -> Recording:
    graph, plant = model.template.replicate(run.zones), load_plant(model.plant)
    return record(plant, canonical_run(plant, run), Scorer(model, graph, engine))


def _calibrated(recording: Recording, calibration: Calibration) -> Recording:
    probs = calibration(np.log(np.maximum(recording.probs, LEAST))).astype(np.float32)
    return replace(recording, probs=probs)


def _calibrate(recordings: Sequence[Recording]) -> Calibration:
    """On all node-minutes that count and are attacked or doubtful, and one in many of the others standing for all."""
    logits, labels, weights = [], [], []
    for recording in recordings:
        _, kept = counted(recording.truth > 0, recording.observable, recording.recovering)
        probs, truth = recording.probs[kept], recording.truth[kept]
        tells = (truth > 0) | (probs[:, 0] < 1 - DOUBT)
        chosen = tells.copy()
        chosen[::PLAIN_STRIDE] = True
        logits.append(np.log(np.maximum(probs[chosen], LEAST)))
        labels.append(truth[chosen])
        weights.append(np.where(tells[chosen], 1, PLAIN_STRIDE))
    return fit_calibration(
        np.concatenate(logits),
        np.concatenate(labels),
        spans([recording.run for recording in recordings]),
        weights=np.concatenate(weights),
        biases="one",  # a class has a few dozen attacks: biases of its own would swing with every long one
    )


def _assemble(trained: Trained, calibration: Calibration, thresholds: Thresholds) -> Model:
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


def _known_answer(frozen: FrozenModel, num_nodes: int, trained: Trained) -> dict[str, NDArray[Any]]:
    features = np.random.default_rng(0).normal(0, 1, (num_nodes, len(FEATURE_NAMES))).astype(np.float32)
    engine = Engine(frozen, trained.plant.template, backend="torch")
    return {"features": features, "probabilities": engine.score(features)}
