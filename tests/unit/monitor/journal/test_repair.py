"""Damaged journals: what can be repaired is, what is readable is kept, and the monitor always starts."""

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from graphghha.alarms import Event
from graphghha.monitor import Journal
from graphghha.monitor.journal.repair import salvage
from graphghha.monitor.journal.retention import DAY_MS
from monitor_builders import MINUTE, commit


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.db"


def filled(path, commits=30):
    with Journal(path) as journal:
        for at in range(commits):
            journal.write([commit(3 * MINUTE * at, events=5)])
    return path.read_bytes()


def test_a_flipped_bit_in_an_event_is_found_and_the_rest_is_kept(path):
    data = bytearray(filled(path))
    at = data.find(b'"id":"i-1800000"')
    data[at + 7] ^= 0x04
    path.write_bytes(data)
    with Journal(path) as journal:
        assert journal.damage["events"] == 149 and journal.damage["lost"] == 1
        numbers = [event.number for event in journal.events_after(0, 1000)]
        assert numbers == list(range(1, 151)), "a stand-in keeps the numbers without gaps"
        assert [event.number for event in journal.events_after(0, 1000) if event.kind == "journal.lost"]
        assert journal.reader.rows("office") is not None
        journal.write([commit(DAY_MS)])
    assert (path.parent / journal.damage["file"]).exists()
    with Journal(path) as again:
        assert again.damage["file"] == journal.damage["file"], "nobody has reported it yet"
        body = {"file": again.damage["file"]}
        again.write([replace(commit(DAY_MS), events=(Event(DAY_MS, "journal.damaged", body),))])
    with Journal(path) as again:
        assert again.damage is None


@pytest.mark.parametrize("word", [b"CREATE TABLE events", b"CREATE TABLE rows", b"CREATE INDEX events_by_kind"])
def test_a_byte_of_the_schema_that_is_no_text_does_not_stop_the_monitor(path, word):
    """SQLite quotes the schema in its message, which Python cannot decode then."""
    data = bytearray(filled(path))
    for at in (data.find(word) + 8, data.find(word) + len(word) - 2):
        path.write_bytes(data[:at] + b"\xe5" + data[at + 1 :])
        with Journal(path) as journal:
            assert journal.damage is not None
            journal.write([commit(DAY_MS)])
            assert journal.reader.last_event_number() >= 2


@pytest.mark.parametrize("word", [b"time_ms INTEGER", b"site TEXT", b"first INTEGER"])
def test_a_column_whose_name_or_type_is_damaged_is_damage(path, word):
    """All pages are in order then, but nothing could be written."""
    data = filled(path)
    assert word in data
    for at in (data.find(word), data.find(word) + len(word) - 2):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x01]) + data[at + 1 :])
        with Journal(path) as journal:
            assert journal.damage is not None
            journal.write([commit(DAY_MS)])
            assert journal.reader.last_event_number() >= 2


@pytest.mark.parametrize("begin", [0, 4096, 40_000])
def test_a_page_of_rubbish_does_not_stop_the_monitor(path, begin):
    data = bytearray(filled(path))
    data[begin : begin + 4096] = bytes(range(256)) * 16
    path.write_bytes(data)
    with Journal(path) as journal:
        assert journal.damage is not None
        journal.write([commit(DAY_MS)])
        assert journal.reader.last_event_number() >= 2


def test_a_write_ahead_log_cut_at_any_byte_opens_with_whole_commits(path, tmp_path):
    with Journal(path) as journal:
        journal.write([commit(0)])
        journal.write([commit(3 * MINUTE)])
        saved = {suffix: path.with_name(path.name + suffix).read_bytes() for suffix in ("", "-wal")}
    seen = set()
    for number, cut in enumerate([*range(0, len(saved["-wal"]), 4001), len(saved["-wal"])]):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "journal.db").write_bytes(saved[""])
        (folder / "journal.db-wal").write_bytes(saved["-wal"][:cut])
        with Journal(folder / "journal.db") as torn:
            last = torn.reader.last_event_number()
            rows = torn.reader.rows("office")
            assert (last == 0) == (rows is None) and last in (0, 2, 4)
            seen.add(last)
        shutil.rmtree(folder)
    assert seen == {0, 2, 4}


