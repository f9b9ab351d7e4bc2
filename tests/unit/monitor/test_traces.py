"""What recent readings show: replayed and held ones, settings that moved."""

import numpy as np
import pytest

from graphghha.monitor.traces import has_moved, is_held, is_repeated, moved_alone, moves

DAY = 1440


def noisy(rows=1500, seed=0, digits=2):
    return np.random.default_rng(seed).normal(20.0, 0.1, rows).round(digits).astype(np.float32)


@pytest.mark.parametrize("lag", [40, 600, 1440])
def test_a_replay_repeats_earlier_readings_to_the_last_digit(lag):
    values = noisy()
    assert not is_repeated(values)
    values[-40:] = values[-40 - lag : -lag]
    assert is_repeated(values)


def test_what_is_coarse_slow_or_regular_repeats_by_itself():
    assert not is_repeated(np.full(1500, 20.0))
    assert not is_repeated(np.tile([20.0, 20.5], 750)), "two levels"
    assert not is_repeated(np.repeat(np.arange(150.0) % 7, 10)), "held for ten rows each"


def test_with_a_gap_or_little_history_nothing_is_claimed():
    values = noisy()
    values[-40:] = values[-80:-40]
    values[-3] = np.nan
    assert not is_repeated(values)
    assert not is_repeated(noisy(50))


def test_a_reading_that_stops_to_vary_is_held():
    values = noisy()
    assert not is_held(values)
    values[-40:] = values[-41]
    assert is_held(values)
    values[-1] = np.nan
    assert not is_held(values), "a silent point is unknown, not held"


def test_readings_that_are_often_the_same_for_long_are_not_held():
    values = np.repeat(noisy(75), 20)  # reported by change
    values[-50:] = values[-50]
    assert not is_held(values)
    fresh = noisy(500)
    fresh[-40:] = fresh[-41]
    assert not is_held(fresh), "too little history"


def settings(rows=1500):
    """Three zones whose setpoint moves at rows 360 and 1080, times of the day."""
    values = np.full((rows, 3), 24.0)
    values[360:1080] = 22.0
    return values


def alone(values):
    return moved_alone(values[:, 0], values[:, 1:], 0.1, 240, 60, DAY)


def test_a_setpoint_that_moves_when_none_ever_does_moved_alone():
    values = settings()
    assert alone(values) is None
    values[1400:, 0] = 19.0
    assert alone(values) == 1400


def test_a_setpoint_that_moves_with_the_others_or_at_its_hour_did_not():
    values = settings(1900)
    values[1790:] = 22.0  # 350 of the next day: ten minutes earlier than the day before
    assert alone(values) is None
    late = settings()
    late[1400:, 0] = 19.0
    late[1450:, 2] = 19.0
    assert alone(late) is None


def test_few_zones_or_less_than_a_day_cannot_say():
    values = settings()
    values[1400:, 0] = 19.0
    assert alone(values[:, :2]) is None
    assert alone(values[200:]) is None


def test_moves_skip_unknown_rows_and_small_steps():
    values = np.array([1.0, np.nan, 1.0, 2.0, 2.05, np.nan, 3.0])
    assert moves(values, 0.1).tolist() == [3, 6]
    values = np.full((100, 2), np.nan)
    assert not has_moved(values, np.array([0.1, 0.1]), 60)
    values[:, 1] = np.arange(100) >= 60
    assert has_moved(values, np.array([0.1, 0.1]), 60) and not has_moved(values, np.array([0.1, 0.1]), 30)
