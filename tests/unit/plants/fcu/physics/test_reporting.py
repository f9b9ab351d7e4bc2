"""The reporter against a slow and obvious one, and each of its modes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphghha.errors import ConfigError
from graphghha.plants.fcu.physics.reporting import INCREMENTS, Reporter, Reporting, Resolution
from graphghha.plants.fcu.signals import INDEX, NUM_SIGNALS

ROOM = INDEX["RM_TEMP"]


def measured(seed: int = 0, zones: int = 2, scale: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return 20.0 + np.cumsum(scale * rng.standard_normal((zones, 1440, NUM_SIGNALS)), axis=1)


def report(reporting: Reporting, telemetry: np.ndarray, days: int = 1):
    reporter = Reporter(reporting, len(telemetry), seed=1)
    for ordinal in range(days):
        result = reporter.report(ordinal, telemetry)
    return result


def slow_cov(values, increment, heartbeat):
    last, age, out, sent = np.nan, 0, [], []
    for value in values:
        age += 1
        due = np.isnan(last) or abs(value - last) >= increment or (heartbeat and age >= heartbeat)
        if due:
            last, age = value, 0
        out.append(last)
        sent.append(due)
    return np.array(out), np.array(sent)


@settings(max_examples=15)
@given(st.integers(0, 1000), st.sampled_from([0.5, 1.0, 2.0]), st.sampled_from([0, 7, 60]))
def test_change_of_value_agrees_with_the_obvious_loop(seed, factor, heartbeat):
    telemetry = measured(seed, zones=1)
    result = report(Reporting(mode="cov", increment_factor=factor, heartbeat_min=heartbeat), telemetry)
    for signal in (ROOM, INDEX["FCU_CVLV"]):
        values, sent = slow_cov(telemetry[0, :, signal], factor * INCREMENTS[signal], heartbeat)
        np.testing.assert_array_equal(result.values[0, :, signal], values)
        np.testing.assert_array_equal(result.sent[0, :, signal], sent)


def test_what_was_sent_yesterday_is_held_today():
    telemetry = np.full((1, 1440, NUM_SIGNALS), 21.0)
    result = report(Reporting(mode="cov"), telemetry, days=2)
    assert not result.sent.any() and (result.values == 21.0).all()


def test_samples_come_at_their_interval_and_are_held_between():
    telemetry = measured()
    result = report(Reporting(mode="sampled", interval_min=15), telemetry)
    for zone in range(2):
        at = np.flatnonzero(result.sent[zone, :, ROOM])
        assert len(at) == 96 and (np.diff(at) == 15).all()
        np.testing.assert_array_equal(result.values[zone, at[0] :, ROOM][:15], telemetry[zone, at[0], ROOM])


def test_rounding_goes_by_the_kind_of_signal():
    telemetry = measured()
    values = report(Reporting(resolution=Resolution(temperature=0.5)), telemetry).values
    np.testing.assert_allclose(values[..., ROOM], np.round(telemetry[..., ROOM] * 2) / 2)
    np.testing.assert_array_equal(values[..., INDEX["FCU_SPD"]], telemetry[..., INDEX["FCU_SPD"]])


def test_lost_readings_are_unknown_and_as_many_as_stated():
    result = report(Reporting(loss=0.1), measured())
    assert np.isnan(result.values).mean() == pytest.approx(0.1, abs=0.01)
    np.testing.assert_array_equal(np.isnan(result.values), ~result.sent)


def test_a_gateway_that_is_silent_takes_its_whole_zone_along():
    result = report(Reporting(outages_per_day=3.0), measured(zones=6))
    silent = np.isnan(result.values)
    assert silent.any() and (silent.all(axis=2) == silent.any(axis=2)).all()
    assert not silent.all(axis=(1, 2)).any()


def test_missing_points_are_never_reported():
    result = report(Reporting(missing=("FCU_MAT",)), measured())
    assert np.isnan(result.values[..., INDEX["FCU_MAT"]]).all() and not result.sent[..., INDEX["FCU_MAT"]].any()
    assert np.isfinite(result.values[..., ROOM]).all()
    assert np.isinf(Reporting(missing=("FCU_MAT",)).uncertainty()[INDEX["FCU_MAT"]])


@pytest.mark.parametrize(
    ("settings_", "words"),
    [
        ({"missing": ("ROOM",)}, "no point 'ROOM'"),
        ({"interval_min": 7}, "does not divide a day"),
        ({"loss": 1.0}, "below 1"),
    ],
)
def test_impossible_reporting_is_refused(settings_, words):
    with pytest.raises(ConfigError, match=words):
        Reporting(**settings_)
