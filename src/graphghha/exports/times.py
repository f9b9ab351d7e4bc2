"""Times as exports write them: one reader for every order of day, month and year, with or without a zone.

Texts are taken apart by one regular expression for each family of formats, on the distinct texts of a column only,
so that no locale and no list of formats is needed.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.exports.months import month_number
from graphghha.plants.arrow import pa

NO_TIME = np.iinfo(np.int64).min
DAY_MS = 86_400_000
MOST_TRIED = 60  # texts of a column, to see how it is written
_CLOCK = (
    r"(?:[T,\s]+(?P<h>\d{1,2})(?:[:.h](?P<m>\d{2}))?(?:[:.](?P<s>\d{2}))?(?:[.,:](?P<f>\d{1,9}))?)?"
    r"\s*(?P<p>[AaPp]\.?\s?[Mm]\.?)?"
)
_ZONE = (
    r"\s*\(?(?P<z>Z|(?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?|[A-Za-z]{1,5}|[A-Z][A-Za-z]+/[A-Za-z_/]+)?\)?"
    r"(?:(?<=[Z\d])\s+\[?[A-Z][A-Za-z_+/-]+\d*\]?)?\s*$"  # Haystack writes a city behind the offset
)
_POINTS = re.compile(r"\s*\d{1,2}\.\d{1,2}\.\d")
_WEEKDAY = r"^\s*(?:[A-Za-z]{2,10}[.,]?\s+)?"


class Family(StrEnum):
    """How a text names its date."""

    NUMBERS = "numbers"  # 2022-05-07, 5/7/2022, 07.05.22
    DAY_MONTH = "day and name of the month"  # 07-May-22
    MONTH_DAY = "name of the month and day"  # May 7, 2022
    YEAR_LAST = "year at the end"  # Sat May 07 12:00:00 CDT 2022
    COMPACT = "digits only"  # 20220507T120000


_PATTERNS = {
    Family.NUMBERS: _WEEKDAY + r"(?P<a>\d{1,4})[-/.](?P<b>\d{1,2})[-/.](?P<c>\d{1,4})" + _CLOCK + _ZONE,
    Family.DAY_MONTH: _WEEKDAY
    + r"(?P<a>\d{1,2})[-/.\s]+(?P<b>LETTER{3,10})\.?[-/.,\s]+(?P<c>\d{2,4})"
    + _CLOCK
    + _ZONE,
    Family.MONTH_DAY: _WEEKDAY + r"(?P<b>LETTER{3,10})\.?\s+(?P<a>\d{1,2}),?\s+(?P<c>\d{4})" + _CLOCK + _ZONE,
    Family.YEAR_LAST: (
        r"^\s*LETTER{2,10}\s+(?P<b>LETTER{3,10})\s+(?P<a>\d{1,2})\s+(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2}))?"
        r"(?P<f>)(?P<p>)(?:\s+(?P<z>[A-Za-z]{1,5}|(?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?))?\s+(?P<c>\d{4})\s*$"
    ),
    Family.COMPACT: (
        r"^\s*(?P<a>\d{4})(?P<b>\d{2})(?P<c>\d{2})[T_\s-]?(?P<h>\d{2})(?P<m>\d{2})(?P<s>\d{2})?(?P<f>)(?P<p>)(?P<z>Z?)\s*$"
    ),
}


_COMPILED = {family: re.compile(text.replace("LETTER", r"[^\W\d_]")) for family, text in _PATTERNS.items()}


class Order(StrEnum):
    """The order of the numbers of a date."""

    YEAR_FIRST = "year first"
    DAY_FIRST = "day first"
    MONTH_FIRST = "month first"


@dataclass(frozen=True, slots=True)
class TimeFields:
    """The numbers in a column of times [n], not yet put in order; `is_time` is false where a text is not a time."""

    family: Family
    a: NDArray[np.int16]
    b: NDArray[np.int16]
    c: NDArray[np.int16]
    within_day_ms: NDArray[np.int32]
    is_time: NDArray[np.bool_]
    zone: NDArray[np.int16]  # number of the text in `zones`
    zones: tuple[str, ...]  # the distinct texts that name a zone; "" where there is none
    has_clock: bool  # some text names an hour
    has_points: bool  # dates are written with points, as 07.05.2022

    def local_ms(self, order: Order) -> NDArray[np.int64]:
        """Return the times as if they were in UTC, `NO_TIME` where a text is not a time or no such day exists."""
        if self.family is Family.NUMBERS:
            year, month, day = {
                Order.YEAR_FIRST: (self.a, self.b, self.c),
                Order.DAY_FIRST: (self.c, self.b, self.a),
                Order.MONTH_FIRST: (self.c, self.a, self.b),
            }[order]
        elif self.family is Family.COMPACT:
            year, month, day = self.a, self.b, self.c
        else:
            year, month, day = self.c, self.b, self.a
        full = year.astype(np.int64)
        full = np.where(full < 100, np.where(full < 70, 2000, 1900) + full, full)
        days, exists = _days_since_1970(full, month.astype(np.int64), day.astype(np.int64))
        return np.where(self.is_time & exists, days * DAY_MS + self.within_day_ms, NO_TIME)


def take_apart(column: Any, family: Family) -> TimeFields:
    """Return the numbers in a column of texts that are written in this family of formats."""
    encoded = column.dictionary_encode()
    found = [_COMPILED[family].match(text) for text in encoded.dictionary.to_pylist()]
    is_time = np.array([match is not None for match in found] + [False])  # the last one stands for null
    nothing = dict.fromkeys("abchmsfpz", "")
    groups = [match.groupdict("") if match else nothing for match in found] + [nothing]
    parts = {name: [group[name] for group in groups] for name in "abchmsfpz"}
    numbers = {name: _numbers(parts[name]) for name in "acms"}
    hour = _hours(_numbers(parts["h"]), parts["p"])
    is_named = family in (Family.DAY_MONTH, Family.MONTH_DAY, Family.YEAR_LAST)
    month = _months(parts["b"]) if is_named else _numbers(parts["b"])
    within = ((hour * 60 + numbers["m"]) * 60 + numbers["s"]) * 1000 + _milliseconds(parts["f"])
    is_time &= (month > 0) & (hour >= 0) & (hour <= 24) & (numbers["m"] < 60) & (numbers["s"] < 61)
    zones, zone = np.unique(np.array(parts["z"], dtype=object).astype(str), return_inverse=True)
    rows = encoded.indices.fill_null(len(is_time) - 1).to_numpy(zero_copy_only=False)
    return TimeFields(
        family=family,
        a=numbers["a"].astype(np.int16)[rows],
        b=month.astype(np.int16)[rows],
        c=numbers["c"].astype(np.int16)[rows],
        within_day_ms=within.astype(np.int32)[rows],
        is_time=is_time[rows],
        zone=zone.astype(np.int16)[rows],
        zones=tuple(zones.tolist()),
        has_clock=any(parts["h"]),
        has_points=any(match and _POINTS.match(match[0]) for match in found[:MOST_TRIED]),
    )


def join_fields(blocks: list[TimeFields]) -> TimeFields:
    """Return the blocks of one column as a whole."""
    zones = tuple(sorted({zone for block in blocks for zone in block.zones}))
    numbers = [np.array([zones.index(zone) for zone in block.zones], np.int16)[block.zone] for block in blocks]
    return TimeFields(
        family=blocks[0].family,
        a=np.concatenate([block.a for block in blocks]),
        b=np.concatenate([block.b for block in blocks]),
        c=np.concatenate([block.c for block in blocks]),
        within_day_ms=np.concatenate([block.within_day_ms for block in blocks]),
        is_time=np.concatenate([block.is_time for block in blocks]),
        zone=np.concatenate(numbers),
        zones=zones,
        has_clock=any(block.has_clock for block in blocks),
        has_points=blocks[0].has_points,
    )


def family_of(texts: list[str]) -> Family | None:
    """Return the family in which at least four fifths of these texts are times."""
    filled = [text for text in texts if text.strip()]
    filled = filled[:: max(1, len(filled) // MOST_TRIED)]
    if not filled:
        return None
    column = pa.array(filled, pa.string())
    for family in Family:
        fields = take_apart(column, family)
        if fields.is_time.mean() >= 0.8 and _is_plausible(fields):
            return family
    return None


def _is_plausible(fields: TimeFields) -> bool:
    """Return whether some order of the numbers gives existing days, so that 10.20.30.40 is not taken for a date."""
    return any((fields.local_ms(order) != NO_TIME).mean() >= 0.8 for order in Order)


def possible_orders(fields: TimeFields) -> list[tuple[Order, str]]:
    """Return the orders that fit every date, the likeliest first, each with the reason if it is the only one."""
    if fields.family is Family.COMPACT:
        return [(Order.YEAR_FIRST, "eight digits in a row")]
    if fields.family is not Family.NUMBERS:
        return [(Order.DAY_FIRST, "the month is written as a word")]
    a, b, c = (part[fields.is_time] for part in (fields.a, fields.b, fields.c))
    if not len(a) or a.max() > 31:
        return [(Order.YEAR_FIRST, "the year has four digits and comes first")]
    if c.max() <= 31 and c.min() < 1:
        return []
    if a.max() > 12 and b.max() <= 12:
        return [(Order.DAY_FIRST, f"{_example(fields, a > 12)} occurs")]
    if b.max() > 12 and a.max() <= 12:
        return [(Order.MONTH_FIRST, f"{_example(fields, b > 12)} occurs")]
    if a.max() > 12:
        return []
    return [(Order.MONTH_FIRST, ""), (Order.DAY_FIRST, "")]


def _example(fields: TimeFields, chosen: NDArray[np.bool_]) -> str:
    row = int(np.flatnonzero(fields.is_time)[np.flatnonzero(chosen)[0]])
    return f"{fields.a[row]:02}/{fields.b[row]:02}/{fields.c[row]:02}"


def _numbers(texts: list[str]) -> NDArray[np.int64]:
    return np.array([int(text) if text else 0 for text in texts], np.int64)


def _months(names: list[str]) -> NDArray[np.int64]:
    return np.array([month_number(name) or 0 for name in names], np.int64)


def _milliseconds(fractions: list[str]) -> NDArray[np.int64]:
    return np.array([int(text[:3].ljust(3, "0")) if text else 0 for text in fractions], np.int64)


def _hours(hours: NDArray[np.int64], marks: list[str]) -> NDArray[np.int64]:
    """Return the hour of the day; with a mark of noon 12 AM is 0 and 12 PM is 12, and 13 PM is wrong."""
    first = np.array([mark[:1].lower() for mark in marks])
    is_marked = first != ""
    wrong = is_marked & ((hours < 1) | (hours > 12))
    half = np.where(first == "p", 12, 0) + hours % 12
    return np.where(wrong, -1, np.where(is_marked, half, hours))


def _days_since_1970(
    year: NDArray[np.int64], month: NDArray[np.int64], day: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the number of the day, and whether it exists (29 February does not in every year)."""
    exists = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31) & (year >= 1900) & (year <= 2199)
    safe_year, safe_month = np.where(exists, year, 1970), np.where(exists, month, 1)
    months = (safe_year - 1970) * 12 + safe_month - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    following = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    exists &= day <= following - first
    return first + np.where(exists, day, 1) - 1, exists
