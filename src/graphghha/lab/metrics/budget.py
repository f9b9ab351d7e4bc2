"""The alarm threshold for an alert budget ("at most B false alarms a day"), found with the monitor's alarm logic."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import AlarmRule, GroupRule, Proximity, replay
from graphghha.errors import ConfigError, DataError
from graphghha.lab.metrics.events import DAY_S
from graphghha.models import BudgetSearch, Thresholds
from graphghha.windows import Span, fingerprint

Probs = NDArray[np.floating[Any]]


def _candidates() -> tuple[float, ...]:
    """Return probabilities from 0.9999 down to 0.1, evenly spaced in log-odds."""
    log_odds = np.linspace(9.2, -2.2, 58)
    return tuple((1.0 / (1.0 + np.exp(-log_odds))).tolist())


CANDIDATES = _candidates()


def rule_at(rule: AlarmRule, raise_at: float) -> AlarmRule:
    """Return the rule with another threshold; the clearing threshold keeps its ratio to it."""
    return replace(rule, raise_at=raise_at, clear_at=rule.clear_at / rule.raise_at * raise_at)


def count_incidents(recordings: Sequence[Probs], near: Proximity, rule: AlarmRule, group_rule: GroupRule) -> int:
    """Count announced incidents; on normal data every one of them is a false alarm."""
    incidents = (incident for probs in recordings for incident in replay(probs, near, rule, group_rule))
    return sum(incident.is_annunciated for incident in incidents)


def threshold_for_budget(
    recordings: Sequence[Probs],
    near: Proximity,
    rule: AlarmRule,
    group_rule: GroupRule,
    *,
    budget_per_day: float,
    step_s: float,
    spans: Sequence[Span],
    candidates: Sequence[float] = CANDIDATES,
    count_false: Callable[[AlarmRule], int] | None = None,
) -> Thresholds:
    """Return thresholds with the lowest candidate that keeps the budget, as do all candidates above it.

    Recordings are attack probabilities [t s] on validation data. On normal data every incident is a false alarm; for
    other data `count_false` returns their number under a rule. Since grouping makes the number not quite monotone in
    the threshold, the search goes down from the highest candidate and stops at the first one that breaks the budget.
    """
    count_false = count_false or partial(count_incidents, recordings, near, group_rule=group_rule)
    if not budget_per_day > 0:
        raise ConfigError(f"alert budget: {budget_per_day} false alarms a day; give a positive number")
    days = sum(len(probs) for probs in recordings) * step_s / DAY_S
    if days * budget_per_day < 1:
        raise DataError(
            f"alert budget: {days:.2f} days of data are too few for {budget_per_day} false alarms a day; "
            f"give at least {1 / budget_per_day:.1f} days"
        )
    if not spans:
        raise DataError("alert budget: `spans` is empty; name the rows it is found on, which the leak check needs")
    best: tuple[AlarmRule, int] | None = None
    curve = []
    for raise_at in sorted(candidates, reverse=True):
        tried = rule_at(rule, raise_at)
        count = count_false(tried)
        curve.append((raise_at, count / days))
        if count > budget_per_day * days:
            break
        best = tried, count
    if best is None:
        raise DataError(
            f"alert budget: even raise_at {curve[0][0]:.5f} gives {curve[0][1]:.2f} false alarms a day; "
            "calibrate the model, lengthen the on-delay or raise the budget"
        )
    search = BudgetSearch(
        budget_per_day=budget_per_day,
        false_alarms=best[1],
        days=days,
        curve=tuple(curve),
        seen=fingerprint(spans, *recordings),
    )
    return Thresholds(rule=best[0], group=group_rule, search=search)
