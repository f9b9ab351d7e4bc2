"""The table of dialects: how systems and published plants name their points, and how their files are recognised.

Patterns of points are searched in the words of a name (`naming.words_of`), those of columns in the names of columns as
they are, in small letters.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

SENSOR, ACTUATOR, CONTROLLER, LABEL = "sensor", "actuator", "controller", "label"


class Rule(NamedTuple):
    """What a point is if its name has a pattern."""

    role: str
    purpose: str
    quantity: str | None
    pattern: str
    meaning: str


class Dialect(NamedTuple):
    """A way to write files and names. It is recognized by columns, or by most of its points."""

    name: str
    columns: tuple[str, ...] = ()  # names of columns that all occur, in small letters
    points: str = ""  # a pattern that most names have, as they are written
    rules: tuple[Rule, ...] = ()
    about: str = ""


DIALECTS = (
    Dialect(
        "BATADAL",
        points=r"^(?:L_T\d|[FS]_(?:PU|V)\d|P_J\d|ATT_FLAG)",
        rules=(
            Rule(SENSOR, "measurement", "length", r"^L T \d+$", "BATADAL: level of a tank"),
            Rule(SENSOR, "measurement", "flow", r"^F (?:PU|V) \d+$", "BATADAL: flow of a pump or valve"),
            Rule(ACTUATOR, "status", None, r"^S (?:PU|V) \d+$", "BATADAL: state of a pump or valve"),
            Rule(SENSOR, "measurement", "pressure", r"^P J \d+$", "BATADAL: pressure at a junction"),
        ),
        about="hours; ATT_FLAG is 1, 0 or -999 (not labelled)",
    ),
    Dialect(
        "SWaT",
        points=r"^\s*(?:FIT|LIT|AIT|PIT|DPIT|MV|P|UV)-?\d{3}\s*$",
        rules=(Rule(ACTUATOR, "status", None, r"^(?:P|UV) \d{3}$", "SWaT: a pump or lamp"),),
        about="seconds; a line above the names; the column Normal/Attack",
    ),
    Dialect(
        "WADI",
        points=r"(?:^|[\\/])\d[AB]?_(?:AIT|LS|LT|MV|P|DPIT|FIC|FIT|FQ|MCV|PIC|PIT|SV)_\d{3}_",
        rules=(
            Rule(SENSOR, "measurement", "pressure", r"\bPIC \d+$", "WADI: the pressure of a loop"),
            Rule(ACTUATOR, "status", None, r"\bPLANT START STOP\b", "WADI: the state of the plant"),
        ),
        about="seconds; date and time in two columns; names as long as paths",
    ),
    Dialect(
        "HAI",
        points=r"^P[1-4]_[A-Za-z0-9_]+$",
        rules=(
            Rule(ACTUATOR, "command", None, r"\b(?:FCV|LCV|PCV|PP|SOL|LCP) \d+ [AB]? ?D$", "HAI: a demand"),
            Rule(ACTUATOR, "position", None, r"\b(?:FCV|LCV|PCV) \d+ Z$", "HAI: a position"),
            Rule(ACTUATOR, "status", None, r"\b(?:PP|SOL) \d+ [AB]? ?R?$", "HAI: a run state"),
            Rule(SENSOR, "measurement", "flow", r"^P 1 FT \d+ Z$", "HAI: a flow"),
            Rule(CONTROLLER, "setpoint", None, r"^P 1 B \d+ ?[A-Z]*$", "HAI: a set-point or demand of the boiler"),
            Rule(CONTROLLER, "setpoint", None, r"^P 3 L[HL] \d+$", "HAI: a level limit"),
            Rule(CONTROLLER, "setpoint", None, r"^P 4 (?:\w+ )?(?:LD|PS)$", "HAI: a load or power set-point"),
            Rule(SENSOR, "measurement", None, r"^P 4 (?:\w+ )?(?:FD|PO|TT 01)$", "HAI: a frequency or power"),
            Rule(ACTUATOR, "position", None, r"^P 4 \w+ GOV$", "HAI: a gate opening"),
            Rule(ACTUATOR, "command", None, r"^P 1 STSP$|^P 2 (?:AUTO GO|MANUAL GO|ON OFF)$", "HAI: start or stop"),
            Rule(CONTROLLER, "setpoint", None, r"^P 2 (?:ASD|MSD|RTR)$", "HAI: a speed demand or trip rate"),
            Rule(ACTUATOR, "command", None, r"^P 2 (?:SCO|SCST|CO RPM|HILOUT|HIL OUT)$", "HAI: an output"),
            Rule(SENSOR, "alarm", None, r"^P 2 (?:EMERG|TRIP EX)$", "HAI: a trip"),
            Rule(SENSOR, "measurement", None, r"^P 2 (?:VIBTR|VT|24 VDC|24 VD) ?\d*C?$", "HAI: vibration or voltage"),
            Rule(LABEL, "label", None, r"^ATTACK P \d$", "HAI: a label of one process"),
        ),
        about="seconds; a file a day; the columns attack, attack_P1 ..",
    ),
    Dialect(
        "EDS",
        points=r"^(?:flow|liqLev|heater|coolingWater|kettle|tower|feed|cond|middle|top|inlet|\d#|sys)[A-Za-z#0-9]*$",
        rules=(Rule(CONTROLLER, "mode", None, r"^SYS (?:MANUAL|AUTO)$", "EDS: the mode of the plant"),),
        about="half seconds; whole numbers of a controller, some of them the bits of a float or signed counts",
    ),
    Dialect(
        "GE Historian",
        columns=("tagname", "timestamp", "value"),
        about="a row for each reading with DataQuality; [Data] may stand above it; names may end with F_CV",
    ),
    Dialect("Ignition", columns=("t_stamp",), about="a column for each tag, or tagpath and value; quality 192 is good"),
    Dialect("Ignition", points=r"^\[[^\]]+\]", about="names begin with the provider in brackets"),
    Dialect("Metasys", columns=("object name",), about="a row for each reading; names are paths below an engine"),
    Dialect("Metasys", points=r"^(?:[^/:]+:)?N(?:AE|CE|IE|AJ)[-\w]*[/:]", about="names are paths below an engine"),
    Dialect(
        "Niagara",
        columns=("timestamp", "trend flags"),
        about="a file for each history, at an interval or on change; {ok}, {stale} behind a value",
    ),
    Dialect(
        "Niagara", points=r"^(?:slot:|history:|station:)?/(?:Drivers|Config|\w+)/.*\$20|^slot:", about="slot paths"
    ),
    Dialect("Niagara", columns=("timestamp", "value (°f)"), about="a file for each history"),
    Dialect("Niagara", columns=("timestamp", "value (%)"), about="a file for each history"),
)
MOST = 0.6  # share of the names

RULES = tuple(rule for dialect in DIALECTS for rule in dialect.rules)


def recognize(names: Sequence[str], columns: Sequence[frozenset[str]]) -> tuple[Dialect, str] | None:
    """Return the dialect of an export and how it was recognized.

    `names` are those of its points, `columns` those of the columns of each file, in small letters.
    """
    for dialect in DIALECTS:
        if dialect.points and names:
            fits = [name for name in names if re.search(dialect.points, name)]
            if len(fits) >= MOST * len(names):
                return dialect, f"{len(fits)} of {len(names)} names are like {fits[0].strip()!r}"
        if dialect.columns and any(set(dialect.columns) <= own for own in columns):
            return dialect, f"the columns {', '.join(dialect.columns)}"
    return None
