"""Reads exports: tables of any dialect, one or many, wide, long, or a folder with one file for each point.

Memory is bounded by one file: its times (8 bytes for each row) and the readings of a group of its columns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import DataError
from graphghha.exports.archives import SUFFIXES as PACKED
from graphghha.exports.archives import TableFile, Unpacked
from graphghha.exports.build import RawPoint, build_series
from graphghha.exports.clock import Zone, blocks_of, find_orders, find_zone, read_times
from graphghha.exports.columns import Column, ColumnBuilder
from graphghha.exports.file_names import without_date
from graphghha.exports.notes import Guess, Omission
from graphghha.exports.options import ExportOptions
from graphghha.exports.plan import FilePlan, Layout, NotReadableError, header_unit, plan_file
from graphghha.exports.quality import bad_qualities
from graphghha.exports.series import Series
from graphghha.exports.times import NO_TIME, Order
from graphghha.exports.vocabulary import VALUE_WORDS
from graphghha.plants.arrow import pa, pc

SUFFIXES = (".csv", ".txt", ".tsv", ".dat", ".parquet", ".pq")
_UNREADABLE = (".xls", ".xlsb", ".ods", ".7z", ".rar", ".tar", ".tgz", ".bz2", ".xz", ".db", ".sqlite", ".mdb", ".pdf")
GROUP_BYTES = 1 << 27  # readings of a file that are held at once
MOST_POINTS = 100_000  # of a long table


@dataclass(frozen=True, kw_only=True, slots=True)
class FileReport:
    """What became of one file."""

    path: Path
    layout: str  # wide | long | point, or an empty text if the file was left out
    rows: int
    points: tuple[str, ...]
    columns: tuple[str, ...] = ()  # as the file names them, in small letters
    guesses: tuple[Guess, ...] = ()
    omissions: tuple[Omission, ...] = ()

    @property
    def is_read(self) -> bool:
        return bool(self.layout)


@dataclass(frozen=True, kw_only=True, slots=True)
class Export:
    """Everything that was read: the points, and what became of each file."""

    series: tuple[Series, ...]
    files: tuple[FileReport, ...]
    zone: Zone

    @property
    def guesses(self) -> tuple[Guess, ...]:
        own = tuple(guess for file in self.files for guess in file.guesses)
        return own + tuple(guess for each in self.series for guess in each.guesses)

    @property
    def omissions(self) -> tuple[Omission, ...]:
        own = tuple(omission for file in self.files for omission in file.omissions)
        return own + tuple(omission for each in self.series for omission in each.omissions)


def read_exports(paths: Sequence[Path], options: ExportOptions | None = None) -> Export:
    """Read files and folders into memory. Every file is accounted for in `files`."""
    reader = ExportReader(paths, options)
    return Export(series=tuple(reader.series()), files=tuple(reader.reports), zone=reader.zone)


class ExportReader:
    """Reads the files of an export one after the other. `reports` is complete once `series` is exhausted."""

    def __init__(
        self,
        paths: Sequence[Path],
        options: ExportOptions | None = None,
        *,
        keep_units: bool = False,
        group_bytes: int = GROUP_BYTES,
    ) -> None:
        """Find the files and recognize each of them; nothing but a sample of each is read here.

        With `keep_units` the readings stay in the units of the files. `group_bytes` of readings are held at once; fewer
        mean that a file with many columns is read more often.
        """
        self._group_bytes = group_bytes
        self.options = options or ExportOptions()
        self.keep_units = keep_units
        self.reports: list[FileReport] = []
        self.plans: list[FilePlan] = []
        self._unpacked = Unpacked(SUFFIXES)
        files = list_files(paths)
        root = _common_folder([path for path, _ in files])
        for path, is_asked_for in files:
            try:
                for table in self._unpacked.tables(path):
                    self._plan(table, root, is_asked_for and len(files) == 1 and table.path == path)
            except DataError as exc:
                if is_asked_for and len(files) == 1:
                    raise
                self._leave_out(path, _about(path, root), str(exc).removeprefix(f"{path}: "))
        self.zone = find_zone(self.plans, self.options.zone)
        self.order: Order | None = find_orders(self.plans, self.options.dates)

    def _plan(self, table: TableFile, root: Path | None, is_only_one: bool) -> None:
        about = _about(table.file, root)
        try:
            self.plans.append(replace(plan_file(table.path, about, self.options), file=table.file))
        except NotReadableError as exc:
            if is_only_one:
                raise DataError(f"{table.file}: {exc}") from exc
            self._leave_out(table.file, about, str(exc))

    def series(self) -> Iterator[Series]:
        """Yield the points of one file after the other."""
        for plan in self.plans:
            yield from self._read_file(plan)

    def _read_file(self, plan: FilePlan) -> Iterator[Series]:
        try:
            rows = _point_codes(plan) if plan.layout is Layout.LONG else None
            times = read_times(plan, self.zone, self.order, rows.codes if rows else None)
        except DataError as exc:
            self._leave_out(plan.file, plan.about, str(exc))
            return
        names: list[str] = []
        omissions = list(plan.omissions) + list(times.omissions)
        source = self._wide(plan, times.utc_ms) if rows is None else self._long(plan, times.utc_ms, rows)
        for found in source:
            if isinstance(found, Omission):
                omissions.append(found)
            else:
                names.append(found.name)
                yield found
        self.reports.append(
            FileReport(
                path=plan.file,
                layout=str(plan.layout),
                rows=len(times.utc_ms),
                points=tuple(names),
                columns=tuple(name.strip().lower() for name in plan.names),
                guesses=plan.guesses + times.guesses,
                omissions=tuple(omissions),
            )
        )

    def _leave_out(self, file: Path, about: str, reason: str) -> None:
        omission = Omission(about, "file", 1, reason)
        self.reports.append(FileReport(path=file, layout="", rows=0, points=(), omissions=(omission,)))

    def _wide(self, plan: FilePlan, utc_ms: NDArray[np.int64]) -> Iterator[Series | Omission]:
        """Yield the points of a table with one column each, a group of columns at a time."""
        group = max(1, self._group_bytes // max(1, 8 * len(utc_ms)))
        for start in range(0, len(plan.values), group):
            chosen = plan.values[start : start + group]
            qualities = {number: quality for number in chosen if (quality := plan.quality_of(number)) is not None}
            wanted = list(dict.fromkeys([*chosen, *qualities.values()]))
            decimal = plan.table.decimal if plan.table else "."
            builders = {number: ColumnBuilder(decimal) for number in chosen}
            flags = {number: _QualityBuilder(plan.names[number]) for number in set(qualities.values())}
            for block in blocks_of(plan, wanted):
                for number, column in zip(wanted, block.columns, strict=True):
                    (flags if number in flags else builders)[number].add(column)
            marked = {number: builder.finish() for number, builder in flags.items()}
            for number in chosen:
                cells = builders.pop(number).finish()
                yield self._point(plan, number, cells, utc_ms, marked.get(qualities.get(number, -1)))

    def _point(
        self,
        plan: FilePlan,
        number: int,
        cells: Column,
        utc_ms: NDArray[np.int64],
        marked: tuple[NDArray[np.bool_], tuple[Guess, ...]] | None,
    ) -> Series | Omission:
        name, unit = header_unit(plan, number)
        label = ""
        if plan.layout is Layout.POINT and (len(self.plans) > 1 or name.lower() in VALUE_WORDS or not name):
            known = utc_ms[utc_ms != NO_TIME]
            span = (int(known.min()), int(known.max())) if len(known) else None
            label, name = name, without_date(plan.file.stem, span)
        if cells.is_text:
            return Omission(f"{plan.about}: {name}", "column", 1, _why_text(cells))
        settings = plan.table.settings if plan.table else {}
        if unit is None and plan.layout is Layout.POINT:
            unit = settings.get("units") or settings.get("unit")
        raw = RawPoint(
            name=name or f"column {number + 1}",
            label=label,
            file=plan.file,
            column=plan.names[number],
            cells=cells,
            utc_ms=utc_ms,
            is_bad=marked[0] if marked else None,
            unit=unit,
            guesses=marked[1] if marked else (),
        )
        return build_series(raw, self.options.units, keep_unit=self.keep_units)

    def _long(self, plan: FilePlan, utc_ms: NDArray[np.int64], rows: "_LongRows") -> Iterator[Series | Omission]:
        """Yield the points of a table with one row for each reading, some points at a time."""
        if (more := len(rows.names) - MOST_POINTS) > 0:
            yield Omission(plan.about, "point", more, f"more than {MOST_POINTS} names")
        counts = np.bincount(rows.codes, minlength=len(rows.names))
        timed = np.bincount(rows.codes[utc_ms != NO_TIME], minlength=len(rows.names)) > 0
        for chosen in _groups(counts[:MOST_POINTS], self._group_bytes // 16):
            yield from self._long_group(plan, utc_ms, rows, chosen, timed)

    def _long_group(
        self,
        plan: FilePlan,
        utc_ms: NDArray[np.int64],
        long: "_LongRows",
        chosen: range,
        timed: NDArray[np.bool_],
    ) -> Iterator[Series | Omission]:
        """Yield the chosen points; a name that stands in rows without a time only, such as a second header, is none."""
        codes, names, units = long.codes, long.names, long.units
        value, quality = plan.values[0], plan.quality_of(plan.values[0])
        decimal = plan.table.decimal if plan.table else "."
        builders = {code: ColumnBuilder(decimal) for code in chosen}
        flags = _QualityBuilder(plan.names[quality]) if quality is not None else None
        at = 0
        for block in blocks_of(plan, [value] + ([quality] if quality is not None else [])):
            own = codes[at : at + len(block)]
            at += len(block)
            if flags:
                flags.add(block.column(1))
            inside = np.flatnonzero((own >= chosen.start) & (own < chosen.stop))
            order = inside[np.argsort(own[inside], kind="stable")]
            starts = np.searchsorted(own[order], np.arange(chosen.start, chosen.stop + 1))
            for offset in np.flatnonzero(np.diff(starts)).tolist():
                rows = order[starts[offset] : starts[offset + 1]]
                builders[chosen.start + offset].add(block.column(0).take(pa.array(rows)))
        marked = flags.finish() if flags else None
        for code in filter(timed.__getitem__, chosen):
            rows = np.flatnonzero(codes == code)
            cells = builders.pop(code).finish()
            if cells.is_text:
                yield Omission(f"{plan.about}: {names[code]}", "point", 1, _why_text(cells))
                continue
            raw = RawPoint(
                name=names[code],
                label="",
                file=plan.file,
                column=plan.names[value],
                cells=cells,
                utc_ms=utc_ms[rows],
                is_bad=marked[0][rows] if marked else None,
                unit=units[code] or header_unit(plan, value)[1],
            )
            yield build_series(raw, self.options.units, keep_unit=self.keep_units)


class _QualityBuilder:
    """Collects a column of qualities."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._codes: list[NDArray[np.int32]] = []
        self._code_of: dict[str, int] = {}

    def add(self, block: Any) -> None:
        encoded = pc.fill_null(block.cast(pa.string()), "").dictionary_encode()
        own = [self._code_of.setdefault(text, len(self._code_of)) for text in encoded.dictionary.to_pylist()]
        self._codes.append(np.array(own, np.int32)[encoded.indices.to_numpy(zero_copy_only=False)])

    def finish(self) -> tuple[NDArray[np.bool_], tuple[Guess, ...]]:
        """Return which rows are marked as bad."""
        bad, reason = bad_qualities(self._code_of, self._name)
        table = np.array([text in bad for text in self._code_of], np.bool_)
        guesses = (Guess(self._name, "quality codes", "understood", reason),) if reason else ()
        return table[np.concatenate(self._codes)] if self._codes else np.empty(0, np.bool_), guesses


