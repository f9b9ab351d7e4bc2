"""CSV and Parquet files as sources: our own telemetry, published files of a plant, and tables of any other origin."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha._util.suggest import nearest
from graphghha._util.utf8_file import Utf8File
from graphghha.errors import DataError, SchemaError
from graphghha.exports.notes import NO_ZONE, Guess
from graphghha.exports.plan import NotReadableError
from graphghha.exports.recordings import read_recordings
from graphghha.plants import Dialect, Plant
from graphghha.plants.arrow import pa, pacsv, pc, pq
from graphghha.plants.telemetry import MISSING, TelemetryFile
from graphghha.sources.base import Batch, ReadingBatch, Rejection, RowBatch
from graphghha.sources.batch_builder import LATEST_MS, USABLE_QUALITIES, note_invalid, validate_readings
from graphghha.sources.cells import as_numbers, as_text, as_times_ms
from graphghha.sources.config import FileConfig
from graphghha.sources.export_files import COARSE_STEPS, export_batches, is_by_point, refuse_coarse, usual_step_ms
from graphghha.sources.local_times import read_local_times, shows_summer_time
from graphghha.sources.mapping import LONGEST_NAME, Mapper, Route
from graphghha.sources.refusals import RefusalCounter
from graphghha.sources.replay import Replay
from graphghha.sources.wide import WideLayout

TIME_NAMES = ("time", "timestamp", "datetime", "date", "ts")
BLOCK_BYTES = 1 << 22
BLOCK_ROWS = 1 << 14
OWN_ROWS = 256
MOST_TEXT_BYTES, MOST_RATIO = 64 << 20, 200  # of a column of text in one row group, and times its packed size
_WITH_UNIT = re.compile(r"(.*?)\s*[\[(]([^\])]+)[\])]")  # `Room temperature [degF]`
_NOWHERE = Route(0, "", 0.0, 1.0)  # stands in for a missing route in arrays; its readings are never used


def file_source(
    config: FileConfig, site: str, mapper: Mapper, plant: Plant, stated: Mapping[str, str] = MappingProxyType({})
) -> Replay:
    """Open a file. A header that does not fit raises an error here, not at the first poll.

    `stated` says how an exported table is written. A table that is not in our own form is read as an export.
    """
    notes: tuple[str, ...] = ()
    if plant.is_own:
        batches, notes = own_batches(config, site, plant)
    elif stated or config.path.is_dir():
        batches, notes = export_batches(config, site, mapper, plant, stated)
    else:
        batches, mapper, notes = _own_or_export(config, site, mapper, plant)
    return Replay(batches, mapper, name=str(config.path), speed=config.speed, notes=notes)


def own_batches(config: FileConfig, site: str, plant: Plant) -> tuple[Iterator[Batch], tuple[str, ...]]:
    """Return the rows of a file or folder of a plant of the user's own, some at a time, as training reads them."""
    recorded = read_recordings([config.path], plant)

    def batches() -> Iterator[Batch]:
        for recording in recorded.recordings:
            for at in range(0, len(recording.times_ms), OWN_ROWS):
                times = recording.times_ms[at : at + OWN_ROWS]
                yield RowBatch(site, int(times[-1]), times, recording.values[at : at + OWN_ROWS])

    return batches(), recorded.notes


class NotOurFormError(SchemaError):
    """A table that has no column of times by one of our names."""


_Opened = tuple[Iterator[Batch], Mapper, tuple[str, ...]]  # with what was guessed or left out


def _own_or_export(config: FileConfig, site: str, mapper: Mapper, plant: Plant) -> _Opened:
    """Return the batches of a file in our own form; if it has another, or must be held, those of an export."""
    read = _csv_batches if config.format == "csv" else _parquet_batches
    try:
        batches = read(config.path, site, mapper, plant)
    except NotOurFormError as exc:
        try:
            return _as_export(config, site, mapper, plant)
        except DataError as further:
            if isinstance(further.__cause__, NotReadableError):
                raise exc from None
            raise
    first = next(batches, None)
    if first is None:
        return iter(()), mapper, ()
    if config.is_held and _is_telemetry(config):
        return chain([first], batches), mapper, ()  # rows keep the last value of a point by themselves
    is_readable = bool(len(first.times_ms))
    step_ms = usual_step_ms(first)
    is_coarse = step_ms is not None and step_ms > COARSE_STEPS * plant.step_s * 1000
    is_fine = is_readable and not is_coarse and not is_by_point(first)
    local_ms = _local_times(config) if is_fine else None
    if is_fine and (local_ms is None or not shows_summer_time(local_ms)):
        guess = Guess(config.path.name, "time zone", "UTC", NO_ZONE)
        return chain([first], batches), mapper, () if local_ms is None else (str(guess),)
    if step_ms is not None and _is_telemetry(config):
        refuse_coarse(step_ms, plant, str(config.path))
    try:
        return _as_export(config, site, mapper, plant)  # refuses coarse samples, and holds reports of changes
    except DataError as exc:
        if not isinstance(exc.__cause__, NotReadableError):
            raise
        if is_coarse and step_ms is not None and not config.is_held:
            refuse_coarse(step_ms, plant, str(config.path))
        if is_readable:
            raise
        return chain([first], batches), mapper, ()


