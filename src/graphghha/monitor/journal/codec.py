"""State and rows as compressed bytes: JSON that may contain arrays. Never a pickle."""

import base64
import json
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import JournalError

ARRAY = "__array__"
_DTYPES = frozenset({"|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8"})
MOST_BYTES = 1 << 28  # unpacked; the state of ten thousand zones is far smaller


def pack(state: Any) -> bytes:
    """Return a state as bytes."""
    return zlib.compress(json.dumps(state, default=_encode, separators=(",", ":")).encode(), 1)


def unpack(data: bytes) -> Any:
    """Return the state that `pack` wrote; damaged bytes are detected by their checksum."""
    try:
        return json.loads(_inflate(data), object_hook=_decode)
    except (zlib.error, ValueError, KeyError, TypeError, RecursionError, MemoryError) as exc:
        raise JournalError(f"a packed state is damaged: {exc}") from exc


def pack_rows(values: NDArray[np.float32]) -> bytes:
    """Return rows [r p] as bytes, point by point, because successive values compress best. NaN means not fresh."""
    return zlib.compress(np.ascontiguousarray(values.T, "<f4").tobytes(), 1)


def unpack_rows(data: bytes, num_rows: int) -> NDArray[np.float32]:
    """Return the rows that `pack_rows` wrote."""
    try:
        flat = np.frombuffer(_inflate(data), "<f4")
        return np.ascontiguousarray(flat.reshape(-1, num_rows).T).astype(np.float32)
    except (zlib.error, ValueError, TypeError, MemoryError) as exc:
        raise JournalError(f"packed rows are damaged: {exc}") from exc


def pack_scores(times_ms: NDArray[np.int64], scores: NDArray[np.uint8]) -> bytes:
    """Return scores [r s] and their times as bytes, node by node, because successive scores compress best."""
    return zlib.compress(np.ascontiguousarray(times_ms, "<i8").tobytes() + np.ascontiguousarray(scores.T).tobytes(), 1)


def unpack_scores(data: bytes, num_rows: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return the times and scores that `pack_scores` wrote."""
    try:
        whole = _inflate(data)
        times = np.frombuffer(whole, "<i8", num_rows).astype(np.int64)
        flat = np.frombuffer(whole, np.uint8, offset=8 * num_rows)
        return times, np.ascontiguousarray(flat.reshape(-1, num_rows).T)
    except (zlib.error, ValueError, TypeError, MemoryError) as exc:
        raise JournalError(f"packed scores are damaged: {exc}") from exc


def pack_times(times_ms: NDArray[np.int64]) -> bytes:
    """Return times as bytes."""
    return zlib.compress(np.ascontiguousarray(times_ms, "<i8").tobytes(), 1)


def unpack_times(data: bytes) -> NDArray[np.int64]:
    """Return the times that `pack_times` wrote."""
    try:
        return np.frombuffer(_inflate(data), "<i8").astype(np.int64)
    except (zlib.error, ValueError, TypeError, MemoryError) as exc:
        raise JournalError(f"packed times are damaged: {exc}") from exc


def _inflate(data: bytes) -> bytes:
    """Return the unpacked bytes; refuse a small text that would fill the memory."""
    stream = zlib.decompressobj()
    whole = stream.decompress(data, MOST_BYTES)
    if not stream.eof:
        too_long = len(whole) == MOST_BYTES
        raise ValueError(f"it unpacks to more than {MOST_BYTES} bytes" if too_long else "it is cut off")
    return whole


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {ARRAY: value.dtype.str, "shape": value.shape, "data": data}
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be packed")


def _decode(data: dict[str, Any]) -> Any:
    if ARRAY not in data:
        return data
    if data[ARRAY] not in _DTYPES:
        raise ValueError(f"arrays of {str(data[ARRAY])[:20]!r} are not written here")
    flat = np.frombuffer(base64.b64decode(data["data"]), np.dtype(data[ARRAY]))
    return flat.reshape(data["shape"]).copy()
