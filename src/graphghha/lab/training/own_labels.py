"""Labelled attacks of a plant of the user's own: they teach its network beside the perturbations of normal data.

The network then raises alarms of its own, within a share of the alert budget. Its threshold comes from normal rows that
it was not taught on.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.engine import Engine
from graphghha.engine.own_scorer import network_odds
from graphghha.engine.own_second import RunningOdds
from graphghha.exports.attack_labels import AttackEvent
from graphghha.exports.recordings import Recording
from graphghha.graph import CpsGraph
from graphghha.lab.training.own_attacks import NormalPart
from graphghha.lab.training.own_threshold import budget_threshold, count_episodes, tail_shares
from graphghha.lab.training.zone_windows import ZoneWindows
from graphghha.models.own import JudgeRule, Taught
from graphghha.windows.own_expectation import PARTS
from graphghha.windows.own_features import Judged, OwnFeaturizer, OwnPreprocessing, node_features

Floats = NDArray[np.float64]
NETWORK_SHARE = 0.5  # of the alert budget
ROWS_PER_EVENT = 60
Odds = Callable[[Judged, Floats], Floats]  # judged rows, and their statistics in levels, to log-odds [e p]
HELD_OUT = PARTS - 1  # the part of the normal data that sets the network's threshold


@dataclass(frozen=True, slots=True)
class Labelled:
    """Recordings and the attacks in them that labels name nodes of."""

    recordings: Sequence[Recording]
    events: Sequence[AttackEvent]

    @classmethod
    def of(cls, recordings: Sequence[Recording], events: Sequence[AttackEvent], graph: CpsGraph) -> "Labelled | None":
        """Return the attacks that can be taught: those on nodes with a signal. None if there is none."""
        points = set(graph.points)
        chosen = [event for event in events if points & set(event.nodes)]
        return cls(recordings, chosen) if chosen else None

    def classes(self, graph: CpsGraph) -> dict[str, str]:
        """Return the class that labels state most often for attacks on each of their nodes; empty where none is."""
        stated: dict[str, Counter[str]] = {}
        for event in self.events:
            for node in set(event.nodes) & set(graph.points):
                stated.setdefault(node, Counter())[event.attack_class] += 1
        best = {node: counts.most_common(1)[0][0] for node, counts in sorted(stated.items())}
        return {node: each if each in CLASSES[1:] else "" for node, each in best.items()}


def labelled_windows(graph: CpsGraph, preprocessing: OwnPreprocessing, labelled: Labelled, seed: int) -> ZoneWindows:
    """Return windows of labelled attacks, as many of a short attack as of a long one."""
    rng = np.random.default_rng([seed, 1])
    found = []
    for event in labelled.events:
        first = max(0, event.start - preprocessing.plan.history)
        values = labelled.recordings[event.recording].values[first : event.stop]
        judged = OwnFeaturizer(preprocessing).push(values, np.isfinite(values))
        rows = np.flatnonzero((judged.rows >= event.start - first) & judged.known.any(axis=1))
        rows = np.sort(rng.permutation(rows)[:ROWS_PER_EVENT])
        features, known = node_features(judged, judged.statistics / preprocessing.levels, graph, rows)
        targets = np.zeros(known.shape, np.bool_)
        targets[:, [graph.index(node) for node in event.nodes if node in graph.points]] = True
        found.append(ZoneWindows(features.astype(np.float16), known, targets))
    return ZoneWindows.concatenate(found)


def taught_parts(parts: Sequence[NormalPart]) -> list[NormalPart]:
    """Return the normal data that the network is taught on, if it has a threshold of its own."""
    return [part for part in parts if part.member != HELD_OUT] or list(parts)


def fit_taught(
    engine: Engine,
    graph: CpsGraph,
    preprocessing: OwnPreprocessing,
    parts: Sequence[NormalPart],
    classes: dict[str, str],
    budget_per_day: float,
) -> tuple[Taught, dict[str, Any]]:
    """Return when the network raises an alarm, and the record of how that was found."""

    def odds(judged: Judged, in_levels: Floats) -> Floats:
        return network_odds(engine, judged, in_levels, graph, np.arange(len(judged.rows)))

    threshold, scores = held_out_threshold(odds, preprocessing, parts, budget_per_day)
    plan = preprocessing.plan
    record = {
        "network_false_alarms": sum(count_episodes(each >= threshold, 2 * plan.smooth) for each in scores),
        "network_normal_days": sum(map(len, scores)) * plan.stride * plan.step_s / 86_400,
    }
    rule = JudgeRule(threshold=threshold, tail=tail_shares(np.concatenate(scores), threshold))
    return Taught(rule=rule, classes=classes), record


def held_out_threshold(
    odds: Odds, preprocessing: OwnPreprocessing, parts: Sequence[NormalPart], budget_per_day: float
) -> tuple[float, list[Floats]]:
    """Return the least threshold that keeps a budget on the held-out part, and the scores there."""
    plan, scores = preprocessing.plan, []
    for part in parts:
        if part.member == HELD_OUT:
            judged = OwnFeaturizer(preprocessing, part.member).push(part.values, np.isfinite(part.values))
            own = odds(judged, judged.statistics / preprocessing.levels)
            running = RunningOdds(own.shape[1], plan.smooth)
            scores.append(running.push(np.where(judged.known, own, np.nan))[0])
    days = sum(map(len, scores)) * plan.stride * plan.step_s / 86_400
    highest = budget_threshold(scores, 2 * plan.smooth, max(1, int(budget_per_day * days + 1e-9)))
    return float(np.nextafter(highest, np.inf)), scores
