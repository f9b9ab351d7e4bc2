"""`graphghha bench plants`: the detector of any plant beside baselines, on plants that nobody here built.

Plants are what `plant new` proposes, and every threshold comes from normal rows alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from graphghha.errors import DataError
from graphghha.exports.attack_labels import AttackEvent
from graphghha.lab.baselines.plants import ALWAYS, BASELINES
from graphghha.lab.bench.plants.boosted import BoostedDetector
from graphghha.lab.bench.plants.building import DRAWS, attack_size, building_trials, size_class
from graphghha.lab.bench.plants.columns import Judging, column_halves, judge_by_halves, on
from graphghha.lab.bench.plants.judged import fit_baseline, fit_labelled
from graphghha.lab.bench.plants.laboratory import laboratory_trials
from graphghha.lab.bench.plants.trials import Trial
from graphghha.lab.bench.plants.water import water_trials
from graphghha.lab.bench.results import make_result
from graphghha.lab.evaluation.own_evaluate import NAMED, own_outcome, plant_figures
from graphghha.lab.metrics.ranges import merge_close, ranges
from graphghha.lab.training.own_labels import Labelled
from graphghha.lab.training.own_train import NormalFit, OwnRecipe, fit_whether, teach_place

METHOD, LABELLED, OTHER_COLUMNS = "graphghha", "graphghha, labels", "graphghha, labels of other columns"
WITH_EVENTS = (METHOD, LABELLED, OTHER_COLUMNS, "min..max")
FOLDERS = {"eds": "train.parquet", "batadal": "train_normal.parquet", "real_site": "exports"}
FIGURES = (
    "p",
    "r",
    "f1",
    "macro_f1",
    "false_positive_rate",
    "false_alarms",
    "false_alarms_per_hour",
    "false_alarms_per_day",
    "event_recall",
    "median_ttd_min",
    "hit_at_1",
    "hit_at_3",
    "hit_at_1_found",
    "hit_at_1_rows",
    "hit_at_3_rows",
    "range_f1",
    "etapr_f1",
    "affiliation_f1",
    "vus_pr",
    "batadal_s",
    "onset_balanced_accuracy",
    "unclassified",
)
EVENT_FIELDS = ("file", "nodes", "class", "found", "delay_s", "named_3", "named_class", "hit_at_1", "share_at_1")


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantsConfig:
    """What is run."""

    data: Path
    datasets: tuple[str, ...] = tuple(FOLDERS)
    seeds: int = 3
    quick: bool = False
    methods: tuple[str, ...] = ()  # only these; empty: all


def plants_study(config: PlantsConfig, progress: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Return the result: one row per data set, division, method and seed."""
    present = [name for name in config.datasets if (config.data / name / FOLDERS[name]).exists()]
    if not present:
        looked = ", ".join(f"{name}/{FOLDERS[name]}" for name in config.datasets)
        raise DataError(f"{config.data}: holds none of the data sets ({looked}); give the folder that does with --data")
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory(prefix="graphghha-plants-") as scratch:
        for trial in _trials(config, present, Path(scratch)):
            progress(f"{trial.dataset}, {trial.split}")
            rows += _trial_rows(trial, config, progress)
    settings = {"seeds": config.seeds, "quick": config.quick, "datasets": present}
    return make_result("plants", settings, rows)


def _trials(config: PlantsConfig, present: Sequence[str], scratch: Path) -> Iterator[Trial]:
    if "eds" in present:
        trials = (1,) if config.quick else (1, 2, 3, 4)
        yield from laboratory_trials(config.data / "eds", scratch / "eds", trials)
    if "batadal" in present:
        yield from water_trials(config.data / "batadal", scratch / "batadal")
    if "real_site" in present:
        yield from building_trials(config.data / "real_site", DRAWS[:1] if config.quick else DRAWS)


def _trial_rows(trial: Trial, config: PlantsConfig, progress: Callable[[str], None]) -> list[dict[str, Any]]:
    recipe = OwnRecipe(budget_per_day=trial.budget_per_day)
    with_labels = trial.labelled is not None
    normal = fit_whether(trial.plant, trial.normal, recipe=recipe, beside_network=with_labels)
    rows = []
    for method, is_seeded, fit in (*_methods(trial, normal, config), *_labelled_methods(trial, normal, config)):
        if config.methods and method not in config.methods:
            continue
        for seed in range(config.seeds if is_seeded else 1):
            row = {"dataset": trial.dataset, "split": trial.split, "method": method, "seed": seed}
            rows.append(row | _figures(trial, normal, fit(seed), with_events=method in WITH_EVENTS))
            shown = {name: value for name, value in rows[-1].items() if isinstance(value, float)}
            progress(f"  {method} {seed}: " + ", ".join(f"{name} {value:.3f}" for name, value in shown.items()))
    return rows


Method = tuple[str, bool, Callable[[int], Judging]]  # name, whether a seed changes it, and how it is fitted


