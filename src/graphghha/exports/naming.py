"""What a point is, from its name: the abbreviations of building systems and of published plants.

A name is cut into words at separators, at changes between letters and digits, and at capitals: `VAV-1_ZN-T` is
`VAV 1 ZN T`, and `coolingWaterFlowRate` is `COOLING WATER FLOW RATE`. The first rule that fits decides.
"""

import re
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from graphghha.plants.units import QUANTITIES, canonical

SENSOR, ACTUATOR, CONTROLLER, LABEL, UNKNOWN = "sensor", "actuator", "controller", "label", "unknown"


@dataclass(frozen=True, slots=True)
class Kind:
    """What a point is: the kind of its node, what it is for, and the quantity it measures or sets."""

    role: str  # sensor | actuator | controller | label | unknown
    purpose: str  # measurement | setpoint | command | position | status | mode | tuning | alarm | label | unknown
    quantity: str | None
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class _Rule(NamedTuple):
    role: str
    purpose: str
    quantity: str | None
    pattern: str
    meaning: str


def _last(*words: str) -> str:
    """Return a pattern for a name that ends with one of these words, with or without a number behind it."""
    return rf"\b(?:{'|'.join(words)})(?: \d+)?$"


_SETPOINTS = ("SP", "SPT", "STPT", "STP", "SETPT", "SETPOINT", "SET POINT", "SETTING", "SOLL", "SOLLWERT", "CONSIGNE")
_TEMPERATURES = (
    *("TEMP", "TEMPERATURE", "TMP", "TT", "TIT", "TE", "OAT", "MAT", "DAT", "SAT", "RAT", "ZAT", "ZNT", "EAT", "LAT"),
    *("EWT", "LWT", "RWT", "SWT", "CHWST", "CHWRT", "HWST", "HWRT", "CHWS", "CHWR", "HWS", "HWR", "OADB", "OAWB", "WB"),
)
_POSITIONS = ("OUT", "OUTPUT", "POS", "POSITION", "VLV", "VALVE", "VAL", "DPR", "DMPR", "DAMPER", "CLAPET", "STELLUNG")
_SPEEDS = ("SPD", "SPEED", "VFD", "VSD", "FREQ", "HZ")

