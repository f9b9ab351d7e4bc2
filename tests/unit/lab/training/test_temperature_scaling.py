import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss

from graphghha.errors import DataError, SchemaError
from graphghha.lab.metrics import expected_calibration_error
from graphghha.lab.training import fit_calibration
from graphghha.models import Calibration
from graphghha.windows import Span

SPANS = (Span("validation", 0, 100),)


def sample(seed: int, slope: float, bias: np.ndarray, n: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Logits and labels drawn from softmax(slope * logits + bias)."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 3, (n, len(bias)))
    noise = rng.gumbel(size=logits.shape)
    return logits, np.argmax(slope * logits + bias + noise, axis=1)


def test_the_true_temperature_and_biases_are_found():
    bias = np.array([0.0, -2.0, -1.0, 0.5])
    fitted = fit_calibration(*sample(0, 0.4, bias), SPANS)
    assert fitted.inverse_temperature == pytest.approx(0.4, abs=0.02)
    np.testing.assert_allclose(fitted.bias, bias, atol=0.15)
    assert fitted.bias[0] == 0.0


def test_one_bias_serves_all_attack_classes():
    bias = np.array([0.0, -2.0, -2.0, -2.0])
    fitted = fit_calibration(*sample(6, 0.7, bias), SPANS, biases="one")
    assert fitted.bias[0] == 0.0 and len(set(fitted.bias[1:])) == 1
    assert fitted.inverse_temperature == pytest.approx(0.7, abs=0.03)
    assert fitted.bias[1] == pytest.approx(-2.0, abs=0.15)


def test_temperature_alone_leaves_the_biases_at_zero():
    fitted = fit_calibration(*sample(1, 2.0, np.zeros(2)), SPANS, biases="none")
    assert fitted.bias == (0.0, 0.0)
    assert fitted.inverse_temperature == pytest.approx(2.0, rel=0.1)


@settings(max_examples=20)
@given(st.integers(0, 999), st.floats(0.1, 4.0), st.integers(2, 5))
def test_no_nearby_parameters_fit_better(seed, slope, classes):
    bias = np.random.default_rng(seed).normal(0, 1, classes)
    logits, labels = sample(seed, slope, bias, n=400)
    fitted = fit_calibration(logits, labels, SPANS)

    def loss(inverse_temperature, bias):
        other = Calibration(inverse_temperature, bias, fitted.seen)
        return log_loss(labels, np.clip(other(logits), 1e-12, 1), labels=range(classes))

    best = loss(fitted.inverse_temperature, fitted.bias)
    for factor in (0.9, 1.1):
        assert loss(fitted.inverse_temperature * factor, fitted.bias) >= best - 1e-4
    for number in range(1, classes):
        for shift in (-0.2, 0.2):
            moved = tuple(b + shift * (k == number) for k, b in enumerate(fitted.bias))
            assert loss(fitted.inverse_temperature, moved) >= best - 1e-4


@pytest.mark.slow
def test_rare_attacks_do_not_let_the_ridge_decide():
    """In life the mean loss is a thousandth of a nat: a pull that is nothing in a balanced sample wins there."""
    bias = np.array([0.0, -14.0])
    logits, labels = sample(5, 1.0, bias, n=400_000)
    assert 0.0002 < labels.mean() < 0.005
    assert fit_calibration(logits, labels, SPANS).bias[1] == pytest.approx(-14.0, abs=0.6)


def test_it_cures_overconfidence():
    bias = np.array([0.0, -3.0])
    fitted = fit_calibration(*sample(2, 0.3, bias), SPANS)
    logits, labels = sample(3, 0.3, bias)
    raw = np.exp(logits[:, 1]) / np.exp(logits).sum(axis=1)
    assert expected_calibration_error(labels == 1, raw) > 0.1
    assert expected_calibration_error(labels == 1, fitted(logits)[:, 1]) < 0.02


def test_separable_data_do_not_send_it_to_infinity():
    logits = np.array([[5.0, -5.0], [-5.0, 5.0]] * 50)
    fitted = fit_calibration(logits, np.array([0, 1] * 50), SPANS)
    assert 1.0 <= fitted.inverse_temperature < 10.0


def test_it_remembers_the_data_it_was_fitted_on():
    assert fit_calibration(*sample(4, 1.5, np.zeros(3), 200), SPANS).seen.spans == SPANS


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (SchemaError, lambda: fit_calibration(np.zeros((3, 2)), np.zeros(2, int), SPANS)),
        (DataError, lambda: fit_calibration(np.full((3, 2), np.nan), np.zeros(3, int), SPANS)),
        (DataError, lambda: fit_calibration(np.zeros((3, 2)), np.zeros(3, int), ())),
        (DataError, lambda: fit_calibration(-sample(0, 1.0, np.zeros(2))[0], sample(0, 1.0, np.zeros(2))[1], SPANS)),
    ],
    ids=["shapes", "nan", "no-spans", "upside-down"],
)
def test_what_cannot_be_calibrated_is_refused(error, make):
    with pytest.raises(error, match="calibration"):
        make()


def test_a_weight_stands_for_as_many_rows():
    z, y = sample(3, 0.5, np.array([0.0, -1.0, 0.3]), 4_000)
    times = np.random.default_rng(1).integers(1, 4, len(y))
    once = fit_calibration(z, y, SPANS, weights=times)
    often = fit_calibration(np.repeat(z, times, axis=0), np.repeat(y, times), SPANS)
    assert once.inverse_temperature == pytest.approx(often.inverse_temperature, abs=1e-6)
    assert once.bias == pytest.approx(often.bias, abs=1e-6)
