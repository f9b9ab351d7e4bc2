import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.errors import ConfigError, SchemaError
from graphghha.windows import Counters, Grid, GridConfig, Outcome, Rows

POINTS = ("a", "b", "c")
STEP = 60_000
CONFIG = GridConfig(step_ms=STEP, stale_after_ms=2 * STEP, horizon_rows=12)

odd_values = st.sampled_from([math.nan, math.inf, -math.inf, 1e308, 0.0, -0.0])
readings = st.lists(
    st.tuples(
        st.sampled_from((*POINTS, "nobody")),
        st.integers(-2 * STEP, 14 * STEP).map(lambda t: t // 7_500 * 7_500),
        st.one_of(st.integers(-3, 3).map(float), odd_values),
    ),
    max_size=40,
)


def grid() -> Grid:
    return Grid(POINTS, CONFIG, start_ms=0)


def same_bytes(one: Rows, other: Rows) -> bool:
    return all(getattr(one, f.name).tobytes() == getattr(other, f.name).tobytes() for f in fields(Rows))


def test_a_row_takes_the_latest_reading_of_its_step():
    g = grid()
    for time_ms, value in ((1, 1.0), (STEP, 3.0), (STEP - 1, 2.0), (STEP + 1, 9.0)):
        g.push("a", time_ms, value)
    rows = g.advance(STEP)
    assert rows.times_ms.tolist() == [0, STEP]
    assert rows.values[1, 0] == 3.0
    assert g.counters == Counters(accepted=3, superseded=1, out_of_order=1, gap=0, stale=5)


def test_a_value_is_held_until_it_is_stale_and_then_not_shown():
    g = grid()
    g.push("a", 0, 5.0)
    rows = g.advance(4 * STEP)
    assert rows.fresh[:, 0].tolist() == [True, True, True, False, False]
    assert np.isnan(rows.values[3:, 0]).all()
    assert (g.counters.gap, g.counters.stale) == (2, 2 + 2 * 5), "the two other points were never read"


@pytest.mark.parametrize(
    ("reading", "outcome"),
    [
        pytest.param(("a", 3 * STEP, 1.0), Outcome.ACCEPTED, id="in-time"),
        pytest.param(("a", 3 * STEP - 5, 7.0), Outcome.ACCEPTED, id="late-within-the-watermark"),
        pytest.param(("b", 3 * STEP - 5, 7.0), Outcome.SUPERSEDED, id="older-than-what-its-step-holds"),
        pytest.param(("b", 3 * STEP, 1.0), Outcome.DUPLICATE, id="twice"),
        pytest.param(("b", 3 * STEP, 2.0), Outcome.CONFLICT, id="twice-with-another-value"),
        pytest.param(("a", 2 * STEP, 1.0), Outcome.LATE, id="its-row-is-closed"),
        pytest.param(("b", STEP, 4.0), Outcome.DUPLICATE, id="twice-after-its-row-closed"),
        pytest.param(("a", 14 * STEP + 1, 1.0), Outcome.AHEAD, id="beyond-the-open-rows"),
        pytest.param(("a", 2**80, 1.0), Outcome.AHEAD, id="absurdly-far-ahead"),
        pytest.param(("a", -(2**80), 1.0), Outcome.LATE, id="absurdly-late"),
        pytest.param(("a", 3 * STEP, math.nan), Outcome.NOT_FINITE, id="nan"),
        pytest.param(("a", 3 * STEP, -math.inf), Outcome.NOT_FINITE, id="infinite"),
        pytest.param(("zz", 3 * STEP, 1.0), Outcome.UNKNOWN_POINT, id="unknown-point"),
    ],
)
def test_every_reading_has_a_named_and_counted_outcome(reading, outcome):
    g = grid()
    g.push("b", STEP, 4.0)
    g.advance(2 * STEP)
    g.push("b", 3 * STEP, 1.0)
    before = g.counters
    assert g.push(*reading) is outcome
    name = outcome.name.lower()
    assert getattr(g.counters, name) == getattr(before, name) + 1
    assert g.counters.readings == before.readings + 1


def test_of_two_values_for_one_moment_the_larger_stays_whatever_the_order():
    for values in ((1.0, 2.0), (2.0, 1.0)):
        g = grid()
        for value in values:
            g.push("a", 0, value)
        assert g.advance(0).values[0, 0] == 2.0


@given(readings, st.randoms(use_true_random=False))
def test_any_order_before_the_watermark_gives_the_same_rows(pushed, random):
    one, other = grid(), grid()
    for reading in pushed:
        one.push(*reading)
    shuffled = list(pushed)
    random.shuffle(shuffled)
    for reading in shuffled:
        other.push(*reading)
    assert same_bytes(one.advance(11 * STEP), other.advance(11 * STEP))
    assert one.counters.readings == other.counters.readings == len(pushed)


@given(readings, st.integers(1, 3))
def test_duplicates_change_nothing(pushed, times):
    clean, noisy = grid(), grid()
    for reading in pushed:
        clean.push(*reading)
        for _ in range(times + 1):
            noisy.push(*reading)
    assert same_bytes(clean.advance(11 * STEP), noisy.advance(11 * STEP))


@given(readings, st.lists(st.integers(-STEP, 11 * STEP), max_size=6))
def test_the_pieces_in_which_time_advances_do_not_matter_once_all_readings_are_in(pushed, stops):
    whole, pieces = grid(), grid()
    for reading in pushed:
        whole.push(*reading)
        pieces.push(*reading)
    parts = [pieces.advance(stop) for stop in [*sorted(stops), 11 * STEP]]
    joined = Rows(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Rows)))
    assert same_bytes(joined, whole.advance(11 * STEP))
    assert whole.counters == pieces.counters