@pytest.mark.parametrize("byte", [0, 16, 18, 30, 47, 59, 60, 63, 71])
def test_a_flipped_bit_in_the_header_hides_nothing(path, byte):
    with Journal(path) as journal:
        journal.write([commit(0)])
        before = journal.events_after(0, 100)
    data = bytearray(path.read_bytes())
    data[byte] ^= 1
    path.write_bytes(data)
    with Journal(path) as journal:
        assert journal.events_after(0, 100) == before
        assert journal.damage == {"header_bytes": 1, "lost": 0}


def test_a_journal_whose_log_was_never_written_back_is_not_called_damaged(path, tmp_path):
    with Journal(path) as journal:
        journal.write([commit(0)])
        shutil.copytree(
            tmp_path, tmp_path.with_name(tmp_path.name + "-killed"), ignore=shutil.ignore_patterns("*.lock")
        )
    with Journal(tmp_path.with_name(tmp_path.name + "-killed") / path.name) as journal:
        assert journal.damage is None and len(journal.events_after(0, 100)) == 2


@pytest.mark.parametrize("renames", range(4))
def test_a_salvage_may_be_killed_between_any_two_of_its_renames(path, monkeypatch, renames):
    with Journal(path) as journal:
        journal.write([commit(0)])
        before = journal.events_after(0, 100)
        shutil.copy(path.with_name(path.name + "-wal"), path.with_name("kept"))  # events that are in the log only
    shutil.copy(path.with_name("kept"), path.with_name(path.name + "-wal"))
    rename, left = Path.rename, iter(range(renames))

    def killed(self, target):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return rename(self, target)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "rename", killed)
        salvage(path)
        raise KeyboardInterrupt  # all renames were allowed
    with Journal(path) as journal:
        assert journal.events_after(0, 100) == before
    assert not list(path.parent.glob("*.salvaged"))


def overwrite(path, *names):
    """Fill the root pages of tables or indices with rubbish."""
    with sqlite3.connect(path) as foreign:
        marks = ",".join("?" * len(names))
        query = f"SELECT rootpage FROM sqlite_master WHERE name IN ({marks})"
        pages = [page for (page,) in foreign.execute(query, names)]
    foreign.close()
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * 4096)
            file.write(b"\xa5" * 4096)


def test_a_year_of_checkpoints_does_not_delay_the_salvage(path):
    """Version 0.1 gave the checkpoint a new row number with every commit: 30 million in a year."""
    filled(path)
    with sqlite3.connect(path) as foreign:
        foreign.execute("UPDATE checkpoints SET rowid = 30000000")
        foreign.execute("UPDATE rows SET rowid = rowid + 20000000")
    foreign.close()
    overwrite(path, "events_by_kind")
    with Journal(path) as journal:
        assert journal.damage["checkpoints"] == 1
        assert len(journal.reader.rows("office")) == 90, "packed hours and single blocks"
        assert (journal.damage["events"], journal.damage["lost"]) == (150, 0)
        assert journal.reader.checkpoint("office")[0]["at"] == 87 * MINUTE


def test_what_lies_around_a_damaged_page_is_found(path):
    data = bytearray(filled(path, commits=600))
    at = data.find(b'"id":"i-54000000"') // 4096 * 4096
    data[at : at + 4096] = b"\xa5" * 4096
    path.write_bytes(data)
    with Journal(path) as journal:
        damage, events = journal.damage, journal.events_after(0, 10_000)
    assert damage["events"] + damage["lost"] == 3_000 and 0 < damage["lost"] < 60
    assert [event.number for event in events] == list(range(1, 3_001))


@pytest.mark.parametrize("table", ["events", "rows", "checkpoints"])
def test_a_table_without_its_root_is_lost_and_what_cannot_be_counted_is_unknown(path, table):
    filled(path, commits=200)
    overwrite(path, table)
    with Journal(path) as journal:
        damage = journal.damage
        journal.write([commit(DAY_MS)])
    assert damage[table] == 0
    assert damage["lost"] == ("unknown" if table == "events" else 0)


def test_the_first_version_salvages_too(path):
    filled(path)
    with sqlite3.connect(path) as foreign:
        foreign.execute("DROP TABLE eras")
    foreign.close()
    overwrite(path, "events_by_kind")
    with Journal(path) as journal:
        assert journal.damage["events"] == 150


def test_a_file_that_is_not_a_journal_is_renamed_and_kept(path):
    path.write_bytes(b"minutes of the meeting\n" * 100)
    with Journal(path) as journal:
        assert journal.damage["events"] == 0
    assert path.with_name(path.name + ".damaged-1").read_bytes() == b"minutes of the meeting\n" * 100
