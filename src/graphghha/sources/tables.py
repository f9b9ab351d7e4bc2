"""CSV and Parquet as streams of record batches, and their columns as numbers and times, cell by cell where need be."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import DataError
from graphghha.plants.arrow import pa, pacsv, pc, pq
from graphghha.sources.timestamps import parse_time_ms

BLOCK_BYTES = 1 << 22
BLOCK_ROWS = 1 << 14
NO_TIME = -1


def open_csv(path: Path, on_bad_row: Callable[[], None]) -> tuple[list[str], Iterator[Any]]:
    """The header, and batches of undecoded text; a row with too many or too few fields is reported and left out."""

    def skip(row: Any) -> str:
        on_bad_row()
        return "skip"

    try:
        with path.open("rb") as file:
            first = file.readline(BLOCK_BYTES).decode("utf-8-sig", "replace")
        header = next(csv.reader([first]), [])
        if not header:
            raise DataError(f"{path}: empty; the first line must name the columns")
        columns = [f"{number}" for number in range(len(header))]  # two of the file's own may have one name
        reader = pacsv.open_csv(
            path,
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
    return header, _reported(reader, path)


def open_parquet(path: Path) -> tuple[list[str], Iterator[Any]]:
    """The column names, and batches of rows."""
    try:
        file = pq.ParquetFile(path)
    except (OSError, pa.ArrowInvalid) as exc:
        raise DataError(f"{path}: cannot be read as Parquet: {exc}") from exc
    return list(file.schema_arrow.names), _reported(file.iter_batches(batch_size=BLOCK_ROWS), path)


def _reported(batches: Iterator[Any], path: Path) -> Iterator[Any]:
    try:
        yield from batches
    except (OSError, pa.ArrowInvalid) as exc:
        raise DataError(f"{path}: cannot be read further: {exc}") from exc


def numbers(column: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A column as numbers, NaN where none stands, and which cells hold something else."""
    if pa.types.is_binary(column.type) or pa.types.is_string(column.type):
        text = column.view(pa.string()) if pa.types.is_binary(column.type) else column
        filled = pc.if_else(pc.equal(pc.binary_length(text), 0), None, text)
        try:
            column = filled.cast(pa.float64())
        except pa.ArrowInvalid:
            return _numbers_one_by_one(column.view(pa.binary()).to_pylist())
    elif not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return np.full(len(column), np.nan), column.is_valid().to_numpy(zero_copy_only=False)
    values: NDArray[np.float64] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values, np.zeros(len(values), np.bool_)


def _numbers_one_by_one(cells: list[bytes | None]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values, malformed = np.full(len(cells), np.nan), np.zeros(len(cells), np.bool_)
    for row, cell in enumerate(cells):
        if cell is None or not cell.strip():
            continue
        try:
            values[row] = float(cell if b"_" not in cell else b"?")  # Python takes 1_000 for a number, a table does not
        except ValueError:
            malformed[row] = True
    return values, malformed


def times_ms(column: Any, time_format: str | None = None) -> NDArray[np.int64]:
    """A column as milliseconds since 1970; NO_TIME where it cannot be read."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        return _stamps(column)
    if pa.types.is_binary(kind) or pa.types.is_string(kind):
        text = column.view(pa.string()) if pa.types.is_binary(kind) else column
        for attempt in (pa.timestamp("ms"), pa.timestamp("ms", tz="UTC")):
            try:
                return _stamps(text.cast(attempt))
            except pa.ArrowInvalid:
                continue
        if time_format is not None:
            return _stamps(pc.strptime(text, format=time_format, unit="ms", error_is_null=True))
        cells = [cell.decode("utf-8", "replace") for cell in text.view(pa.binary()).fill_null(b"").to_pylist()]
        return _one_by_one([_number_or_text(cell) for cell in cells])
    return _one_by_one(column.to_pylist())


def _number_or_text(cell: str) -> object:
    try:
        return float(cell)
    except ValueError:
        return cell.strip()


def _one_by_one(cells: list[object]) -> NDArray[np.int64]:
    parsed = [parse_time_ms(cell) for cell in cells]
    return np.array([NO_TIME if time is None or abs(time) > 1 << 60 else time for time in parsed], np.int64)


def _stamps(column: Any) -> NDArray[np.int64]:
    whole = column.cast(pa.timestamp("ms", tz=column.type.tz), safe=False).cast(pa.int64())
    stamps: NDArray[np.int64] = whole.fill_null(NO_TIME).to_numpy(zero_copy_only=False)
    return stamps
