"""Whatever arrives becomes a reading within limits or a counted rejection, and never an exception."""

import io
import json
import os
from itertools import cycle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.sources import Rejection
from graphghha.sources.batch_builder import Intake
from graphghha.sources.json_messages import ABOUT, decode
from graphghha.sources.mapping import Mapper
from graphghha.sources.stdin import LineSource
from graphghha.sources.timestamps import iso, parse_time_ms
from source_builders import NINE, POINTS, drained, points, readings

TABLE = points()
NOW = NINE + 60_000


def intake():
    return Intake("site", Mapper(TABLE))


def decoded(*messages, name=""):
    into = intake()
    for message in messages:
        decode(message if isinstance(message, bytes) else json.dumps(message).encode(), into, NOW, name)
    return into.take(NOW)


def test_the_forms_of_a_message():
    time = "2018-07-02T11:00:00+02:00"
    batch = decoded(
        {"site": "site", "point": "zone-01/RM_TEMP", "time": time, "value": 70.7, "unit": "degF", "quality": "Good"},
        {"device": "zone-01", "time": NINE, "values": {"FCU_DAT": 12, "FCU_OAT": {"value": 293.15, "unit": "K"}}},
        {"device": "zone-02", "time": NINE / 1000, "FCU_DAT": 13.0, "units": {"FCU_DAT": "degC"}},
        [{"point": "zone-02/FCU_CVLV", "time": time, "value": 0.5}],
    )
    assert readings(batch) == [
        ("zone-01/RM_TEMP", NINE, 21.5),
        ("zone-01/FCU_DAT", NINE, 12.0),
        ("zone-01/FCU_OAT", NINE, 20.0),
        ("zone-02/FCU_DAT", NINE, 13.0),
        ("zone-02/FCU_CVLV", NINE, 0.5),
    ]
    assert not batch.rejected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from([*ABOUT, "point", "value", "values", "RM_TEMP"])
NEAR_MISS = st.dictionaries(
    KEYS, JSON | st.sampled_from(["zone-01/RM_TEMP", "zone-01", "site", "degF", "good", 1e308, 21.0, NINE]), max_size=7
)


@given(st.lists(st.binary(max_size=40) | (JSON | NEAR_MISS).map(lambda each: json.dumps(each).encode()), max_size=5))
def test_nothing_that_arrives_breaks_the_decoder_and_everything_is_counted(messages):
    for name in ("", "zone-01/RM_TEMP"):
        batch = decoded(*messages, name=name)
        assert np.isfinite(batch.values).all()
        assert len(batch) + sum(batch.rejected.values()) >= len(messages)
        assert (batch.times_ms <= NOW + 600_000).all()
        for (point, _, value), column in zip(readings(batch), batch.points.tolist(), strict=True):
            assert point == POINTS[column] and TABLE.low[column] <= value <= TABLE.high[column]


@pytest.mark.parametrize(
    "message",
    [
        {"value": 1.0},
        {"point": 3, "value": 1.0},
        {"point": "zone-01/RM_TEMP", "value": True},
        {"point": "zone-01/RM_TEMP", "value": "21.5"},
        {"device": "zone-01", "values": [1.0]},
        {"device": "zone-01", "units": 3, "RM_TEMP": 1.0},
        {"device": "zone-01"},
        b"21.5",
        b"1" * 5000,
        b"[[[]]]",
        b"[]",
    ],
    ids=str,
)
def test_what_is_no_message_is_malformed(message):
    assert decoded(message).rejected == {Rejection.MALFORMED: 1}


@given(st.integers(0, 4_102_444_800_000))
def test_times_are_read_as_they_are_written(time_ms):
    second = time_ms // 1000 * 1000
    assert parse_time_ms(iso(second)) == second
    if time_ms > 1e11:
        assert parse_time_ms(time_ms) == time_ms and parse_time_ms(time_ms / 1000) == time_ms


@pytest.mark.parametrize(
    "time", ["", "noon", "2018-13-01", "9" * 100, True, [], float("nan"), float("inf"), "0001-01-01T00:00+14:00"]
)
def test_what_is_no_time_is_none_or_far_out(time):
    found = parse_time_ms(time)
    assert found is None or found < 0


def line(value):
    return json.dumps({"point": "zone-01/RM_TEMP", "time": NINE, "value": value}).encode() + b"\n"


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30))
def test_lines_are_whole_however_the_stream_is_cut(cuts):
    class Dribble(io.BytesIO):
        sizes = cycle(cuts)

        def read1(self, size=-1):
            return super().read1(next(self.sizes))

    stream = Dribble(line(1.0) + b"\n" + b"x" * 300 + b"\n" + line(2.0) + b"y" * 301 + b"\n" + line(3.0).strip())
    found, rejected = drained(LineSource(stream, intake(), max_line_bytes=200))
    assert [value for _, _, value in found] == [1.0, 2.0, 3.0]
    assert rejected == {Rejection.TOO_LARGE: 2}


def test_a_pipe_is_waited_for_without_being_blocked_by_it():
    read_end, write_end = os.pipe()
    with open(read_end, "rb") as stream:
        source = LineSource(stream, intake())
        assert source.poll(0.01) is None and source.status.is_connected
        os.write(write_end, line(1.0)[:10])
        assert source.poll(5) is None
        os.write(write_end, line(1.0)[10:])
        assert source.poll(5).values.tolist() == [1.0]
        os.close(write_end)
        assert drained(source) == ([], {}) and source.status.is_finished
