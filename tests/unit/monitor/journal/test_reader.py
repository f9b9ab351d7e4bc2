"""Reading a journal."""

import shutil
import sqlite3
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from graphghha.alarms import Command, Verb
from graphghha.errors import GraphGHHAError, JournalError, NotFoundError
from graphghha.monitor import Journal, Monitor, Reader, kpi, read_status, send_command
from monitor_builders import CONFIG, detector, telemetry, wide


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.db"


def test_a_journal_that_does_not_exist_is_not_created(path):
    with pytest.raises(NotFoundError, match="no journal"):
        Reader(path)
    assert not path.exists()


def test_a_file_that_is_not_a_journal_is_an_error(path):
    path.write_bytes(b"minutes of the meeting\n" * 100)
    with pytest.raises(JournalError, match="cannot be read as a journal"):
        Reader(path)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A journal with an open incident, whose content strangers replace."""
    path = tmp_path_factory.mktemp("reader") / "journal.db"
    times, values = telemetry(40)
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        monitor.step(wide(times, values))
    return path


def everything(path):
    """Read all there is to read; errors of our own are allowed."""
    with Reader(path) as reader:
        for read in (
            lambda: reader.events_after(0, 1000),
            lambda: reader.site_events("office"),
            lambda: [reader.incident_events(body["id"]) for body in reader.incidents()],
            lambda: reader.incidents(is_open=True),
            reader.sites,
            lambda: reader.summary("office"),
            lambda: reader.checkpoint("office"),
            lambda: reader.rows("office"),
            lambda: read_status(reader, "office"),
            lambda: kpi(reader),
        ):
            try:
                read()
            except GraphGHHAError:
                continue


DEEP = "[" * 5_000  # hypothesis prints examples, so not longer than needed
CONTENT = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(max_size=30) | st.binary(max_size=30)
CELLS = ["events.body", "events.kind", "events.time_ms", "rows.data", "rows.count", "rows.first_ms", "rows.last_ms"]
CELLS += ["checkpoints.state", "checkpoints.desk", "checkpoints.summary", "sites.body", "eras.identity"]


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(CELLS), CONTENT | CONTENT.map(lambda each: zlib.compress(str(each).encode())))
@example("events.body", DEEP)
@example("events.body", "{}")
@example("checkpoints.state", zlib.compress(b"{}"))
@example("checkpoints.desk", zlib.compress(b'{"alarms": 7}'))
@example("checkpoints.summary", zlib.compress(b"[7]"))
@example("rows.count", 10**15)
@example("sites.body", "[]")
def test_whatever_a_stranger_wrote_into_the_file_is_read_or_refused(written, cell, content):
    table, _, column = cell.partition(".")
    with TemporaryDirectory() as folder:
        path = Path(shutil.copy(written, folder))
        with sqlite3.connect(path) as foreign:
            foreign.execute(f"UPDATE {table} SET {column} = ?", (content,))
        foreign.close()
        everything(path)
        with pytest.raises(GraphGHHAError):
            send_command(path, Command(verb=Verb.ACK, target="no such node", by="ada"), "office")


@pytest.mark.parametrize("cell", ["checkpoints.state", "checkpoints.desk", "checkpoints.summary"])
@pytest.mark.parametrize("content", [b"", zlib.compress(b"{}"), zlib.compress(b"[7]"), zlib.compress(b'{"alarms": 7}')])
def test_a_monitor_starts_on_a_checkpoint_that_a_stranger_wrote(path, cell, content):
    times, values = telemetry(40)
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        monitor.step(wide(times[:30], values[:30]))
    table, _, column = cell.partition(".")
    with sqlite3.connect(path) as foreign:
        foreign.execute(f"UPDATE {table} SET {column} = ?", (content,))
    foreign.close()
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        monitor.step(wide(times[30:], values[30:]))
        assert journal.reader.summary("office")["time_ms"] == times[-1]
