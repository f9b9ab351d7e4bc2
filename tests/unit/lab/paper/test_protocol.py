"""Samples are segments of a year at one offset; cases are compared with as many normal samples."""

import numpy as np
import pytest

from graphghha.errors import ConfigError
from graphghha.lab.paper.protocol import (
    NORMAL,
    Year,
    featurize_year,
    paper_scores,
    sample_scores,
    score_year,
    threshold_at,
    year_run,
)
from graphghha.models import load_model, shipped_model
from graphghha.plants import load_plant

CASES = ("A", "B", NORMAL)


def year(windows: int = 12) -> Year:
    """Node 0 of zone z at window w holds 100 w + z."""
    features = np.zeros((windows, 3, 2, 1), np.float16)
    features[..., 0, 0] = 100 * np.arange(windows)[:, None] + np.arange(3)
    return Year(CASES, features, np.ones((windows, 3), bool))


def test_segments_lie_one_after_the_other_and_share_the_offset():
    assert year().segments(4).tolist() == [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]
    assert year(13).segments(4).tolist() == year().segments(4).tolist(), "the rest of the year goes unused"
    assert year().segments(1, most=3).tolist() == [[0], [5], [11]]
    with pytest.raises(ConfigError, match="12 windows"):
        year().segments(13)


def test_every_zone_of_a_sample_comes_from_the_same_case_in_another_season():
    seen = []

    def score(features):
        seen.append(features[..., 0, 0].copy())
        return np.full((*features.shape[:3], 4), 0.25)

    score_year(year(), score, 3, batch_zones=6)
    assert seen[0].tolist() == [[0, 400, 800], [100, 500, 900]]
    assert seen[-1].tolist() == [[202, 602, 1002], [302, 702, 1102]]


def test_a_sample_scores_by_its_worst_node_averaged_over_zones():
    probs = np.zeros((1, 2, 2, 4))
    probs[..., 0] = 0.5
    probs[0, :, 1, 0] = 0.1, 0.4
    assert sample_scores(probs)[0] == pytest.approx((np.log(9) + np.log(1.5)) / 2)


def test_cases_are_judged_against_normal_samples_and_hidden_ones_left_out():
    scores = np.array([[3.0, 3.0, 0.0, 0.0], [3.0, 3.0, 3.0, 3.0], [0.0, 0.0, 0.0, 3.0]])
    observable = np.array([[True, True, False, False], [True] * 4, [False] * 4])
    found = paper_scores(CASES, scores, observable, threshold=1.0)
    assert found.false_rate == 0.25
    assert found.by_case["A"].r == 1.0 and found.scores.f1 == pytest.approx(2 / 2.25)
    assert found.raw.f1 == pytest.approx((2 * 0.5 / 1.75 + 2 / 2.25) / 2)
    assert found.ceiling == pytest.approx((2 * 0.5 / 1.5 + 1.0) / 2)
    always = paper_scores(CASES, scores, observable, threshold=-1.0)
    assert always.scores.f1 == pytest.approx(2 / 3)


def test_the_threshold_lets_through_the_stated_share_of_the_worst_normal_year():
    mild, harsh = np.random.default_rng(0).normal([[[-1.0]], [[0.0]]], 1.0, size=(2, 4, 1000))
    threshold = threshold_at([mild, harsh], 0.01)
    assert (harsh >= threshold).mean() == pytest.approx(0.01, abs=0.001) and (mild >= threshold).mean() < 0.002


def test_a_year_is_the_same_unit_with_and_without_attack():
    """The reference unit, one zone per case: they differ by their case and their noise alone."""
    plant, model = load_plant("fcu"), load_model(shipped_model("fcu"))
    cases = ("FCU_VLVStuck_Heating_100", NORMAL, NORMAL)
    assert year_run(cases, 3).nominal
    found = featurize_year(plant, cases, 3, model.preprocessing, days=1, stride_min=240)
    assert found.features.shape[:3] == (6, 3, 32) and found.observable[:, 0].any() and not found.observable[:, 1:].any()
    attacked, one, other = (found.features[:, zone].astype(float) for zone in range(3))
    assert np.abs(one - other).mean() < 0.2 * np.abs(one - attacked).mean()
