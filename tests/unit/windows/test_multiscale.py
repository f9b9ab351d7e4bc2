import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphghha.errors import ConfigError, SchemaError
from graphghha.windows import (
    FEATURE_NAMES,
    HISTORY_ROWS,
    Grid,
    GridConfig,
    MultiScaleConfig,
    Ring,
    Summarizer,
    summarize,
)
from graphghha.windows.multiscale import BLOCK_ROWS

SMALL = MultiScaleConfig(lags_s=(0, 120), means_s=(60, 300, 1200), stds_s=(180, 600), missings_s=(300,))
LONG = MultiScaleConfig(means_s=(300, 3600, 72 * 3600), stds_s=(24 * 3600,), missings_s=(3600,))


def data(rows: int, points: int, seed: int = 0, missing: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = np.cumsum(rng.normal(0, 0.3, (rows, points)), axis=0).astype(np.float32)
    fresh = rng.random((rows, points)) >= missing
    return np.where(fresh, np.clip(values, -10, 10), np.nan).astype(np.float32), fresh


def reference(values: np.ndarray, fresh: np.ndarray, config: MultiScaleConfig) -> np.ndarray:
    """Features of the last row, one point and one window at a time."""

    def window(column, back, width):
        stop = len(values) - back
        rows = slice(max(0, stop - width), max(0, stop))
        return values[rows, column][fresh[rows, column]].astype(np.float64)

    def mean(part):
        return part.mean() if len(part) else 0.0

    out = []
    for column in range(values.shape[1]):
        row = [mean(window(column, lag // 60, 1)) for lag in config.lags_s]
        row += [mean(window(column, 0, w // 60)) for w in config.means_s]
        row += [part.std() if len(part := window(column, 0, w // 60)) else 0.0 for w in config.stds_s]
        row += [1 - len(window(column, 0, w // 60)) / (w // 60) for w in config.missings_s]
        out.append(row)
    return np.array(out)


def newest(values, fresh, config):
    """The features [p f] of the last row."""
    return summarize(values, fresh, config, first=len(values) - 1)[0]


@settings(max_examples=40)
@given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 999), st.sampled_from([0.0, 0.3, 0.9, 1.0]))
def test_features_are_what_the_definitions_say(rows, points, seed, missing):
    values, fresh = data(rows, points, seed, missing)
    found = newest(values, fresh, SMALL)
    np.testing.assert_allclose(found, reference(values, fresh, SMALL), atol=1e-4)


def test_a_model_reads_minutes_to_three_days_of_every_point():
    assert HISTORY_ROWS == 72 * 60 and len(FEATURE_NAMES) == len(set(FEATURE_NAMES)) == 18
    assert LONG.feature_names == ("lag_0s", "mean_300s", "mean_3600s", "mean_259200s", "std_86400s", "missing_3600s")


@settings(max_examples=25)
@given(st.data(), st.integers(1, 5), st.integers(0, 999))
def test_batch_and_any_live_chopping_give_the_same_bytes(draw, points, seed):
    rows = draw.draw(st.integers(1, 3 * BLOCK_ROWS))
    values, fresh = data(rows, points, seed)
    batch = summarize(values, fresh, SMALL)
    live, at, pieces = Summarizer(points, SMALL), 0, []
    while at < rows:
        step = draw.draw(st.sampled_from([1, 2, 17, BLOCK_ROWS, BLOCK_ROWS + 1]))
        part = slice(at, at + step)
        pieces.append(live.push(values[part], fresh[part], np.ones(len(values[part]), bool)))
        at += step
    assert np.concatenate(pieces).tobytes() == batch.tobytes()


def test_three_days_give_equal_bytes_from_a_long_file_row_by_row_and_ring():
    config = LONG
    rows, points, stride = config.history_rows + 2 * BLOCK_ROWS + 7, 4, 5
    values, fresh = data(rows, points, seed=5)
    batch = summarize(values, fresh, config, stride=stride, first=4)
    ring, live, found, from_ring = Ring(config.history_rows, points), Summarizer(points, config), [], []
    for row in range(rows):
        ring.append(row, values[row], fresh[row])
        is_due = row % stride == 4
        found.append(live.push(values[row : row + 1], fresh[row : row + 1], np.array([is_due])))
        if is_due and row > rows - 4 * stride:
            from_ring.append(newest(*ring.last()[1:], config))
    assert np.concatenate(found).tobytes() == batch.tobytes()
    assert np.stack(from_ring).tobytes() == batch[-len(from_ring) :].tobytes()


def test_readings_pushed_live_and_a_wide_file_give_the_same_features():
    rng = np.random.default_rng(8)
    rows, points = 300, ("a", "b")
    times = np.arange(rows) * 60_000
    wide = np.clip(rng.normal(0, 1, (rows, 2)), -10, 10)
    wide[rng.random((rows, 2)) < 0.1] = np.nan
    grid = Grid(points, GridConfig(), start_ms=0)
    grid.push_block(times, wide)
    closed = grid.advance(int(times[-1]))
    batch = summarize(closed.values.astype(np.float32), closed.fresh, SMALL)

    grid, ring, live = Grid(points, GridConfig(), start_ms=0), Ring(SMALL.history_rows, 2), []
    for time_ms, row in zip(times.tolist(), wide, strict=True):
        for name in ("b", "a"):
            grid.push(name, time_ms, row[points.index(name)])
        ring.extend(grid.advance(time_ms))
        live.append(newest(*ring.last()[1:], SMALL))
    assert np.stack(live).tobytes() == batch.tobytes()


def test_long_runs_at_the_limit_stay_exact():
    values = np.full((6_000, 1), 1e9)
    config = MultiScaleConfig(means_s=(72 * 3600,), stds_s=(72 * 3600,))
    features = dict(zip(config.feature_names, newest(values, np.ones((6_000, 1), bool), config)[0], strict=True))
    assert features["mean_259200s"] == 32.0
    assert features["std_259200s"] == 0.0


def test_a_point_that_never_spoke_is_all_zero_and_all_missing():
    values = np.full((10, 1), np.nan, np.float32)
    features = newest(values, np.zeros((10, 1), bool), SMALL)[0]
    assert features.tolist() == [0.0] * 7 + [1.0]


def test_rows_before_the_first_count_as_missing():
    features = newest(np.ones((1, 1)), np.ones((1, 1), bool), SMALL)[0]
    assert features[-1] == pytest.approx(0.8)


@pytest.mark.parametrize(
    "change",
    [
        {"means_s": (90,)},
        {"means_s": (0,)},
        {"lags_s": (-60,)},
        {"step_s": 0},
        {"means_s": (60 * 2**21,)},
        {"lags_s": ()},
    ],
    ids=["part-of-a-step", "no-length", "the-future", "no-step", "too-long", "no-feature"],
)
def test_impossible_windows_are_refused(change):
    with pytest.raises(ConfigError, match="multiscale"):
        MultiScaleConfig(**change)


def test_shapes_must_fit():
    with pytest.raises(SchemaError, match="3 points"):
        Summarizer(3, SMALL).push(np.zeros((2, 2)), np.ones((2, 2), bool), np.ones(2, bool))
