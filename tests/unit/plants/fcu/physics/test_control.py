from dataclasses import replace

import pytest

from graphghha.plants.fcu.physics.control import (
    COOLING,
    HEATING,
    IDLE,
    OPERATE,
    SETBACK,
    advance_integral,
    fan_speed,
    next_call,
    scheduled_mode,
    valve_command,
)
from graphghha.plants.fcu.physics.parameters import REFERENCE, flat

P = flat(REFERENCE)
COOL, HEAT, BAND = P.operate_cooling, P.operate_heating, P.deadband


@pytest.mark.parametrize(
    ("minute", "weekday", "mode"),
    [
        pytest.param(360, 0, SETBACK, id="six-o-clock-is-still-setback"),
        pytest.param(361, 0, OPERATE, id="first-operate-minute"),
        pytest.param(1080, 4, OPERATE, id="last-operate-minute"),
        pytest.param(1081, 4, SETBACK, id="evening"),
        pytest.param(720, 5, SETBACK, id="saturday-noon"),
    ],
)
def test_schedule(minute, weekday, mode):
    assert scheduled_mode(minute, weekday < 5, P) == mode


@pytest.mark.slow
def test_operate_minutes_of_2018_match_the_data():
    minutes = sum(scheduled_mode(m, day % 7 < 5, P) == OPERATE for day in range(365) for m in range(1440))
    assert minutes == 261 * 720


def test_the_hours_are_parameters_of_the_building():
    late = flat(replace(REFERENCE, operate_first_min=540.0, operate_last_min=1200.0))
    assert [scheduled_mode(m, True, late) for m in (539, 540, 1200, 1201)] == [SETBACK, OPERATE, OPERATE, SETBACK]


@pytest.mark.parametrize(
    ("call", "reading", "after"),
    [
        pytest.param(IDLE, COOL + 0.5, IDLE, id="inside-the-band-no-call"),
        pytest.param(IDLE, COOL + 0.6, COOLING, id="above-the-band-cools"),
        pytest.param(COOLING, COOL - 0.5, COOLING, id="cooling-goes-on-below-setpoint"),
        pytest.param(COOLING, COOL - 0.6, IDLE, id="and-ends-one-degree-fahrenheit-below"),
        pytest.param(IDLE, HEAT - 0.6, HEATING, id="below-the-band-heats"),
        pytest.param(HEATING, HEAT + 0.5, HEATING, id="heating-goes-on-above-setpoint"),
        pytest.param(HEATING, HEAT + 0.6, IDLE, id="and-ends-one-degree-fahrenheit-above"),
        pytest.param(COOLING, HEAT - 0.6, HEATING, id="a-cold-room-turns-cooling-into-heating"),
    ],
)
def test_calls_have_hysteresis(call, reading, after):
    assert next_call(call, reading, COOL, HEAT, BAND, P.release) == after


def test_the_integral_grows_with_the_error_and_stops_when_the_valve_is_full():
    assert advance_integral(0.0, 1.0, 0.1, 0.01, -1.0) == pytest.approx(0.01)
    assert advance_integral(0.95, 1.0, 0.1, 0.01, -1.0) == 0.95
    assert advance_integral(0.95, -1.0, 0.1, 0.01, -1.0) == pytest.approx(0.94)
    assert advance_integral(-1.0, -1.0, 0.1, 0.01, -1.0) == -1.0


def test_a_new_call_starts_with_the_valve_all_but_shut_and_a_running_one_goes_on():
    command, integral = valve_command(0.7, 2.0, 0.1, 0.01, True, P)
    assert command == pytest.approx(0.02) and integral == pytest.approx(-0.18)
    command, integral = valve_command(integral, 2.0, 0.1, 0.01, False, P)
    assert command == pytest.approx(0.04) and integral == pytest.approx(-0.16)


@pytest.mark.parametrize(("output", "speed"), [(0.0, 9.75), (0.39, 9.75), (0.4, 13.08), (0.79, 13.08), (0.8, 18.08)])
def test_fan_stages(output, speed):
    assert fan_speed(output, P) == speed
