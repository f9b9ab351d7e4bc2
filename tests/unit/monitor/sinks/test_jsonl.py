"""JSON lines: whole lines only, whatever happens to the file."""

import json
import os
import sys

import pytest

from graphghha.alarms import StoredEvent
from graphghha.monitor.sinks import JsonLinesFile, JsonLinesStdout
from sink_builders import HOSTILE, incident, keys


def test_lines_carry_the_idempotency_key_and_the_body(tmp_path):
    sink = JsonLinesFile("file", tmp_path / "events.jsonl")
    sink.deliver([incident(1), incident(2)])
    sink.close()
    first, second = map(json.loads, (tmp_path / "events.jsonl").read_text().splitlines())
    assert (first["key"], second["key"]) == ("north:1", "north:2")
    assert first["time"] == "2018-07-02T14:09:00.000Z" and first["body"] == incident(1).body


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_hostile_names_are_one_line_and_read_back(tmp_path, name):
    path = tmp_path / "events.jsonl"
    sink = JsonLinesFile("file", path, sync=False)
    sink.deliver([incident(1, root=name)])
    sink.close()
    (line,) = path.read_bytes().splitlines()
    assert json.loads(line)["body"]["root"] == name


def test_a_torn_last_line_is_cut_off_at_every_byte(tmp_path):
    path = tmp_path / "events.jsonl"
    writer = JsonLinesFile("file", path, sync=False)
    writer.deliver([StoredEvent(1, "north", 0, "source.lost", {}), StoredEvent(2, "north", 0, "source.back", {})])
    writer.close()
    whole = path.read_bytes()
    second = whole.index(b"\n") + 1
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        sink = JsonLinesFile("file", path, sync=False)
        sink.deliver([incident(3)])
        sink.close()
        assert keys(path.read_text().splitlines()) == (["north:3"] if cut < second else ["north:1", "north:3"])


def test_a_torn_line_longer_than_a_block_is_cut_off(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"key": "north:0"}\n' + b"x" * 200_000)
    sink = JsonLinesFile("file", path)
    sink.deliver([incident(1)])
    sink.close()
    assert keys(path.read_text().splitlines()) == ["north:0", "north:1"]


def test_rotation_loses_nothing(tmp_path):
    path, old = tmp_path / "events.jsonl", tmp_path / "events.jsonl.1"
    sink = JsonLinesFile("file", path)
    sink.deliver([incident(1)])
    path.rename(old)
    sink.deliver([incident(2)])
    os.truncate(path, 0)
    sink.deliver([incident(3)])
    sink.close()
    assert keys(old.read_text().splitlines()) == ["north:1"] and keys(path.read_text().splitlines()) == ["north:3"]


def test_a_full_disk_is_an_os_error(monkeypatch):
    sink = JsonLinesFile("file", "/dev/full", sync=False)
    with pytest.raises(OSError, match="No space"):
        sink.deliver([incident(1)])


def test_standard_output_that_nobody_reads_is_reported(monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)
    closed = []
    with os.fdopen(writer, "w") as pipe, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", pipe)
        with pytest.raises(BrokenPipeError):
            JsonLinesStdout("stdout", lambda: closed.append(True)).deliver([incident(1)])
    assert closed == [True]
