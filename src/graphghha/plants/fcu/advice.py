"""Advice to operators about the nodes of a fan-coil unit: name, first steps, ATT&CK for ICS ids (v20)."""

from graphghha.plants.base import Advice
from graphghha.plants.fcu.topology import AIR_PATH, COOLING_COIL, HEATING_COIL

# the current id before the one it replaced; names: plants/techniques.py
COMMAND = ("T1692.001", "T0855")
REPORT = ("T1692.002", "T0856")
PARAMETER, PROGRAM = "T0836", "T0889"
CONTROL, VIEW = "T0831", "T0832"

_DRIVE = (*COMMAND, PARAMETER, CONTROL)
_LOGIC = (PARAMETER, PROGRAM, CONTROL)
_READING = (*REPORT, VIEW)
_LOW_HIGH = ("is low", "is high")
_LESS_MORE = ("reads less open", "reads more open")


def _drive(name: str, action: str, words: tuple[str, str]) -> Advice:
    return Advice(
        name=name,
        action=action,
        priority="high",
        techniques=_DRIVE,
        low=words[0],
        high=words[1],
        is_opening=words is _LESS_MORE,
    )


def _logic(name: str, action: str, words: tuple[str, str] = ("is low", "is high")) -> Advice:
    return Advice(name=name, action=action, priority="high", techniques=_LOGIC, low=words[0], high=words[1])


def _reading(name: str, words: tuple[str, str], where: str, twin: str = "") -> Advice:
    action = f"Compare it with a hand-held instrument {where}; until then, do not rely on control loops that use it."
    return Advice(name=name, action=action, techniques=_READING, low=words[0], high=words[1], twin=twin)


def _physical(name: str, action: str) -> Advice:
    return Advice(name=name, action=action, priority="medium")


_VALVE = "Put the valve in hand at the unit, close its isolating valve, and compare the stem position with the command."
_SETPOINT = "Compare the setpoint with the schedule, restore it, and find out who changed it and from where."
_LOOP = (
    "Put the loop in manual, compare its action and gains with the commissioned ones, "
    "and find out who last downloaded a program."
)

ADVICE: dict[str, Advice] = {
    "FCU_CTRL": _logic("operating mode", "Compare the mode with the occupancy schedule and find out who overrode it."),
    "FAN_CTRL": _logic("fan mode", "Compare the fan mode with the schedule and find out who overrode it."),
    "RMCLGSPT": _logic("room cooling setpoint", _SETPOINT),
    "RMHTGSPT": _logic("room heating setpoint", _SETPOINT),
    "FCU_CVLV_DM": _logic("cooling valve command", _LOOP),
    "FCU_HVLV_DM": _logic("heating valve command", _LOOP),
    "FCU_DMPR_DM": _logic("outdoor-air damper command", _LOOP),
    "FCU_CVLV": _drive("cooling valve", _VALVE, _LESS_MORE),
    "FCU_HVLV": _drive("heating valve", _VALVE, _LESS_MORE),
    "FCU_DMPR": _drive(
        "outdoor-air damper", "Put the damper in hand and compare the blade position with the command.", _LESS_MORE
    ),
    "FCU_SPD": _drive("fan", "Switch the fan to local and compare its speed with the command.", ("is slow", "is fast")),
    COOLING_COIL: _physical(
        "cooling coil", "Inspect the fins and tubes for dirt and scale, and check that the isolating valves are open."
    ),
    HEATING_COIL: _physical(
        "heating coil", "Inspect the fins and tubes for dirt and scale, and check that the isolating valves are open."
    ),
    AIR_PATH: _physical("air path", "Inspect the outdoor inlet, filter and outlet for blockage."),
    "RM_TEMP": _reading("room temperature sensor", ("reads cold", "reads warm"), "in the room", "FCU_RAT"),
    "FCU_MAT": _reading("mixed air temperature", _LOW_HIGH, "in the mixing box"),
    "FCU_DAT": _reading("discharge air temperature", _LOW_HIGH, "at the outlet"),
    "FCU_RAT": _reading("return air temperature", _LOW_HIGH, "at the return grille", "RM_TEMP"),
    "FCU_OAT": _reading("outdoor air temperature", _LOW_HIGH, "outdoors"),
    "FCU_CLG_EWT": _reading("chilled water temperature", _LOW_HIGH, "at the coil inlet"),
    "FCU_CLG_RWT": _reading("cooling coil return water temperature", _LOW_HIGH, "at the coil outlet"),
    "FCU_HTG_EWT": _reading("hot water temperature", _LOW_HIGH, "at the coil inlet"),
    "FCU_HTG_RWT": _reading("heating coil return water temperature", _LOW_HIGH, "at the coil outlet"),
    "FCU_CLG_GPM": _reading("cooling water flow", _LOW_HIGH, "at the coil"),
    "FCU_HTG_GPM": _reading("heating water flow", _LOW_HIGH, "at the coil"),
    "FCU_DA_CFM": _reading("discharge air flow", _LOW_HIGH, "at the outlet"),
    "FCU_OA_CFM": _reading("outdoor air flow", _LOW_HIGH, "at the inlet"),
    "FCU_WAT": _reading("fan power", _LOW_HIGH, "at the fan's supply"),
    "FCU_MA_HUMD": _reading("mixed air humidity", _LOW_HIGH, "in the mixing box"),
    "FCU_OA_HUMD": _reading("outdoor air humidity", _LOW_HIGH, "outdoors"),
    "FCU_DA_HUMD": _reading("discharge air humidity", _LOW_HIGH, "at the outlet"),
    "FCU_RA_HUMD": _reading("return air humidity", _LOW_HIGH, "at the return grille"),
}
