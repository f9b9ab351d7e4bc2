"""The kind of a point from the name of its class in Brick or 223P, or from tags, else from its own name."""

import re

from graphghha.exports.naming import ACTUATOR, CONTROLLER, LABEL, SENSOR, UNKNOWN, Kind, guess_kind, words_of

# classes end with what they are; the first rule that fits decides
_CLASSES = (
    (CONTROLLER, "setpoint", r"\b(?:SETPOINT|PARAMETER|LIMIT|DEADBAND|SP)$"),
    (CONTROLLER, "mode", r"\b(?:MODE|OCCUPANCY|SCHEDULE) (?:COMMAND|STATUS)$|\bMODE$"),
    (ACTUATOR, "position", r"\b(?:VALVE|DAMPER)\b.*\bPOSITION\b.*\bSENSOR$|^POSITION SENSOR$"),
    (ACTUATOR, "command", r"\b(?:COMMAND|ENABLE|DISABLE|CMD)$"),
    (ACTUATOR, "status", r"\bSTATUS$"),
    (SENSOR, "alarm", r"\bALARM$"),
    (SENSOR, "measurement", r"\b(?:SENSOR|METER)$"),
)
_COMPILED = [(kind, purpose, re.compile(pattern)) for kind, purpose, pattern in _CLASSES]
_QUANTITIES = ("TEMPERATURE", "FLOW", "PRESSURE", "HUMIDITY", "POWER", "ENERGY")


def kind_of_point(name: str, what: str = "") -> Kind | None:
    """Return what a point is, or None if neither its class nor its name shows it."""
    for text, source in ((what, "class"), (name, "name")):
        words = words_of(text)
        for kind, purpose, pattern in _COMPILED:
            if match := pattern.search(words):
                quantity = next((each.lower() for each in _QUANTITIES if each in words.split()), None)
                return Kind(kind, purpose, quantity, f"{match[0]!r} in its {source}")
    guessed = guess_kind(name, label=what)
    return None if guessed.role in (UNKNOWN, LABEL) else guessed
