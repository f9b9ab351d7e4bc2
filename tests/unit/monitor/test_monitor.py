"""Many sites in one process: nothing is acknowledged before it is written, and no site disturbs another."""

import itertools
import sqlite3
from contextlib import closing
from threading import Event as Flag
from threading import Thread

import numpy as np
import pytest

from builders import loop_template
from graphghha.alarms import Command, Verb
from graphghha.errors import CheckpointError, JournalError, NotFoundError
from graphghha.monitor import Journal, Monitor, RowClockConfig, SiteConfig, read_status
from graphghha.monitor.journal import submit_command
from monitor_builders import (
    CONFIG,
    GRAPH,
    MINUTE,
    START,
    ListSource,
    Script,
    detector,
    long,
    quiet,
    scorer,
    telemetry,
    wide,
)
from waiting import until

TIMES, VALUES = telemetry(140)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.db"


def story(journal):
    return [
        (event.number, event.site, event.time_ms, event.kind, event.body) for event in journal.events_after(0, 9999)
    ]


def portions(size=7, site="office"):
    return [wide(TIMES[at : at + size], VALUES[at : at + size], site) for at in range(0, 140, size)]


def run_through(path, batches=None):
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        for batch in batches or portions():
            monitor.step(batch)
        return story(journal)


def test_killed_between_any_two_batches_the_journal_is_that_of_an_uninterrupted_run(path, tmp_path):
    clean = run_through(tmp_path / "clean.db")
    assert {kind for _, _, _, kind, _ in clean} >= {"alarm.raised", "incident.annunciated", "incident.closed"}
    last = None
    for batch in portions():
        with Journal(path) as journal:
            monitor = Monitor(journal)
            monitor.add("office", detector(), CONFIG)
            if last is not None:
                monitor.step(last)  # redelivered: it was written, but its acknowledgement was lost
            monitor.step(batch)
            last = batch
            found = story(journal)
    assert found == clean


def test_a_batch_is_acknowledged_only_once_it_is_written(path):
    source = ListSource(portions())
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        received = [batch.received_ms for batch in source.batches]
        monitor.run([monitor.feed("office", source)], Flag())
        assert source.acknowledged == received
        assert journal.reader.summary("office")["as_of"] == "2018-07-10T07:39:00Z"


class FullDisk(Journal):
    """A journal on a disk that is full for a while."""

    full = False

    def _transact(self, work):
        if self.full:
            raise JournalError("database or disk is full")
        super()._transact(work)


