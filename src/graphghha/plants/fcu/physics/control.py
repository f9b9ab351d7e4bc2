"""The control sequence: schedule, calls with hysteresis, PI valves, fan stages, damper, low limit."""

import math

import numpy as np
from numpy.typing import NDArray

from graphghha.plants.fcu.physics.columns import (
    H_COOL_CMD,
    H_COOL_REVERSE,
    H_COOL_SET,
    H_COOL_STUCK,
    H_DAMPER_CMD,
    H_DAMPER_STUCK,
    H_FAN_CMD,
    H_GAIN,
    H_HEAT_CMD,
    H_HEAT_REVERSE,
    H_HEAT_SET,
    H_HEAT_STUCK,
    H_INTERLOCK,
    S_CALL,
    S_COOL_INT,
    S_COOL_POS,
    S_DAMPER,
    S_HEAT_INT,
    S_HEAT_POS,
    S_MODE,
    S_SPEED,
    S_TRIPPED,
    T_COOL_CMD,
    T_COOL_SET,
    T_DAMPER_CMD,
    T_FAN_MODE,
    T_HEAT_CMD,
    T_HEAT_SET,
    T_MODE,
)
from graphghha.plants.fcu.physics.jit import compiled, inlined
from graphghha.plants.fcu.physics.parameters import Parameters

SHUTDOWN, OPERATE, SETBACK = 0, 1, 2
IDLE, COOLING, HEATING = 0, 1, 2
FAN_AUTO, FAN_OFF = 1, 2


@compiled
def scheduled_mode(minute: int, is_operating_day: bool, p: Parameters) -> int:
    """Return the mode the schedule asks for: operate within the hours of an operating day, setback otherwise."""
    return OPERATE if is_operating_day and p.operate_first_min <= minute <= p.operate_last_min else SETBACK


@compiled
def next_call(
    call: int, reading: float, cooling_setpoint: float, heating_setpoint: float, deadband: float, release: float
) -> int:
    """Keep, start or end a call: it starts `deadband` beyond the setpoint and ends `release` on the other side."""
    if (
        call == COOLING
        and reading < cooling_setpoint - release
        or call == HEATING
        and reading > heating_setpoint + release
    ):
        call = IDLE
    if call == IDLE:
        if reading > cooling_setpoint + deadband:
            call = COOLING
        elif reading < heating_setpoint - deadband:
            call = HEATING
    return call


@compiled
def advance_integral(integral: float, error: float, gain: float, integral_gain: float, floor: float) -> float:
    """Return the integral part of a PI valve after one minute; it stops where the command saturates at full."""
    if gain * error + integral >= 1.0 and error > 0.0:
        return integral
    return max(integral + integral_gain * error, floor)


@compiled
def fan_speed(output: float, p: Parameters) -> float:
    """Return the speed of the fan from the controller output of the active call."""
    if output >= p.high_threshold:
        return p.fan_high
    if output >= p.medium_threshold:
        return p.fan_medium
    return p.fan_low


@compiled
def clipped(value: float) -> float:
    """Return a command or position limited to 0 to 1."""
    return min(max(value, 0.0), 1.0)


@compiled
def valve_command(
    integral: float, error: float, gain: float, integral_gain: float, begins: bool, p: Parameters
) -> tuple[float, float]:
    """Return the command of a PI valve and its integral after one minute; a new call restarts the integral."""
    if begins:
        integral = -p.start_share * gain * error
    integral = advance_integral(integral, error, gain, integral_gain, p.integral_floor)
    return clipped(gain * error + integral), integral


