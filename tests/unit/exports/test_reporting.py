import numpy as np

from graphghha.exports.reporting import Mode, recognize_reporting

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
