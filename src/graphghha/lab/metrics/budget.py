"""A threshold from an alert budget: "at most B false alarms a day", found with the alarm logic the monitor runs."""

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

Recording = NDArray[np.floating[Any]]


def _candidates() -> tuple[float, ...]:
    """From nearly sure down to a coin's tenth, evenly spaced in log-odds."""
    log_odds = np.linspace(9.2, -2.2, 58)
    return tuple((1.0 / (1.0 + np.exp(-log_odds))).tolist())


CANDIDATES = _candidates()


def rule_at(rule: AlarmRule, raise_at: float) -> AlarmRule:
    """The same rule at another height; the clearing threshold keeps its share of the raising one."""
    return replace(rule, raise_at=raise_at, clear_at=rule.clear_at / rule.raise_at * raise_at)


def count_incidents(recordings: Sequence[Recording], near: Proximity, rule: AlarmRule, group_rule: GroupRule) -> int:
    """Announced incidents; on normal data every one of them is a false alarm."""
    found = (incident for probs in recordings for incident in replay(probs, near, rule, group_rule))
    return sum(incident.is_annunciated for incident in found)


def threshold_for_budget(
    recordings: Sequence[Recording],
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
    """The lowest candidate that keeps the budget and whose higher neighbours all keep it too.

    Recordings are attack probabilities [t s] on validation data: normal ones, where every incident is false, or
    any with `count_false` to tell how many are. Grouping makes the count not quite monotone in the threshold, so the
    search walks down from the top and stops at the first breach.
    """
    count_false = count_false or partial(count_incidents, recordings, near, group_rule=group_rule)
    if not budget_per_day > 0:
        raise ConfigError(f"alert budget {budget_per_day} per day must be positive")
    days = sum(len(probs) for probs in recordings) * step_s / DAY_S
    if days * budget_per_day < 1:
        raise DataError(
            f"alert budget: {days:.2f} days cannot tell {budget_per_day} false alarms a day from none; "
            f"give at least {1 / budget_per_day:.1f} days"
        )
    if not spans:
        raise DataError("alert budget: say which rows it is found on; the leak check needs them")
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
            f"alert budget: even raise_at {curve[0][0]:.5f} gives {curve[0][1]:.2f} false alarms a day on normal data; "
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
