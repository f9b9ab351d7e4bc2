import json

import numpy as np
import pytest

from graphghha.errors import ConfigError, DataError, NotFoundError, SchemaError
from graphghha.plants import Signal
from graphghha.windows import ScaleConfig, Scaler, Span, fit_scaler


def signal(name: str, noise: float, low: float = 0.0, high: float = 100.0) -> Signal:
    return Signal(name=name, meaning="", unit="1", low=low, high=high, noise=noise)


SIGNALS = (signal("temp", 0.1), signal("valve", 0.003, 0, 1), signal("mode", 0.0, 0, 2))
COLUMNS = ("temp", "valve", "mode", None, "temp", "valve", "mode", None)  # two zones, one node without signal each
SPANS = (Span("seed 1", 0, 4000),)


def normal_data(rows: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    values = np.full((rows, len(COLUMNS)), np.nan)
    values[:, [0, 4]] = rng.normal(20.0, 2.0, (rows, 2))
    values[:, [1, 5]] = np.where(rng.random((rows, 2)) < 0.9, 0.0, 0.6)  # shut most of the time: its quartiles agree
    values[:, [2, 6]] = 1.0
    return values, np.isfinite(values)


@pytest.fixture(scope="module")
def scaler() -> Scaler:
    return fit_scaler(*normal_data(), COLUMNS, SIGNALS, SPANS)


def test_a_normal_signal_gets_its_mean_and_standard_deviation(scaler):
    assert scaler.center[0] == pytest.approx(20.0, abs=0.1)
    assert scaler.scale[0] == pytest.approx(2.0, rel=0.05)


def test_a_signal_at_rest_most_of_the_time_is_scaled_by_its_excursions(scaler):
    assert scaler.center[1] == 0.0
    assert 0.1 < scaler.scale[1] < 0.6


def test_a_constant_signal_is_scaled_by_its_span_and_does_not_explode(scaler):
    assert scaler.scale[2] == pytest.approx(0.02)


def test_a_constant_noisy_signal_is_scaled_by_its_noise():
    values = np.full((50, 1), 7.0)
    fitted = fit_scaler(values, np.ones_like(values, bool), ("temp",), SIGNALS[:1], SPANS)
    assert fitted.scale == (pytest.approx(0.3),)


def test_a_few_wild_values_hardly_move_it():
    values, fresh = normal_data()
    clean = fit_scaler(values, fresh, COLUMNS, SIGNALS, SPANS)
    values[:15, 0] = 1e9
    wild = fit_scaler(values, fresh, COLUMNS, SIGNALS, SPANS)
    assert wild.scale[0] == pytest.approx(clean.scale[0], rel=0.1)


def test_what_is_not_fresh_or_absurd_stays_finite_and_bounded(scaler):
    columns = scaler.columns(COLUMNS)
    values = np.array([[1e308, -1e308, np.nan, np.nan, np.inf, 0.6, 1.0, 5.0]])
    fresh = np.array([[True, True, True, False, True, False, True, False]])
    scaled = columns(values, fresh)
    assert scaled.dtype == np.float32
    assert scaled.tolist() == [[10.0, -10.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]


def test_one_row_and_many_rows_give_the_same_bytes(scaler):
    values, fresh = normal_data(200)
    columns = scaler.columns(COLUMNS)
    assert columns(values, fresh).tobytes() == b"".join(
        columns(v, f).tobytes() for v, f in zip(values, fresh, strict=True)
    )


def test_it_survives_json_to_the_last_bit(scaler):
    assert Scaler.from_dict(json.loads(json.dumps(scaler.to_dict()))) == scaler


def test_it_remembers_what_it_saw(scaler):
    assert scaler.seen.spans == SPANS
    values, fresh = normal_data()
    values[0, 0] += 1e-9
    assert fit_scaler(values, fresh, COLUMNS, SIGNALS, SPANS).seen.digest != scaler.seen.digest


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"center": [0.0]},
        {"scale": [1.0, 0.0, 1.0]},
        {"scale": [1.0, float("nan"), 1.0]},
        {"clip": "wide"},
        {"seen": {}},
        {"signals": None},
    ],
    ids=["format", "length", "zero-scale", "nan", "text", "no-fingerprint", "no-signals"],
)
def test_a_damaged_file_is_refused(scaler, change):
    with pytest.raises(SchemaError):
        Scaler.from_dict(scaler.to_dict() | change)


def test_an_unknown_signal_is_refused(scaler):
    with pytest.raises(NotFoundError, match="pressure"):
        scaler.columns(("pressure",))


def test_a_signal_without_data_is_refused():
    values, fresh = normal_data(10)
    fresh[:, [0, 4]] = False
    with pytest.raises(DataError, match="temp"):
        fit_scaler(values, fresh, COLUMNS, SIGNALS, SPANS)


def test_fitting_without_saying_on_what_is_refused():
    with pytest.raises(DataError, match="leak"):
        fit_scaler(*normal_data(10), COLUMNS, SIGNALS, ())


def test_columns_must_fit():
    with pytest.raises(SchemaError, match="columns"):
        fit_scaler(*normal_data(10), COLUMNS[:3], SIGNALS, SPANS)


def test_impossible_settings_are_refused():
    with pytest.raises(ConfigError, match="clip"):
        ScaleConfig(clip=0.0)
