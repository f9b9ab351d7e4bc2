"""The journal: all or nothing, readable meanwhile, and what is left of it after damage."""

import shutil
import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest

from graphghha.alarms import Event
from graphghha.errors import ConflictError, JournalError, NotFoundError
from graphghha.monitor import Journal, Reader, Retention
from graphghha.monitor.journal import Commit
from graphghha.monitor.journal.journal import DAY_MS
from graphghha.monitor.journal.repair import salvage
from graphghha.monitor.journal.schema import APPLICATION_ID, VERSION

MINUTE = 60_000


def entry(first, count=3, site="office", events=2, **more):
    times = [first + MINUTE * at for at in range(count)]
    values = np.arange(count * 4, dtype=np.float32).reshape(count, 4) + first // MINUTE
    values[0, 1] = np.nan
    told = [Event(first, "incident.updated", {"id": f"i-{first}", "state": "normal", "n": n}) for n in range(events)]
    state = {"at": first, "array": np.arange(3)}
    return Commit(site=site, time_ms=times[-1], events=told, times_ms=times, rows=[values], state=state, **more)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.db"


def test_what_is_written_is_read_back(path):
    with Journal(path) as journal:
        journal.write([entry(0), entry(0, site="plant")])
        journal.write([entry(3 * MINUTE)])
        events = journal.events_after(0, 100)
        assert [event.number for event in events] == [1, 2, 3, 4, 5, 6]
        assert [event.number for event in journal.events_after(4, 1)] == [5]
        rows = journal.reader.rows("office")
        assert rows.times_ms.tolist() == [MINUTE * at for at in range(6)]
        assert not rows.fresh[0, 1] and rows.values[1, 0] == 4.0
        assert journal.reader.rows("office", newest=2).times_ms.tolist() == [4 * MINUTE, 5 * MINUTE]
        assert journal.reader.rows("office", from_ms=MINUTE, to_ms=3 * MINUTE).times_ms.tolist() == [
            MINUTE,
            2 * MINUTE,
            3 * MINUTE,
        ]
        state, _ = journal.reader.checkpoint("office")
        assert state["at"] == 3 * MINUTE and state["array"].tolist() == [0, 1, 2]
        assert journal.reader.incident("i-0")["n"] == 1
        assert len(journal.reader.incidents()) == 2


def test_a_commit_is_all_or_nothing(path):
    with Journal(path) as journal:
        journal.write([entry(0)])
        with pytest.raises(JournalError, match="NOT NULL"):
            journal.write([entry(MINUTE * 9), Commit(site=None, time_ms=0, events=[Event(0, "k", {})])])
        with pytest.raises(TypeError, match="cannot be packed"):
            journal.write([entry(MINUTE * 9), entry(MINUTE * 9, summary={"what": object()})])
        assert journal.reader.last_event_number() == 2
        journal.write([entry(3 * MINUTE)])
        assert journal.reader.last_event_number() == 4


def test_what_is_no_number_is_written_as_null(path):
    with Journal(path) as journal:
        journal.write([Commit(site="x", time_ms=0, events=[Event(0, "k", {"bad": [float("nan"), 1.5]})])])
        assert journal.events_after(0, 1)[0].body == {"bad": [None, 1.5]}


def test_a_second_monitor_is_refused_and_readers_are_not(path):
    with Journal(path) as journal:
        journal.write([entry(0)])
        with pytest.raises(ConflictError, match="another monitor"):
            Journal(path)
        found = []
        with Reader(path) as reader:
            thread = threading.Thread(target=lambda: found.append(reader.last_event_number()))
            thread.start()
            thread.join()
        assert found == [2]
    Journal(path).close()


def test_a_successor_waits_for_a_predecessor_that_is_stopping(path, caplog):
    first = Journal(path)
    first.write([entry(0)])
    ending = threading.Timer(0.3, first.close)
    ending.start()
    with Journal(path, wait_s=60) as second:
        assert second.reader.last_event_number() == 2
    ending.join()
    assert caplog.text.count("waiting up to 60 s") == 1


def test_a_journal_that_is_not_there_is_not_invented(path):
    with pytest.raises(NotFoundError, match="no journal"):
        Reader(path)


