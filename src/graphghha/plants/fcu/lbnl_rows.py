"""One LBNL file line by line: the slow path that names the line of a fault, or repairs it and counts.

The fast path (`lbnl.py`) hands over here as soon as something does not fit: strictness and repair are written once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import DataError, SchemaError
from graphghha.plants.fcu.signals import NAMES, NUM_SIGNALS
from graphghha.plants.telemetry import GOOD, MISSING, REPAIRED

TIME_COLUMN = "Datetime"
TIME_FORMAT = "%m/%d/%Y %H:%M"
LONGEST_HELD_GAP_MIN = 60  # a longer silence is reported as missing, not invented

Row = tuple[int, NDArray[np.float64], int]  # minute since 1970, values in the file's units, quality


@dataclass(slots=True)
class Repairs:
    """What was repaired in one file, by kind."""

    where: str
    counts: Counter[str] = field(default_factory=Counter)

    def __bool__(self) -> bool:
        return bool(self.counts)

    def __str__(self) -> str:
        return f"{self.where}: repaired " + ", ".join(f"{n} x {kind}" for kind, n in sorted(self.counts.items()))


def columns_of(header: str, where: str) -> dict[str, int]:
    """Where each signal's column stands; extra columns and any order are welcome, a missing one is not."""
    names = [name.strip().strip('"') for name in header.removeprefix("\ufeff").rstrip("\r\n").split(",")]
    if missing := [name for name in (TIME_COLUMN, *NAMES) if name not in names]:
        raise SchemaError(f"{where}:1: missing columns {missing}; a fan-coil file has {TIME_COLUMN} and 29 signals")
    return {name: names.index(name) for name in (TIME_COLUMN, *NAMES)}


def shortage(where: str, rows: int, expected: int) -> str:
    return f"{where}:{rows + 1}: the file ends after {rows} of {expected} rows: it is truncated; download it again"


def scan(lines: Iterable[str], where: str, *, expected_rows: int | None, repairs: Repairs | None) -> Iterator[Row]:
    """Checked rows, one per minute without a gap. Strict unless given `repairs` to count into."""
    lines = iter(lines)
    header = next(lines, "")
    columns = columns_of(header, where)
    width = len(header.split(","))
    held = np.full(NUM_SIGNALS, np.nan)
    last: int | None = None
    rows = 0
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        try:
            minute, values = _parse(line, width, columns)
            if last is not None and minute <= last:
                raise ValueError(f"time {line.split(',')[columns[TIME_COLUMN]]!r} does not follow the row before")
        except ValueError as exc:
            if repairs is None:
                raise DataError(f"{where}:{number}: {exc}; --repair holds the last good value") from exc
            repairs.counts["unusable line dropped"] += 1
            continue
        if last is not None and minute > last + 1:
            gap = minute - last - 1
            if repairs is None:
                raise DataError(f"{where}:{number}: a gap of {gap} minutes before this row; --repair fills it")
            repairs.counts["missing minute filled"] += gap
            quality = REPAIRED if gap <= LONGEST_HELD_GAP_MIN else MISSING
            filler = held if quality == REPAIRED else np.full(NUM_SIGNALS, np.nan)
            for filled in range(last + 1, minute):
                rows += 1
                yield filled, filler.copy(), quality
        bad = ~np.isfinite(values)
        if bad.any():
            name = NAMES[int(np.argmax(bad))]
            if repairs is None:
                text = line.split(",")[columns[name]].strip()
                raise DataError(f"{where}:{number}: {name} is {text!r}, not a number; --repair holds the last good one")
            repairs.counts["bad number held"] += int(bad.sum())
            values[bad] = held[bad]
        held, last = values, minute
        rows += 1
        quality = GOOD if not bad.any() else MISSING if np.isnan(values).any() else REPAIRED
        yield minute, values.copy(), quality
    if expected_rows is not None and rows < expected_rows:
        if repairs is None:
            raise DataError(shortage(where, rows, expected_rows))
        repairs.counts["row missing at the end"] += expected_rows - rows


def _parse(line: str, width: int, columns: dict[str, int]) -> tuple[int, NDArray[np.float64]]:
    fields = line.rstrip("\r\n").split(",")
    if len(fields) != width:
        raise ValueError(f"{len(fields)} fields where the header has {width}: the line is cut or torn")
    minute = minute_of(fields[columns[TIME_COLUMN]].strip('"'))
    return minute, np.array([_number(fields[columns[name]]) for name in NAMES])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def minute_of(text: str) -> int:
    """Minutes since 1970 of a time in the data set's format."""
    date, _, clock = text.strip().partition(" ")
    hours, _, minutes = clock.partition(":")
    if not (hours.isdigit() and minutes.isdigit() and int(hours) < 24 and int(minutes) < 60):
        raise ValueError(f"{text!r} is not a time like 01/31/2018 23:59")
    return _day_of(date) * 1440 + int(hours) * 60 + int(minutes)


@lru_cache(maxsize=8)
def _day_of(date: str) -> int:
    try:
        return (datetime.strptime(date, "%m/%d/%Y") - datetime(1970, 1, 1)).days
    except ValueError:
        raise ValueError(f"{date!r} is not a date like 01/31/2018") from None