def _is_telemetry(config: FileConfig) -> bool:
    """Return whether a file is telemetry as `graphghha simulate` writes it."""
    if config.format != "parquet":
        return False
    try:
        TelemetryFile(config.path)
    except SchemaError:
        return False
    return True


def _local_times(config: FileConfig) -> NDArray[np.int64] | None:
    """Return the times of a CSV file in our own form that name no zone."""
    if config.format != "csv":
        return None
    header = _csv_header(config.path)
    return read_local_times(config.path, len(header), _time_column(header, config.path))


def _as_export(config: FileConfig, site: str, mapper: Mapper, plant: Plant) -> _Opened:
    again = mapper.fresh()
    batches, notes = export_batches(config, site, again, plant, {})
    return batches, again, notes


def _csv_batches(path: Path, site: str, mapper: Mapper, plant: Plant) -> Iterator[Batch]:
    """Yield the rows of a CSV file, which must come in the order of time."""
    bad_rows: Counter[Rejection] = Counter()

    def count() -> None:
        bad_rows[Rejection.MALFORMED] += 1

    header, tables = _open_csv(path, count)
    return _started(_table_batches(path, header, tables, site, mapper, plant, bad_rows))


def _parquet_batches(path: Path, site: str, mapper: Mapper, plant: Plant) -> Iterator[Batch]:
    """Yield our own telemetry day by day, and the rows of any other file in the order of time."""
    header, tables = _open_parquet(path)
    try:
        file = TelemetryFile(path)
    except SchemaError:
        return _started(_table_batches(path, header, tables, site, mapper, plant, Counter()))
    meta = file.meta
    names = [f"{zone}/{point}" for zone in meta.zones for point in meta.points]
    layout = WideLayout(site, mapper, names, list(meta.units) * len(meta.zones), str(path))
    return _telemetry_batches(file, layout)


def _started(batches: Iterator[Batch]) -> Iterator[Batch]:
    """Read the first batch at once, so that a header that does not fit is an error of opening."""
    first = next(batches, None)
    return batches if first is None else chain([first], batches)


def _telemetry_batches(file: TelemetryFile, layout: WideLayout) -> Iterator[RowBatch]:
    for chunk in file.chunks():
        # most chunks miss nothing, and a value that is missing already is NaN
        values = np.where(chunk.quality == MISSING, np.nan, chunk.values) if chunk.quality.any() else chunk.values
        rows = values.transpose(1, 0, 2).reshape(len(chunk.times), -1)
        yield layout.batch(chunk.times.astype(np.int64), rows[:, layout.used])


def _table_batches(
    path: Path,
    header: Sequence[str],
    tables: Iterator[Any],
    site: str,
    mapper: Mapper,
    plant: Plant,
    bad_rows: Counter[Rejection],
) -> Iterator[Batch]:
    """Yield wide or long batches, depending on the header; `bad_rows` grows while the tables are read."""
    time_column = _time_column(header, path)
    lower = [name.strip().lower() for name in header]
    batches: Iterator[Batch]
    if "point" in lower and "value" in lower:
        batches = _long_batches(tables, lower, time_column, site, mapper)
    else:
        dialect = next((each for each in plant.dialects if each.time_column == header[time_column]), None)
        batches = _wide_batches(tables, header, time_column, site, mapper, dialect, path)
    for batch in batches:
        rejected = Counter(batch.rejected) + bad_rows
        bad_rows.clear()
        yield replace(batch, rejected=rejected)
    if bad_rows:  # after the last good row
        yield ReadingBatch.empty(site, 0, dict(bad_rows))


def _time_column(header: Sequence[str], path: Path) -> int:
    for number, name in enumerate(header):
        if name.strip().lstrip("\ufeff").lower() in TIME_NAMES:
            return number
    if len(header) == 1 and (separator := next((mark for mark in ";\t|" if mark in header[0]), None)):
        raise NotOurFormError(f"{path}: there is only one column; separate fields by commas, not by {separator!r}")
    near = next((name for name in header if nearest(name, TIME_NAMES)), None)
    hint = f"; is it {near!r}?" if near else ""
    raise NotOurFormError(f"{path}: no column holds the time; name one of them {' | '.join(TIME_NAMES)}{hint}")


