"""From readings to windows: the same bytes live and in batch, nothing from the future, nothing from silent sensors."""

import numpy as np
import pytest

from builders import loop_template
from graphghha.errors import CheckpointError, GraphError, SchemaError
from graphghha.plants import Signal
from graphghha.windows import (
    FEATURE_NAMES,
    RECENT,
    Expectation,
    FeatureNorm,
    Featurizer,
    Preprocessing,
    Span,
    fit_scaler,
    noise_floor,
    reach,
)
from graphghha.windows.expectation import CLIP, WEIGHTS

TEMPLATE = loop_template()
SIGNALS = TEMPLATE.point_signals
ZONES = 3
GRAPH = TEMPLATE.replicate(ZONES)
POINTS = len(SIGNALS) * ZONES


def readings(rows: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(0, 0.1, (rows, POINTS)), axis=0) + 20


@pytest.fixture(scope="module")
def expectation() -> Expectation:
    rng = np.random.default_rng(1)
    count, recent, hidden = len(SIGNALS), len(RECENT.feature_names), 6
    shapes = {"W1": (count * recent, hidden), "b1": (1, hidden), "W2": (hidden, hidden), "b2": (1, hidden)}
    shapes |= {"W3": (hidden, 2), "b3": (1, 2)}
    weights = {name: rng.normal(0, 0.3, (count, *shape)).astype(np.float32) for name, shape in shapes.items()}
    mask = np.repeat(reach(TEMPLATE), recent, axis=1)[..., None]
    weights["W1"] *= mask
    return Expectation(weights, noise_floor([0.1] * count, np.ones(count)))


@pytest.fixture(scope="module")
def scaler():
    signals = [Signal(name=s, meaning="", unit="degC", low=0, high=50, noise=0.1) for s in SIGNALS]
    values = readings(500)
    return fit_scaler(values, np.ones(values.shape, bool), SIGNALS * ZONES, signals, [Span("normal", 0, 500)])


@pytest.fixture
def make(scaler, expectation):
    norm = FeatureNorm(np.zeros((len(SIGNALS), len(FEATURE_NAMES))), np.ones((len(SIGNALS), len(FEATURE_NAMES))))
    return lambda: Featurizer(GRAPH, TEMPLATE, Preprocessing(scaler, expectation, norm))


def push(featurizer, values, fresh=None, wanted=None):
    fresh = np.ones(values.shape, bool) if fresh is None else fresh
    return featurizer.push(values, fresh, np.ones(len(values), bool) if wanted is None else wanted)


def test_live_and_batch_give_the_same_bytes(make):
    values = readings(300)
    fresh = np.random.default_rng(2).random(values.shape) > 0.05
    whole = push(make(), values, fresh)
    live, parts = make(), []
    for row in range(300):
        parts.append(push(live, values[row : row + 1], fresh[row : row + 1]))
    assert np.concatenate([p.features for p in parts]).tobytes() == whole.features.tobytes()
    assert np.concatenate([p.known for p in parts]).tobytes() == whole.known.tobytes()
    assert np.concatenate([p.rows for p in parts]).tolist() == list(range(300))


def test_a_window_knows_nothing_of_the_future(make):
    values = readings(120)
    other = values.copy()
    other[80:] += 5
    before, after = (push(make(), v).features for v in (values, other))
    assert before[:80].tobytes() == after[:80].tobytes() and not np.array_equal(before[80], after[80])


def test_a_signal_never_explains_itself(expectation):
    rng = np.random.default_rng(3)
    count, recent = len(SIGNALS), len(RECENT.feature_names)
    inputs = rng.normal(size=(4, count * recent)).astype(np.float32)
    values = rng.normal(size=(4, count)).astype(np.float32)
    base = expectation.residuals(inputs, values)
    for own in range(count):
        changed = inputs.copy()
        changed[:, own * recent : (own + 1) * recent] += 10
        after = expectation.residuals(changed, values)
        assert np.array_equal(after[:, own], base[:, own])
    assert not np.diagonal(reach(TEMPLATE)).any()