@inlined
def control_minute(
    state: NDArray[np.float64],
    h: NDArray[np.float64],
    row: NDArray[np.float64],
    minute: int,
    is_operating_day: bool,
    room: float,
    mixed: float,
    p: Parameters,
) -> None:
    """Run a minute of the sequence on readings: write mode, setpoints and commands into `row`, speed into `state`."""
    mode = scheduled_mode(minute, is_operating_day, p)
    started = mode == OPERATE and state[S_MODE] == SETBACK
    # a tripped unit stays shut until the schedule next changes the mode
    if mode != state[S_MODE]:
        state[S_TRIPPED] = 0.0
    if mixed < p.low_limit and state[S_SPEED] > 0.0 and h[H_INTERLOCK] < 0.5:
        state[S_TRIPPED] = 1.0
    state[S_MODE] = mode
    if state[S_TRIPPED] > 0.0 and h[H_INTERLOCK] < 0.5:
        mode = SHUTDOWN
    cooling_setpoint = (p.setback_cooling if mode == SETBACK else p.operate_cooling) + h[H_COOL_SET]
    heating_setpoint = (p.setback_heating if mode == SETBACK else p.operate_heating) + h[H_HEAT_SET]
    call = IDLE
    if mode != SHUTDOWN:
        deadband = 0.0 if started else p.deadband
        call = next_call(int(state[S_CALL]), room, cooling_setpoint, heating_setpoint, deadband, p.release)
    begins = call != state[S_CALL]
    state[S_CALL] = call
    cooling = 0.0
    heating = 0.0
    if call == COOLING:
        gain, integral_gain = p.cooling_gain * h[H_GAIN], p.cooling_integral * h[H_GAIN]
        error = room - cooling_setpoint
        cooling, state[S_COOL_INT] = valve_command(state[S_COOL_INT], error, gain, integral_gain, begins, p)
    if call == HEATING:
        gain, integral_gain = p.heating_gain * h[H_GAIN], p.heating_integral * h[H_GAIN]
        error = heating_setpoint - room
        heating, state[S_HEAT_INT] = valve_command(state[S_HEAT_INT], error, gain, integral_gain, begins, p)
    speed = 0.0 if call == IDLE else fan_speed(max(cooling, heating), p)
    if speed > 0.0 or h[H_FAN_CMD] > 0.0:
        speed = max(speed + h[H_FAN_CMD], 0.0)
    state[S_SPEED] = speed
    row[T_MODE] = mode
    row[T_FAN_MODE] = FAN_OFF if mode == SHUTDOWN else FAN_AUTO
    row[T_COOL_SET] = cooling_setpoint
    row[T_HEAT_SET] = heating_setpoint
    row[T_COOL_CMD] = cooling
    row[T_HEAT_CMD] = heating
    row[T_DAMPER_CMD] = p.damper_minimum if mode == OPERATE else 0.0


@inlined
def move_drives(state: NDArray[np.float64], h: NDArray[np.float64], row: NDArray[np.float64], follow: float) -> None:
    """Move valves and damper by a minute: they follow their commands, falsified, reversed or stuck by hooks."""
    cooling = clipped(row[T_COOL_CMD] + h[H_COOL_CMD])
    heating = clipped(row[T_HEAT_CMD] + h[H_HEAT_CMD])
    damper = clipped(row[T_DAMPER_CMD] + h[H_DAMPER_CMD])
    cooling_target = 1.0 - cooling if h[H_COOL_REVERSE] > 0.5 else cooling
    heating_target = 1.0 - heating if h[H_HEAT_REVERSE] > 0.5 else heating
    state[S_COOL_POS] += follow * (cooling_target - state[S_COOL_POS])
    state[S_HEAT_POS] += follow * (heating_target - state[S_HEAT_POS])
    state[S_DAMPER] += follow * (damper - state[S_DAMPER])
    if not math.isnan(h[H_COOL_STUCK]):
        state[S_COOL_POS] = h[H_COOL_STUCK]
    if not math.isnan(h[H_HEAT_STUCK]):
        state[S_HEAT_POS] = h[H_HEAT_STUCK]
    if not math.isnan(h[H_DAMPER_STUCK]):
        state[S_DAMPER] = h[H_DAMPER_STUCK]
