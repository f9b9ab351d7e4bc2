"""What an HVAC engineer would watch for in a fan-coil unit, with limits from its data sheet plus a margin for noise.

Leaking and stuck valves and dampers, hunting loops, flat lines, sensors that disagree, commands without a demand.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from graphghha.plants.fcu.physics.components import COOLING_CURVE, HEATING_CURVE
from graphghha.plants.fcu.physics.parameters import REFERENCE
from graphghha.plants.fcu.signals import SIGNALS
from graphghha.plants.fcu.topology import AIR_PATH, COOLING_COIL, HEATING_COIL
from graphghha.plants.rules import Floats, Readings, Rule, highest, lowest, mean, now, travel

Bools = NDArray[np.bool_]

_POSITIONS = np.linspace(0.0, 1.0, len(COOLING_CURVE))
_RUNNING = 5.0  # rev/s: half of the lowest stage
_SHUT = 0.005
OPERATE, SETBACK, SHUTDOWN = 1, 2, 0


def _when(condition: Bools, ratio: Floats) -> Floats:
    limited: Floats = np.where(condition, ratio, 0.0)
    return limited


def _fan_runs(x: Readings, minutes: int) -> Bools:
    runs: Bools = lowest(x["FCU_SPD"], minutes) > _RUNNING
    return runs


def _leaking_valve(x: Readings, *, command: str, flow: str, limit: float) -> Floats:
    return _when(highest(x[command], 20) < _SHUT, mean(x[flow], 15) / limit)


def _not_following(x: Readings, *, position: str, command: str, limit: float) -> Floats:
    return np.abs(mean(x[position], 10) - mean(x[command], 10)) / limit


def _leaking_damper(x: Readings) -> Floats:
    shut = highest(x["FCU_DMPR_DM"], 15) < _SHUT
    return _when(shut & _fan_runs(x, 15), mean(x["FCU_OA_CFM"], 10) / 1.5)


def _blocked_inlet(x: Readings) -> Floats:
    share = mean(x["FCU_OA_CFM"], 10) / np.maximum(mean(x["FCU_DA_CFM"], 10), 1.0)
    commanded = lowest(x["FCU_DMPR_DM"], 15) >= 0.99 * REFERENCE.damper_minimum
    return _when(commanded & _fan_runs(x, 15), (REFERENCE.outdoor_share - share) / 0.01)


def _hunting(x: Readings, *, command: str) -> Floats:
    return travel(x[command], 60) / 2.5


def _uncalled(x: Readings, *, command: str, setpoint: str, sign: float) -> Floats:
    """The valve is opened although the room does not need it."""
    surplus = sign * (mean(x[setpoint], 10) - mean(x["RM_TEMP"], 10))
    return _when(lowest(x[command], 10) > 0.02, surplus / (REFERENCE.deadband + 0.2))


def _unanswered(x: Readings, *, command: str, setpoint: str, sign: float) -> Floats:
    """The room needs heating or cooling and the valve stays shut."""
    need = sign * (mean(x["RM_TEMP"], 10) - mean(x[setpoint], 10))
    return _when(highest(x[command], 10) < _SHUT, need / (REFERENCE.deadband + 0.2))


def _flat(x: Readings, *, signal: str, noise: float, limits: tuple[float, float]) -> Floats:
    """A sensor without noise; between limits only, because saturated air reads the end of the scale normally, too."""
    low, high = lowest(x[signal], 30), highest(x[signal], 30)
    return _when((low > limits[0]) & (high < limits[1]), noise / (high - low + 0.01 * noise))


def _apart(x: Readings, *, one: str, other: str, limit: float) -> Floats:
    return np.abs(mean(x[one], 15) - mean(x[other], 15)) / limit


def _not_a_mixture(x: Readings) -> Floats:
    mixed, outdoor, room = (mean(x[name], 15) for name in ("FCU_MAT", "FCU_OAT", "FCU_RAT"))
    outside = np.maximum(np.minimum(outdoor, room) - mixed, mixed - np.maximum(outdoor, room))
    return np.maximum(outside, 0.0) / 0.2


def _off_schedule(x: Readings, *, signal: str, operate: float, setback: float) -> Floats:
    expected = np.where(now(x["FCU_CTRL"]) == OPERATE, operate, setback)
    settled = highest(x["FCU_CTRL"], 10) == lowest(x["FCU_CTRL"], 10)
    return _when(settled & (now(x["FCU_CTRL"]) != SHUTDOWN), np.abs(now(x[signal]) - expected) / 0.3)


def _low_limit_ignored(x: Readings) -> Floats:
    return _when(now(x["FCU_CTRL"]) != SHUTDOWN, (REFERENCE.low_limit - highest(x["FCU_MAT"], 15)) / 3.0)


def _fan_switched_off(x: Readings) -> Floats:
    return _when(
        (lowest(x["FAN_CTRL"], 5) > 1.5) & (now(x["FCU_CTRL"]) != SHUTDOWN), np.full_like(now(x["FAN_CTRL"]), 2)
    )


def _fan_not_staged(x: Readings) -> Floats:
    """A valve is commanded open and the fan does not run."""
    called = np.maximum(lowest(x["FCU_CVLV_DM"], 10), lowest(x["FCU_HVLV_DM"], 10)) > 0.05
    return _when(called, 2.0 * (highest(x["FCU_SPD"], 10) < _RUNNING))


def _air_flow(x: Readings) -> Floats:
    expected = REFERENCE.flow_per_speed * np.maximum(mean(x["FCU_SPD"], 10), 1.0)
    return _when(_fan_runs(x, 10), np.abs(mean(x["FCU_DA_CFM"], 10) / expected - 1.0) / 0.07)


def _fan_power(x: Readings) -> Floats:
    expected = REFERENCE.fan_power_low * (np.maximum(mean(x["FCU_SPD"], 10), 1.0) / REFERENCE.fan_low) ** 3
    return _when(_fan_runs(x, 10), np.abs(mean(x["FCU_WAT"], 10) / expected - 1.0) / 0.12)


def _water_flow(x: Readings, *, position: str, flow: str, curve: Floats, share: float, least: float) -> Floats:
    """Less water flows than the valve's curve says, as with scale in the tubes."""
    expected = np.interp(mean(x[position], 5), _POSITIONS, curve)
    steady = highest(x[position], 15) - lowest(x[position], 15) < 0.05
    missing = expected - mean(x[flow], 5)
    return _when(steady & _fan_runs(x, 10) & (expected > least), missing / (share * np.maximum(expected, least)))


