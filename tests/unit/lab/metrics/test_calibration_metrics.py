import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve

from graphghha.errors import SchemaError
from graphghha.lab.metrics.calibration_metrics import (
    brier_score,
    brier_skill,
    expected_calibration_error,
    reliability_curve,
)

pairs = st.integers(1, 60).flatmap(
    lambda n: st.tuples(hnp.arrays(np.bool_, n), hnp.arrays(np.float64, n, elements=st.floats(0, 1)))
)


@given(pairs)
def test_brier_score_is_that_of_scikit_learn(pair):
    truth, prob = pair
    assert brier_score(truth, prob) == pytest.approx(
        sk.brier_score_loss(truth, prob, pos_label=True, labels=[False, True])
    )


def test_the_curve_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    prob = rng.random(5_000)
    truth = rng.random(5_000) < prob**2
    frequency, confidence = calibration_curve(truth, prob, n_bins=15)
    curve = reliability_curve(truth, prob, lowest=0.0)
    np.testing.assert_allclose(curve.frequency, frequency)
    np.testing.assert_allclose(curve.confidence, confidence)


@given(pairs)
def test_skill_is_that_of_r_squared(pair):
    truth, prob = pair
    if 0 < truth.sum() < truth.size:
        assert brier_skill(truth, prob) == pytest.approx(sk.r2_score(truth.astype(float), prob))
    else:
        assert np.isnan(brier_skill(truth, prob))


def test_saying_the_prevalence_has_no_skill_and_knowing_has_all():
    truth = np.array([True, False, False, False])
    assert brier_skill(truth, np.full(4, 0.25)) == pytest.approx(0.0)
    assert brier_skill(truth, truth.astype(float)) == 1.0


def test_calibration_error_by_hand():
    """Two bins are filled: 0.9 said four times and right twice, 0.2 said twice and right never."""
    truth = np.array([1, 1, 0, 0, 0, 0, 0], bool)
    prob = np.array([0.9, 0.9, 0.9, 0.9, 0.2, 0.2, 0.01])
    assert expected_calibration_error(truth, prob) == pytest.approx((4 * 0.4 + 2 * 0.2) / 6)


def test_honest_probabilities_have_a_small_error_and_overconfident_ones_a_large_one():
    rng = np.random.default_rng(1)
    prob = rng.beta(0.3, 2.0, 200_000)
    truth = rng.random(prob.size) < prob
    assert expected_calibration_error(truth, prob) < 0.01
    assert expected_calibration_error(truth, np.clip(prob * 1.5, 0, 1)) > 0.05


@given(pairs, st.randoms(use_true_random=False))
def test_the_order_of_samples_does_not_matter(pair, random):
    truth, prob = pair
    order = list(range(len(truth)))
    random.shuffle(order)
    np.testing.assert_allclose(
        expected_calibration_error(truth[order], prob[order]), expected_calibration_error(truth, prob), atol=1e-12
    )


def test_small_and_unknown_probabilities_are_left_out():
    truth, prob = np.array([True, True, False]), np.array([0.04, np.nan, 0.8])
    assert reliability_curve(truth, prob).counts.sum() == 1
    assert np.isnan(expected_calibration_error(truth[:2], prob[:2]))
    assert np.isnan(brier_score(truth[1:2], prob[1:2]))


def test_an_edge_belongs_to_the_bin_above_it_and_one_to_the_last():
    edges = reliability_curve(np.ones(1, bool), np.ones(1)).edges
    assert reliability_curve(np.ones(16, bool), edges).counts.tolist() == [1] * 14 + [2]


@pytest.mark.parametrize(
    "prob", [np.array([1.5]), np.array([-0.1]), np.array([0.5, 0.5])], ids=["high", "low", "length"]
)
def test_what_is_no_probability_is_refused(prob):
    with pytest.raises(SchemaError, match="metrics"):
        brier_score(np.array([True]), prob)
