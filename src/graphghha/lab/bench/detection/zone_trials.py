"""Commissioned test buildings under attack, for methods that judge zones: features once, then any method on them.

Every fifth row is judged. t judged rows, k rows of the days of commissioning, Z zones, n nodes of a zone, s = Z n,
f features.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import AlarmRule, GroupRule, Proximity, replay
from graphghha.commissioning.levels import KEEP_EVERY, fit_levels, summarize_days
from graphghha.commissioning.threshold import ZONES_OF_BUDGET
from graphghha.lab.baselines.zone_networks import Locator
from graphghha.lab.metrics.events import EventMatches, match_incidents
from graphghha.lab.runs import AttackEvent, Run, Schedule, attacked_run, attacks_in
from graphghha.lab.training.zone_windows import compared_days
from graphghha.models import Model
from graphghha.plants import LabelledDay, Plant, load_testbed
from graphghha.windows import EvidencePreprocessing
from graphghha.windows.evidence import HISTORY, SPAN_NAMES, EvidenceFeaturizer, Layout
from graphghha.windows.multiscale import DAY

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]
FIRST_DAY = datetime(2018, 1, 10)
DAYS_APART = 61  # between the first days of two buildings of a group
AVERAGED = 3  # judged rows: a quarter of an hour
MOST_DESIGNS = 1000  # random buildings looked at to find one with the wanted number of points
ATTACKS = Schedule(mean_gap_days=2.0, lasting_share=0.1, rest_min=600)
# The rules of the monitor for zones, in judged rows: half an hour to clear, four hours until an incident is over.
RULE = AlarmRule(raise_at=0.5, clear_at=0.499, votes=2, window=2, clear_after=6)
GROUP_RULE = GroupRule(max_hops=32, join_within=2016, linger=48)
TRIED = 120  # thresholds


@dataclass(frozen=True)
class Trial:
    """One building: features of its attacked days, evidence of its days of commissioning, and the truth."""

    near: Proximity
    features: NDArray[np.float16]  # [t Z n f]
    known: Bools  # [t Z n]
    own_evidence: NDArray[np.float32]  # [k Z] largest evidence on the days of commissioning, out of fold
    attacks: tuple[AttackEvent, ...]
    recovering: Bools  # [t s]
    step_s: float

    @property
    def shape(self) -> tuple[int, int, int]:
        """Judged rows, zones and nodes of a zone."""
        rows, zones, nodes = self.known.shape
        return rows, zones, nodes

    @cached_property
    def is_quiet(self) -> Bools:
        """Where zones [t Z] are neither attacked nor recovering."""
        quiet: Bools = np.logical_not(self.recovering.reshape(self.shape).any(axis=2))
        for attack in self.attacks:
            quiet[attack.start : attack.stop, attack.targets[0] // self.shape[2]] = False
        return quiet

    @property
    def building_days(self) -> float:
        """The judged days in units of a building with twelve zones."""
        rows, zones, _ = self.shape
        return rows * self.step_s / DAY * zones / ZONES_OF_BUDGET


def find_building(plant: Plant, seed: int, points: tuple[int, int]) -> str:
    """Return the name of the first random building of a series that has a number of points within these limits."""
    testbed = load_testbed(plant.name)
    names = (str(seed + 1_000_000_000 * step) for step in range(MOST_DESIGNS))
    return next(name for name in names if points[0] <= len(testbed.points_of(name)) <= points[1])


def make_trial(
    plant: Plant,
    model: Model,
    *,
    seed: int,
    number: int,
    zones: int,
    points: tuple[int, int],
    cases: Sequence[str],
    days: int,
    commission_days: int,
    schedule: Schedule = ATTACKS,
) -> Trial:
    """Commission a random building and simulate the days after it, with attacks drawn from these cases."""
    normal = Run(
        seed=seed,
        start=FIRST_DAY + timedelta(days=number * DAYS_APART % 330),
        days=commission_days,
        zones=zones,
        condition=find_building(plant, seed, points),
    )
    after = replace(normal, start=normal.start + timedelta(days=commission_days), days=days + 1)
    run = attacked_run(after, cases, schedule, warm_up_s=DAY)
    graph = plant.template.replicate(zones)
    site = compared_days(plant, normal, model.zone_preprocessing)
    fitted = fit_levels(site, model.zone_preprocessing, plant.template)
    preprocessing = model.zone_preprocessing.with_levels(fitted.levels)
    summary, kept = summarize_days(fitted.residuals, site.compared)
    rows = np.flatnonzero(kept)
    own = Layout(graph, plant.template, preprocessing).windows(summary, site.compared, kept, rows)
    full = rows >= HISTORY
    shape = (zones, plant.template.num_nodes)
    own_evidence = evidence(own.features[full].reshape(-1, *shape, own.features.shape[-1])).max(axis=2)
    return _judged(plant, run, preprocessing, own_evidence)


def _judged(plant: Plant, run: Run, preprocessing: EvidencePreprocessing, own: NDArray[np.float32]) -> Trial:
    graph, nodes = plant.template.replicate(run.zones), plant.template.num_nodes
    featurizer = EvidenceFeaturizer(graph, plant.template, preprocessing)
    features, known, done = [], [], 0
    truth: dict[str, list[NDArray[Any]]] = {"event": [], "observable": [], "recovering": []}
    for day in run.simulate(plant):
        at = np.arange(done, done + len(day.times))
        judged = at % KEEP_EVERY == KEEP_EVERY - 1
        values = day.values.reshape(len(at), -1)
        windows = featurizer.push(values, np.isfinite(values), judged & (at >= HISTORY))
        features.append(windows.features.astype(np.float16).reshape(-1, run.zones, nodes, windows.features.shape[-1]))
        known.append(windows.known.reshape(-1, run.zones, nodes))
        _add_truth(truth, day, judged, nodes)
        done += len(at)
    joined = {name: np.concatenate(parts) for name, parts in truth.items()}
    first = HISTORY // KEEP_EVERY
    return Trial(
        near=Proximity(graph),
        features=np.concatenate(features),
        known=np.concatenate(known),
        own_evidence=own,
        attacks=attacks_in(plant, graph, run, joined["event"], joined["observable"], first=first),
        recovering=joined["recovering"][first:],
        step_s=plant.step_s * KEEP_EVERY,
    )


def _add_truth(truth: dict[str, list[NDArray[Any]]], day: LabelledDay, judged: Bools, nodes: int) -> None:
    count = int(judged.sum())
    truth["event"].append(day.event[judged].reshape(count, -1))
    truth["observable"].append(day.observable[judged].reshape(count, -1))
    truth["recovering"].append(np.repeat(day.recovering[judged], nodes, axis=1))


def evidence(features: Floats) -> NDArray[np.float32]:
    """Return the largest evidence of any span [..] from features [.. f]: log(1 + 4 units of what is rarely reached)."""
    largest: NDArray[np.float32] = np.abs(features[..., : len(SPAN_NAMES)]).max(axis=-1).astype(np.float32)
    return largest


def averaged_odds(trial: Trial, locate: Locator) -> Floats:
    """Return the log-odds [t Z n] of every node, averaged over a quarter of an hour."""
    rows, zones, nodes = trial.shape
    flat = trial.features.reshape(rows * zones, nodes, -1)
    return recent_mean(np.asarray(locate(flat, trial.known.reshape(-1, nodes))).reshape(rows, zones, nodes))


def recent_mean(values: Floats) -> Floats:
    """Return the mean of each row [t ..] and the rows just before it."""
    padded = np.concatenate([np.repeat(values[:1], AVERAGED - 1, axis=0), values])
    mean: Floats = np.mean([padded[back : back + len(values)] for back in range(AVERAGED)], axis=0)
    return mean


def match_zones(trial: Trial, scores: Floats, threshold: float) -> EventMatches:
    """Replay the alarm logic on scores of zones [t Z]; which node is named plays no part."""
    rows, zones, nodes = trial.shape
    probs = np.zeros((rows, zones, nodes))
    # one node stands for its zone, since the question is only whether the zone is attacked
    probs[..., 0] = 1.0 / (1.0 + np.exp(np.clip(threshold - scores, -50.0, 50.0)))
    incidents = replay(probs.reshape(rows, -1), trial.near, RULE, GROUP_RULE)
    return match_incidents(
        incidents,
        trial.attacks,
        trial.near,
        num_steps=rows,
        step_s=trial.step_s,
        recovering=trial.recovering,
    )


def quiet_alarms(matches: EventMatches) -> int:
    """Return the number of alarms in zones that are neither attacked nor recovering."""
    return len(matches.false_alarms) - len(matches.misplaced)


@dataclass(frozen=True, slots=True)
class AtEqual:
    """A method at the least threshold that keeps a rate of quiet false alarms in some buildings."""

    threshold: float
    matches: tuple[EventMatches, ...]  # of every building
    quiet: int
    days: float

    @property
    def visible(self) -> int:
        """The number of visible attacks."""
        return sum(outcome.is_observable for each in self.matches for outcome in each.outcomes)

    @property
    def found(self) -> int:
        """The number of visible attacks that were announced."""
        return sum(outcome.is_observable and outcome.is_detected for each in self.matches for outcome in each.outcomes)


def at_equal_alarms(trials: Sequence[Trial], scores: Sequence[Floats], per_day: float) -> AtEqual:
    """Return a method at the least threshold with at most this many quiet false alarms a day.

    The threshold is chosen on the test buildings themselves, for every method alike. The search goes down from the
    highest score and stops where the rate is exceeded: far below, standing alarms would be few and long. It counts
    alarms in a quick way; the result is what the alarm logic makes of the threshold.
    """
    days = sum(trial.building_days for trial in trials)
    values = np.concatenate([each.ravel() for each in scores])
    tried = np.unique(np.quantile(values[np.isfinite(values)], 1.0 - np.geomspace(1e-5, 0.5, TRIED)))
    tried = np.append(tried, tried[-1] + 1.0)  # above everything
    place = len(tried) - 1
    while place and _count_quiet(trials, scores, float(tried[place - 1])) <= per_day * days:
        place -= 1
    while True:
        threshold = float(tried[place])
        matches = tuple(match_zones(trial, own, threshold) for trial, own in zip(trials, scores, strict=True))
        result = AtEqual(threshold, matches, sum(map(quiet_alarms, matches)), days)
        if result.quiet <= per_day * days or place == len(tried) - 1:
            return result
        place += 1


def _count_quiet(trials: Sequence[Trial], scores: Sequence[Floats], threshold: float) -> int:
    """Count the alarms that begin in quiet zones, without the alarm logic: rises that nothing shortly precedes."""
    apart, count = RULE.clear_after + GROUP_RULE.linger, 0
    for trial, own in zip(trials, scores, strict=True):
        above = own >= threshold
        for zone in range(above.shape[1]):
            raised = np.flatnonzero(above[1:, zone] & above[:-1, zone]) + 1
            begins = raised[np.diff(raised, prepend=-apart - 1) > apart]
            count += int(trial.is_quiet[begins, zone].sum())
    return count