def test_a_journal_from_the_future_is_refused_and_left_alone(path):
    Journal(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID + VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(JournalError, match="newer"):
        Journal(path)
    assert path.read_bytes() == before


def filled(path, commits=30):
    with Journal(path) as journal:
        for at in range(commits):
            journal.write([entry(3 * MINUTE * at, events=5)])
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
        journal.write([entry(DAY_MS)])
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
        journal.write([entry(DAY_MS)])
        assert journal.reader.last_event_number() >= 2


def test_a_write_ahead_log_cut_at_any_byte_opens_with_whole_commits(path, tmp_path):
    with Journal(path) as journal:
        journal.write([entry(0)])
        journal.write([entry(3 * MINUTE)])
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


def test_retention_drops_the_oldest_and_goes_on_counting(path):
    with Journal(path, Retention(days=2.5, keep_rows_ms=DAY_MS)) as journal:
        for day in range(6):
            journal.write([entry(day * DAY_MS)])
        journal.trim()
        assert journal.first_event_number() == 7 and journal.reader.last_event_number() == 12
        assert journal.reader.rows("office").times_ms[0] == 3 * DAY_MS
        journal.write([entry(90 * DAY_MS, events=0)])
        journal.trim()
        assert journal.reader.last_event_number() == 12, "the last number is never forgotten"


def test_retention_by_size_takes_rows_before_events(path):
    rng = np.random.default_rng(0)
    with Journal(path, Retention(most_mb=1.0, keep_rows_ms=MINUTE)) as journal:
        for at in range(40):
            noise = rng.normal(size=(3, 10_000)).astype(np.float32)
            events = [Event(0, "alarm.raised", {"node": "n"})]
            times = [(3 * at + n) * MINUTE for n in range(3)]
            journal.write([Commit(site="o", time_ms=times[-1], events=events, times_ms=times, rows=[noise], state={})])
        journal.trim()
        assert journal.first_event_number() == 1
        assert len(journal.reader.rows("o")) < 10
        assert path.stat().st_size + path.with_name("journal.db-wal").stat().st_size > 0


@pytest.mark.parametrize("byte", [0, 16, 18, 30, 47, 59, 60, 63, 71])
def test_a_flipped_bit_in_the_header_hides_nothing(path, byte):
    with Journal(path) as journal:
        journal.write([entry(0)])
        before = journal.events_after(0, 100)
    data = bytearray(path.read_bytes())
    data[byte] ^= 1
    path.write_bytes(data)
    with Journal(path) as journal:
        assert journal.events_after(0, 100) == before
        assert journal.damage == {"header_bytes": 1, "lost": 0}


def test_a_journal_whose_log_was_never_written_back_is_not_called_damaged(path, tmp_path):
    with Journal(path) as journal:
        journal.write([entry(0)])
        shutil.copytree(
            tmp_path, tmp_path.with_name(tmp_path.name + "-killed"), ignore=shutil.ignore_patterns("*.lock")
        )
    with Journal(tmp_path.with_name(tmp_path.name + "-killed") / path.name) as journal:
        assert journal.damage is None and len(journal.events_after(0, 100)) == 2


@pytest.mark.parametrize("renames", range(4))
def test_a_salvage_may_be_killed_between_any_two_of_its_renames(path, monkeypatch, renames):
    with Journal(path) as journal:
        journal.write([entry(0)])
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


def test_a_file_that_is_no_journal_is_set_aside_as_it_was(path):
    path.write_bytes(b"minutes of the meeting\n" * 100)
    with Journal(path) as journal:
        assert journal.damage["events"] == 0
    assert path.with_name(path.name + ".damaged-1").read_bytes() == b"minutes of the meeting\n" * 100


def test_a_replay_of_years_ago_ages_by_its_own_clock(path):
    with Journal(path, Retention(days=2.5, keep_rows_ms=DAY_MS)) as journal:
        for day in range(6):
            journal.write([entry(day * DAY_MS, site="replay"), entry((3000 + day) * DAY_MS, site="live")])
        journal.trim()
        assert journal.reader.rows("replay").times_ms[0] == 3 * DAY_MS, "a restart needs them"
        assert journal.reader.rows("live").times_ms[0] == 3003 * DAY_MS
        assert {event.site for event in journal.events_after(0, 99)} == {"replay", "live"}
        assert journal.first_event_number() == 13


def test_a_site_nobody_watches_any_more_does_not_hold_back_retention(path):
    with Journal(path) as journal:
        journal.write([entry(0, site="gone")])
    with Journal(path, Retention(days=2.5, keep_rows_ms=DAY_MS)) as journal:
        for day in range(6):
            journal.write([entry(day * DAY_MS)])
        journal.trim()
        assert journal.first_event_number() == 9
