"""Figures for alarms in time, on cases that can be worked out by hand."""

import numpy as np
import pytest

from graphghha.lab.metrics.ranges import (
    affiliation_f1,
    batadal_s,
    etapr_f1,
    merge_close,
    onset_balanced_accuracy,
    point_scores,
    range_f1,
    ranges,
    vus_pr,
)


def rows(length, *spans):
    found = np.zeros(length, np.bool_)
    for start, stop in spans:
        found[start:stop] = True
    return found


TRUTH = rows(100, (40, 60))


def test_a_perfect_detector_scores_one_everywhere():
    attacks = ranges(TRUTH)
    assert point_scores(TRUTH, TRUTH) == (1, 1, 1)
    assert range_f1(attacks, attacks) == etapr_f1(attacks, attacks) == 1
    assert affiliation_f1(TRUTH, TRUTH) == pytest.approx(1)
    assert batadal_s(TRUTH, TRUTH, attacks) == onset_balanced_accuracy(TRUTH, TRUTH, attacks, 10) == 1
    assert vus_pr(TRUTH, TRUTH.astype(float)) > 0.85


def test_silence_scores_nothing():
    never = rows(100)
    assert range_f1(ranges(TRUTH), []) == etapr_f1(ranges(TRUTH), []) == affiliation_f1(TRUTH, never) == 0
    assert batadal_s(TRUTH, never, ranges(TRUTH)) == pytest.approx(0.25), "half of the rate of quiet rows"


def test_range_f1_by_hand():
    # half of the attack in one alarm, and one alarm outside: recall 1/2, precision (1 + 0) / 2
    assert range_f1([(40, 60)], [(40, 50), (80, 90)]) == pytest.approx(0.5)


def test_etapr_does_not_count_a_touch_as_detection():
    assert etapr_f1([(0, 100)], [(95, 100)]) == 0, "5 % of the attack is less than the share that detects it"
    assert etapr_f1([(0, 100)], [(0, 50)]) == pytest.approx(2 * 1 * 0.75 / 1.75)


def test_affiliation_rewards_nearness():
    near, far = rows(100, (62, 66)), rows(100, (92, 96))
    assert affiliation_f1(TRUTH, near) > affiliation_f1(TRUTH, far) > 0


def test_a_late_alarm_costs_time_to_detection():
    late = rows(100, (50, 60))
    assert batadal_s(TRUTH, late, [(40, 60)]) == pytest.approx(0.5 * 0.5 + 0.5 * (0.5 + 1) / 2)


def test_ranges_end_with_their_recording_and_close_ones_are_one():
    assert ranges(rows(10, (2, 8)), breaks=[5]) == [(2, 5), (5, 8)]
    assert merge_close([(0, 2), (4, 6), (20, 22)], gap=3) == [(0, 6), (20, 22)]
    assert merge_close([(0, 2), (4, 6)], gap=3, breaks=[3]) == [(0, 2), (4, 6)]


def test_vus_prefers_a_score_that_rises_in_the_attack():
    noise = np.random.default_rng(0).random(100)
    assert vus_pr(TRUTH, noise + 2 * TRUTH) > vus_pr(TRUTH, noise) + 0.3
