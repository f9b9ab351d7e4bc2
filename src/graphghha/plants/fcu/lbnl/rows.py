"""One LBNL file line by line: the slow path, which names the line of a fault, or repairs it and counts.

The fast path (`files.py`) continues here as soon as something does not fit.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import DataError, SchemaError
from graphghha.plants.fcu.signals import NAMES, NUM_SIGNALS, TIME_COLUMN
from graphghha.plants.telemetry import GOOD, MISSING, REPAIRED

LONGEST_HELD_GAP_MIN = 60  # a longer gap is reported as missing and not filled

# minute since 1970, values in the file's units, quality of each
Row = tuple[int, NDArray[np.float64], NDArray[np.uint8]]


@dataclass(slots=True)
class Repairs:
    """Counts of what was repaired in one file, by kind."""

    where: str
    counts: Counter[str] = field(default_factory=Counter)

    def __bool__(self) -> bool:
        return bool(self.counts)

    def __str__(self) -> str:
        return f"{self.where}: repaired " + ", ".join(f"{n} x {kind}" for kind, n in sorted(self.counts.items()))


def find_columns(header: str, where: str) -> dict[str, int]:
    """Return the position of each signal's column; any order and extra columns are fine, a missing one is an error."""
    names = [name.strip() for name in split_fields(header.removeprefix("\ufeff"))]
    if missing := [name for name in (TIME_COLUMN, *NAMES) if name not in names]:
        raise SchemaError(f"{where}:1: missing columns {missing}; a fan-coil file has {TIME_COLUMN} and 29 signals")
    return {name: names.index(name) for name in (TIME_COLUMN, *NAMES)}


def scan(lines: Iterable[str], where: str, *, expected_rows: int | None, repairs: Repairs | None) -> Iterator[Row]:
    """Check the lines and return one row per minute without a gap. With `repairs`, faults are repaired and counted."""
    parsed = _parsed(lines, where, repairs)
    ahead: list[_Line] = []  # read ahead, not yet used
    held = np.full(NUM_SIGNALS, np.nan)
    last: int | None = None
    rows = 0
    while (line := ahead.pop() if ahead else next(parsed, None)) is not None:
        if last is not None and line.minute <= last:
            if repairs is None:
                raise DataError(
                    f"{where}:{line.number}: its time is not after that of the row before; --repair drops the row"
                )
            repairs.counts["unusable line dropped"] += 1
            continue
        gap = 0 if last is None else line.minute - last - 1
        if repairs is not None and (gap or last is None):
            ahead += [following] if (following := next(parsed, None)) is not None else []
            if _is_stray(line, last, ahead[0] if ahead else None):
                repairs.counts["line with a stray time dropped"] += 1
                continue
        if gap:
            if repairs is None:
                raise DataError(f"{where}:{line.number}: a gap of {gap} minutes before this row; --repair fills it")
            repairs.counts["missing minute filled"] += gap
            filler = held if gap <= LONGEST_HELD_GAP_MIN else np.full(NUM_SIGNALS, np.nan)
            for filled in range(line.minute - gap, line.minute):
                rows += 1
                yield filled, filler.copy(), np.where(np.isnan(filler), MISSING, REPAIRED).astype(np.uint8)
        quality = _hold(line, held, where, repairs)
        held, last = line.values, line.minute
        rows += 1
        yield line.minute, line.values.copy(), quality
    if expected_rows is not None and rows < expected_rows:
        if repairs is None:
            raise DataError(
                f"{where}:{rows + 1}: the file ends after {rows} of {expected_rows} rows: it is truncated; "
                "download it again"
            )
        repairs.counts["row missing at the end"] += expected_rows - rows


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    minute: int
    values: NDArray[np.float64]  # not finite where the file has no number
    texts: list[str]  # of the values


def _parsed(lines: Iterable[str], where: str, repairs: Repairs | None) -> Iterator[_Line]:
    """Parse the lines that have a time and all fields."""
    lines = iter(lines)
    header = next(lines, "")
    columns = find_columns(header, where)
    width = len(split_fields(header))
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        try:
            fields = split_fields(line)
            if len(fields) != width:
                raise ValueError(f"{len(fields)} fields where the header has {width}: the line is cut off or damaged")
            minute = parse_minute(fields[columns[TIME_COLUMN]])
        except ValueError as exc:
            if repairs is None:
                raise DataError(f"{where}:{number}: {exc}; --repair drops the line") from exc
            repairs.counts["unusable line dropped"] += 1
            continue
        texts = [fields[columns[name]] for name in NAMES]
        yield _Line(number, minute, np.array([_number(text) for text in texts]), texts)


def _is_stray(line: _Line, last: int | None, following: _Line | None) -> bool:
    """Return whether only this line jumps ahead: the next one does not follow it, or none follows a long jump."""
    if following is None:
        return last is not None and line.minute - last > LONGEST_HELD_GAP_MIN
    return following.minute < line.minute and (last is None or following.minute > last)


def _hold(line: _Line, held: NDArray[np.float64], where: str, repairs: Repairs | None) -> NDArray[np.uint8]:
    """Replace what is not a number by the last good value; return the quality of each reading."""
    bad = ~np.isfinite(line.values)
    quality = np.full(NUM_SIGNALS, GOOD, np.uint8)
    if not bad.any():
        return quality
    if repairs is None:
        first = int(np.argmax(bad))
        text = line.texts[first].strip()
        raise DataError(
            f"{where}:{line.number}: {NAMES[first]} is {text!r}, not a number; --repair repeats the last good value"
        )
    line.values[bad] = held[bad]
    nothing = np.isnan(line.values)
    quality[bad] = REPAIRED
    quality[nothing] = MISSING
    for kind, count in (("bad number held", bad & ~nothing), ("bad number with none to hold", nothing)):
        if count.any():
            repairs.counts[kind] += int(count.sum())
    return quality


def split_fields(line: str) -> list[str]:
    """Return the fields of a line, with or without quotes."""
    line = line.rstrip("\r\n")
    if '"' not in line:
        return line.split(",")
    try:
        return next(csv.reader([line]), [])
    except csv.Error as exc:
        raise ValueError(f"the line cannot be read: {exc}") from exc


def _number(text: str) -> float:
    try:
        return (
            float("nan") if "_" in text else float(text)
        )  # Python reads 1_000 as a number, but in a table it is a mistake
    except ValueError:
        return float("nan")


def parse_minute(text: str) -> int:
    """Return the minutes since 1970 of a time in the data set's format."""
    date, _, clock = text.strip().partition(" ")
    hours, _, minutes = clock.partition(":")
    if not (hours.isdecimal() and minutes.isdecimal() and len(clock) < 6 and int(hours) < 24 and int(minutes) < 60):
        raise ValueError(f"{text!r} is not a time like 01/31/2018 23:59")
    return _parse_day(date) * 1440 + int(hours) * 60 + int(minutes)


@lru_cache(maxsize=8)
def _parse_day(date: str) -> int:
    try:
        return (datetime.strptime(date, "%m/%d/%Y") - datetime(1970, 1, 1)).days
    except ValueError:
        raise ValueError(f"{date!r} is not a date like 01/31/2018") from None