def test_while_the_disk_is_full_scoring_goes_on_and_nothing_is_acknowledged(path, tmp_path):
    clean = run_through(tmp_path / "clean.db")
    source = ListSource()
    with FullDisk(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        for at, batch in enumerate(portions()):
            journal.full = 3 <= at < 12
            monitor.step(batch, source)
            assert monitor.is_journal_failing == journal.full
            assert len(source.acknowledged) == (3 if journal.full else at + 1)
        events = story(journal)
    about = [kind for *_, kind, _ in events if kind.startswith("journal.")]
    assert about == ["journal.failing", "journal.recovered"]
    assert [line[1:] for line in events if not line[3].startswith("journal.")] == [line[1:] for line in clean]


def test_a_real_file_that_cannot_be_written_is_a_failing_journal(path):
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        blocker = sqlite3.connect(path, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        journal._connected().execute("PRAGMA busy_timeout = 1")
        monitor.step(portions()[0])
        assert monitor.is_journal_failing
        blocker.execute("ROLLBACK")
        blocker.close()
        monitor.step(portions()[1])
        assert not monitor.is_journal_failing


class Poisoned:
    """A scorer that fails on absurd values."""

    def __init__(self):
        self.scorer = scorer()

    def push(self, values, fresh, wanted):
        if np.nanmax(values) > 100:
            raise RuntimeError("the model choked")
        return self.scorer.push(values, fresh, wanted)


def test_one_sites_trouble_is_not_anothers(path, tmp_path):
    bad = VALUES.copy()
    bad[28:35, 5] = 1000.0
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(make_scorer=Poisoned), CONFIG)
        monitor.add("plant", detector(), CONFIG)
        for at in range(0, 140, 7):
            monitor.step(wide(TIMES[at : at + 7], bad[at : at + 7], "office"))
            monitor.step(wide(TIMES[at : at + 7], VALUES[at : at + 7], "plant"))
        events = story(journal)
    failed = [line for line in events if line[3] == "site.failed"]
    assert len(failed) == 1 and failed[0][1] == "office" and "choked" in failed[0][4]["reason"]
    ours = [line[2:4] for line in events if line[1] == "plant"]
    assert ours == [line[2:4] for line in run_through(tmp_path / "clean.db")]
    assert [kind for _, site, _, kind, _ in events if site == "office" and kind == "incident.annunciated"]


def test_a_source_that_fails_is_an_event_and_is_tried_again(path):
    source = ListSource([*portions()[:5], OSError("no route"), *portions()[5:]])
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        monitor.run([monitor.feed("office", source)], Flag())
        kinds = [line[3] for line in story(journal)]
    assert kinds.count("source.failed") == 1 and "incident.closed" in kinds


class Unacknowledging(ListSource):
    def acknowledge(self, batch):
        raise OSError("connection reset")


def test_a_source_that_cannot_be_acknowledged_stops_nobody(path, tmp_path):
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        monitor.run([monitor.feed("office", Unacknowledging(portions()))], Flag())
        assert story(journal)[: len(run_through(tmp_path / "clean.db"))] == run_through(tmp_path / "clean2.db")


def test_a_command_left_in_the_journal_is_answered(path):
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        for batch in portions()[:6]:
            monitor.step(batch)
        (incident,) = journal.reader.incidents(is_open=True)
        good = submit_command(path, "office", Command(verb=Verb.ACK, target=incident["id"], by="ada", version=1))
        stale = submit_command(path, "office", Command(verb=Verb.ACK, target=incident["id"], by="bob", version=1))
        monitor.answer_commands()
        assert journal.reader.answer(good) == ("done", "")
        state, answer = journal.reader.answer(stale)
        assert state == "refused" and "ConflictError" in answer and "review it and retry" in answer
        assert journal.reader.incident(incident["id"])["state"] == "acknowledged"
        view = read_status(journal.reader, "office")
    assert [zone["state"] for zone in view["zones"]] == ["normal", "acknowledged", "normal"]
    assert view["incidents"][0]["text"].startswith("Zone 2") and view["open_incidents"] == 1


def test_another_model_takes_over_between_two_rows_and_a_bad_one_does_not(path, tmp_path):
    def load(site, directory):
        if directory.name == "bad":
            raise CheckpointError("hash mismatch")
        graph = loop_template().replicate(4) if directory.name == "other" else GRAPH
        return detector(graph, model=directory.name)

    with Journal(path) as journal:
        monitor = Monitor(journal, load=load)
        monitor.add("office", detector(), CONFIG)
        for at, batch in enumerate(portions()):
            monitor.step(batch)
            if at in (3, 9):
                assert monitor.swap_model("office", tmp_path / "good")
                assert not monitor.swap_model("office", tmp_path / "bad")
                assert not monitor.swap_model("office", tmp_path / "other")
        assert monitor.sites["office"].detector.model == "good"
        events = story(journal)
    swaps = [line[3] for line in events if line[3].startswith("model.")]
    assert swaps == ["model.swapped", "model.refused", "model.refused"] * 2
    rest = [line[2:] for line in events if not line[3].startswith("model.")]
    assert rest == [line[2:] for line in run_through(tmp_path / "clean.db")], (
        "the same model swapped in changes nothing"
    )


def test_a_state_that_no_longer_fits_is_reported_and_the_site_starts_afresh(path):
    run_through(path, portions()[:3])
    with Journal(path) as journal:
        monitor = Monitor(journal)
        graph = loop_template().replicate(2)
        site = monitor.add("office", detector(graph, lambda: Script(quiet(50, graph.num_nodes))), CONFIG)
        monitor.step(wide(TIMES[:9] + 30 * MINUTE, np.full((9, len(site.detector.points)), 20.0)))
        assert "site.reset" in [line[3] for line in story(journal)]


def test_an_unknown_site_is_refused(path):
    with Journal(path) as journal, pytest.raises(NotFoundError, match="no site 'office'"):
        Monitor(journal).step(portions()[0])


def test_a_source_that_is_dead_since_the_restart_is_lost_all_the_same(path):
    config = SiteConfig(
        clock=RowClockConfig(step_ms=1000, lateness_ms=0, stale_after_ms=1000), warm_up_rows=0, lost_after_ms=1000
    )
    _, values = telemetry(5)
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), config)
        monitor.step(wide(START + 1000 * np.arange(5), values))
    with Journal(path) as journal:
        monitor, stop = Monitor(journal), Flag()
        monitor.add("office", detector(), config)
        loop = Thread(target=monitor.run, args=([monitor.feed("office", ListSource(ends=False))], stop))
        loop.start()
        try:
            until(lambda: journal.reader.events_after(0, 100, ["source.lost"]), "the loss of the source")
        finally:
            stop.set()
            loop.join()
        assert monitor.sites["office"].unknown.all()