def _water_supply(x: Readings, *, signal: str, expected: float) -> Floats:
    off: Floats = np.abs(mean(x[signal], 15) - expected) / 0.2
    return off


def _unlike_the_others(x: Readings, *, signal: str, limit: float) -> Floats:
    """An outdoor reading differs from those of the other units, which take in the same air."""
    own = mean(x[signal], 15)
    seen = np.where(np.isfinite(own).any(axis=1, keepdims=True), own, 0.0)
    unlike: Floats = np.abs(own - np.nanmedian(seen, axis=1, keepdims=True)) / limit
    return unlike


def _rules() -> Iterator[Rule]:
    for word, valve, flow, limit in (("cooling", "CVLV", "CLG_GPM", 0.004), ("heating", "HVLV", "HTG_GPM", 0.001)):
        position, command = f"FCU_{valve}", f"FCU_{valve}_DM"
        leak = partial(_leaking_valve, command=command, flow=f"FCU_{flow}", limit=limit)
        yield Rule(f"leaking {word} valve", position, "water flows although the valve is shut", leak)
        follow = partial(_not_following, position=position, command=command, limit=0.03)
        yield Rule(f"stuck {word} valve", position, "the valve does not follow its command", follow)
        yield Rule(f"hunting {word} loop", command, "the command swings", partial(_hunting, command=command))
        setpoint, sign = ("RMCLGSPT", 1.0) if word == "cooling" else ("RMHTGSPT", -1.0)
        uncalled = partial(_uncalled, command=command, setpoint=setpoint, sign=sign)
        unanswered = partial(_unanswered, command=command, setpoint=setpoint, sign=sign)
        yield Rule(f"{word} without demand", command, "the valve is opened without a call for it", uncalled)
        yield Rule(f"{word} refused", command, "the room needs it, but the valve stays shut", unanswered)
    yield Rule(
        "stuck damper",
        "FCU_DMPR",
        "the damper does not follow its command",
        partial(_not_following, position="FCU_DMPR", command="FCU_DMPR_DM", limit=0.02),
    )
    yield Rule("leaking damper", "FCU_DMPR", "outdoor air although the damper is shut", _leaking_damper)
    yield Rule("blocked inlet", AIR_PATH, "too little outdoor air at the damper's minimum", _blocked_inlet)
    yield Rule("air flow against speed", AIR_PATH, "the fan moves more or less air than it should", _air_flow)
    yield Rule("fan power against speed", "FCU_WAT", "the fan draws more or less than it should", _fan_power)
    for coil, position, flow_point, curve, share, least in (
        (COOLING_COIL, "FCU_CVLV", "FCU_CLG_GPM", COOLING_CURVE, 0.2, 0.04),
        (HEATING_COIL, "FCU_HVLV", "FCU_HTG_GPM", HEATING_CURVE, 0.25, 0.01),
    ):
        scale = partial(_water_flow, position=position, flow=flow_point, curve=curve, share=share, least=least)
        yield Rule(f"water through {coil}", coil, "less water than the valve's curve says", scale)
    for signal in SIGNALS:
        if signal.unit in ("degC", "%RH") and signal.noise:
            limits = (0.5, 97.0) if signal.unit == "%RH" else (-np.inf, np.inf)
            flat = partial(_flat, signal=signal.name, noise=signal.noise, limits=limits)
            yield Rule(f"flat line {signal.name}", signal.name, "the reading does not move", flat)
    rooms = partial(_apart, one="RM_TEMP", other="FCU_RAT", limit=0.25)
    yield Rule("room sensors disagree", "RM_TEMP", "room and return air differ", rooms)
    yield Rule("mixed air out of range", "FCU_MAT", "mixed air is not between outdoor and return air", _not_a_mixture)
    for signal_name, operate, setback in (
        ("RMCLGSPT", REFERENCE.operate_cooling, REFERENCE.setback_cooling),
        ("RMHTGSPT", REFERENCE.operate_heating, REFERENCE.setback_heating),
    ):
        off = partial(_off_schedule, signal=signal_name, operate=operate, setback=setback)
        yield Rule(f"setpoint {signal_name}", signal_name, "not the setpoint of the mode", off)
    yield Rule(
        "low limit ignored",
        "FCU_CTRL",
        "mixed air is near freezing and the unit does not shut down",
        _low_limit_ignored,
    )
    yield Rule("fan switched off", "FAN_CTRL", "fan off while the unit operates", _fan_switched_off)
    yield Rule("fan not staged", "FCU_SPD", "a valve is commanded open and the fan does not run", _fan_not_staged)
    for water, degrees in (("FCU_CLG_EWT", REFERENCE.chilled_water), ("FCU_HTG_EWT", REFERENCE.hot_water)):
        supply = partial(_water_supply, signal=water, expected=degrees)
        yield Rule(f"supply water {water}", water, "not the plant's supply temperature", supply)
    for outdoor, limit in (("FCU_OAT", 0.2), ("FCU_OA_HUMD", 2.0)):
        unlike = partial(_unlike_the_others, signal=outdoor, limit=limit)
        yield Rule(f"outdoor {outdoor}", outdoor, "not what the other units read", unlike)


RULES: tuple[Rule, ...] = tuple(_rules())
