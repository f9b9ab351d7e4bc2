import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation_builders import DAY, STEP_S, building
from graphghha.alarms import AlarmRule, GroupRule, Proximity
from graphghha.errors import ConfigError, DataError
from graphghha.lab.metrics.budget import CANDIDATES, count_incidents, rule_at, threshold_for_budget
from graphghha.models import Thresholds
from graphghha.windows import Span

NEAR = Proximity(building(2))
RULE = AlarmRule(raise_at=0.8, clear_at=0.4, votes=2, window=3, clear_after=2)
GROUP = GroupRule(max_hops=9, linger=5)
SPANS = (Span("validation", 0, 2 * DAY),)


def find(recordings, budget_per_day=1.0, **options):
    fixed = {"budget_per_day": budget_per_day, "step_s": STEP_S, "spans": SPANS} | options
    return threshold_for_budget(recordings, NEAR, RULE, GROUP, **fixed)


def with_bursts(*scores: float, days: int = 2) -> np.ndarray:
    """Quiet normal days with one short burst per score, far apart in time."""
    probs = np.full((days * DAY, 8), 0.01)
    for number, score in enumerate(scores):
        at = 100 + 200 * number
        probs[at : at + 4, number % 8] = score
    return probs


def test_the_lowest_threshold_that_keeps_the_budget_is_found():
    result = find([with_bursts(0.95, 0.9, 0.8, 0.7)])
    assert (result.search.false_alarms, result.search.days) == (2, 2.0)
    assert 0.8 < result.rule.raise_at <= 0.9
    below = max(c for c in CANDIDATES if c < result.rule.raise_at)
    assert count_incidents([with_bursts(0.95, 0.9, 0.8, 0.7)], NEAR, rule_at(RULE, below), GROUP) > 2


@settings(max_examples=15)
@given(st.integers(0, 999), st.sampled_from([0.5, 1.0, 3.0]))
def test_the_budget_holds_on_the_data_it_was_found_on(seed, budget):
    rng = np.random.default_rng(seed)
    smooth = np.ones(20) / np.sqrt(20)
    noise = np.stack([np.convolve(rng.normal(0, 1, 2 * DAY), smooth, "same") for _ in range(8)], axis=1)
    probs = 1 / (1 + np.exp(4 - 2 * noise))  # bursts of minutes, rarely above a half
    result = find([probs[:DAY], probs[DAY:]], budget)
    count = count_incidents([probs[:DAY], probs[DAY:]], NEAR, result.rule, GROUP)
    assert 0 <= count == result.search.false_alarms <= budget * result.search.days
    assert result.search.curve[-1][1] > budget  # it stopped at a breach, not at the end of the candidates


def test_quiet_data_allow_the_lowest_candidate():
    assert find([with_bursts()]).rule.raise_at == min(CANDIDATES)


def test_hysteresis_and_delays_come_along():
    result = find([with_bursts(0.95, 0.9, 0.8)])
    assert result.rule.clear_at == pytest.approx(result.rule.raise_at / 2)
    assert (result.rule.votes, result.rule.window, result.rule.clear_after) == (2, 3, 2)


def test_the_curve_shows_every_threshold_tried():
    curve = find([with_bursts(0.95, 0.9, 0.8)]).search.curve
    assert [at for at, _ in curve] == sorted((at for at, _ in curve), reverse=True)
    assert curve[0][1] == 0.0 and curve[-1][1] == 1.5


def test_the_result_survives_json():
    result = find([with_bursts(0.9)])
    assert Thresholds.from_dict(json.loads(json.dumps(result.to_dict()))) == result


@pytest.mark.parametrize(
    ("error", "words", "make"),
    [
        (DataError, "at least 2.0 days", lambda: find([np.zeros((DAY, 8))], 0.5)),
        (DataError, "even raise_at", lambda: find([with_bursts(*[1.0] * 7)])),
        (DataError, "leak check", lambda: find([np.zeros((2 * DAY, 8))], spans=())),
        (ConfigError, "positive", lambda: find([np.zeros((DAY, 8))], 0.0)),
    ],
    ids=["too-little-data", "no-threshold", "no-spans", "no-budget"],
)
def test_what_cannot_be_promised_is_refused(error, words, make):
    with pytest.raises(error, match=words):
        make()
