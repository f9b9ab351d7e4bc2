"""Alarms reach the sinks while the journal cannot be written, and are journaled when it can be."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from faults.disk import read_only
from graphghha.errors import JournalError
from graphghha.monitor import Journal, Monitor, Reader
from graphghha.monitor.restore import restore_site
from graphghha.monitor.service import Service
from graphghha.monitor.sinks import Cursor, FollowRule
from monitor_builders import CONFIG, ListSource, detector, telemetry, wide

TIMES, VALUES = telemetry(140)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.db"


def portions(begin=0, end=140, size=7):
    return [wide(TIMES[at : at + size], VALUES[at : at + size]) for at in range(begin, end, size)]


def opened(journal):
    monitor = Monitor(journal)
    monitor.add("office", detector(), CONFIG)
    return monitor


def story(journal):
    return [(event.time_ms, event.kind, event.body) for event in journal.events_after(0, 9999)]


def clean_run(path):
    with Journal(path) as journal:
        monitor = opened(journal)
        for batch in portions():
            monitor.step(batch)
        return story(journal)


def kinds(events):
    return [event.kind for event in events]


def test_a_start_on_a_full_disk_watches_and_says_so(path, tmp_path):
    with read_only(tmp_path):
        journal = Journal(path, is_patient=True)
        assert "cannot be opened" in journal.problem
        monitor = opened(journal)
        for batch in portions(0, 84):
            monitor.step(batch)
        assert monitor.is_journal_failing
        found = journal.unwritten_after(0)
        assert kinds(found)[0] == "journal.failing" and kinds(found).count("incident.annunciated") == 2
        assert all(event.body["not_journaled_yet"] for event in found)
    for batch in portions(84):
        monitor.step(batch)
    assert not monitor.is_journal_failing and not journal.problem and journal.unwritten_after(0) == []
    about, rest = [], []
    for each in story(journal):
        (about if each[1].startswith("journal.") else rest).append(each)
    assert [kind for _, kind, _ in about] == ["journal.failing", "journal.recovered"]
    assert rest == clean_run(tmp_path / "clean.db")
    assert journal.reader.sites()["office"]["plant"] == "loop", "what the site consists of is stored later"
    journal.close()


def test_a_start_on_a_full_disk_goes_on_from_what_the_journal_holds(path, tmp_path):
    with Journal(path) as journal:
        monitor = opened(journal)
        for batch in portions(0, 35):
            monitor.step(batch)
        (open_before,) = monitor.sites["office"].board_incidents
    with read_only(tmp_path), Journal(path, is_patient=True) as journal:
        site = opened(journal).sites["office"]
        assert (site.steps, list(site.board_incidents)) == (35, [open_before])


def test_a_start_on_a_full_disk_also_goes_on_while_others_read_the_journal(path, tmp_path):
    with Journal(path) as journal:
        monitor = opened(journal)
        for batch in portions(0, 35):
            monitor.step(batch)
    with Reader(path) as other:
        assert other.summary("office")
        with read_only(tmp_path), Journal(path, is_patient=True) as journal:
            assert journal.problem and opened(journal).sites["office"].steps == 35


def test_state_that_a_full_disk_keeps_from_being_read_is_reported(path, tmp_path):
    with Journal(path) as journal:
        opened(journal).step(portions()[0])
    with Journal(path) as journal, closing(sqlite3.connect(path)) as stranger:
        stranger.execute("DROP TABLE checkpoints")
        journal.problem = "the disk is full"
        site, events, note = restore_site(journal, "office", detector(), CONFIG)
    assert site.steps == 0 and events == [] and "no such table" in note


def test_without_patience_a_full_disk_is_an_error(path, tmp_path):
    with read_only(tmp_path), pytest.raises(JournalError, match="cannot be opened"):
        Journal(path)


class Station:
    """A sink that keeps what it gets."""

    name = "station"

    def __init__(self):
        self.got = []

    def deliver(self, events):
        self.got += events

    def close(self):
        pass


def test_while_another_process_holds_the_lock_alarms_are_delivered_from_memory(path, tmp_path):
    monitor = opened(Journal(path))
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as stranger:
        stranger.execute("BEGIN IMMEDIATE")

        class Releasing(Station):
            """Ends the lock as soon as both alarms have arrived from memory."""

            def deliver(self, events):
                super().deliver(events)
                early = [event for event in self.got if event.body.get("not_journaled_yet")]
                if kinds(early).count("incident.annunciated") == 2 and stranger.in_transaction:
                    stranger.execute("ROLLBACK")

        station = Releasing()
        service = Service(monitor, {"office": EndsUnlocked(stranger, portions())}, {}, drain_s=20)
        service.follow(station, Cursor(tmp_path / "cursor"), FollowRule(poll_s=0.01))
        assert service.run() == []
    announced = [event for event in station.got if event.kind == "incident.annunciated"]
    assert [bool(event.body.get("not_journaled_yet")) for event in announced] == [True, True, False, False]
    assert [event.body["id"] for event in announced[:2]] == [event.body["id"] for event in announced[2:]]


class EndsUnlocked(ListSource):
    """A source that does not end before a lock is released."""

    def __init__(self, stranger, batches):
        super().__init__(batches)
        self._stranger = stranger

    @property
    def status(self):
        return replace(super().status, is_finished=not self.batches and not self._stranger.in_transaction)
