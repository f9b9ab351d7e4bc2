"""What a point is, from its name: the abbreviations of building systems and of published plants.

A name is cut into words at separators, at changes between letters and digits, and at capitals: `VAV-1_ZN-T` is
`VAV 1 ZN T`, and `coolingWaterFlowRate` is `COOLING WATER FLOW RATE`. The first rule that fits decides.
"""

import re
from dataclasses import asdict, dataclass
from typing import Any

from graphghha.exports.dialects import ACTUATOR, CONTROLLER, LABEL, RULES, SENSOR, Rule
from graphghha.plants.units import QUANTITIES, canonical

UNKNOWN = "unknown"
__all__ = ["ACTUATOR", "CONTROLLER", "LABEL", "SENSOR", "UNKNOWN", "Kind", "guess_kind", "words_of"]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a point is: the kind of its node, what it is for, and the quantity it measures or sets."""

    role: str  # sensor | actuator | controller | label | unknown
    purpose: str  # measurement | setpoint | command | position | status | mode | tuning | alarm | label | unknown
    quantity: str | None
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def _last(*words: str) -> str:
    """Return a pattern for a name that ends with one of these words, with or without a number behind it."""
    return rf"\b(?:{'|'.join(words)})(?: \d+)?$"


def _tagged(*letters: str) -> str:
    """Return a pattern for the letters of an instrument with a place behind them: `C101_TT_OIL`."""
    return rf"\b(?:{'|'.join(letters)}) [A-Z]+$"


_SETPOINTS = ("SP", "SPT", "STPT", "STP", "SETPT", "SETPOINT", "SET POINT", "SETTING", "SOLL", "SOLLWERT", "CONSIGNE")
_TEMPERATURES = (
    *(
        "TEMP",
        "TEMPERATURE",
        "TMP",
        "TT",
        "TIT",
        "TIC",
        "TE",
        "OAT",
        "MAT",
        "DAT",
        "SAT",
        "RAT",
        "ZAT",
        "ZNT",
        "EAT",
        "LAT",
    ),
    *("EWT", "LWT", "RWT", "SWT", "CHWST", "CHWRT", "HWST", "HWRT", "CHWS", "CHWR", "HWS", "HWR", "OADB", "OAWB", "WB"),
)
_POSITIONS = (
    "CCV",
    "HCV",
    "OAD",
    "RAD",
    "EAD",
    "OUT",
    "OUTPUT",
    "POS",
    "POSITION",
    "VLV",
    "VALVE",
    "VAL",
    "DPR",
    "DMPR",
    "DAMPER",
    "CLAPET",
    "STELLUNG",
)
_SPEEDS = ("SPD", "SPEED", "VFD", "VSD", "FREQ", "HZ", "SC", "DREHZAHL", r"\w{3,}(?:SPD|SPEED|VFD|VSD)")

_RULES = (
    Rule(LABEL, "label", None, r"^(?:ATT FLAG|ATTACKS?|LABELS?|NORMAL ATTACK|CLASS|ANOMALY|IS ATTACK)$", "a label"),
    Rule(CONTROLLER, "tuning", None, _last("KP", "KI", "KD", "GAIN", "PROP BAND", "RESET TIME"), "controller tuning"),
    Rule(CONTROLLER, "setpoint", None, _last(*_SETPOINTS), "a set-point"),
    Rule(CONTROLLER, "setpoint", None, r"\b\w{3,}(?:SP|SPT|STPT)(?: \d+)?$", "a set-point"),
    Rule(CONTROLLER, "setpoint", None, r"\b(?:START|STOP) POINT$", "a switching point"),
    Rule(
        CONTROLLER,
        "mode",
        None,
        r"\b(?:OCC|0 CC|UNOCC|OCCUPANCY|OCCUPIED|MODE|SCHED|SCHEDULE|SEASON|ZEITPROGRAMM|BETRIEBSART)\b",
        "occupancy or mode",
    ),
    Rule(
        SENSOR, "alarm", None, _last("ALM", "ALARM", "AH", "AL", "LAH", "LAL", "TRIP", "FAULT", "STÖRUNG"), "an alarm"
    ),
    *RULES,  # of published plants
    # instruments by their letters (ISA-5.1)
    Rule(SENSOR, "measurement", "length", _last("LIT", "LIC", "LT", "LI", "LVL", "LEV", "LEVEL", "LIQ LEV"), "a level"),
    Rule(SENSOR, "measurement", "pressure", _last("DPIT", "PIT", "PT", "DPT", "DPS", "PIC"), "a pressure transmitter"),
    Rule(SENSOR, "measurement", "flow", _last("FIT", "FT", "FIC", "FQ"), "a flow transmitter"),
    Rule(SENSOR, "measurement", None, _last("AIT", "AT", "SIT", "VIT", "PHIT"), "an analyser"),
    Rule(
        ACTUATOR,
        "position",
        None,
        _last("MV", "MCV", "FCV", "LCV", "PCV", "TCV", "MOV", "XV", "HV", "SV"),
        "a motor valve",
    ),
    Rule(ACTUATOR, "position", None, _tagged("XV", "FCV", "LCV", "PCV", "TCV", "MOV"), "a motor valve"),
    Rule(SENSOR, "measurement", "temperature", _tagged("TT", "TIT"), "a temperature transmitter"),
    Rule(
        SENSOR, "measurement", "pressure", _tagged("PT", "PIT", "PDT", "PDIT", "DPT", "DPIT"), "a pressure transmitter"
    ),
    Rule(SENSOR, "measurement", "flow", _tagged("FT", "FIT"), "a flow transmitter"),
    Rule(SENSOR, "measurement", "length", _tagged("LT", "LIT"), "a level"),
    Rule(SENSOR, "measurement", "vibration", _tagged("VT", "VIT"), "a vibration"),
    Rule(SENSOR, "measurement", "concentration", r"\b\w*(?:CO 2|CO2)$", "a concentration"),  # CO alone is an output
    # commands, outputs and states of building systems
    Rule(
        ACTUATOR,
        "command",
        None,
        _last("C", "CMD", "OP", "CV", "COMMAND", "DM", "DEMAND", "CO", "REQ", "REQUEST"),
        "a command",
    ),
    Rule(
        ACTUATOR,
        "command",
        None,
        _last("EN", "ENA", "ENABLE", "CTRL", "CONTROL", "SS", "START", "STOP", "OPEN", "CLOSE"),
        "a command",
    ),
    Rule(
        ACTUATOR,
        "status",
        None,
        _last(
            "S",
            "STS",
            "STAT",
            "STATUS",
            "STATE",
            "RUN",
            "RUNNING",
            "PROOF",
            "PRF",
            "ZSO",
            "ZSC",
            "IND",
            "FB",
            "FDBK",
            r"\w*MELDUNG",
        ),
        "a state",
    ),
    Rule(
        ACTUATOR,
        "status",
        None,
        _last("SWITCH", "PUMP", "PMP", "PU", "PUMPE", "FAN", "HEATER", "SOLENOID", "SOL", "RELAY"),
        "a state",
    ),
    Rule(ACTUATOR, "status", None, _last("BKR", "BREAKER", "TAP", "TAP POS"), "a breaker or tap changer"),
    Rule(ACTUATOR, "position", None, r"\bO$", "an output"),
    Rule(ACTUATOR, "position", None, _last(*_POSITIONS), "an output or position"),
    Rule(ACTUATOR, "position", None, r"\b\w*(?:VLV|DMPR|VALVE|DAMPER|VENTIL|KLAPPE)\w*(?: \d+)?$", "a valve or damper"),
    Rule(ACTUATOR, "position", None, _last(*_SPEEDS), "a speed"),
    # measured quantities
    Rule(SENSOR, "measurement", "temperature", r"\bT$", "a temperature"),
    Rule(SENSOR, "measurement", "temperature", _last(*_TEMPERATURES), "a temperature"),
    Rule(SENSOR, "measurement", "temperature", r"\b\w*(?:TEMP\w*|TMP)(?: \d+)?$", "a temperature"),
    Rule(SENSOR, "measurement", "humidity", r"\bH$", "a humidity"),
    Rule(SENSOR, "measurement", "humidity", _last("RH", r"\w*HUM", "HUMD", "HUMIDITY", r"\w*FEUCHTE"), "a humidity"),
    Rule(SENSOR, "measurement", "pressure", r"\bP$", "a pressure"),
    Rule(
        SENSOR,
        "measurement",
        "pressure",
        _last("DP", "PRE", "PRES", "PRESS", "PRESSURE", "STATIC", r"\w*DRUCK"),
        "a pressure",
    ),
    Rule(
        SENSOR,
        "measurement",
        "flow",
        r"\b\w*(?:FLOW|FLO|CFM|GPM|VOLUMENSTROM|DURCHFLUSS)(?: RATE)?(?: \d+)?$",
        "a flow",
    ),
    Rule(SENSOR, "measurement", "power", _last("KW", "MW", "PWR", "POWER", "WATT", "WAT", "WATTS"), "a power"),
    Rule(SENSOR, "measurement", None, _last("KVA", "MVA", "KVAR", "MVAR", "PF"), "a power"),
    Rule(SENSOR, "measurement", "energy", _last("KWH", "ENERGY"), "an energy"),
    Rule(SENSOR, "measurement", "concentration", _last("VOC", "PPM"), "a concentration"),
    Rule(SENSOR, "measurement", "humidity", r"\b(?:OA|RA|SA|DA|MA|EA|ZN|RM)RH$", "a humidity"),
    Rule(SENSOR, "measurement", "flow", r"\bAIR VOLUME$", "a flow"),
    Rule(SENSOR, "measurement", "irradiance", _last("IRRADIANCE", "GHI", "POA"), "an irradiance"),
    Rule(SENSOR, "measurement", "voltage", _last("VOLT", "VOLTS", "VOLTAGE", "KV"), "a voltage"),
    Rule(SENSOR, "measurement", "current", _last("CURRENT", "AMPS", "IA", "IB", "IC"), "a current"),
    Rule(SENSOR, "measurement", "rotation", _last("FREQUENCY"), "a frequency"),
    Rule(SENSOR, "measurement", "share", _last("LOAD", "SOC"), "a load or charge"),
)
_COMPILED = [(rule, re.compile(rule.pattern)) for rule in _RULES]

# what trend logs append to the name of a point
_TAIL = re.compile(
    r"(?: (?:TREND|TR|LOG|HISTORY|HIST|PRESENT VALUE|PRESENT|PV|F CV|VALUE|VAL PV|EXT|NUMERIC|BOOLEAN))+$"
)
_STATISTIC = re.compile(r" (?:MAX|MIN|AVG|MEAN|AVERAGE)$")
# quantities that a command or position may be written in; another unit shows that the point is measured
_OUTPUT_QUANTITIES = (None, "share", "rotation", "voltage", "current", "mode")
_ESCAPES = re.compile(r"\$[0-9a-fA-F]{2}")  # `Present$20Value`
_CUTS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")


def words_of(name: str) -> str:
    """Return the words of a name in capitals, separated by blanks, without what trend logs append."""
    plain = _ESCAPES.sub(" ", name[:200])
    words = " ".join(word for word in _CUTS.split(plain) if word).upper()
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
        words = _STATISTIC.sub("", words_of(text))
        for rule, pattern in _COMPILED:
            if (match := pattern.search(words)) is None:
                continue
            if is_state and rule.purpose == "measurement":
                continue  # a word such as On is not a temperature
            if rule.role == ACTUATOR and rule.purpose in ("command", "position") and measured not in _OUTPUT_QUANTITIES:
                continue  # `Brine Out` in degC
            quantity = measured or rule.quantity
            return Kind(rule.role, rule.purpose, quantity, f"{match[0]!r} in its {source} means {rule.meaning}")
    if is_state:
        return Kind(ACTUATOR, "status", None, "its values are words")
    if measured:
        return Kind(SENSOR, "measurement", measured, f"its unit is {unit}")
    if unit is not None and canonical(unit) in ("%", "fraction"):
        return Kind(ACTUATOR, "position", "share", f"its unit is {unit}")
    return Kind(UNKNOWN, "unknown", None, "neither name nor unit shows it")