class SilentSource(ListSource):
    """A source that is connected and sends nothing; it stops the monitor after some polls."""

    def __init__(self, stop, polls):
        super().__init__(ends=False, detail="waiting for the broker")
        self.stop, self.polls = stop, polls

    def poll(self, timeout_s):
        self.polls -= 1
        if self.polls <= 0:
            self.stop.set()


@pytest.fixture
def clock(monkeypatch):
    """A monotonic clock that makes two seconds of every look."""
    ticks = itertools.count()
    monkeypatch.setattr("graphghha.monitor.monitor.time.monotonic", lambda: 2.0 * next(ticks))


@pytest.mark.usefixtures("clock")
def test_a_source_that_stays_silent_after_a_restart_is_lost_all_the_same(path):
    run_through(path, portions()[:3])
    with Journal(path) as journal:
        monitor, stop = Monitor(journal), Flag()
        site = monitor.add("office", detector(), CONFIG)
        monitor.run([monitor.feed("office", SilentSource(stop, polls=200))], stop)
        assert site.is_lost and site.unknown.all()
        assert "source.lost" in [line[3] for line in story(journal)]


@pytest.mark.usefixtures("clock")
def test_a_source_that_never_sends_is_an_event_with_a_time_of_this_century(path):
    with Journal(path) as journal:
        monitor, stop = Monitor(journal), Flag()
        monitor.add("office", detector(), CONFIG)
        monitor.run([monitor.feed("office", SilentSource(stop, polls=200))], stop)
        ((_, _, time_ms, kind, body),) = story(journal)
    assert kind == "source.silent" and body["reason"] == "waiting for the broker" and time_ms > TIMES[0]


def test_commands_nobody_can_carry_out_are_refused_and_stop_nobody(path):
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        gone = submit_command(path, "annex", Command(verb=Verb.ACK, target="zone-01/valve", by="ada"))
        odd = submit_command(path, "office", Command(verb=Verb.ACK, target="zone-01/valve", by="ada"))
        with sqlite3.connect(path) as foreign:
            foreign.execute("UPDATE commands SET body = ? WHERE id = ?", ('{"verb": "explode", "target": "x"}', odd))
        monitor.answer_commands()
        assert journal.reader.answer(gone)[0] == "refused" and "annex" in journal.reader.answer(gone)[1]
        assert journal.reader.answer(odd)[0] == "refused" and "explode" in journal.reader.answer(odd)[1]


