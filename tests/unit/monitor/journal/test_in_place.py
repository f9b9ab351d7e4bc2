"""A journal that is removed, replaced, locked or overwritten while it is open; its modes; its identity."""

import logging
import os
import shutil
import sqlite3
import stat

import pytest

from graphghha.errors import JournalError
from graphghha.monitor import Journal, Monitor, Reader
from graphghha.monitor.journal import JournalBusyError
from graphghha.monitor.sinks import Cursor
from graphghha.monitor.sinks.cursor import Position, start_number
from monitor_builders import CONFIG, MINUTE, commit, detector, telemetry, wide

EVERY = 10**6


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "journal.db"


def numbers(path):
    with Reader(path) as reader:
        return [event.number for event in reader.events_after(0, EVERY)]


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_may_open_what_is_created(path):
    before = os.umask(0o000)
    try:
        with Journal(path) as journal:
            journal.write([commit(0)])
            modes = {each.name: mode(each) for each in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert mode(path.parent) == 0o700
    assert set(modes) >= {"journal.db", "journal.db-wal", "journal.db.lock"}
    assert set(modes.values()) == {0o600}


def test_an_older_journal_that_others_may_read_is_reported_and_its_lock_closed_to_them(path, caplog):
    with Journal(path) as journal:
        journal.write([commit(0)])
    path.parent.chmod(0o755)
    path.chmod(0o644)
    path.with_name("journal.db.lock").chmod(0o644)
    with caplog.at_level(logging.WARNING), Journal(path):
        assert "may be read by everybody" in caplog.text
        assert mode(path.with_name("journal.db.lock")) == 0o600


@pytest.mark.parametrize("removed", [("",), ("", "-wal", "-shm"), ("-wal",), ("", "-wal", "-shm", ".lock")])
def test_nothing_is_acknowledged_into_a_file_without_a_name(path, removed):
    with Journal(path) as journal:
        journal.write([commit(0)])
        for suffix in removed:
            path.with_name(path.name + suffix).unlink()
        journal.write([commit(3 * MINUTE)])
        assert numbers(path) == [1, 2, 3, 4], "in the file that the path names"
        assert [event.number for event in journal.events_after(0, EVERY)] == [1, 2, 3, 4]
        assert (journal.take_damage() is not None) == (removed[0] != ".lock")
        journal.write([commit(6 * MINUTE)])
        assert journal.take_damage() is None
        shutil.copytree(path.parent, path.parent.with_name("copy"))  # as a power failure leaves it
    assert numbers(path.parent.with_name("copy") / path.name) == [1, 2, 3, 4, 5, 6]


def test_a_file_that_was_put_in_its_place_is_set_aside(path):
    with Journal(path) as journal:
        journal.write([commit(0)])
        path.with_name("stranger").write_bytes(b"not a journal")
        path.with_name("stranger").rename(path)
        journal.write([commit(3 * MINUTE)])
        damage = journal.take_damage()
        assert path.with_name(damage["file"]).read_bytes() == b"not a journal"
    assert numbers(path) == [1, 2, 3, 4]


def test_a_lock_file_that_is_removed_is_taken_again(path):
    with Journal(path) as journal:
        journal.write([commit(0)])
        path.with_name("journal.db.lock").unlink()
        journal.write([commit(3 * MINUTE)])
        with pytest.raises(JournalBusyError):
            Journal(path)


def test_a_second_monitor_that_was_faster_stops_the_first_from_writing(path):
    with Journal(path) as journal:
        journal.write([commit(0)])
        path.with_name("journal.db.lock").unlink()
        with Journal(path), pytest.raises(JournalError, match="another monitor writes"):
            journal.write([commit(3 * MINUTE)])
        journal.write([commit(3 * MINUTE)])
    assert numbers(path) == [1, 2, 3, 4]


def test_a_stranger_with_the_lock_fails_the_commit_and_nothing_else(path):
    with Journal(path) as journal:
        journal.write([commit(0)])
        stranger = sqlite3.connect(path, isolation_level=None)
        stranger.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalError, match="locked"):
            journal.write([commit(3 * MINUTE)])
        stranger.close()
        journal.write([commit(3 * MINUTE)])
    assert numbers(path) == [1, 2, 3, 4]


