"""Lines of a stream become readings, however the stream is cut."""

import io
import json
import os
from itertools import cycle

from hypothesis import given
from hypothesis import strategies as st

from graphghha.sources import Rejection
from graphghha.sources.batch_builder import BatchBuilder
from graphghha.sources.mapping import Mapper
from graphghha.sources.stdin import LineSource
from source_builders import NINE, drained, points


def builder():
    return BatchBuilder("site", Mapper(points()))


def line(value):
    return json.dumps({"point": "zone-01/RM_TEMP", "time": NINE, "value": value}).encode() + b"\n"


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30))
def test_lines_are_whole_however_the_stream_is_cut(cuts):
    class Dribble(io.BytesIO):
        sizes = cycle(cuts)

        def read1(self, size=-1):
            return super().read1(next(self.sizes))

    stream = Dribble(line(1.0) + b"\n" + b"x" * 300 + b"\n" + line(2.0) + b"y" * 301 + b"\n" + line(3.0).strip())
    result, rejected = drained(LineSource(stream, builder(), max_line_bytes=200))
    assert [value for _, _, value in result] == [1.0, 2.0, 3.0]
    assert rejected == {Rejection.TOO_LARGE: 2}


def test_a_pipe_is_waited_for_without_being_blocked_by_it():
    read_end, write_end = os.pipe()
    with open(read_end, "rb") as stream:
        source = LineSource(stream, builder())
        assert source.poll(0.01) is None and source.status.is_connected
        os.write(write_end, line(1.0)[:10])
        assert source.poll(5) is None
        os.write(write_end, line(1.0)[10:])
        assert source.poll(5).values.tolist() == [1.0]
        os.close(write_end)
        assert drained(source) == ([], {}) and source.status.is_finished
