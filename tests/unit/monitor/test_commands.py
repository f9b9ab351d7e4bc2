"""Commands to a journal without a monitor; with one they are tested by `tests/e2e/test_alarms.py`."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphghha.alarms import Command, Verb
from graphghha.errors import ConflictError, GraphGHHAError, JournalError, NotFoundError
from graphghha.monitor import Journal, Monitor, commands, send_command
from graphghha.monitor.commands import NO_MONITOR
from monitor_builders import CONFIG, detector, telemetry, wide

TIMES, VALUES = telemetry(40)


@pytest.fixture
def path(tmp_path):
    """A journal of two sites of the same plant, the first with an open incident."""
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        monitor = Monitor(journal)
        for site, rows in (("office", 40), ("annex", 10)):
            monitor.add(site, detector(), CONFIG)
            monitor.step(wide(TIMES[:rows], VALUES[:rows], site))
    return path


def ack(target, **more):
    return Command(verb=Verb.ACK, target=target, by="ada", **more)


def test_an_incident_is_found_by_its_id(path):
    with Journal(path) as journal:
        (incident,) = journal.reader.incidents(is_open=True)
    after = send_command(path, ack(incident["id"], version=incident["version"]))
    assert (after["state"], after["version"]) == ("acknowledged", incident["version"] + 1)
    with pytest.raises(ConflictError, match="you acted on version 1, the incident is now at version 2"):
        send_command(path, ack(incident["id"], version=1))


def test_a_node_that_several_sites_have_needs_a_site(path):
    with pytest.raises(NotFoundError, match="exists in sites annex, office; choose one with --site"):
        send_command(path, ack("zone-02/valve"))
    after = send_command(path, ack("zone-02/valve"), "office")
    assert (after["site"], after["node"], after["state"]) == ("office", "zone-02/valve", "acknowledged")


def test_an_unknown_target_is_refused(path):
    with pytest.raises(NotFoundError, match="there is no incident or node 'boiler'"):
        send_command(path, ack("boiler"))


def test_without_a_monitor_the_operator_is_informed_of_it(path):
    notes = []
    send_command(path, ack("zone-02/valve"), "office", note=notes.append)
    assert notes == [NO_MONITOR]


def test_many_operators_at_once_and_no_monitor(path):
    """Who holds the journal is another operator's command, which ends soon: nobody waits for a monitor."""

    def shelve(node):
        return send_command(path, Command(verb=Verb.SHELVE, target=node, by="ada", reason="works"), "office")["state"]

    def acknowledge(_):
        try:
            return send_command(path, ack("zone-02/valve", version=1), "office")["state"]
        except GraphGHHAError as exc:
            return type(exc).__name__

    nodes = [f"zone-0{zone}/{role}" for zone in (1, 2, 3) for role in ("flow", "valve")]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(acknowledge, range(6)))
        assert sorted(answers) == ["ConflictError"] * 5 + ["acknowledged"]
        assert list(pool.map(shelve, nodes)) == ["shelved"] * len(nodes)
    with Journal(path) as journal:
        assert journal.take_commands() == [], "nothing is left for a monitor that starts later"


def test_a_command_that_is_not_answered_is_withdrawn(path, monkeypatch):
    monkeypatch.setattr(commands, "WAIT_S", 0.3)
    with Journal(path) as journal:  # a monitor that hangs
        with pytest.raises(JournalError, match="the command is withdrawn and will not be carried out"):
            send_command(path, ack("zone-02/valve"), "office")
        assert journal.take_commands() == []


def test_a_command_that_is_taken_and_not_answered_is_reported_so(path, monkeypatch):
    monkeypatch.setattr(commands, "WAIT_S", 0.5)
    with Journal(path) as journal, ThreadPoolExecutor(1) as pool:
        sent = pool.submit(send_command, path, ack("zone-02/valve"), "office")
        while not journal.take_commands():
            time.sleep(0.01)
        with pytest.raises(JournalError, match="has taken the command and cannot write its answer"):
            sent.result()