def test_a_command_is_carried_out_once_though_its_answer_waits_for_the_disk(path):
    with FullDisk(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        for batch in portions()[:6]:
            monitor.step(batch)
        (incident,) = journal.reader.incidents(is_open=True)
        number = submit_command(path, "office", Command(verb=Verb.ACK, target=incident["id"], by="ada"))
        journal.full = True
        monitor.answer_commands()
        monitor.answer_commands()
        journal.full = False
        monitor.answer_commands()
        assert journal.reader.answer(number) == ("done", "")


def test_a_model_that_breaks_in_an_unforeseen_way_is_refused_too(path, tmp_path):
    def load(site, directory):
        raise KeyError("rule")

    with Journal(path) as journal:
        monitor = Monitor(journal, load=load)
        monitor.add("office", detector(), CONFIG)
        assert not monitor.swap_model("office", tmp_path / "odd")
        assert monitor.sites["office"].detector.model == "toy@1"
        assert story(journal)[-1][3] == "model.refused"


def test_incidents_of_a_state_that_no_longer_fits_can_still_be_acknowledged(path):
    run_through(path, portions()[:6])
    with Journal(path) as journal:
        monitor = Monitor(journal)
        (before,) = journal.reader.incidents(is_open=True)
        graph = loop_template().replicate(1)
        monitor.add("office", detector(graph, lambda: Script(quiet(50, graph.num_nodes))), CONFIG)
        monitor.commit()
        (after,) = journal.reader.incidents(is_open=True)
        assert after["id"] == before["id"] and after["closed"] and after["state"] == "returned"
        monitor.command("office", Command(verb=Verb.ACK, target=after["id"], by="ada"))
        assert journal.reader.incidents(is_open=True) == []


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE checkpoints SET desk = substr(desk, 1, 40) || x'ff' || substr(desk, 42)",
        "UPDATE checkpoints SET state = substr(state, 1, 40) || x'ff' || substr(state, 42), summary = x'00'",
        "DELETE FROM checkpoints",
    ],
    ids=["board", "state-and-summary", "lost"],
)
def test_operators_commands_survive_a_damaged_checkpoint(path, damage):
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        for batch in portions()[:6]:
            monitor.step(batch)
        shelve = Command(verb=Verb.SHELVE, target="zone-03/flow", by="ada", reason="being changed", for_ms=7_200_000)
        monitor.command("office", shelve)
        monitor.command("office", Command(verb=Verb.OUT_OF_SERVICE, target="zone-01/flow", by="ada", reason="permit 7"))
        (incident,) = journal.reader.incidents(is_open=True)
        before = monitor.sites["office"].board_state()["alarms"]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)
    with Journal(path) as journal:
        monitor = Monitor(journal)
        after = monitor.add("office", detector(), CONFIG).board_state()["alarms"]
        assert [after[node] for node in ("zone-03/flow", "zone-01/flow")] == [
            before[node] for node in ("zone-03/flow", "zone-01/flow")
        ]
        monitor.commit()
        assert story(journal)[-1][3] == "site.reset"
        (after,) = journal.reader.incidents(is_open=True)
        assert after["id"] == incident["id"] and after["closed"] and after["state"] == "returned"
        monitor.command("office", Command(verb=Verb.ACK, target=after["id"], by="ada"))
        assert journal.reader.incidents(is_open=True) == []
    with Journal(path) as journal:
        site = Monitor(journal).add("office", detector(), CONFIG)
        assert site.alarm_states == {"zone-03/flow": "E", "zone-01/flow": "G"}, "the new checkpoint is whole again"


def test_one_device_with_a_dead_clock_battery_does_not_keep_a_site_in_the_year_2000(path, tmp_path):
    ancient = long([946_684_800_000], [3], [20.0], received_ms=int(TIMES[0]))
    clean = run_through(tmp_path / "clean.db")
    assert run_through(path, [ancient, *portions()]) == clean


def test_one_row_of_the_year_2099_moves_nobody(path, tmp_path):
    far = wide([4_083_955_200_000], VALUES[:1])
    events = run_through(path, [*portions()[:5], far, *portions()[5:]])
    assert events == run_through(tmp_path / "clean.db")


class EndingSource(ListSource):
    """A source whose only batch asks for the end while it is taken."""

    def __init__(self, monitor, batch):
        super().__init__([batch], ends=False)
        self.monitor = monitor

    def poll(self, timeout_s):
        batch = super().poll(timeout_s)
        if batch is not None:
            self.monitor.ending.set()
        return batch


def test_the_end_does_not_wait_for_a_long_gap_to_be_closed_and_nothing_is_lost(path, tmp_path):
    month = 30 * 1440 * MINUTE
    after = wide(TIMES[10:60] + month, VALUES[10:60])
    clean = run_through(tmp_path / "clean.db", [*portions()[:1], after])
    with Journal(path) as journal:
        monitor, stop = Monitor(journal), Flag()
        site = monitor.add("office", detector(), CONFIG)
        monitor.step(portions()[0])
        source = EndingSource(monitor, after)
        loop = Thread(target=monitor.run, args=([monitor.feed("office", source)], stop))
        loop.start()
        until(monitor.ending.is_set, "the request to end")
        stop.set()
        loop.join()
        assert source.acknowledged == [] and site.time_ms < TIMES[10] + month, "it ended within the gap"
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        monitor.step(after)  # the broker delivers it again
        assert story(journal) == clean
