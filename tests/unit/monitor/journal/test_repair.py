"""Damaged journals: what can be repaired is, what is readable is kept, and the monitor always starts."""

import shutil
from pathlib import Path

import pytest

from graphghha.monitor import Journal
from graphghha.monitor.journal.journal import DAY_MS
from graphghha.monitor.journal.repair import salvage
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
        assert again.damage is None


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


def test_a_file_that_is_not_a_journal_is_renamed_and_kept(path):
    path.write_bytes(b"minutes of the meeting\n" * 100)
    with Journal(path) as journal:
        assert journal.damage["events"] == 0
    assert path.with_name(path.name + ".damaged-1").read_bytes() == b"minutes of the meeting\n" * 100