wide_blocks = st.lists(
    st.tuples(
        st.lists(st.integers(-STEP, 13 * STEP).map(lambda t: t // 15_000 * 15_000), min_size=0, max_size=8),
        st.integers(0, 3 * STEP),  # how far time moves on after the block
        st.booleans(),  # sorted and one per step, as files usually are
        st.integers(0, 2**32 - 1),
    ),
    max_size=4,
)


@given(wide_blocks)
def test_wide_blocks_give_the_bytes_and_counts_of_single_readings(blocks):
    columnar, single = grid(), grid()
    now = 0
    for times, leap, tidy, seed in blocks:
        if tidy:
            times = sorted({-(-t // STEP): t for t in times}.values())
        values = np.random.default_rng(seed).integers(-2, 3, (len(times), len(POINTS))).astype(float)
        values[values == -2] = np.nan
        values[values == 0] = -0.0
        columnar.push_block(np.array(times, np.int64), values)
        for time_ms, row in zip(times, values, strict=True):
            for point, value in zip(POINTS, row.tolist(), strict=True):
                single.push(point, time_ms, value)
        now += leap
        assert same_bytes(columnar.advance(now), single.advance(now))
        assert columnar.counters == single.counters
    assert same_bytes(columnar.advance(12 * STEP), single.advance(12 * STEP))


@given(st.lists(st.tuples(readings, st.integers(0, 3 * STEP), st.booleans()), max_size=4))
def test_long_columns_give_the_bytes_and_counts_of_single_readings(blocks):
    columnar, single = grid(), grid()
    now = 0
    for pushed, leap, tidy in blocks:
        pushed = sorted(pushed, key=lambda reading: reading[1]) if tidy else pushed
        columns = np.array([(*POINTS, "nobody").index(point) for point, _, _ in pushed], np.int32)
        times = np.array([time_ms for _, time_ms, _ in pushed], np.int64)
        columnar.push_columns(columns, times, np.array([value for _, _, value in pushed], np.float64))
        for reading in pushed:
            single.push(*reading)
        now += leap
        assert same_bytes(columnar.advance(now), single.advance(now))
        assert columnar.counters == single.counters


@given(readings, st.integers(0, 13 * STEP), readings)
def test_a_grid_restored_from_its_state_goes_on_as_if_nothing_had_happened(before, now, after):
    whole = grid()
    for reading in before:
        whole.push(*reading)
    whole.advance(now)
    restored = Grid.from_state(whole.to_state(), POINTS, CONFIG)
    for reading in after:
        assert whole.push(*reading) == restored.push(*reading)
    assert same_bytes(whole.advance(now + 4 * STEP), restored.advance(now + 4 * STEP))
    assert whole.counters == restored.counters


def test_a_row_says_whether_anything_was_heard_in_it():
    g = grid()
    g.push("b", STEP, 1.0)
    g.push("c", STEP, math.nan)
    assert g.advance(3 * STEP).heard.tolist() == [False, True, False, False]


def test_after_a_long_silence_rows_come_in_bounded_pieces():
    g = grid()
    g.push("a", 0, 1.0)
    lengths = []
    while len(rows := g.advance(29 * STEP)):
        lengths.append(len(rows))
    assert lengths == [12, 12, 6]
    assert g.next_time_ms == 30 * STEP


def test_advancing_to_the_past_closes_nothing():
    g = grid()
    g.advance(STEP)
    assert len(g.advance(0)) == 0
    assert g.next_time_ms == 2 * STEP


def test_rows_stand_on_whole_steps_whatever_the_start():
    g = Grid(POINTS, CONFIG, start_ms=1)
    assert g.advance(2 * STEP).times_ms.tolist() == [STEP, 2 * STEP]


@pytest.mark.parametrize(
    "change", [{"step_ms": 0}, {"stale_after_ms": -1}, {"horizon_rows": 0}], ids=lambda c: next(iter(c))
)
def test_impossible_settings_are_refused(change):
    with pytest.raises(ConfigError, match=next(iter(change))):
        GridConfig(**change)


@pytest.mark.parametrize("points", [(), ("a", "a")], ids=["none", "twice"])
def test_points_must_be_named_once(points):
    with pytest.raises(ConfigError, match="each point once"):
        Grid(points, CONFIG, start_ms=0)


def test_a_block_of_the_wrong_width_is_refused():
    with pytest.raises(SchemaError, match=r"\(2, 2\)"):
        grid().push_block(np.array([0, STEP]), np.zeros((2, 2)))


def test_silence_of_a_point_means_unchanged_while_its_device_is_heard():
    config = GridConfig(step_ms=STEP, stale_after_ms=STEP, unchanged_for_ms=3 * STEP, horizon_rows=40)
    points = ("one/valve", "one/temp", "two/valve", "two/temp")
    g = Grid(points, config, start_ms=0)
    g.push("one/valve", 0, 0.4)
    g.push("two/valve", 0, 0.7)
    for minute in range(10):
        g.push("one/temp", minute * STEP, 20.0 + minute)
    rows = g.advance(15 * STEP)
    held = {point: np.flatnonzero(rows.fresh[:, column]).tolist() for column, point in enumerate(points)}
    assert held["one/valve"] == list(range(13)), "until three minutes after the last reading of its device"
    assert held["two/valve"] == [0, 1, 2, 3]
    assert held["two/temp"] == [], "a point that was never heard has no value to keep"
    assert rows.values[12, 0] == 0.4 and np.isnan(rows.values[13, 0])


def test_a_point_that_is_called_bad_is_not_unchanged():
    config = GridConfig(step_ms=STEP, stale_after_ms=STEP, unchanged_for_ms=30 * STEP, horizon_rows=40)
    g = Grid(("one/valve", "one/temp"), config, start_ms=0)
    g.push("one/valve", 0, 0.4)
    for minute in range(10):
        g.push("one/temp", minute * STEP, 20.0)
    g.withdraw(np.array([0], np.int32), np.array([3 * STEP]))
    g.push("one/valve", 6 * STEP, 0.5)
    rows = g.advance(7 * STEP)
    assert np.flatnonzero(rows.fresh[:, 0]).tolist() == [0, 1, 2, 6, 7]
    g.withdraw(np.array([0], np.int32), np.array([7 * STEP]))  # its row is closed: what follows is unknown
    assert not g.advance(9 * STEP).fresh[:, 0].any()