def _recipe(trial: Trial, config: PlantsConfig, seed: int) -> OwnRecipe:
    recipe = OwnRecipe(budget_per_day=trial.budget_per_day, seed=seed)
    return replace(recipe, synthetic=150, epochs=1) if config.quick else recipe


def _methods(trial: Trial, normal: NormalFit, config: PlantsConfig) -> Iterator[Method]:
    """Yield the methods that learn from normal rows alone."""

    def detector(seed: int) -> Judging:
        return partial(own_outcome, teach_place(normal, _recipe(trial, config, seed)))

    yield METHOD, True, detector
    for method in (*BASELINES, ALWAYS):

        def baseline(seed: int, method: Any = method) -> Judging:
            return fit_baseline(method, normal, trial.budget_per_day, seed).outcome

        yield method.name, method.is_seeded, baseline


def _labelled_methods(trial: Trial, normal: NormalFit, config: PlantsConfig) -> Iterator[Method]:
    """Yield the methods that learn from labelled attacks: on all columns, and on columns other than those judged."""
    if trial.labelled is None:
        return
    (draw,), recordings, events = trial.draws, trial.labelled.recordings, trial.labelled.events
    halves = column_halves(events)

    def detector(seed: int, chosen: Sequence[AttackEvent] = events) -> Judging:
        labelled = Labelled.of(recordings, chosen, trial.plant.template)
        return partial(own_outcome, teach_place(normal, _recipe(trial, config, seed), labelled=labelled))

    def boosted(seed: int, chosen: Sequence[AttackEvent] = events) -> Judging:
        labelled = Labelled.of(recordings, chosen, trial.plant.template)
        assert labelled is not None
        return BoostedDetector(normal, _recipe(trial, config, seed), labelled).outcome

    yield LABELLED, True, detector
    yield "boosting, labels", True, boosted
    yield "boosting of readings, labels", True, lambda seed: fit_labelled(trial, normal, seed).outcome
    for name, fit in ((OTHER_COLUMNS, detector), ("boosting, labels of other columns", boosted)):

        def unseen(seed: int, fit: Callable[[int, Sequence[AttackEvent]], Judging] = fit) -> Judging:
            return judge_by_halves(draw, halves, [fit(seed, on(half, events)) for half in halves])

        yield name, True, unseen


def _figures(trial: Trial, normal: NormalFit, judge: Judging, *, with_events: bool) -> dict[str, Any]:
    plan = normal.preprocessing.plan
    gap = 2 * plan.smooth * plan.stride
    if trial.untouched:
        return _written_figures(trial, judge, gap)
    (draw,) = trial.draws
    report = plant_figures(trial.plant, judge(draw.recordings), draw.recordings, draw.events, gap)
    row = {name: report[name] for name in FIGURES}
    row |= {"attacks": report["attacks"], "hours": report["hours"], "budget_per_day": trial.budget_per_day}
    if with_events:
        row["events"] = [{name: event[name] for name in EVENT_FIELDS} for event in report["events"]]
    return row


def _written_figures(trial: Trial, judge: Judging, gap: int) -> dict[str, Any]:
    """Return figures of attacks that were written onto readings: found is what the untouched readings do not show."""
    quiet = judge(trial.untouched)
    lengths = [len(each.times_ms) for each in trial.untouched]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    breaks = offsets[1:-1].tolist()
    days = float(offsets[-1]) * trial.plant.step_s / 86_400
    alarms = len(merge_close(ranges(quiet.alarm, breaks), gap, breaks))
    events = found = first = third = 0
    mechanisms: dict[str, list[int]] = {}
    sizes: dict[str, list[int]] = {}
    for draw in trial.draws:
        outcome = judge(draw.recordings)
        for event in draw.events:
            rows = np.arange(event.start, event.stop) + int(offsets[event.recording])
            rows = rows[outcome.alarm[rows] & ~quiet.alarm[rows]]
            events += 1
            size = size_class(attack_size(trial, draw.recordings, event))
            tallies = mechanisms.setdefault(event.text, [0, 0]), sizes.setdefault(size, [0, 0])
            for tally in tallies:
                tally[0], tally[1] = tally[0] + bool(len(rows)), tally[1] + 1
            if len(rows):
                order = np.argsort(-outcome.places[rows].mean(axis=0), kind="stable")[:NAMED].tolist()
                target = trial.plant.template.index(event.nodes[0])
                found, first, third = found + 1, first + (order[0] == target), third + (target in order)
    return {
        "false_alarms": alarms,
        "false_alarms_per_day": alarms / days,
        "in_alarm": float(quiet.alarm.mean()),
        "attacks": events,
        "event_recall": found / max(1, events),
        "hit_at_1": first / max(1, events),
        "hit_at_3": third / max(1, events),
        "days": days,
        "budget_per_day": trial.budget_per_day,
        "by_mechanism": mechanisms,
        "by_size": sizes,
    }
