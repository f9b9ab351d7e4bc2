"""Event-driven scoring: equal to the engine without tolerances, bounded with them, cheap where little moves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_builders import masks, model, plant, windows
from graphghha.engine import Engine, IncrementalEngine
from graphghha.errors import ConfigError, DataError, SchemaError

pytestmark = pytest.mark.slow

ZONE = plant(24)
GRAPH = ZONE.replicate(8)
MODEL = model(ZONE, seed=3)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(MODEL, GRAPH, backend="native")


def moved(x: np.ndarray, nodes: list[int], by: float = 0.5) -> np.ndarray:
    y = x.copy()
    y[nodes] += np.float32(by)
    return y


@pytest.mark.parametrize("masked", [False, True], ids=["all-present", "some-absent"])
def test_without_tolerances_the_bits_are_those_of_the_engine(engine, masked):
    events = IncrementalEngine(MODEL, GRAPH)
    mask = masks(GRAPH)[0] if masked else None
    x = windows(GRAPH)[0]
    for step in range(4):
        np.testing.assert_array_equal(events.score(x, mask), engine.score(x, mask))
        x = moved(x, [step, 50 + step])


def test_a_mask_that_its_owner_changes_in_place_is_noticed(engine):
    events = IncrementalEngine(MODEL, GRAPH, tolerance=0.1)
    x, mask = windows(GRAPH)[0], np.ones((1, GRAPH.num_nodes), bool)
    events.score(x, mask)
    mask[0, 5] = False
    np.testing.assert_array_equal(events.score(x, mask), engine.score(x, mask))


def test_nothing_moved_means_nothing_is_computed(engine):
    events = IncrementalEngine(MODEL, GRAPH, tolerance=0.1)
    x = windows(GRAPH)[0]
    first = events.score(x)
    np.testing.assert_array_equal(events.score(x + np.float32(0.05)), first)
    assert events.last.share == 0.0 and not events.last.full


def test_a_change_in_one_zone_recomputes_that_zone_alone(engine):
    events = IncrementalEngine(MODEL, GRAPH, state_tolerance=0.5)
    x = windows(GRAPH)[0]
    before = events.score(x)
    after = events.score(moved(x, [0]))
    assert not events.last.full and events.last.changed == 1 and 0 < events.last.share < 1 / 8
    np.testing.assert_array_equal(after[24:], before[24:])
    assert np.abs(after[:24] - before[:24]).max() > 1e-4


def test_the_state_is_exact_however_many_events_went_before(engine):
    events = IncrementalEngine(MODEL, GRAPH, state_tolerance=1e9)
    rng = np.random.default_rng(0)
    x = windows(GRAPH)[0]
    events.score(x)
    for _ in range(30):
        x = moved(x, rng.choice(GRAPH.num_nodes, 3, replace=False).tolist(), rng.normal())
        events.score(x)
    # every node at once: what comes out depends on the kept state only through this call
    np.testing.assert_array_equal(events.score(x, changed=np.ones(GRAPH.num_nodes, bool)), engine.score(x))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), state_tolerance=st.sampled_from([0.01, 0.05, 0.2]))
def test_the_error_is_bounded_by_the_tolerances(engine, seed, state_tolerance):
    rng = np.random.default_rng(seed)
    events = IncrementalEngine(MODEL, GRAPH, tolerance=0.02, state_tolerance=state_tolerance)
    x = windows(GRAPH, seed=seed)[0]
    for _ in range(8):
        x = x + rng.normal(0, 0.01, x.shape).astype(np.float32)
        x = moved(x, rng.choice(GRAPH.num_nodes, 2, replace=False).tolist(), rng.normal())
        error = np.abs(events.score(x) - engine.score(x)).max()
        assert events.last.drift <= state_tolerance
        assert error < 0.05 + state_tolerance


def test_slow_drifts_are_not_missed(engine):
    events = IncrementalEngine(MODEL, GRAPH, tolerance=0.1, state_tolerance=0.5)
    x = windows(GRAPH)[0]
    events.score(x)
    changed = []
    for _ in range(6):
        x = moved(x, [5], 0.04)
        events.score(x)
        changed.append(events.last.changed)
    assert changed == [0, 0, 1, 0, 0, 1]


def test_a_changed_mask_starts_over(engine):
    events = IncrementalEngine(MODEL, GRAPH, tolerance=1.0, state_tolerance=1.0)
    x, mask = windows(GRAPH)[0], masks(GRAPH)[0]
    events.score(x)
    np.testing.assert_array_equal(events.score(x, mask), engine.score(x, mask))
    assert events.last.full


def test_a_refused_window_leaves_no_trace(engine):
    events = IncrementalEngine(MODEL, GRAPH)
    x = windows(GRAPH)[0]
    events.score(x)
    broken = x.copy()
    broken[3, 0] = np.nan
    with pytest.raises(DataError, match="features of node 3"):
        events.score(broken)
    np.testing.assert_array_equal(events.score(x), engine.score(x))


def test_impossible_requests_are_refused():
    with pytest.raises(ConfigError, match="must not be negative"):
        IncrementalEngine(MODEL, GRAPH, tolerance=-1.0)
    with pytest.raises(SchemaError, match="one window at a time"):
        IncrementalEngine(MODEL, GRAPH).score(windows(GRAPH, 2))
