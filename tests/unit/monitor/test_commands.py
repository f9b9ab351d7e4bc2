"""Commands to a journal without a monitor; with one they are tested by `tests/e2e/test_alarms.py`."""

import pytest

from graphghha.alarms import Command, Verb
from graphghha.errors import ConflictError, NotFoundError
from graphghha.monitor import Journal, Monitor, send_command
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