def test_two_sensors_that_meet_at_an_actuator_explain_each_other():
    index = {TEMPLATE.signals[node]: number for number, node in enumerate(TEMPLATE.signal_nodes)}
    near = reach(TEMPLATE)
    assert near[index["flow"], index["temp"]], "both are moved by the pump"
    assert not near[index["outdoor"], index["valve"]], "three hops apart"


def test_residuals_are_finite_and_clipped_whatever_comes(expectation):
    wild = np.full((3, len(SIGNALS) * len(RECENT.feature_names)), 1e4, np.float32)
    found = expectation.residuals(wild, np.full((3, len(SIGNALS)), -1e4, np.float32))
    assert np.isfinite(found).all() and np.abs(found).max() <= CLIP


def test_hostile_readings_stay_finite_and_inside_the_limits(make):
    values = readings(50)
    values[20:, 0], values[30:, 1] = 1e308, -1e308
    features = push(make(), values).features
    assert np.isfinite(features).all() and np.abs(features).max() < 5


def test_a_silent_point_is_unknown_and_zero_and_equipment_is_as_fresh_as_its_neighbours(make):
    values = readings(30)
    fresh = np.ones(values.shape, bool)
    featurizer = make()
    silent = [featurizer.points.index(f"zone-02/{name}") for name in ("flow", "flow_pid", "temp")]
    fresh[:, silent[0]] = False
    one = push(make(), values, fresh)
    flow, pump = GRAPH.index("zone-02/flow"), GRAPH.index("zone-02/pump")
    assert not one.known[:, flow].any() and (one.features[:, flow] == 0).all()
    assert one.known[:, pump].all(), "the pump still has neighbours that speak"
    fresh[:, silent] = False
    assert not push(make(), values, fresh).known[:, pump].any()
    assert one.known[:, [GRAPH.index("zone-01/flow"), GRAPH.index("zone-01/pump")]].all()


def test_features_of_equipment_are_zero(make):
    assert (push(make(), readings(10)).features[:, GRAPH.index("zone-01/pump")] == 0).all()


def test_the_norm_puts_features_in_units_of_their_spread():
    rng = np.random.default_rng(4)
    raw = rng.normal(5, 3, (4000, 2, len(FEATURE_NAMES)))
    norm = FeatureNorm.fit(raw)
    assert np.allclose(norm.center, 5, atol=0.3) and np.allclose(norm.scale, 3, rtol=0.15)
    again = FeatureNorm.from_dict(norm.to_dict())
    assert again.center.tobytes() == norm.center.tobytes()
    with pytest.raises(CheckpointError, match="other features"):
        FeatureNorm.from_dict({**norm.to_dict(), "features": ["x"]})


def test_what_does_not_fit_is_named(make, scaler, expectation):
    with pytest.raises(SchemaError, match="do not fit"):
        push(make(), readings(5)[:, :4])
    shared = TEMPLATE.replicate(2, shared=["outdoor"])
    with pytest.raises(GraphError, match="must not share nodes"):
        Featurizer(shared, TEMPLATE, Preprocessing(scaler, expectation))
    for name in WEIGHTS:
        broken = {**expectation.weights, name: expectation.weights[name] * np.nan}
        with pytest.raises(CheckpointError, match="not finite"):
            Expectation(broken, expectation.floor)
    with pytest.raises(CheckpointError, match="W3"):
        Expectation({k: v for k, v in expectation.weights.items() if k != "W3"}, expectation.floor)


def test_a_reading_that_is_no_number_is_unknown_whatever_its_freshness_says(make):
    values = readings(6)
    broken, fresh = values.copy(), np.ones(values.shape, bool)
    broken[3:, 2] = np.nan
    fresh[3:, 2] = False
    told, untold = push(make(), values, fresh), push(make(), broken)
    assert (told.known == untold.known).all() and not untold.known.all()
    np.testing.assert_array_equal(told.features, untold.features)
