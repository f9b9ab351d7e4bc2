"""The control sequence: schedule, calls with hysteresis, PI valves, fan stages, damper, low limit."""

from graphghha.plants.fcu.jit import compiled
from graphghha.plants.fcu.parameters import Parameters

SHUTDOWN, OPERATE, SETBACK = 0, 1, 2
IDLE, COOLING, HEATING = 0, 1, 2
FAN_AUTO, FAN_OFF = 1, 2
FIRST_OPERATE_MINUTE, LAST_OPERATE_MINUTE = 361, 1080  # 06:01 to 18:00


@compiled
def scheduled_mode(minute: int, weekday: int) -> int:
    """Operate Monday (0) to Friday 06:01 to 18:00, setback otherwise."""
    return OPERATE if weekday < 5 and FIRST_OPERATE_MINUTE <= minute <= LAST_OPERATE_MINUTE else SETBACK


@compiled
def next_call(call: int, reading: float, cooling_setpoint: float, heating_setpoint: float, deadband: float) -> int:
    """Keep, start or end a call; `deadband` is how far beyond the setpoint a new call starts."""
    if (
        call == COOLING
        and reading < cooling_setpoint - 5.0 / 9.0
        or call == HEATING
        and reading > heating_setpoint + 5.0 / 9.0
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
    """The integral part of a PI valve after one minute; it stops where the command saturates at full."""
    if gain * error + integral >= 1.0 and error > 0.0:
        return integral
    return max(integral + integral_gain * error, floor)


@compiled
def fan_speed(output: float, p: Parameters) -> float:
    """Stage of the fan from the controller output of the active call."""
    if output >= p.high_threshold:
        return p.fan_high
    if output >= p.medium_threshold:
        return p.fan_medium
    return p.fan_low
