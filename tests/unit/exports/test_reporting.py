import numpy as np

from graphghha.exports.reporting import Mode, recognize_reporting, repeats_unchanged

HOUR = 3_600_000
# a schedule: on at six, off at eighteen, on five days of two weeks
SWITCHED = np.array([(day * 24 + hour) * HOUR for day in range(14) if day % 7 < 5 for hour in (6, 18)])
STATES = np.arange(len(SWITCHED)) % 2.0


def test_a_point_that_a_schedule_switches_reports_on_change():
    reporting = recognize_reporting(SWITCHED, STATES, is_set=True)
    assert reporting.mode is Mode.COV and "every record shows another value" in reporting.reason


def test_regular_readings_of_a_measurement_and_of_a_setpoint_are_sampled():
    assert recognize_reporting(SWITCHED, STATES).mode is Mode.SAMPLED
    minutes = np.arange(100) * 300_000
    assert recognize_reporting(minutes, np.arange(100.0), is_set=True).mode is Mode.SAMPLED
    assert recognize_reporting(SWITCHED, np.ones(len(SWITCHED)), is_set=True).mode is Mode.SAMPLED


def test_early_records_tell_changes_with_repetitions_from_samples():
    times = np.cumsum(np.array([900] * 50 + [300, 840, 60, 420] + [900] * 50)) * 1000
    jumps = np.where(np.diff(times, prepend=0) < 900_000, 1.0, 0.01)  # a repetition shows noise below the increment
    noise = np.random.default_rng(0).normal(0, 1, len(times))
    assert repeats_unchanged(times, np.cumsum(jumps), 900_000)
    assert not repeats_unchanged(times, noise, 900_000)  # a logger that was started again
    assert not repeats_unchanged(np.arange(100) * 900_000, noise[:100], 900_000)