@dataclass(frozen=True, slots=True)
class _LongRows:
    """The points of a long table: the number of each row's point, and the names and units of the points."""

    codes: NDArray[np.int32]
    names: list[str]
    units: list[str | None]


def _point_codes(plan: FilePlan) -> _LongRows:
    """Return the number of each row's point, and the names and units of the points."""
    wanted = list(plan.point_columns) + ([plan.unit_column] if plan.unit_column is not None else [])
    code_of: dict[str, int] = {}
    units: list[str | None] = []
    blocks = []
    for block in blocks_of(plan, wanted):
        parts = [pc.fill_null(column.cast(pa.string()), "") for column in block.columns]
        names = parts[: len(plan.point_columns)]
        name = names[0] if len(names) == 1 else pc.binary_join_element_wise(*names, "/")
        encoded = pc.utf8_trim_whitespace(name).dictionary_encode()
        indices = encoded.indices.to_numpy(zero_copy_only=False)
        firsts = np.unique(indices, return_index=True)[1]
        own = []
        for text, row in zip(encoded.dictionary.to_pylist(), firsts.tolist(), strict=True):
            if text not in code_of:
                code_of[text] = len(code_of)
                unit = parts[-1][row].as_py().strip() if plan.unit_column is not None else ""
                units.append(unit or None)
            own.append(code_of[text])
        blocks.append(np.array(own, np.int32)[indices])
    codes = np.concatenate(blocks) if blocks else np.empty(0, np.int32)
    return _LongRows(codes, list(code_of), units)


