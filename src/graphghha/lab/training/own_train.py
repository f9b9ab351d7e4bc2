"""Train the detector of a plant of the user's own on its normal data.

*Whether* is learned from normal data alone: expectations, levels, and the threshold that keeps the alert budget.
*Where* is GraphGHHA, taught on generic perturbations of the same data.
"""

import platform
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha._version import __version__
from graphghha.engine import Engine, FrozenModel
from graphghha.engine.own_judge import OwnJudge
from graphghha.errors import ConfigError, DataError
from graphghha.exports.attack_labels import AttackEvent, attacked_rows, read_labels
from graphghha.exports.recordings import Recording, read_recordings
from graphghha.graph import NeighborRule
from graphghha.lab.training.new_network import new_network
from graphghha.lab.training.own_attacks import NormalPart, synthetic_windows
from graphghha.lab.training.own_card import own_card
from graphghha.lab.training.own_expectation import fit_expectation
from graphghha.lab.training.own_labels import NETWORK_SHARE, Labelled, fit_taught, labelled_windows, taught_parts
from graphghha.lab.training.own_levels import fit_levels, fit_stays
from graphghha.lab.training.own_standing import standing_faults
from graphghha.lab.training.own_threshold import fit_threshold
from graphghha.lab.training.zone_fit import ZoneFitConfig, adu_odds, fit_zones
from graphghha.lab.training.zone_windows import ZoneWindows
from graphghha.models import check_destination
from graphghha.models.own import P_IS, JudgeRule, OwnModel, save_own_model
from graphghha.models.own_lessons import Lessons
from graphghha.nn import ADU
from graphghha.plants import Plant
from graphghha.windows.own_expectation import PARTS
from graphghha.windows.own_features import NODE_FEATURES, OwnFeaturizer, OwnPreprocessing
from graphghha.windows.own_inputs import fill_forward, look_back
from graphghha.windows.own_plan import OwnPlan, moving_unit_s
from graphghha.windows.own_scale import OwnScale, fit_own_scale
from graphghha.windows.own_statistics import RANGE, range_excess

Floats = NDArray[np.float64]
FEWEST_ROWS = 200  # normal rows that anything can be learned from
MANY = 6  # recordings that are dealt to parts whole
SYNTHETIC = 1000
NETWORK: dict[str, Any] = {"layers": 2, "heads": 4, "width": 32, "neighbors": NeighborRule(max_neighbors=16)}
PERIODS = {"h": 24.0, "hour": 24.0, "day": 1.0, "week": 1 / 7}


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnRecipe:
    """The settings of a training."""

    budget_per_day: float = 1.0
    seed: int = 0
    synthetic: int = SYNTHETIC
    epochs: int = 3


DEFAULT = OwnRecipe()


