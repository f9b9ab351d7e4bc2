"""Curves over all thresholds compare methods at equal false-alarm rates, whatever the scale of their scores."""

import numpy as np
import pytest

from evaluation_builders import DAY, recording, two_attacks
from graphghha.alarms import AlarmRule, GroupRule
from graphghha.lab.metrics.budget_curve import best_within, budget_curve, candidate_thresholds, rule_within_budget
from graphghha.windows import Span

RULE, GROUP = AlarmRule(raise_at=0.5, clear_at=0.3, votes=1, window=1, clear_after=5), GroupRule(linger=5)


def test_more_attacks_are_detected_with_more_false_alarms():
    curve = budget_curve([two_attacks()], RULE, GROUP, most_per_day=10, false_alarm_rate=1.0)
    rates = [point.false_alarms_per_day for point in curve]
    assert [point.raise_at for point in curve] == sorted((point.raise_at for point in curve), reverse=True)
    assert rates[0] == 0 and rates == sorted(rates)
    assert best_within(curve, 0).event_recall == 0.5 and best_within(curve, 0).hit_at_1 == 0.5
    # the hard one is found with its root misplaced, which is a false alarm as well
    assert best_within(curve, 1).event_recall == 0.5 and best_within(curve, 2).event_recall == 1.0
    assert best_within(curve[-1:], -1) is None


def test_the_candidates_depend_only_on_the_order_of_scores():
    original = two_attacks()
    squeezed = recording((1 - original.probs[..., 0]) ** 3)
    for one, other in zip(candidate_thresholds([original]), candidate_thresholds([squeezed]), strict=True):
        assert other == pytest.approx(one**3, rel=1e-3, abs=1e-6)


def test_a_method_that_keeps_no_budget_gets_its_highest_threshold():
    quiet, loud = (recording(np.full((DAY, 8), value, np.float32), ()) for value in (0.2, 1.0))
    search = {"budget_per_day": 1.0, "spans": [Span("normal", 0, DAY)]}
    rule, kept = rule_within_budget([loud], RULE, GROUP, **search)
    assert not kept and rule.raise_at == 1.0
    blip = recording(np.where(np.arange(DAY)[:, None] == 7, 0.9, quiet.attack), ())
    rule, kept = rule_within_budget([blip], RULE, GROUP, **search | {"budget_per_day": 20.0})
    assert kept and rule.raise_at == pytest.approx(0.2)


def test_the_search_is_fine_where_scores_are_rare():
    """Nothing but a few high scores: quantiles alone would leave the threshold at the highest of them."""
    scores = np.full((DAY, 8), 0.01, np.float32)
    scores[100:130, 1], scores[700:730, 1] = 0.99, 0.5
    search = {"budget_per_day": 1.0, "spans": [Span("normal", 0, DAY)]}
    rule, kept = rule_within_budget([recording(scores, ())], RULE, GROUP, **search)
    assert kept and 0.5 < rule.raise_at < 0.56
