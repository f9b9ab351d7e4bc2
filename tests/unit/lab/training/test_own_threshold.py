"""The threshold of a plant of the user's own keeps its alert budget, and does not stand in alarm to keep it."""

import numpy as np

from graphghha.lab.training.own_threshold import MOST_IN_ALARM, fit_threshold
from graphghha.windows.own_plan import OwnPlan

HOURLY = OwnPlan.for_unit(3600, 300)


def test_a_generous_budget_does_not_end_in_an_alarm_that_never_ends():
    """At a low threshold everything is one alarm, which is fewer than the budget allows."""
    unusual = np.random.default_rng(0).gamma(4.0, 0.2, (24 * 100, 6))
    rule, record = fit_threshold([unusual], HOURLY, budget_per_day=1.0)
    assert 0.01 < record["in_alarm"] <= MOST_IN_ALARM
    assert record["false_alarms"] < 100 and rule.threshold > 1


def test_a_strict_budget_decides_before_the_time_in_alarm():
    unusual = np.random.default_rng(0).gamma(4.0, 0.2, (24 * 100, 6))
    strict, record = fit_threshold([unusual], HOURLY, budget_per_day=0.05)
    assert record["false_alarms"] <= 5 and record["in_alarm"] < MOST_IN_ALARM / 2
    assert strict.threshold > fit_threshold([unusual], HOURLY, budget_per_day=1.0)[0].threshold