def test_a_file_overwritten_while_running_is_set_aside_and_the_monitor_goes_on(path):
    times, values = telemetry(90)
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        monitor.step(wide(times[:40], values[:40]))
        known = len(journal.events_after(0, EVERY))
        with sqlite3.connect(path) as foreign:
            foreign.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            query = "SELECT rootpage FROM sqlite_master WHERE name IN ('rows', 'checkpoints', 'events_by_kind')"
            pages = [page for (page,) in foreign.execute(query)]
        foreign.close()
        with path.open("r+b") as file:
            for page in pages:
                file.seek((page - 1) * 4096)
                file.write(b"\xa5" * 4096)
        for row in range(40, 90):
            monitor.step(wide(times[row : row + 1], values[row : row + 1]))
        events = journal.events_after(0, EVERY)
    kinds = [event.kind for event in events[known:]]
    assert not monitor.is_journal_failing
    assert "journal.damaged" in kinds and "journal.recovered" in kinds
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert sum(kind == "incident.annunciated" for kind in kinds) == 1, "the second attack"


def test_a_restored_backup_gives_its_events_other_keys(path, tmp_path):
    with Journal(path) as journal:
        journal.write([commit(0)])
        first = [event.key for event in journal.events_after(0, EVERY)]
    shutil.copy(path, tmp_path / "backup.db")
    with Journal(path) as journal:
        journal.write([commit(3 * MINUTE)])
        second = [event.key for event in journal.events_after(2, EVERY)]
        last = journal.events_after(3, 1)[0]
    assert first == [f"office:{n}:{first[0].split(':')[2]}" for n in (1, 2)]
    cursor = Cursor(None)
    cursor.position = Position.from_event(last)
    shutil.copy(tmp_path / "backup.db", path)
    with Journal(path) as journal:
        journal.write([commit(9 * MINUTE)])
        third = [event.key for event in journal.events_after(2, EVERY)]
        assert [event.key for event in journal.events_after(0, 2)] == first, "what was in the backup keeps its keys"
        assert start_number(cursor, journal) == 0, "a sink notices that the journal is another one"
    assert not set(third) & set(second)


def test_eras_are_dropped_with_their_events(path):
    for at in range(4):
        with Journal(path) as journal:
            journal.write([commit(3 * MINUTE * at)])
    with sqlite3.connect(path) as foreign:
        assert foreign.execute("SELECT count(*) FROM eras").fetchone() == (4,)
        foreign.execute("DELETE FROM events WHERE number < 6")
    foreign.close()
    with Journal(path) as journal:
        before = [event.key for event in journal.events_after(0, EVERY)]
        journal.trim()
        assert [event.key for event in journal.events_after(0, EVERY)] == before
    with sqlite3.connect(path) as foreign:
        assert foreign.execute("SELECT count(*) FROM eras").fetchone() == (2,)
    foreign.close()


def test_a_monitor_to_which_nobody_speaks_writes_nothing(path):
    from graphghha.sources import ReadingBatch

    times, values = telemetry(10)
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        monitor.step(wide(times, values))
        log = path.with_name(path.name + "-wal").stat()
        for second in range(1, 50):
            monitor.step(ReadingBatch.empty("office", int(times[-1]) + 5 + 1000 * second))
        assert path.with_name(path.name + "-wal").stat().st_mtime_ns == log.st_mtime_ns


def test_a_retention_that_fails_does_not_make_a_commit_be_written_twice(path, monkeypatch, caplog):
    from graphghha.monitor.journal import journal as module

    def fail(self):
        raise JournalError("locked")

    monkeypatch.setattr(module, "TRIM_EVERY_COMMITS", 1)
    monkeypatch.setattr(Journal, "trim", fail)
    with Journal(path) as journal:
        journal.write([commit(0)])
    assert "nothing was dropped this time" in caplog.text and numbers(path) == [1, 2]