def _wide_batches(
    tables: Iterator[Any],
    header: Sequence[str],
    time_column: int,
    site: str,
    mapper: Mapper,
    dialect: Dialect | None,
    path: Path,
) -> Iterator[RowBatch]:
    """Yield batches from tables with one column per point."""
    layout: WideLayout | None = None
    others = [number for number in range(len(header)) if number != time_column]
    time_format = dialect.time_format if dialect else None
    for table in tables:
        if layout is None:
            # a file whose time column has the dialect's name but holds ISO times is not of that dialect
            is_dialect = dialect is not None and _has_format(table.column(time_column), dialect.time_format)
            named = [_name_and_unit(header[number], mapper, dialect if is_dialect else None) for number in others]
            layout = WideLayout(site, mapper, [name for name, _ in named], [unit for _, unit in named], str(path))
        times = as_times_ms(table.column(time_column), time_format)
        parsed = [as_numbers(table.column(others[number])) for number in layout.used.tolist()]
        values = np.stack([column for column, _ in parsed], axis=1) if parsed else np.empty((len(times), 0))
        yield layout.batch(times, values, malformed=[int(malformed.sum()) for _, malformed in parsed])


def _has_format(times: Any, time_format: str) -> bool:
    """Return whether the first time of a column is written in this format."""
    if not len(times) or not (pa.types.is_binary(times.type) or pa.types.is_string(times.type)):
        return False
    first = times.slice(0, 1).view(pa.string()) if pa.types.is_binary(times.type) else times.slice(0, 1)
    return bool(pc.strptime(first, format=time_format, unit="ms", error_is_null=True)[0].is_valid)


def _name_and_unit(name: str, mapper: Mapper, dialect: Dialect | None) -> tuple[str, str | None]:
    """Return the name and unit of a column: a header may carry the unit in brackets, a dialect defines its own."""
    name = name.strip()
    if len(name) > LONGEST_NAME:  # a regular expression may take quadratic time
        return name, None
    if (with_unit := _WITH_UNIT.fullmatch(name)) and not mapper.knows(name):
        return with_unit[1], with_unit[2]
    return name, dialect.units.get(name.rpartition("/")[2]) if dialect else None


def _long_batches(
    tables: Iterator[Any], lower: Sequence[str], time_column: int, site: str, mapper: Mapper
) -> Iterator[ReadingBatch]:
    """Yield batches from tables with one row per reading."""
    for table in tables:
        columns = dict(zip(lower, table.columns, strict=True))
        times = as_times_ms(table.column(time_column))
        values, malformed = as_numbers(columns["value"])
        refusals = RefusalCounter()
        names, routes, route_of_row = _routes(columns, mapper)
        is_mapped = np.array([isinstance(route, Route) for route in routes], np.bool_)[route_of_row]
        # one reason for each reading: first its name and unit, then its number, then its quality
        unusable = is_mapped & ~malformed & (np.isnan(values) | ~_is_usable(columns.get("quality"), len(times)))
        rejected = Counter({Rejection.MALFORMED: int((is_mapped & malformed).sum())})
        rejected[Rejection.BAD_QUALITY] += int(unusable.sum())
        counts = np.bincount(route_of_row, minlength=len(routes)).tolist()
        for name, route, count in zip(names, routes, counts, strict=True):
            if isinstance(route, Rejection):
                rejected[route] += count
                refusals.add(name, route, count=count)
        chosen = is_mapped & ~malformed & ~unusable
        known = [route if isinstance(route, Route) else _NOWHERE for route in routes]
        points = np.array([route.column for route in known], np.int32)[route_of_row]
        refusals.add_columns(points, values, unusable, Rejection.BAD_QUALITY)
        refusals.add_columns(points, values, is_mapped & malformed, Rejection.MALFORMED)
        points = points[chosen]
        shift = np.array([route.shift for route in known])[route_of_row][chosen]
        scale = np.array([route.scale for route in known])[route_of_row][chosen]
        times, values = times[chosen], values[chosen]
        raw = values
        keep, values, invalid = validate_readings(mapper.points, points, raw, shift, scale, times, LATEST_MS)
        if mapper.statistics is not None:
            mapper.statistics.add_readings(points, raw, mapper.points.impossible(points, values))
        if not keep.all():
            note_invalid(refusals, mapper.points, points, raw, values, times, LATEST_MS)
        rejected += invalid
        newest = int(times[keep].max()) if keep.any() else 0
        kept = times[keep], values[keep], points[keep]
        yield ReadingBatch(site, newest, *kept, rejected=+rejected, refused=refusals.take())


