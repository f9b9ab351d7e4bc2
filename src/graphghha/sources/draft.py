"""Drafts a mapping file from what a source sends: by names that are known, by what names mean, and by units."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphghha.exports.naming import words_of
from graphghha.plants import Plant, Points
from graphghha.plants.units import QUANTITIES, canonical

LEAST_LIKE = 0.5  # share of the words that name and meaning have in common
RESEMBLES_NO_POINT = "resembles no point"
_SAME = 2.0  # for a name that is the signal's own

# abbreviations and the words they stand for
_SYNONYMS = {
    **dict.fromkeys(("ZN", "RM", "ROOM", "ZONE", "SPACE"), "room"),
    **dict.fromkeys(("T", "TEMP", "TEMPERATURE", "TMP"), "temperature"),
    **dict.fromkeys(("DA", "SA", "DISCHARGE", "SUPPLY", "SUP", "DIS"), "discharge air"),
    **dict.fromkeys(("MA", "MIXED", "MIX"), "mixed air"),
    **dict.fromkeys(("RA", "RETURN", "RET"), "return air"),
    **dict.fromkeys(("OA", "OUTDOOR", "OUTSIDE", "OUT"), "outdoor air"),
    **dict.fromkeys(("CLG", "COOL", "COOLING", "CC"), "cooling"),
    **dict.fromkeys(("HTG", "HEAT", "HEATING", "HC"), "heating"),
    **dict.fromkeys(("VLV", "VALVE"), "valve"),
    **dict.fromkeys(("DPR", "DMPR", "DAMPER"), "damper"),
    **dict.fromkeys(("SP", "SPT", "SETPOINT", "STPT", "SETPT"), "setpoint"),
    **dict.fromkeys(("CMD", "COMMAND", "DM", "DEMAND"), "command"),
    **dict.fromkeys(("POS", "POSITION", "O", "OUTPUT"), "position"),
    **dict.fromkeys(("FLOW", "CFM", "GPM", "FLO"), "flow"),
    **dict.fromkeys(("H", "HUM", "HUMD", "HUMIDITY", "RH"), "humidity"),
    **dict.fromkeys(("SPD", "SPEED", "VFD"), "speed"),
    **dict.fromkeys(("PWR", "POWER", "KW", "WATT", "WATTS", "WAT"), "power"),
    **dict.fromkeys(("OCC", "MODE", "OCCUPANCY"), "mode"),
    **{"OAT": "outdoor air temperature", "MAT": "mixed air temperature", "RAT": "return air temperature"},
    **dict.fromkeys(("DAT", "SAT"), "discharge air temperature"),
    **dict.fromkeys(("ZNT", "ZAT", "RMT"), "room temperature"),
    **dict.fromkeys(("CHW", "CW"), "cooling water"),
    **dict.fromkeys(("HW", "HHW"), "heating water"),
    **{"CHWS": "cooling water entering", "CHWST": "cooling water entering temperature"},
    **{"CHWR": "cooling water return", "CHWRT": "cooling water return temperature"},
    **dict.fromkeys(("HWS", "HHWS"), "heating water entering"),
    **dict.fromkeys(("HWST", "HHWST"), "heating water entering temperature"),
    **dict.fromkeys(("HWR", "HHWR"), "heating water return"),
    **dict.fromkeys(("HWRT", "HHWRT"), "heating water return temperature"),
    **{"EWT": "entering water temperature", "LWT": "return water temperature", "RWT": "return water temperature"},
}
_FILLERS = frozenset(("the", "of", "a", "coil", "unit"))
_PREFIX = re.compile(r"^(.*?\d+)\D")


@dataclass(frozen=True, slots=True)
class DraftEntry:
    """One name and the point it may belong to; an empty point if nothing resembles it."""

    name: str
    point: str
    unit: str | None  # stated, or suggested by the readings
    why: str = ""  # what the entry rests on, for a comment
    unit_why: str = ""
    needs_unit: bool = False


def draft_points(names: Sequence[str], points: Points, plant: Plant, taken: Mapping[str, str]) -> dict[str, str]:
    """Return a point for each name that ends with the name of a signal, or whose words mean the same as a signal.

    Names with a common beginning that ends in a number (`R101.`) are one zone; zones are given out in the order of
    these beginnings. `taken` are the points that other names feed already.
    """
    zones = sorted({point.rpartition("/")[0] for point in points.names})
    prefixes = sorted({_prefix(name) for name in names}, key=_natural)
    zone_of = dict(zip(prefixes, zones, strict=False)) if len(prefixes) <= len(zones) else {}
    if len(zones) == 1:
        zone_of = dict.fromkeys(prefixes, zones[0])
    wanted = {signal.name: _meaning(signal.meaning.partition(":")[0], plant) for signal in plant.signals}
    found: dict[str, str] = {}
    used = set(taken.values())
    scored = []
    for name in names:
        rest = name[len(_prefix(name)) :] or name
        own, plain = _meaning(rest, plant), _letters(rest)
        scored += [
            (_SAME if plain == _letters(signal) else _alike(own, meaning), name, signal)
            for signal, meaning in wanted.items()
        ]
    for likeness, name, signal in sorted(scored, key=lambda item: -item[0]):
        zone = zone_of.get(_prefix(name))
        if likeness < LEAST_LIKE or name in found or zone is None:
            continue
        point = f"{zone}/{signal}" if zone else signal
        if point in points.columns and point not in used:
            found[name] = point
            used.add(point)
    return found


def _prefix(name: str) -> str:
    match = _PREFIX.match(name)
    return match[1] if match else ""


def _natural(text: str) -> list[tuple[int, str]]:
    """Return a key that puts R9 before R10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", text)]


