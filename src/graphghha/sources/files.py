"""CSV and Parquet files as sources: our own telemetry, published files of a plant, and anybody's tables."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from graphghha._util.suggest import nearest
from graphghha.errors import SchemaError
from graphghha.plants import Plant
from graphghha.plants.arrow import pa, pc
from graphghha.plants.base import Dialect
from graphghha.plants.telemetry import MISSING, TelemetryFile
from graphghha.sources.base import Batch, ReadingBatch, Rejection
from graphghha.sources.batch_builder import judged
from graphghha.sources.config import FileConfig
from graphghha.sources.mapping import Mapper, Route
from graphghha.sources.replay import Replay
from graphghha.sources.tables import numbers, open_csv, open_parquet, times_ms
from graphghha.sources.timestamps import LATEST_MS
from graphghha.sources.wide import WideLayout

TIME_NAMES = ("time", "timestamp", "datetime", "date", "ts")
_WITH_UNIT = re.compile(r"(.*?)\s*[\[(]([^\])]+)[\])]")  # `Room temperature [degF]`
_GOOD = (b"good", b"uncertain", b"repaired", b"ok", b"")


def file_source(config: FileConfig, site: str, mapper: Mapper, plant: Plant) -> Replay:
    """Open a file. A header that does not fit raises here, not at the first poll."""
    read = csv_batches if config.format == "csv" else parquet_batches
    batches = read(config.path, site, mapper, plant)
    return Replay(batches, mapper, what=str(config.path), speed=config.speed)


def csv_batches(path: Path, site: str, mapper: Mapper, plant: Plant) -> Iterator[Batch]:
    """Wide or long, as the header tells. Rows must come in the order of time."""
    bad_rows: Counter[Rejection] = Counter()

    def count() -> None:
        bad_rows[Rejection.MALFORMED] += 1

    header, tables = open_csv(path, count)
    return _begun(_batches(path, header, tables, site, mapper, plant, bad_rows))


def parquet_batches(path: Path, site: str, mapper: Mapper, plant: Plant) -> Iterator[Batch]:
    """Our own telemetry day by day; any other file row by row, in the order of time."""
    header, tables = open_parquet(path)
    try:
        file = TelemetryFile(path)
    except SchemaError:
        return _begun(_batches(path, header, tables, site, mapper, plant, Counter()))
    meta = file.meta
    names = [f"{zone}/{point}" for zone in meta.zones for point in meta.points]
    layout = WideLayout(site, mapper, names, list(meta.units) * len(meta.zones), str(path))
    return _telemetry_batches(file, layout)


def _begun(batches: Iterator[Batch]) -> Iterator[Batch]:
    """The first batch is read at once: a header that does not fit is an error when the file is opened."""
    first = next(batches, None)
    return batches if first is None else chain([first], batches)


def _telemetry_batches(file: TelemetryFile, layout: WideLayout) -> Iterator[Batch]:
    for chunk in file.chunks():
        # most chunks miss nothing, and a value that is missing already is NaN
        values = np.where(chunk.quality == MISSING, np.nan, chunk.values) if chunk.quality.any() else chunk.values
        rows = values.transpose(1, 0, 2).reshape(len(chunk.times), -1)
        yield layout.batch(chunk.times.astype(np.int64), rows[:, layout.used])


def _batches(
    path: Path,
    header: Sequence[str],
    tables: Iterator[Any],
    site: str,
    mapper: Mapper,
    plant: Plant,
    bad_rows: Counter[Rejection],
) -> Iterator[Batch]:
    time_column = _time_column(header, path)
    dialect = next((each for each in plant.dialects if each.time_column == header[time_column]), None)
    lower = [name.strip().lower() for name in header]
    if "point" in lower and "value" in lower:
        made = _long_batches(tables, lower, time_column, site, mapper)
    else:
        made = _wide_batches(tables, header, time_column, site, mapper, dialect, path)
    for batch in made:
        rejected = Counter(batch.rejected) + bad_rows
        bad_rows.clear()
        yield replace(batch, rejected=rejected)
    if bad_rows:  # after the last good one
        yield ReadingBatch.empty(site, 0, dict(bad_rows))


def _time_column(header: Sequence[str], path: Path) -> int:
    for number, name in enumerate(header):
        if name.strip().lstrip("\ufeff").lower() in TIME_NAMES:
            return number
    if len(header) == 1 and (other := next((mark for mark in ";\t|" if mark in header[0]), None)):
        raise SchemaError(f"{path}: one column only; separate fields by commas, not by {other!r}")
    near = next((name for name in header if nearest(name, TIME_NAMES)), None)
    hint = f"; is it {near!r}?" if near else ""
    raise SchemaError(f"{path}: no column of times; name one of them {' | '.join(TIME_NAMES)}{hint}")


def _wide_batches(
    tables: Iterator[Any],
    header: Sequence[str],
    time_column: int,
    site: str,
    mapper: Mapper,
    dialect: Dialect | None,
    path: Path,
) -> Iterator[Batch]:
    layout: WideLayout | None = None
    others = [number for number in range(len(header)) if number != time_column]
    time_format = dialect.time_format if dialect else None
    for table in tables:
        if layout is None:
            # an ISO time in the column of a dialect is not that dialect
            is_dialect = dialect is not None and _is_written_so(table.column(time_column), dialect.time_format)
            named = [_name_and_unit(header[number], mapper, dialect if is_dialect else None) for number in others]
            layout = WideLayout(site, mapper, [name for name, _ in named], [unit for _, unit in named], str(path))
        times = times_ms(table.column(time_column), time_format)
        parsed = [numbers(table.column(others[number])) for number in layout.used.tolist()]
        values = np.stack([column for column, _ in parsed], axis=1) if parsed else np.empty((len(times), 0))
        yield layout.batch(times, values, malformed=sum(int(malformed.sum()) for _, malformed in parsed))


def _is_written_so(column: Any, time_format: str) -> bool:
    if not len(column) or not (pa.types.is_binary(column.type) or pa.types.is_string(column.type)):
        return False
    first = column.slice(0, 1).view(pa.string()) if pa.types.is_binary(column.type) else column.slice(0, 1)
    return bool(pc.strptime(first, format=time_format, unit="ms", error_is_null=True)[0].is_valid)


def _name_and_unit(name: str, mapper: Mapper, dialect: Dialect | None) -> tuple[str, str | None]:
    """A header may carry the unit in brackets; a published file has the units of its dialect."""
    name = name.strip()
    if (found := _WITH_UNIT.fullmatch(name)) and not mapper.knows(name):
        return found[1], found[2]
    return name, dialect.units.get(name.rpartition("/")[2]) if dialect else None


def _long_batches(
    tables: Iterator[Any], lower: Sequence[str], time_column: int, site: str, mapper: Mapper
) -> Iterator[Batch]:
    for table in tables:
        columns = dict(zip(lower, table.columns, strict=True))
        times = times_ms(table.column(time_column))
        values, malformed = numbers(columns["value"])
        routes, which = _routes(columns, mapper)
        placed = np.array([isinstance(route, Route) for route in routes], np.bool_)[which]
        # one reason each: where it goes, whether it is a number, whether it is to be believed
        useless = placed & ~malformed & (np.isnan(values) | ~_usable(columns.get("quality"), len(times)))
        rejected = Counter({Rejection.MALFORMED: int((placed & malformed).sum())})
        rejected[Rejection.BAD_QUALITY] += int(useless.sum())
        for why, count in zip(routes, np.bincount(which, minlength=len(routes)).tolist(), strict=True):
            if isinstance(why, Rejection):
                rejected[why] += count
        chosen = placed & ~malformed & ~useless
        found = [route if isinstance(route, Route) else Route(0, "", 0.0, 1.0) for route in routes]
        target = np.array([route.column for route in found], np.int32)[which][chosen]
        shift, scale = (np.array([getattr(route, key) for route in found])[which][chosen] for key in ("shift", "scale"))
        times, values = times[chosen], values[chosen]
        keep, values, judgement = judged(mapper.points, target, values, shift, scale, times, LATEST_MS)
        rejected += judgement
        newest = int(times[keep].max()) if keep.any() else 0
        yield ReadingBatch(site, newest, times[keep], values[keep], target[keep], rejected=+rejected)


def _routes(columns: dict[str, Any], mapper: Mapper) -> tuple[list[Route | Rejection], np.ndarray[Any, Any]]:
    """The routes of a table's distinct (name, unit) pairs, and which of them each row takes."""
    name = _text(columns["point"])
    if "zone" in columns:
        name = pc.binary_join_element_wise(_text(columns["zone"]), name, "/")
    unit = _text(columns["unit"]) if "unit" in columns else pa.array([""] * len(name))
    names, units = name.dictionary_encode(), unit.dictionary_encode()
    pair = names.indices.to_numpy().astype(np.int64) * max(1, len(units.dictionary)) + units.indices.to_numpy()
    distinct, which = np.unique(pair, return_inverse=True)
    name_words, unit_words = names.dictionary.to_pylist(), units.dictionary.to_pylist()
    found = [divmod(number, max(1, len(unit_words))) for number in distinct.tolist()]
    return [mapper.route(name_words[n], unit_words[u] or None) for n, u in found], which


def _text(column: Any) -> Any:
    """A column as text without holes; bytes that are not UTF-8 are no name of ours."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_binary(column.type):
        try:
            column = column.cast(pa.string())
        except pa.ArrowInvalid:
            column = pa.array([(cell or b"").decode("utf-8", "replace") for cell in column.to_pylist()])
    return pc.fill_null(column.cast(pa.string()), "")


def _usable(column: Any, count: int) -> np.ndarray[Any, Any]:
    if column is None:
        return np.ones(count, np.bool_)
    words = pc.utf8_lower(_text(column)).cast(pa.binary())
    return np.asarray(pc.is_in(words, value_set=pa.array(_GOOD)).to_numpy(zero_copy_only=False), np.bool_)
