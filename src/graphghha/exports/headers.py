"""The header of a table: name and unit of each column, and which columns hold times, names, values and qualities."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graphghha.exports.times import Family, family_of
from graphghha.exports.vocabulary import TIME_WORDS
from graphghha.plants.units import is_known

_BRACKETS = re.compile(r"(.*?)\s*[\[({]\s*([^\])}]*)\s*[\])}]\s*$", re.DOTALL)
_TAIL_UNIT = re.compile(r"(.*\S)[\s,]+(\S{1,8})$")
_TEMPERATURE = re.compile(
    r"(.*temp(?:erature)?)[ ,_]+([CF])", re.IGNORECASE
)  # a letter is a unit behind this word only
_PER_COLUMN_QUALITY = re.compile(r"(.*?)[\s._:-]*(?:quality|status|flags?|qual|qc)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NameAndUnit:
    """A column's own name, and the unit that its header states."""

    name: str
    unit: str | None


# behind a name they are a part of it: `Fan Mode`, `Return Air RH`, `Brine In`
_NAMING_WORDS = ("mode", "rh", "ratio", "in", "hp", "var", "va")


def split_header(text: str) -> NameAndUnit:
    """Return name and unit of a header such as `Room [degF]`, `Value (°F)`, `ZN-T °F` or `CHWS ()`."""
    text = text.strip().strip('"').strip()
    if match := _BRACKETS.fullmatch(text):
        unit = match[2].strip()
        if not unit or unit.lower() in ("no units", "no unit", "-", "none", "null"):
            return NameAndUnit(match[1].strip() or text, None)
        if is_known(unit) or len(unit) <= 12:
            return NameAndUnit(match[1].strip(), unit)
    if match := _TEMPERATURE.fullmatch(text):
        return NameAndUnit(match[1], match[2])
    match = _TAIL_UNIT.fullmatch(text)
    if match and len(match[2]) > 1 and is_known(match[2]) and match[2].lower() not in _NAMING_WORDS:
        return NameAndUnit(match[1].rstrip(" ,"), match[2])
    return NameAndUnit(text, None)


def plain(name: str) -> str:
    """Return a header without its unit, in lower case."""
    return split_header(name).name.lstrip("\ufeff").strip().lower()


@dataclass(frozen=True, slots=True)
class TimeColumns:
    """The column of the time, and that of the time of day if it stands apart from the date."""

    date: int
    clock: int | None
    family: Family | None  # None: a number since 1970 or since 1900
    reason: str


_HOUR = re.compile(r"(?:hour|hr|he|stunde)(?:[ _-]?(?:ending|end|of[ _-]day))?")
_HOUR_ONLY = re.compile(r"\s*(?:[01]?\d|2[0-4])\s*")
_CLOCK_ONLY = re.compile(r"\s*\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?\s*(?:[AaPp]\.?[Mm]\.?)?\s*")


def find_time(names: Sequence[str], columns: Sequence[Sequence[str]], wanted: str | None = None) -> TimeColumns | None:
    """Return the columns that hold the time: by the name asked for, by a usual name, or by what they hold."""
    lower = [plain(name) for name in names]
    order = sorted(range(len(names)), key=lambda number: lower[number] not in TIME_WORDS)
    if wanted is not None:
        order = [
            number for number in range(len(names)) if wanted.strip().lower() in (lower[number], names[number].lower())
        ]
    for number in order:
        family = family_of(list(columns[number]))
        if family is None:
            continue
        clock = _clock_column(lower, columns, number) if not _has_clock(columns[number]) else None
        reason = "named like a time" if lower[number] in TIME_WORDS else "its texts are times"
        return TimeColumns(number, clock, family, reason)
    for number in order:
        if (lower[number] in TIME_WORDS or wanted) and _are_numbers(columns[number]):
            return TimeColumns(number, None, None, "named like a time, and it holds numbers")
    return None


def is_second_time(name: str, cells: Sequence[str]) -> bool:
    """Return whether a column repeats the time: `Excel Time` with days since 1900 beside a date, or a second date."""
    if not re.search(r"\b(?:time|date|datetime|timestamp|zeit|datum)\b", plain(name)):
        return False
    if family_of(list(cells)) is not None:
        return True
    return _are_numbers(cells) and all(
        30_000 < float(cell.replace(",", ".")) < 60_000 for cell in cells if cell.strip()
    )


def _has_clock(cells: Sequence[str]) -> bool:
    return any(re.search(r"\d:\d|\dT\d|\d\s+\d{1,2}$|\d{12}", cell) for cell in cells)


def _clock_column(names: Sequence[str], columns: Sequence[Sequence[str]], date: int) -> int | None:
    """Return the column with the time of day, or with the number of the hour: 24 is the end of the day."""
    for number, cells in enumerate(columns):
        filled = [cell for cell in cells if cell.strip()]
        is_clock = all(_CLOCK_ONLY.fullmatch(cell) for cell in filled)
        is_hour = bool(_HOUR.fullmatch(names[number])) and all(_HOUR_ONLY.fullmatch(cell) for cell in filled)
        if number != date and filled and (is_clock or is_hour):
            return number
    return None


def _are_numbers(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and all(re.fullmatch(r"\s*\d+(?:[.,]\d+)?(?:[eE]\+?\d+)?\s*", cell) for cell in filled)


def quality_owner(name: str, others: Sequence[str]) -> str | None:
    """Return the column that a column of qualities such as `ZN-T Status` belongs to, or None."""
    match = _PER_COLUMN_QUALITY.fullmatch(plain(name))
    return next((other for other in others if match and match[1] and plain(other) == match[1].strip()), None)
