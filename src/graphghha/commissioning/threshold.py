"""The threshold of a site from its own days: the least one that keeps the alert budget, within floor and cap.

k kept rows, Z zones. Log-odds are those of a zone, averaged over a quarter of an hour.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

TRIED = np.arange(0.0, 15.0, 0.1)
APART = 12  # kept rows between two episodes: an hour
ZONES_OF_BUDGET = 12  # alert budgets are for a building of this many zones


def episodes(odds: Floats, threshold: float) -> int:
    """Count how often zones [k Z] rise above a threshold; rises less than an hour apart are one."""
    count = 0
    for zone in np.nan_to_num(odds, nan=-np.inf).T:
        above = np.flatnonzero(zone >= threshold)
        count += int(len(above) > 0) + int((np.diff(above) > APART).sum())
    return count


def own_threshold(odds: Floats, budget_per_day: float, rows_per_day: int) -> float:
    """Return the least threshold that a site's own days [k Z] exceed no more often than the budget allows."""
    allowed = budget_per_day * len(odds) / rows_per_day * odds.shape[1] / ZONES_OF_BUDGET
    for threshold in TRIED.tolist():
        if episodes(odds, threshold) <= allowed:
            return float(threshold)
    return float(TRIED[-1])