def _routes(columns: dict[str, Any], mapper: Mapper) -> tuple[list[str], list[Route | Rejection], NDArray[np.int64]]:
    """Return names and routes of a table's distinct (name, unit) pairs, and for each row the number of its route."""
    name = as_text(columns["point"])
    if "zone" in columns:
        name = pc.binary_join_element_wise(as_text(columns["zone"]), name, "/")
    unit = as_text(columns["unit"]) if "unit" in columns else pa.array([""] * len(name))
    names, units = name.dictionary_encode(), unit.dictionary_encode()
    pairs = names.indices.to_numpy().astype(np.int64) * max(1, len(units.dictionary)) + units.indices.to_numpy()
    distinct, route_of_row = np.unique(pairs, return_inverse=True)
    all_names, all_units = names.dictionary.to_pylist(), units.dictionary.to_pylist()
    numbers = [divmod(pair, max(1, len(all_units))) for pair in distinct.tolist()]
    routes = [mapper.route(all_names[n], all_units[u] or None) for n, u in numbers]
    return [all_names[n] for n, _ in numbers], routes, route_of_row


def _is_usable(qualities: Any, count: int) -> NDArray[np.bool_]:
    """Return which rows have a usable quality; a row that states none is usable."""
    if qualities is None:
        return np.ones(count, np.bool_)
    usable = pa.array(["", *map(str, USABLE_QUALITIES)])
    return np.asarray(pc.is_in(pc.utf8_lower(as_text(qualities)), value_set=usable).to_numpy(zero_copy_only=False))


def _csv_header(path: Path) -> list[str]:
    """Return the names of the columns of a CSV file."""
    with path.open("rb") as file:
        line = file.readline(BLOCK_BYTES)
    if line.startswith(b"PAR1"):
        raise DataError(f"{path}: is a Parquet file; write parquet:{path}")
    if b"\0" in line:  # UTF-16, which exports may be written in, or no text at all
        raise NotOurFormError(f"{path}: is not a text file in UTF-8")
    header = next(csv.reader([line.decode("utf-8-sig", "replace")]), [])
    if not header:
        raise DataError(f"{path}: the file is empty; its first line must name the columns")
    return header


def _open_csv(path: Path, on_bad_row: Callable[[], None]) -> tuple[list[str], Iterator[Any]]:
    """Return the header, and record batches of undecoded text; a row with too many or too few fields is left out."""

    def skip(row: Any) -> str:
        on_bad_row()
        return "skip"

    try:
        header = _csv_header(path)
        columns = [f"{number}" for number in range(len(header))]  # two columns of the file may share a name
        reader = pacsv.open_csv(
            Utf8File(path),
            read_options=pacsv.ReadOptions(
                use_threads=False, block_size=BLOCK_BYTES, column_names=columns, skip_rows=1
            ),
            parse_options=pacsv.ParseOptions(invalid_row_handler=skip),
            convert_options=pacsv.ConvertOptions(
                check_utf8=False, column_types=dict.fromkeys(columns, pa.binary()), strings_can_be_null=False
            ),
        )
    except (OSError, csv.Error, pa.ArrowInvalid) as exc:
        raise DataError(f"{path}: cannot be read as CSV: {exc}") from exc
    return header, _with_path_in_errors(reader, path)


def _open_parquet(path: Path) -> tuple[list[str], Iterator[Any]]:
    """Return the names of the columns, and record batches."""
    try:
        file = pq.ParquetFile(path)
    except (OSError, pa.ArrowInvalid) as exc:
        raise DataError(f"{path}: cannot be read as Parquet: {exc}") from exc
    _refuse_bomb(file.metadata, path)
    return list(file.schema_arrow.names), _with_path_in_errors(file.iter_batches(batch_size=BLOCK_ROWS), path)


def _refuse_bomb(metadata: Any, path: Path) -> None:
    """Refuse text that fills the memory when it is unpacked: a file of some kilobytes may hold a name of gigabytes."""
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            whole, packed = column.total_uncompressed_size, column.total_compressed_size
            if column.physical_type == "BYTE_ARRAY" and whole > MOST_TEXT_BYTES and whole > MOST_RATIO * packed:
                raise DataError(
                    f"{path}: column {column.path_in_schema[:80]!r} unpacks from {packed} to {whole} bytes of text; "
                    "names and units are short"
                )


def _with_path_in_errors(batches: Iterator[Any], path: Path) -> Iterator[Any]:
    try:
        yield from batches
    except (OSError, pa.ArrowInvalid) as exc:
        raise DataError(f"{path}: cannot be read further: {exc}") from exc