def parse_own_budget(text: str) -> float:
    """Return the false alarms per day of a text such as '1/day', '2/h' or '1/week'."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)/(h|hour|day|week)", text.strip())
    if match is None or float(match.group(1)) <= 0:
        raise ConfigError(f"alert budget {text!r}: write a positive number per time, such as 1/day, 2/h or 1/week")
    return float(match.group(1)) * PERIODS[match.group(2)]


def train_own_plant(
    plant: Plant,
    data: Sequence[Path],
    out: Path,
    *,
    labels: Path | None = None,
    recipe: OwnRecipe = DEFAULT,
    progress: Callable[[str], None] = lambda text: None,
) -> OwnModel:
    """Train a model on files of a plant and write its directory."""
    check_destination(out)
    recorded = read_recordings(data, plant)
    for note in recorded.notes:
        progress(note)
    events = read_labels(labels, recorded.recordings, plant) if labels else ()
    model = fit_own_plant(plant, recorded.recordings, events, recipe, progress)
    save_own_model(model, out)
    return model


@dataclass(frozen=True, kw_only=True, slots=True)
class NormalFit:
    """What is learned from normal data alone; it does not depend on a seed."""

    plant: Plant
    parts: Sequence[NormalPart]
    preprocessing: OwnPreprocessing
    rule: JudgeRule
    record: dict[str, Any]  # for the provenance of a model
    rule_beside: JudgeRule | None = None  # if the network has a share of the budget: the rule that keeps the rest


def fit_own_plant(
    plant: Plant,
    recordings: Sequence[Recording],
    events: Sequence[AttackEvent] = (),
    recipe: OwnRecipe = DEFAULT,
    progress: Callable[[str], None] = lambda text: None,
) -> OwnModel:
    """Return a model of a plant from recordings.

    Rows inside a labelled attack are not normal data; they teach the network, if the labels name nodes.
    """
    labelled = Labelled.of(recordings, events, plant.template)
    normal = fit_whether(plant, recordings, events, recipe, progress, beside_network=labelled is not None)
    model = teach_place(normal, recipe, progress, labelled)
    return replace(model, lessons=Lessons.of(recordings, events))


def fit_whether(
    plant: Plant,
    recordings: Sequence[Recording],
    events: Sequence[AttackEvent] = (),
    recipe: OwnRecipe = DEFAULT,
    progress: Callable[[str], None] = lambda text: None,
    *,
    beside_network: bool = False,
) -> NormalFit:
    """Fit what is normal, and the threshold that keeps the budget.

    With `beside_network` also the one that leaves the network its share of the budget.
    """
    stretches = normal_stretches(recordings, events)
    rows = sum(map(len, stretches))
    days = rows * plant.step_s / 86_400
    _check_enough(plant, rows, days, recipe.budget_per_day)
    values = np.concatenate(stretches)
    _refuse_empty(plant, values)
    parts = deal_parts(stretches)
    progress(f"{days:.1f} normal days in {len(recordings)} recordings; fitting what is normal")
    preprocessing, unusual = fit_normal(plant, parts, values)
    plan = preprocessing.plan
    rule, record = fit_threshold(unusual, plan, recipe.budget_per_day)
    progress(f"threshold {rule.threshold:.2f}: {record['false_alarms']} false alarms in {days:.1f} days")
    rule_beside = None
    if beside_network:
        rule_beside, _ = fit_threshold(unusual, plan, (1 - NETWORK_SHARE) * recipe.budget_per_day)
    faults = standing_faults(plant, values)
    for fault in faults:
        progress(f"standing fault, learned as normal: {fault}")
    record = {
        **record,
        "normal_days": days,
        "recordings": len(recordings),
        "labelled_attacks": len(events),
        "constant": [plant.template.points[at] for at in np.flatnonzero(preprocessing.scale.is_constant).tolist()],
        "standing": _standing(plant, unusual, plan, rule),
        "standing_faults": faults,
    }
    return NormalFit(
        plant=plant, parts=parts, preprocessing=preprocessing, rule=rule, record=record, rule_beside=rule_beside
    )


def teach_place(
    normal: NormalFit,
    recipe: OwnRecipe = DEFAULT,
    progress: Callable[[str], None] = lambda text: None,
    labelled: Labelled | None = None,
) -> OwnModel:
    """Teach the network where an attack is, and return the whole model.

    Labelled attacks are taught beside the perturbations, and give the network alarms of its own.
    """
    plant = normal.plant
    adu = _fit_network(normal, recipe, progress, labelled)
    frozen = FrozenModel.from_adu(adu)
    engine = Engine(frozen, plant.template, backend="torch")
    features = np.random.default_rng(0).normal(0, 1, (plant.template.num_nodes, NODE_FEATURES)).astype(np.float32)
    answer = {"features": features, "probabilities": engine.score(features)}
    rule, taught = normal.rule, None
    record: dict[str, Any] = {}
    if labelled is not None:
        assert normal.rule_beside is not None
        rule, classes = normal.rule_beside, labelled.classes(plant.template)
        budget = NETWORK_SHARE * recipe.budget_per_day
        taught, record = fit_taught(engine, plant.template, normal.preprocessing, normal.parts, classes, budget)
        progress(f"{len(labelled.events)} labelled attacks on {len(classes)} nodes taught it as well")
    provenance = {
        **normal.record,
        **record,
        "seed": recipe.seed,
        "p": P_IS,
        "class": "by_label" if taught else "by_kind",
        "versions": {"graphghha": __version__, "numpy": np.__version__, "python": platform.python_version()},
    }
    model = OwnModel(
        plant=plant,
        preprocessing=normal.preprocessing,
        rule=rule,
        adu_config=adu.config.to_dict(),
        weights=dict(frozen.weights),
        known_answer=answer,
        provenance=provenance,
        taught=taught,
    )
    return replace(model, card=own_card(model))


def deal_parts(stretches: Sequence[Floats]) -> list[NormalPart]:
    """Deal normal stretches to contiguous thirds, in the order of time.

    The rows next to a row are too like it: a member must be judged on data that are days away from what it saw.
    """
    total = sum(map(len, stretches))
    done, parts = 0, []
    for stretch in stretches:
        cuts = [0, len(stretch)]
        if len(stretches) < MANY:
            inner = [round(total * third / PARTS) - done for third in range(1, PARTS)]
            cuts = sorted({0, len(stretch), *(cut for cut in inner if 0 < cut < len(stretch))})
        for start, stop in zip(cuts[:-1], cuts[1:], strict=True):
            middle = done + (start + stop) / 2
            parts.append(NormalPart(stretch[start:stop], min(PARTS - 1, int(PARTS * middle / total))))
        done += len(stretch)
    return parts


def fit_normal(plant: Plant, parts: Sequence[NormalPart], values: Floats) -> tuple[OwnPreprocessing, list[Floats]]:
    """Return everything that separates normal from unusual, and how unusual the rows of each part are, [e p]."""
    resolution = np.array([plant.reporting[node].resolution or np.nan for node in plant.template.points])
    scale = fit_own_scale(values, resolution)
    plan = OwnPlan.for_unit(plant.step_s, _unit_s(parts, scale, plant.step_s))
    looks, known, members, filled, readings = [], [], [], [], []
    for part in parts:
        scaled = scale(part.values)
        fresh = np.isfinite(scaled)
        whole = fill_forward(scaled, fresh, scaled[0])
        rows = np.arange(0, len(scaled), plan.stride)
        filled.append(whole)
        readings.append(fresh)
        looks.append(look_back(scale.inputs(whole), plan, rows).astype(np.float32))
        known.append(fresh[rows])
        members += [part.member] * len(rows)
    expectation = fit_expectation(
        plant.template, np.concatenate(looks), np.concatenate(known), np.array(members), scale
    )
    del looks
    stays = fit_stays(filled, readings, [part.member for part in parts], scale)
    draft = OwnPreprocessing(
        plan=plan, scale=scale, expectation=expectation, stays=stays, levels=np.ones((len(resolution), 1))
    )
    statistics = _held_out_statistics(draft, parts)
    levels = fit_levels(np.concatenate(statistics))
    return replace(draft, levels=levels), [(each / levels).max(axis=-1) for each in statistics]


def _held_out_statistics(preprocessing: OwnPreprocessing, parts: Sequence[NormalPart]) -> list[Floats]:
    """Return the statistics of each part, judged by what the other parts show."""
    scale, found = preprocessing.scale, []
    for part in parts:
        judged = OwnFeaturizer(preprocessing, part.member).push(part.values, np.isfinite(part.values))
        others = [each.values for each in parts if each.member != part.member]
        if others and any(np.isfinite(each).any() for each in others):
            seen = np.concatenate(others)
            empty = ~np.isfinite(seen).any(axis=0)
            low = np.where(empty, scale.low, np.nanmin(np.where(empty, 0.0, seen), axis=0))
            high = np.where(empty, scale.high, np.nanmax(np.where(empty, 0.0, seen), axis=0))
            excess = range_excess(part.values[judged.rows], replace(scale, low=low, high=high))
            judged.statistics[..., RANGE] = np.where(scale.is_constant, 0.0, np.nan_to_num(excess))
        found.append(judged.statistics)
    return found


def _unit_s(parts: Sequence[NormalPart], scale: OwnScale, step_s: float) -> float:
    moving = ~scale.is_constant & ~scale.is_switch
    if not moving.any():
        return step_s
    return moving_unit_s([scale(part.values)[:, moving] for part in parts], step_s)


def normal_stretches(recordings: Sequence[Recording], events: Sequence[AttackEvent]) -> list[Floats]:
    """Return the readings between attacks, in the order of time."""
    found = []
    for number, recording in enumerate(recordings):
        normal = ~attacked_rows(recording, number, events)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], normal, [False]]).astype(np.int8)))
        found += [recording.values[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a > 1]
    if not found:
        raise DataError("the labels cover all rows: there are no normal data to learn from")
    return found


def _check_enough(plant: Plant, rows: int, days: float, budget_per_day: float) -> None:
    if rows < FEWEST_ROWS:
        raise DataError(
            f"plant {plant.name!r}: {rows} normal rows at a step of {plant.step_s:g} s are too few to learn from; "
            f"give at least {FEWEST_ROWS}"
        )
    needed = 1 / budget_per_day
    if days < needed:
        raise DataError(
            f"{days:.2f} normal days are too few for a budget of {budget_per_day:g} false alarms a day; give at least "
            f"{needed:.2f} days, or allow more: --alert-budget {np.ceil(10 / days) / 10:g}/day"
        )


def _refuse_empty(plant: Plant, values: Floats) -> None:
    empty = np.flatnonzero(~np.isfinite(values).any(axis=0))
    if len(empty):
        node = plant.template.points[int(empty[0])]
        raise DataError(
            f"{plant.reporting[node].column}: has no usable reading in the normal data (all missing or beyond its "
            "limits); delete its signal from plant.toml, or correct its unit and limits"
        )


def _standing(plant: Plant, unusual: Sequence[Floats], plan: OwnPlan, rule: JudgeRule) -> list[str]:
    """Return the nodes that were in alarm for so long in the normal data that they are taken to stand."""
    names: set[str] = set()
    for each in unusual:
        verdict = OwnJudge(np.zeros(each.shape[1], np.bool_), plan.smooth, plan.day, rule).push(each)
        names |= {plant.template.points[at] for at in np.flatnonzero(verdict.muted.any(axis=0)).tolist()}
    return sorted(names)


def _fit_network(
    normal: NormalFit, recipe: OwnRecipe, progress: Callable[[str], None], labelled: Labelled | None
) -> ADU:
    graph, preprocessing = normal.plant.template, normal.preprocessing
    parts = normal.parts if labelled is None else taught_parts(normal.parts)
    windows = synthetic_windows(graph, preprocessing, parts, recipe.synthetic, recipe.seed)
    progress(f"teaching the network on {len(windows)} windows of perturbed normal data")
    if labelled is not None:
        windows = ZoneWindows.concatenate([windows, labelled_windows(graph, preprocessing, labelled, recipe.seed)])
    adu = new_network(graph, recipe.seed, in_features=NODE_FEATURES, head="binary", **NETWORK)
    batch = min(128, max(8, len(windows) // 8))
    config = ZoneFitConfig(epochs=recipe.epochs, batch=batch, threads=1, seed=recipe.seed, hide_share=0.1)
    fit_zones(adu, adu_odds(adu), windows, config)
    return adu
