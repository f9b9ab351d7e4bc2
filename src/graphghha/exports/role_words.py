"""Roles that are written differently in copies of one piece of equipment: `ZnTmp`, `Zn_Temp` and `ZNT`."""

from collections import Counter
from collections.abc import Mapping, MutableMapping

from graphghha.exports.notes import Guess

# how one word is written; compounds are taken apart first
_COMPOUNDS = {
    **{f"{place}T": (place, "T") for place in ("ZN", "SA", "DA", "RA", "MA", "OA", "RM")},
    "AIRFLOW": ("AIR", "FLOW"),
    "SETPOINT": ("SP",),
    "SUPFLOW": ("SA", "FLOW"),
}
_SPELLINGS = {
    **dict.fromkeys(("TEMPERATURE", "TEMP", "TMP"), "T"),
    **dict.fromkeys(("ZONE", "ZN", "ROOM", "RM", "SPACE"), "ZONE"),
    **dict.fromkeys(("DAMPER", "DMPR", "DMP", "DPR"), "DAMPER"),
    **dict.fromkeys(("VALVE", "VLV", "VALV"), "VALVE"),
    **dict.fromkeys(("POSITION", "POSN", "POS"), "POS"),
    **dict.fromkeys(("SP", "STPT", "SETPT", "SPT"), "SP"),
    **dict.fromkeys(("COOLING", "COOL", "CLG"), "COOLING"),
    **dict.fromkeys(("HEATING", "HEAT", "HTG"), "HEATING"),
    **dict.fromkeys(("REHEAT", "RHT", "RH"), "REHEAT"),
    **dict.fromkeys(("FLOW", "FLO", "FLW"), "FLOW"),
    **dict.fromkeys(("SPEED", "SPD"), "SPEED"),
    **dict.fromkeys(("STATUS", "STAT", "STS"), "STATUS"),
    **dict.fromkeys(("COMMAND", "CMD"), "COMMAND"),
    **dict.fromkeys(("PRESSURE", "PRESS", "PRES", "PRS"), "PRESSURE"),
    **dict.fromkeys(("HUMIDITY", "HUM", "HUMD"), "HUMIDITY"),
    **dict.fromkeys(("DISCHARGE", "DISCH", "SUPPLY", "SUP", "SA", "DA"), "SUPPLY"),
}


def unify_roles(pieces: Mapping[str, MutableMapping[str, str]]) -> list[Guess]:
    """Give roles one name that copies only write differently. `pieces` has the roles of each copy with their points.

    A copy that has both of them keeps both: `SA-T` and `DA-T` of one box are two sensors.
    """
    usual = Counter(role for roles in pieces.values() for role in roles)
    meant: dict[tuple[str, ...], list[str]] = {}
    for role in usual:
        meant.setdefault(_meaning(role), []).append(role)
    guesses = []
    for roles in meant.values():
        if len(roles) < 2 or any(sum(role in own for role in roles) > 1 for own in pieces.values()):
            continue
        kept, *others = sorted(roles, key=lambda role: -usual[role])
        for own in pieces.values():
            for role in others:
                if role in own:
                    own[kept] = own.pop(role)
        guesses.append(Guess(kept, "role", f"also {', '.join(others)}", "copies write it differently, none has both"))
    return guesses


def _meaning(role: str) -> tuple[str, ...]:
    words = [part for word in role.split("-") for part in _COMPOUNDS.get(word, (word,))]
    return tuple(_SPELLINGS.get(word, word) for word in words)