_RULES = (
    _Rule(LABEL, "label", None, r"^(?:ATT FLAG|ATTACKS?|LABELS?|NORMAL ATTACK|CLASS|ANOMALY|IS ATTACK)$", "a label"),
    _Rule(CONTROLLER, "tuning", None, _last("KP", "KI", "KD", "GAIN", "PROP BAND", "RESET TIME"), "controller tuning"),
    _Rule(CONTROLLER, "setpoint", None, _last(*_SETPOINTS), "a set-point"),
    _Rule(CONTROLLER, "setpoint", None, r"\b\w{3,}(?:SP|SPT|STPT)(?: \d+)?$", "a set-point"),
    _Rule(CONTROLLER, "setpoint", None, r"\b(?:START|STOP) POINT$", "a switching point"),
    _Rule(
        CONTROLLER, "mode", None, r"\b(?:OCC|0 CC|UNOCC|OCCUPANCY|MODE|SCHED|SCHEDULE|SEASON)\b", "occupancy or mode"
    ),
    _Rule(SENSOR, "alarm", None, _last("ALM", "ALARM", "AH", "AL", "LAH", "LAL", "TRIP", "FAULT"), "an alarm"),
    # published plants
    _Rule(SENSOR, "measurement", "length", r"^L T \d+$", "BATADAL: level of a tank"),
    _Rule(SENSOR, "measurement", "flow", r"^F (?:PU|V) \d+$", "BATADAL: flow of a pump or valve"),
    _Rule(ACTUATOR, "status", None, r"^S (?:PU|V) \d+$", "BATADAL: state of a pump or valve"),
    _Rule(SENSOR, "measurement", "pressure", r"^P J \d+$", "BATADAL: pressure at a junction"),
    _Rule(ACTUATOR, "status", None, r"^(?:P|UV) \d{3}$", "SWaT: a pump or lamp"),
    _Rule(ACTUATOR, "command", None, r"\b(?:FCV|LCV|PCV|PP|SCO|SCST) \d+ [AB]? ?D$", "HAI: a demand"),
    _Rule(ACTUATOR, "position", None, r"\b(?:FCV|LCV|PCV) \d+ Z$", "HAI: a position"),
    _Rule(ACTUATOR, "status", None, r"\b(?:PP|SOL) \d+ [AB]? ?R?$", "HAI: a run state"),
    # instruments by their letters (ISA-5.1)
    _Rule(SENSOR, "measurement", "length", _last("LIT", "LT", "LI", "LVL", "LEV", "LEVEL", "LIQ LEV"), "a level"),
    _Rule(SENSOR, "measurement", "pressure", _last("DPIT", "PIT", "PT", "DPT", "DPS"), "a pressure transmitter"),
    _Rule(SENSOR, "measurement", "flow", _last("FIT", "FT", "FIC", "FQ"), "a flow transmitter"),
    _Rule(SENSOR, "measurement", None, _last("AIT", "AT", "SIT", "VIT", "PHIT"), "an analyser"),
    _Rule(ACTUATOR, "position", None, _last("MV", "MCV", "FCV", "LCV", "PCV", "MOV", "XV"), "a motor valve"),
    # commands, outputs and states of building systems
    _Rule(ACTUATOR, "command", None, _last("C", "CMD", "COMMAND", "DM", "DEMAND", "CO", "REQ", "REQUEST"), "a command"),
    _Rule(ACTUATOR, "command", None, _last("EN", "ENA", "ENABLE", "CTRL", "CONTROL", "SS"), "a command"),
    _Rule(ACTUATOR, "status", None, _last("S", "STS", "STAT", "STATUS", "STATE", "RUN", "PROOF"), "a state"),
    _Rule(ACTUATOR, "status", None, _last("SWITCH", "PUMP", "FAN", "HEATER", "SOLENOID", "SOL", "RELAY"), "a state"),
    _Rule(ACTUATOR, "position", None, r"\bO$", "an output"),
    _Rule(ACTUATOR, "position", None, _last(*_POSITIONS), "an output or position"),
    _Rule(ACTUATOR, "position", None, r"\b\w*(?:VLV|DMPR|VALVE|DAMPER)\w*(?: \d+)?$", "a valve or damper"),
    _Rule(ACTUATOR, "position", None, _last(*_SPEEDS), "a speed"),
    # measured quantities
    _Rule(SENSOR, "measurement", "temperature", r"\bT$", "a temperature"),
    _Rule(SENSOR, "measurement", "temperature", _last(*_TEMPERATURES), "a temperature"),
    _Rule(SENSOR, "measurement", "temperature", r"\b\w*TEMP\w*(?: \d+)?$", "a temperature"),
    _Rule(SENSOR, "measurement", "humidity", r"\bH$", "a humidity"),
    _Rule(SENSOR, "measurement", "humidity", _last("RH", "HUM", "HUMD", "HUMIDITY"), "a humidity"),
    _Rule(SENSOR, "measurement", "pressure", r"\bP$", "a pressure"),
    _Rule(SENSOR, "measurement", "pressure", _last("DP", "PRE", "PRES", "PRESS", "PRESSURE", "STATIC"), "a pressure"),
    _Rule(SENSOR, "measurement", "flow", r"\b\w*(?:FLOW|FLO|CFM|GPM)(?: RATE)?(?: \d+)?$", "a flow"),
    _Rule(SENSOR, "measurement", "power", _last("KW", "PWR", "POWER", "WATT", "WAT", "WATTS"), "a power"),
    _Rule(SENSOR, "measurement", "energy", _last("KWH", "ENERGY"), "an energy"),
    _Rule(SENSOR, "measurement", "concentration", _last("CO 2", "CO2", "VOC", "PPM"), "a concentration"),
)
_COMPILED = [(rule, re.compile(rule.pattern)) for rule in _RULES]

# what trend logs append to the name of a point
_TAIL = re.compile(r"(?: (?:TREND|TR|LOG|HISTORY|HIST|PRESENT VALUE|PRESENT|PV|VALUE|VAL PV|EXT|NUMERIC|BOOLEAN))+$")
_CUTS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")


def words_of(name: str) -> str:
    """Return the words of a name in capitals, separated by blanks, without what trend logs append."""
    words = " ".join(word for word in _CUTS.split(name[:200]) if word).upper()
    return _TAIL.sub("", words) or words


def quantity_of_unit(unit: str | None) -> str | None:
    """Return the quantity that a unit measures; None if it is unknown, or a percentage of anything."""
    if unit is None or (name := canonical(unit)) in ("%", "fraction"):
        return None
    return next((quantity for quantity, units in QUANTITIES.items() if name in units), None)


def guess_kind(name: str, *, label: str = "", unit: str | None = None, is_state: bool = False) -> Kind:
    """Return what a point is, from its name, else from its label (a second name), else from its unit or states."""
    measured = quantity_of_unit(unit)
    for text, source in ((name, "name"), (label, "label")):
        words = words_of(text)
        for rule, pattern in _COMPILED:
            if (match := pattern.search(words)) is None:
                continue
            if is_state and rule.purpose == "measurement":
                continue  # a word such as On is no temperature
            quantity = measured or rule.quantity
            return Kind(rule.role, rule.purpose, quantity, f"{match[0]!r} in its {source} means {rule.meaning}")
    if is_state:
        return Kind(ACTUATOR, "status", None, "its values are words")
    if measured:
        return Kind(SENSOR, "measurement", measured, f"its unit is {unit}")
    if unit is not None and canonical(unit) in ("%", "fraction"):
        return Kind(ACTUATOR, "position", "share", f"its unit is {unit}")
    return Kind(UNKNOWN, "unknown", None, "neither name nor unit tells")
