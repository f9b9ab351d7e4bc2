"""State and rows as bytes: read back exactly, and damage is noticed."""

import contextlib
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.errors import JournalError
from graphghha.monitor.journal import codec
from graphghha.monitor.journal.codec import pack, pack_rows, unpack, unpack_rows

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(JSON)
def test_json_is_read_back(value):
    assert unpack(pack(value)) == value


@pytest.mark.parametrize("dtype", ["bool", "uint64", "int64", "float32", "float64"])
def test_arrays_are_read_back_with_type_and_shape(dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    back = unpack(pack({"array": array, "number": np.float32(0.5)}))
    assert back["array"].dtype == array.dtype and np.array_equal(back["array"], array) and back["number"] == 0.5


def test_rows_are_read_back_to_the_last_bit():
    rows = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)
    rows[2, 3] = np.nan
    assert unpack_rows(pack_rows(rows), 7).tobytes() == rows.tobytes()


def test_damaged_bytes_are_noticed():
    data = bytearray(pack({"a": list(range(100))}))
    data[len(data) // 2] ^= 1
    with pytest.raises(JournalError, match="damaged"):
        unpack(bytes(data))
    with pytest.raises(JournalError, match="damaged"):
        unpack_rows(pack_rows(np.zeros((3, 2), np.float32)), 4)


def test_what_is_neither_json_nor_an_array_cannot_be_packed():
    with pytest.raises(TypeError, match="object cannot be packed"):
        pack({"what": object()})


@pytest.mark.parametrize(
    "text", [b" " * (codec.MOST_BYTES + 1), b"[" * 200_000, b'{"__array__": "O", "shape": [1], "data": "AAAA"}']
)
def test_a_state_made_to_exhaust_the_reader_is_refused(text):
    with pytest.raises(JournalError, match="a packed state is damaged"):
        unpack(zlib.compress(text, 1))


@pytest.mark.parametrize("count", [10**12, 0, -1, "many", None])
def test_rows_whose_count_is_wrong_are_refused(count):
    with pytest.raises(JournalError, match="packed rows are damaged"):
        unpack_rows(pack_rows(np.zeros((2, 3), np.float32)), count)


@given(st.binary(max_size=200), st.integers())
def test_any_bytes_are_read_or_refused(data, count):
    for read in (lambda: unpack(data), lambda: unpack(zlib.compress(data)), lambda: unpack_rows(data, count)):
        with contextlib.suppress(JournalError):
            read()
