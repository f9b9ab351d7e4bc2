"""How each file of an export is to be read: its layout, its columns of time, names, values and qualities."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from graphghha.errors import DataError
from graphghha.exports.headers import (
    TimeColumns,
    find_time,
    is_second_time,
    plain,
    quality_owner,
    split_header,
)
from graphghha.exports.notes import Guess, Omission
from graphghha.exports.options import ExportOptions
from graphghha.exports.quality import is_quality_text
from graphghha.exports.sample import read_sample
from graphghha.exports.table import TableFormat, fields_of, recognize_table
from graphghha.exports.values import read_cell
from graphghha.exports.vocabulary import (
    GROUP_WORDS,
    NAME_WORDS,
    NUMBER_COLUMNS,
    QUALITY_COLUMNS,
    REMARK_COLUMNS,
    UNIT_WORDS,
    VALUE_WORDS,
)
from graphghha.plants.arrow import pa, pq

SAMPLED_ROWS = 1000
_VALUE_LAST = re.compile(r"(?:^|[\s_])value$|wert$")


class Layout(StrEnum):
    """Where the name of a point stands."""

    WIDE = "wide"  # one column for each point
    LONG = "long"  # one row for each reading, with a column of names
    POINT = "point"  # one file for each point


@dataclass(frozen=True, kw_only=True, slots=True)
class FilePlan:
    """How one file is to be read."""

    path: Path
    file: Path  # how the file is named; differs from `path` if it was unpacked
    about: str  # how messages name the file
    table: TableFormat | None  # None: a Parquet file
    names: tuple[str, ...]
    layout: Layout
    time: TimeColumns
    values: tuple[int, ...]  # columns of readings
    point_columns: tuple[int, ...] = ()  # of a long table: what makes up the name of a point
    unit_column: int | None = None
    quality: tuple[tuple[int, int], ...] = ()  # column of readings, column of its quality
    times_sample: tuple[str, ...] = ()
    guesses: tuple[Guess, ...] = ()
    omissions: tuple[Omission, ...] = ()

    def quality_of(self, column: int) -> int | None:
        return next((quality for value, quality in self.quality if value == column), None)


class NotReadableError(DataError):
    """A file of an export that is left out, with the reason."""


def plan_file(path: Path, about: str, options: ExportOptions) -> FilePlan:
    """Recognize a file; raise `NotReadableError` with the reason if it holds no table of readings."""
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            return _plan_parquet(path, about, options)
        sample = read_sample(path)
    except DataError as exc:
        raise NotReadableError(str(exc).removeprefix(f"{path}: ")) from exc
    if not any(line.strip() for line in sample.head):
        raise NotReadableError("the file is empty")
    table = recognize_table(sample, about, separator=options.separator, decimal=options.decimal)
    if table is None:
        raise NotReadableError("no line has two fields; a table needs a column of times and one of readings")
    body = [
        fields_of(line, table.separator) for line in (sample.head[table.skip_lines :] + sample.later)[:SAMPLED_ROWS]
    ]
    tail = [fields_of(line, table.separator) for line in sample.lines[table.skip_lines :][-50:]]
    rows = [row for row in body + tail if len(row) == len(table.names)]
    if not rows:
        raise NotReadableError("there is a header and not a single reading")
    columns = [[row[number] for row in rows] for number in range(len(table.names))]
    return _plan(path, about, table, table.names, columns, options)


def _plan_parquet(path: Path, about: str, options: ExportOptions) -> FilePlan:
    try:
        file = pq.ParquetFile(path)
        names = tuple(file.schema_arrow.names)
        first = next(file.iter_batches(batch_size=SAMPLED_ROWS), None)
    except (OSError, pa.ArrowInvalid) as exc:
        raise NotReadableError(f"cannot be read as Parquet: {exc}") from exc
    if first is None or not len(first):
        raise NotReadableError("the file holds no rows")
    columns = [["" if cell is None else str(cell) for cell in column.to_pylist()] for column in first.columns]
    return _plan(path, about, None, names, columns, options)


def _plan(
    path: Path,
    about: str,
    table: TableFormat | None,
    names: tuple[str, ...],
    columns: Sequence[Sequence[str]],
    options: ExportOptions,
) -> FilePlan:
    time = find_time(names, columns, options.time_column)
    if time is None:
        raise NotReadableError(_no_time(names, options))
    guesses = list(table.guesses if table else ())
    if plain(names[time.date]) not in ("time", "timestamp", "datetime", "date", "times") and names[time.date]:
        guesses.append(Guess(about, "time column", repr(names[time.date]), time.reason))
    others = [number for number in range(len(names)) if number not in (time.date, time.clock)]
    omissions = []
    for number in list(others):
        if not any(cell.strip() for cell in columns[number]) and not names[number].strip():
            others.remove(number)  # a separator at the end of each line makes a nameless, empty column
        elif plain(names[number]) in NUMBER_COLUMNS:
            others.remove(number)
            omissions.append(Omission(f"{about}: {names[number]}", "column", 1, "a number of the row"))
        elif plain(names[number]) in REMARK_COLUMNS and not any(_has_number(cell) for cell in columns[number]):
            others.remove(number)
            omissions.append(Omission(f"{about}: {names[number]}", "column", 1, "a remark"))
        elif is_second_time(names[number], columns[number]):
            others.remove(number)
            omissions.append(
                Omission(
                    f"{about}: {names[number]}",
                    "column",
                    1,
                    "a second time: the readings of a row are taken at the first one",
                )
            )
    quality = _quality_columns(names, columns, others)
    values = [number for number in others if number not in {column for _, column in quality}]
    shared = partial(
        FilePlan,
        path=path,
        file=path,
        about=about,
        table=table,
        names=names,
        time=time,
        times_sample=tuple(columns[time.date]),
    )
    long = _long_columns(names, columns, values)
    if long is not None:
        points, value, unit = long
        rest = [number for number in values if number not in (*points, value, unit)]
        omissions += [Omission(f"{about}: {names[n]}", "column", 1, "not a part of a reading") for n in rest]
        guesses.append(Guess(about, "layout", "long", f"{names[points[-1]]!r} names the point of each row"))
        own = tuple((value, column) for _, column in quality[:1])
        return shared(
            layout=Layout.LONG,
            values=(value,),
            point_columns=points,
            unit_column=unit,
            quality=own,
            guesses=tuple(guesses),
            omissions=tuple(omissions),
        )
    if not values:
        raise NotReadableError("there is a column of times and no column of readings")
    return shared(
        layout=Layout.POINT if len(values) == 1 else Layout.WIDE,
        values=tuple(values),
        quality=_owners(names, values, quality),
        guesses=tuple(guesses),
        omissions=tuple(omissions),
    )


def _no_time(names: Sequence[str], options: ExportOptions) -> str:
    if options.time_column is not None:
        return f"no column {options.time_column!r} holds times; there are {', '.join(map(repr, names[:6]))}"
    return "no column holds times; state one with time_column"


def _quality_columns(
    names: Sequence[str], columns: Sequence[Sequence[str]], others: Sequence[int]
) -> list[tuple[int | None, int]]:
    """Return the columns of qualities, each with the column it belongs to; None if it belongs to the whole row."""
    found: list[tuple[int | None, int]] = []
    for number in others:
        if plain(names[number]) in QUALITY_COLUMNS:
            owner: int | None = None
        else:
            named = [other for other in others if other != number]
            text = quality_owner(names[number], [names[other] for other in named])
            if text is None:
                continue
            owner = next(other for other in named if names[other] == text)
        if len(others) > 1 and is_quality_text(columns[number]):
            found.append((owner, number))
    return found if len(found) < len(others) else []


def _owners(
    names: Sequence[str], values: Sequence[int], quality: Sequence[tuple[int | None, int]]
) -> tuple[tuple[int, int], ...]:
    pairs = {value: column for owner, column in quality if owner is None for value in values}
    pairs |= {owner: column for owner, column in quality if owner is not None}
    return tuple(pairs.items())


def _long_columns(
    names: Sequence[str], columns: Sequence[Sequence[str]], values: Sequence[int]
) -> tuple[tuple[int, ...], int, int | None] | None:
    """Return the columns of names, of values and of units of a long table, or None if the table is not long."""
    lower = {number: plain(names[number]) for number in values}
    value = next((number for number in values if lower[number] in VALUE_WORDS), None)
    unit = next((number for number in values if lower[number] in UNIT_WORDS), None)
    texts = [
        number
        for number in values
        if number not in (value, unit) and lower[number] not in REMARK_COLUMNS and _is_text(columns[number])
    ]
    named = [number for number in texts if lower[number] in NAME_WORDS]
    if value is None and named:  # `Object Value`, which may hold words
        rest = [number for number in values if number not in (*named, unit)]
        value = next((number for number in rest if _VALUE_LAST.search(lower[number])), None)
        texts = [number for number in texts if number != value]
    if value is None:
        numeric = [number for number in values if number not in (*texts, unit)]
        value = numeric[0] if named and len(numeric) == 1 else None
    if value is None or not (named or (texts and len(values) > 1)):
        return None
    groups = [number for number in texts if lower[number] in GROUP_WORDS]
    point = named[:1] or [next((number for number in texts if number not in groups), texts[-1])]
    if path := _path_column(columns, point[0], texts):
        return (path,), value, unit
    return tuple(dict.fromkeys([*groups, *point])), value, unit


def _path_column(columns: Sequence[Sequence[str]], point: int, texts: Sequence[int]) -> int | None:
    """Return a column whose texts end with the name of the point: names alone may belong to many pieces."""
    names = [cell.strip() for cell in columns[point]]
    for number in texts:
        paths = [cell.strip() for cell in columns[number]]
        pairs = list(zip(paths, names, strict=True))
        if number != point and all(path.endswith(name) for path, name in pairs) and paths != names:
            return number
    return None


def _has_number(cell: str) -> bool:
    return math.isfinite(read_cell(cell).number)


def _is_text(cells: Sequence[str]) -> bool:
    read = [read_cell(cell) for cell in cells[:200] if cell.strip()]
    return bool(read) and sum(cell.word is not None for cell in read) >= 0.8 * len(read)


def header_unit(plan: FilePlan, column: int) -> tuple[str, str | None]:
    """Return the name of a column and the unit that its header, or the line below it, states."""
    header = split_header(plan.names[column])
    unit = header.unit
    if unit is None and plan.table and plan.table.units:
        below = plan.table.units[column].strip("[]() ")
        unit = below or None
    return header.name, unit
