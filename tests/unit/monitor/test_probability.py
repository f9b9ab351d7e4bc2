"""A probability at another rate of events."""

import pytest

from graphghha.monitor.probability import (
    SiteRate,
    calibration_sentence,
    estimate_rate,
    likelihood,
    restate,
    restated_sentence,
)


def test_a_probability_at_the_rate_of_its_calibration_stays_what_it_is():
    assert restate(0.8, 10.0, 10.0) == pytest.approx(0.8)


def test_odds_shrink_as_events_become_rarer():
    assert restate(0.5, 90.0, 10.0) == pytest.approx(0.1)
    assert restate(0.5, 10.0, 90.0) == pytest.approx(0.9)
    assert restate(0.9, 90.0, 10.0) == pytest.approx(0.5)


def test_certainty_by_rounding_is_not_certainty_at_a_rare_rate():
    assert restate(1.0, 10_000.0, 10.0) == pytest.approx(0.6667, abs=1e-3)
    assert 0 < restate(0.0, 1.0, 10.0) < 0.01
    with pytest.raises(ValueError, match="must be positive"):
        restate(0.5, 0.0, 10.0)


def test_a_rate_needs_dispositions_of_most_incidents():
    assert estimate_rate(4, 4, 4, 100.0) is None, "too few"
    assert estimate_rate(5, 10, 30, 100.0) is None, "of a minority"
    assert estimate_rate(5, 10, 10, 0.0) is None
    assert estimate_rate(4, 9, 9, 450.0) == SiteRate(days_per_event=100.0, disposed=9)
    assert estimate_rate(4, 9, 18, 450.0) == SiteRate(days_per_event=50.0, disposed=9), "the others count alike"
    rate = estimate_rate(0, 10, 10, 100.0)
    assert rate is not None and rate.days_per_event == 200.0, "none so far is not never"


def test_sentences_say_what_they_assume():
    assert calibration_sentence(10.0) == "p is calibrated for one attack per zone in 10 days"
    text = restated_sentence(0.9, SiteRate(days_per_event=90.0, disposed=12), 10.0)
    assert "one event per zone in 90 days, p = 0.50" in text and "the 12 disposed incidents stand for all" in text
    assert [likelihood(p) for p in (0.97, 0.9998, 0.001)] == ["p = 0.97", "p > 0.99", "p < 0.01"]