def _meaning(text: str, plant: Plant) -> frozenset[str]:
    """Return the words that a name or a sentence stands for, without numbers and without the name of the plant."""
    words = words_of(text).split()
    expanded = " ".join(_SYNONYMS.get(word, word.lower()) for word in words)
    meant = {word for word in expanded.split() if word not in (*_FILLERS, plant.name) and not word.isdigit()}
    if "water" in meant:  # supply water enters the coil, and neither it nor return water is air
        meant = {"entering" if word == "discharge" else word for word in meant if word != "air"}
    return frozenset(meant)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _alike(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if first and second else 0.0


def mapping_text(entries: Sequence[DraftEntry], points: Points, silent: Sequence[str], table: Mapping[str, str]) -> str:
    """Return a mapping file. What is a guess carries a comment; units that nothing states are left to be filled in."""
    lines = ["# A draft: check every entry, above all the units, then run the check again with this file.", ""]
    if table:
        lines += ["[table]", *(f"{key} = {_quoted(text)}" for key, text in table.items()), ""]
    for entry in entries:
        if not entry.point:
            lines += [f"# {_quoted(entry.name)} {RESEMBLES_NO_POINT}", ""]
            continue
        lines += ["[[map]]", f"column = {_quoted(entry.name)}", f"point = {_quoted(entry.point)}"]
        lines[-1] += f"  # {entry.why}" if entry.why else ""
        if entry.unit:
            lines.append(f"unit = {_quoted(entry.unit)}" + (f"  # {entry.unit_why}" if entry.unit_why else ""))
        elif entry.needs_unit:
            choices = unit_choices(points.units[points.columns[entry.point]])
            if len(choices) > 1:
                lines.append(f'# unit = ""  # nothing states it; one of {" | ".join(choices)}')
        lines.append("")
    drafted = {entry.point for entry in entries}
    if unfed := [point for point in silent if point not in drafted]:
        lines += ["# Points without a reading:", *(f"# {point}" for point in unfed), ""]
    return "\n".join(lines)


def unit_choices(unit: str) -> list[str]:
    """Return the units in which a point with this inner unit may be sent."""
    return next((list(units) for units in QUANTITIES.values() if next(iter(units)) == canonical(unit)), [unit])


def _quoted(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(mark if mark.isprintable() else f"\\u{ord(mark):04x}" for mark in plain) + '"'
