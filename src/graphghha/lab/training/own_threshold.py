"""The threshold of a plant of the user's own: the least one that keeps the alert budget on normal data, and the time.

Every row was judged by the member that did not see it. Two alarms that are close are one.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine.own_judge import CAP, OwnJudge
from graphghha.models.own import JudgeRule
from graphghha.windows.own_plan import OwnPlan

Floats = NDArray[np.float64]
STEP = 0.02
LEAST = 0.3
# of normal time in alarm: a low threshold keeps any budget, because alarms that never end are few
MOST_IN_ALARM = 0.05
NETWORK = 0.01  # decides between nodes that are nearly as strong; with 0.03 and more it lost on a water network
TAIL_POINTS = 24
CANDIDATES = 400


def count_episodes(alarm: NDArray[np.bool_], gap: int) -> int:
    """Return how many alarms there are if those at most `gap` rows apart are one."""
    rows = np.flatnonzero(alarm)
    return 1 + int((np.diff(rows) > gap).sum()) if len(rows) else 0


def fit_threshold(unusual: Sequence[Floats], plan: OwnPlan, budget_per_day: float) -> tuple[JudgeRule, dict[str, Any]]:
    """Return the rule for a budget, and the record of how it was found."""
    days = sum(map(len, unusual)) * plan.stride * plan.step_s / 86_400
    allowed = max(1, int(budget_per_day * days + 1e-9))
    open_rule = JudgeRule(threshold=1e9)
    moving = np.zeros(unusual[0].shape[1], np.bool_)  # constants are never unusual in the data that made them constant
    scores = [OwnJudge(moving, plan.smooth, plan.day, open_rule).push(each).score for each in unusual]
    every = np.concatenate(scores)
    threshold, curve = CAP + STEP, []
    for candidate in np.arange(CAP, LEAST, -STEP):
        count = sum(count_episodes(each >= candidate, 2 * plan.smooth) for each in scores)
        curve.append((round(float(candidate), 4), count / days))
        if count > allowed or (every >= candidate).mean() > MOST_IN_ALARM:
            break
        threshold = float(candidate)
    at_threshold = sum(count_episodes(each >= threshold, 2 * plan.smooth) for each in scores)
    rule = JudgeRule(threshold=threshold, network=NETWORK, tail=tail_shares(every, threshold))
    low, high = _interval(at_threshold, days)
    record = {
        "budget_per_day": budget_per_day,
        "false_alarms": at_threshold,
        "expected_false_alarms_per_day": [round(low, 4), round(high, 4)],
        "in_alarm": float((every >= threshold).mean()),
        "curve": curve[-20:],
    }
    return rule, record


def budget_threshold(scores: Sequence[Floats], gap: int, allowed: int, most_in_alarm: float = MOST_IN_ALARM) -> float:
    """Return the least threshold above which there are at most `allowed` episodes, and that share of time in alarm."""
    every = np.concatenate(scores)
    candidates = np.unique(np.quantile(every, 1 - np.geomspace(0.5 / len(every), most_in_alarm, CANDIDATES)))[::-1]
    best = float(every.max())
    for candidate in candidates.tolist():
        if sum(count_episodes(each > candidate, gap) for each in scores) > allowed:
            break
        best = min(best, candidate)
    return best


def tail_shares(scores: Floats, threshold: float) -> tuple[tuple[float, float], ...]:
    """Return the share of normal rows at or above some scores; the share never becomes zero."""
    points = np.unique(np.round([*np.quantile(scores, np.linspace(0, 1, TAIL_POINTS)), threshold], 4))
    shares = [((scores >= point).sum() + 0.5) / (len(scores) + 1.0) for point in points]
    pairs = list(zip(points.tolist(), map(float, shares), strict=True))
    if len(pairs) < 2:
        pairs.append((pairs[0][0] + 1.0, 0.5 / (len(scores) + 1.0)))
    return tuple(pairs)


def _interval(count: int, days: float) -> tuple[float, float]:
    """Return a range for the rate of rare events of which `count` were seen, of about 90 %."""
    spread = 1.64 * np.sqrt(count + 1.0)
    return max(0.0, count - spread) / days, (count + 1.0 + spread) / days
