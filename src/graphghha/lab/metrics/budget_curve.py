"""Recall against false alarms over all thresholds, so that detectors can be compared at equal false-alarm rates."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from graphghha.alarms import AlarmRule, GroupRule
from graphghha.errors import DataError
from graphghha.lab.metrics.budget import CANDIDATES, rule_at, threshold_for_budget
from graphghha.lab.metrics.card import match_events
from graphghha.lab.metrics.events import event_scores
from graphghha.lab.runs.recording import Recording
from graphghha.windows import Span

LEAST = 1e-6  # a threshold must lie above 0
HALVINGS = 5
TAILS = (1e-6, 0.05)  # share of the node-minutes above the highest and above the lowest candidate threshold


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """The false alarms and detections of one threshold."""

    raise_at: float
    false_alarms_per_day: float
    event_recall: float
    hit_at_1: float
    median_ttd_min: float


def candidate_thresholds(recordings: Sequence[Recording], count: int = 18) -> tuple[float, ...]:
    """Return quantiles of the scores, highest first; the scale of a baseline's scores is not known beforehand."""
    scores = np.concatenate([recording.attack.ravel() for recording in recordings])
    scores = scores[np.isfinite(scores)]
    if not scores.size:
        raise DataError("alert budget: every score is unknown (NaN); record data with fresh readings")
    places = (scores.size * np.geomspace(*TAILS, count)).astype(np.int64)
    top = np.sort(np.partition(scores, scores.size - 1 - places[-1])[scores.size - 1 - places[-1] :])[::-1]
    chosen = np.unique(np.clip(top[np.minimum(places, top.size - 1)].astype(np.float64), LEAST, 1.0))
    return tuple(chosen[::-1].tolist())


def rule_within_budget(
    recordings: Sequence[Recording],
    rule: AlarmRule,
    group_rule: GroupRule,
    *,
    budget_per_day: float,
    spans: Sequence[Span],
    count_false: Callable[[AlarmRule], int] | None = None,
) -> tuple[AlarmRule, bool]:
    """Return the rule that keeps an alert budget on validation recordings, and whether it does keep it.

    On normal recordings every incident is a false alarm; for others `count_false` returns their number under a rule. A
    detector that breaks the budget at every threshold (one that always alarms) gets its highest one. The candidates
    are those of a model and quantiles of the scores, because all scores of a baseline may lie between two of a model's.
    """
    own = candidate_thresholds(recordings)
    candidates = sorted({*own, *(threshold for threshold in CANDIDATES if threshold > own[-1])}, reverse=True)
    try:
        thresholds = threshold_for_budget(
            [recording.attack for recording in recordings],
            recordings[0].near,
            rule,
            group_rule,
            budget_per_day=budget_per_day,
            step_s=recordings[0].step_s,
            spans=spans,
            candidates=candidates,
            count_false=count_false,
        )
    except DataError:
        return rule_at(rule, candidates[0]), False
    return thresholds.rule, True


def budget_curve(
    recordings: Sequence[Recording],
    rule: AlarmRule,
    group_rule: GroupRule,
    *,
    most_per_day: float,
    false_alarm_rate: float | None = None,
) -> tuple[BudgetPoint, ...]:
    """Return points from the highest threshold down to the first with more than `most_per_day` false alarms a day.

    Around `false_alarm_rate` (false alarms a day), where detectors are compared, the points are denser.
    """
    points: list[BudgetPoint] = []
    for raise_at in candidate_thresholds(recordings):
        points.append(_point(recordings, rule_at(rule, raise_at), group_rule))
        if points[-1].false_alarms_per_day > most_per_day:
            break
    if false_alarm_rate is not None:
        points += _bisect(points, recordings, rule, group_rule, false_alarm_rate)
    return tuple(sorted(points, key=lambda point: -point.raise_at))


def _bisect(
    points: Sequence[BudgetPoint], recordings: Sequence[Recording], rule: AlarmRule, group_rule: GroupRule, rate: float
) -> list[BudgetPoint]:
    """Bisect, in log-odds, between the last threshold that keeps the false-alarm rate and the next one."""
    above = next((n for n, point in enumerate(points) if point.false_alarms_per_day > rate), len(points))
    if not 0 < above < len(points):
        return []
    high, low = points[above - 1].raise_at, points[above].raise_at
    finer = []
    for _ in range(HALVINGS):
        middle = _from_log_odds((_log_odds(high) + _log_odds(low)) / 2)
        finer.append(_point(recordings, rule_at(rule, middle), group_rule))
        high, low = (high, middle) if finer[-1].false_alarms_per_day > rate else (middle, low)
    return finer


def _point(recordings: Sequence[Recording], rule: AlarmRule, group_rule: GroupRule) -> BudgetPoint:
    scores = event_scores([match_events(recording, rule, group_rule) for recording in recordings])
    return BudgetPoint(
        rule.raise_at, scores.false_alarms_per_day, scores.event_recall, scores.hit_at_1, scores.median_ttd_min
    )


def _log_odds(prob: float) -> float:
    inside = min(max(prob, 1e-9), 1 - 1e-9)
    return math.log(inside / (1 - inside))


def _from_log_odds(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def best_within(curve: Sequence[BudgetPoint], per_day: float) -> BudgetPoint | None:
    """Return the point with the highest recall at no more than this false-alarm rate, or None if there is none."""
    kept = [point for point in curve if point.false_alarms_per_day <= per_day]
    return max(kept, key=lambda point: (point.event_recall, point.hit_at_1), default=None)
