"""Recall against false alarms: every detector at every height of its own scores, so that all compare at one price."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphghha.alarms import AlarmRule, GroupRule
from graphghha.errors import DataError
from graphghha.evaluation.budget import rule_at, threshold_for_budget
from graphghha.evaluation.card import judged
from graphghha.evaluation.events import event_scores
from graphghha.evaluation.recording import STEP_S, Recording
from graphghha.windows.provenance import Span

LEAST = 1e-6  # a threshold must lie above 0
TAILS = (1e-7, 0.1)  # shares of the node-minutes above a height: from next to none to far too many


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """What one height of the threshold costs and brings."""

    raise_at: float
    false_alarms_per_day: float
    event_recall: float
    hit_at_1: float
    median_ttd_min: float


def heights(recordings: Sequence[Recording], count: int = 28) -> tuple[float, ...]:
    """Thresholds to try, highest first: quantiles of the scores, for a baseline's scores have a scale of their own."""
    scores = np.concatenate([recording.attack.ravel() for recording in recordings])
    scores = scores[np.isfinite(scores)]
    if not scores.size:
        raise DataError("alert budget: no node was ever known")
    places = (scores.size * np.geomspace(*TAILS, count)).astype(np.int64)
    top = np.sort(np.partition(scores, scores.size - 1 - places[-1])[scores.size - 1 - places[-1] :])[::-1]
    chosen = np.unique(np.clip(top[np.minimum(places, top.size - 1)].astype(np.float64), LEAST, 1.0))
    return tuple(chosen[::-1].tolist())


def rule_within(
    recordings: Sequence[Recording],
    rule: AlarmRule,
    group_rule: GroupRule,
    *,
    budget_per_day: float,
    spans: Sequence[Span],
) -> tuple[AlarmRule, bool]:
    """The rule that keeps an alert budget on normal validation recordings, and whether any does.

    A detector that keeps it at no height (one that always alarms) is left at its highest.
    """
    candidates = heights(recordings)
    try:
        found = threshold_for_budget(
            [recording.attack for recording in recordings],
            recordings[0].near,
            rule,
            group_rule,
            budget_per_day=budget_per_day,
            step_s=STEP_S,
            spans=spans,
            candidates=candidates,
        )
    except DataError:
        return rule_at(rule, candidates[0]), False
    return found.rule, True


def budget_curve(
    recordings: Sequence[Recording], rule: AlarmRule, group_rule: GroupRule, *, most_per_day: float
) -> tuple[BudgetPoint, ...]:
    """Points from the highest threshold down to the first that costs more than `most_per_day`, that one included."""
    points = []
    for raise_at in heights(recordings):
        tried = rule_at(rule, raise_at)
        scores = event_scores([judged(recording, tried, group_rule) for recording in recordings])
        points.append(
            BudgetPoint(
                raise_at, scores.false_alarms_per_day, scores.event_recall, scores.hit_at_1, scores.median_ttd_min
            )
        )
        if scores.false_alarms_per_day > most_per_day:
            break
    return tuple(points)


def best_within(curve: Sequence[BudgetPoint], per_day: float) -> BudgetPoint | None:
    """The most attacks found for at most so many false alarms a day; None when every height costs more."""
    kept = [point for point in curve if point.false_alarms_per_day <= per_day]
    return max(kept, key=lambda point: (point.event_recall, point.hit_at_1), default=None)
