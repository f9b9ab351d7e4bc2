"""The journal: commits are all or nothing, one writer, many readers, bounded size."""

import threading

import numpy as np
import pytest

from graphghha.alarms import Event
from graphghha.errors import ConflictError, JournalError
from graphghha.monitor import Journal, Reader, Retention
from graphghha.monitor.journal import Commit
from graphghha.monitor.journal.retention import DAY_MS
from monitor_builders import MINUTE, commit


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.db"


def test_what_is_written_is_read_back(path):
    with Journal(path) as journal:
        journal.write([commit(0), commit(0, site="plant")])
        journal.write([commit(3 * MINUTE)])
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
        journal.write([commit(0)])
        with pytest.raises(JournalError, match="NOT NULL"):
            journal.write([commit(MINUTE * 9), Commit(site=None, time_ms=0, events=[Event(0, "k", {})])])
        with pytest.raises(TypeError, match="cannot be packed"):
            journal.write([commit(MINUTE * 9), commit(MINUTE * 9, summary={"what": object()})])
        assert journal.reader.last_event_number() == 2
        journal.write([commit(3 * MINUTE)])
        assert journal.reader.last_event_number() == 4


def test_a_value_that_is_not_finite_is_written_as_null(path):
    with Journal(path) as journal:
        journal.write([Commit(site="x", time_ms=0, events=[Event(0, "k", {"bad": [float("nan"), 1.5]})])])
        assert journal.events_after(0, 1)[0].body == {"bad": [None, 1.5]}


def test_a_second_monitor_is_refused_and_readers_are_not(path):
    with Journal(path) as journal:
        journal.write([commit(0)])
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
    first.write([commit(0)])
    ending = threading.Timer(0.3, first.close)
    ending.start()
    with Journal(path, wait_s=60) as second:
        assert second.reader.last_event_number() == 2
    ending.join()
    assert caplog.text.count("waiting up to 60 s") == 1


def test_retention_drops_the_oldest_and_goes_on_counting(path):
    with Journal(path, Retention(days=2.5, keep_rows_ms=DAY_MS)) as journal:
        for day in range(6):
            journal.write([commit(day * DAY_MS)])
        journal.trim()
        assert journal.first_event_number() == 7 and journal.reader.last_event_number() == 12
        assert journal.reader.rows("office").times_ms[0] == 3 * DAY_MS
        journal.write([commit(90 * DAY_MS, events=0)])
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


def test_a_replay_of_years_ago_ages_by_its_own_clock(path):
    with Journal(path, Retention(days=2.5, keep_rows_ms=DAY_MS)) as journal:
        for day in range(6):
            journal.write([commit(day * DAY_MS, site="replay"), commit((3000 + day) * DAY_MS, site="live")])
        journal.trim()
        assert journal.reader.rows("replay").times_ms[0] == 3 * DAY_MS, "a restart needs them"
        assert journal.reader.rows("live").times_ms[0] == 3003 * DAY_MS
        assert {event.site for event in journal.events_after(0, 99)} == {"replay", "live"}
        assert journal.first_event_number() == 13


def test_a_site_that_is_no_longer_monitored_does_not_hold_back_retention(path):
    with Journal(path) as journal:
        journal.write([commit(0, site="gone")])
    with Journal(path, Retention(days=2.5, keep_rows_ms=DAY_MS)) as journal:
        for day in range(6):
            journal.write([commit(day * DAY_MS)])
        journal.trim()
        assert journal.first_event_number() == 9
