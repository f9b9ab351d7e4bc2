"""Recall against false alarms: every detector at every height of its own scores, so that all compare at one price."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from graphghha.alarms import AlarmRule, GroupRule
from graphghha.errors import DataError
from graphghha.lab.metrics.budget import CANDIDATES, rule_at, threshold_for_budget
from graphghha.lab.metrics.card import judged
from graphghha.lab.metrics.events import event_scores
from graphghha.lab.runs.recording import STEP_S, Recording
from graphghha.windows.provenance import Span

LEAST = 1e-6  # a threshold must lie above 0
HALVINGS = 5
TAILS = (1e-6, 0.05)  # shares of the node-minutes above a height: from next to none to far too many


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """What one height of the threshold costs and brings."""

    raise_at: float
    false_alarms_per_day: float
    event_recall: float
    hit_at_1: float
    median_ttd_min: float


def heights(recordings: Sequence[Recording], count: int = 18) -> tuple[float, ...]:
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
    count_false: Callable[[AlarmRule], int] | None = None,
) -> tuple[AlarmRule, bool]:
    """The rule that keeps an alert budget on validation recordings, and whether any does.

    Recordings are normal ones, or any with `count_false` to tell how many alarms of a rule are false. A detector that
    keeps the budget at no height (one that always alarms) is left at its highest. Tried are the heights that a model
    tries, and quantiles of the scores: a baseline may have all of its own between two of them.
    """
    own = heights(recordings)
    candidates = sorted({*own, *(height for height in CANDIDATES if height > own[-1])}, reverse=True)
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
            count_false=count_false,
        )
    except DataError:
        return rule_at(rule, candidates[0]), False
    return found.rule, True


def budget_curve(
    recordings: Sequence[Recording],
    rule: AlarmRule,
    group_rule: GroupRule,
    *,
    most_per_day: float,
    price_per_day: float | None = None,
) -> tuple[BudgetPoint, ...]:
    """Points from the highest threshold down to the first that costs more than `most_per_day`, that one included.

    Around `price_per_day` the search is finer: that is where methods are compared.
    """
    points: list[BudgetPoint] = []
    for raise_at in heights(recordings):
        points.append(_point(recordings, rule_at(rule, raise_at), group_rule))
        if points[-1].false_alarms_per_day > most_per_day:
            break
    if price_per_day is not None:
        points += _halved(points, recordings, rule, group_rule, price_per_day)
    return tuple(sorted(points, key=lambda point: -point.raise_at))


def _halved(
    points: Sequence[BudgetPoint], recordings: Sequence[Recording], rule: AlarmRule, group_rule: GroupRule, price: float
) -> list[BudgetPoint]:
    """Between the last height that keeps the price and the next one, halve the log-odds a few times."""
    dear = next((n for n, point in enumerate(points) if point.false_alarms_per_day > price), len(points))
    if not 0 < dear < len(points):
        return []
    high, low = points[dear - 1].raise_at, points[dear].raise_at
    found = []
    for _ in range(HALVINGS):
        middle = _from_log_odds((_log_odds(high) + _log_odds(low)) / 2)
        found.append(_point(recordings, rule_at(rule, middle), group_rule))
        high, low = (high, middle) if found[-1].false_alarms_per_day > price else (middle, low)
    return found


def _point(recordings: Sequence[Recording], rule: AlarmRule, group_rule: GroupRule) -> BudgetPoint:
    scores = event_scores([judged(recording, rule, group_rule) for recording in recordings])
    return BudgetPoint(
        rule.raise_at, scores.false_alarms_per_day, scores.event_recall, scores.hit_at_1, scores.median_ttd_min
    )


def _log_odds(prob: float) -> float:
    inside = min(max(prob, 1e-9), 1 - 1e-9)
    return math.log(inside / (1 - inside))


def _from_log_odds(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def best_within(curve: Sequence[BudgetPoint], per_day: float) -> BudgetPoint | None:
    """The most attacks found for at most so many false alarms a day; None when every height costs more."""
    kept = [point for point in curve if point.false_alarms_per_day <= per_day]
    return max(kept, key=lambda point: (point.event_recall, point.hit_at_1), default=None)