def _groups(counts: NDArray[np.int64], most: int) -> Iterator[range]:
    """Yield ranges of points with at most this many readings together, one point at least."""
    start, total = 0, 0
    for number, count in enumerate(counts.tolist()):
        if number > start and total + count > most:
            yield range(start, number)
            start, total = number, 0
        total += count
    if start < len(counts):
        yield range(start, len(counts))


def _why_text(cells: Column) -> str:
    example, _ = cells.malformed.most_common(1)[0]
    return f"its texts are neither numbers nor a few states, such as {example[:40]!r}"


def list_files(paths: Sequence[Path]) -> list[tuple[Path, bool]]:
    """Return the files to read, each with whether it was named itself; folders stand for the tables inside them."""
    found: dict[Path, bool] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(each for each in path.rglob("*") if each.is_file() and not each.name.startswith("."))
            wanted = (*SUFFIXES, *PACKED, *_UNREADABLE)
            found |= {each: False for each in inside if each.suffix.lower() in wanted and each not in found}
        elif path.exists():
            found[path] = True
        else:
            raise DataError(f"{path}: there is no such file or folder")
    if not found:
        raise DataError(f"{', '.join(map(str, paths))}: no file ends with {' | '.join((*SUFFIXES, *PACKED))}")
    return list(found.items())


def _about(path: Path, root: Path | None) -> str:
    return str(path.relative_to(root)) if root else path.name


def _common_folder(paths: Sequence[Path]) -> Path | None:
    folders = {path.parent for path in paths}
    if len(folders) == 1:
        return next(iter(folders))
    shortest = min(folders, key=lambda folder: len(folder.parts))
    return shortest if all(folder.is_relative_to(shortest) for folder in folders) else None


def first_time_ms(series: Sequence[Series]) -> int | None:
    """Return the time of the first reading of all points, or None."""
    return min((int(each.times_ms[0]) for each in series if len(each)), default=None)
