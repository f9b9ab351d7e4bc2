"""Columns of a table as Arrow reads them, turned into numbers, times and text."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha._util.times import parse_time_ms
from graphghha.plants.arrow import pa, pc

NO_TIME = -1


def as_numbers(column: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return a column as numbers, NaN where a cell is empty, and which cells hold something else."""
    if pa.types.is_binary(column.type) or pa.types.is_string(column.type):
        text = column.view(pa.string()) if pa.types.is_binary(column.type) else column
        filled = pc.if_else(pc.equal(pc.binary_length(text), 0), None, text)
        try:
            column = filled.cast(pa.float64())
        except pa.ArrowInvalid:
            return _numbers_cell_by_cell(column.view(pa.binary()).to_pylist())
    elif not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return np.full(len(column), np.nan), column.is_valid().to_numpy(zero_copy_only=False)
    values: NDArray[np.float64] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values, np.zeros(len(values), np.bool_)


def _numbers_cell_by_cell(cells: list[bytes | None]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values, malformed = np.full(len(cells), np.nan), np.zeros(len(cells), np.bool_)
    for row, cell in enumerate(cells):
        if cell is None or not cell.strip():
            continue
        try:
            values[row] = float(cell if b"_" not in cell else b"?")  # Python accepts 1_000; in a table it is a mistake
        except ValueError:
            malformed[row] = True
    return values, malformed


def as_times_ms(column: Any, time_format: str | None = None) -> NDArray[np.int64]:
    """Return a column as milliseconds since 1970, NO_TIME where a cell cannot be read."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        return _milliseconds(column)
    if pa.types.is_binary(kind) or pa.types.is_string(kind):
        text = column.view(pa.string()) if pa.types.is_binary(kind) else column
        for timestamp in (pa.timestamp("ms"), pa.timestamp("ms", tz="UTC")):
            try:
                return _milliseconds(text.cast(timestamp))
            except pa.ArrowInvalid:
                continue
        if time_format is not None:
            return _milliseconds(pc.strptime(text, format=time_format, unit="ms", error_is_null=True))
        cells = [cell.decode("utf-8", "replace") for cell in text.view(pa.binary()).fill_null(b"").to_pylist()]
        return _times_cell_by_cell([_number_or_text(cell) for cell in cells])
    return _times_cell_by_cell(column.to_pylist())


def _number_or_text(cell: str) -> object:
    try:
        return float(cell)
    except ValueError:
        return cell.strip()


def _times_cell_by_cell(cells: list[object]) -> NDArray[np.int64]:
    parsed = [parse_time_ms(cell) for cell in cells]
    return np.array([NO_TIME if time is None or abs(time) > 1 << 60 else time for time in parsed], np.int64)


def _milliseconds(column: Any) -> NDArray[np.int64]:
    whole = column.cast(pa.timestamp("ms", tz=column.type.tz), safe=False).cast(pa.int64())
    times: NDArray[np.int64] = whole.fill_null(NO_TIME).to_numpy(zero_copy_only=False)
    return times


def as_text(column: Any) -> Any:
    """Return a column as text without nulls. Bytes that are not UTF-8 are replaced: no name of ours contains them."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_binary(column.type):
        try:
            column = column.cast(pa.string())
        except pa.ArrowInvalid:
            column = pa.array([(cell or b"").decode("utf-8", "replace") for cell in column.to_pylist()])
    return pc.fill_null(column.cast(pa.string()), "")
