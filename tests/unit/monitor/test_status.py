"""The status of a site: every zone in its worst state, and an unknown zone is never normal."""

from graphghha.alarms import Command, Verb
from graphghha.monitor import Journal, Monitor, Site, read_status
from graphghha.monitor.status import summarize_site
from monitor_builders import CONFIG, detector, telemetry, wide

TIMES, VALUES = telemetry(80)


def zones(status):
    return [zone["state"] for zone in status["zones"]]


def test_before_the_first_reading_every_zone_is_unknown():
    status = summarize_site(Site("office", detector(), CONFIG))
    assert zones(status) == ["unknown"] * 3 and status["time_ms"] == 0 and not status["alarms"]


def test_each_zone_is_in_its_worst_state():
    site = Site("office", detector(), CONFIG)
    site.take(wide(TIMES[:40], VALUES[:40]))
    assert zones(summarize_site(site)) == ["normal", "unacknowledged", "normal"]
    site.command(Command(verb=Verb.ACK, target="zone-02/valve", by="ada"))
    site.command(Command(verb=Verb.SHELVE, target="zone-01/flow", by="ada", reason="being changed"))
    status = summarize_site(site)
    assert zones(status) == ["shelved", "acknowledged", "normal"]
    assert status["alarms"] == {"zone-02/valve": "C", "zone-01/flow": "E"} and status["counters"]["accepted"] == 840


def test_a_reader_sees_the_site_as_of_the_last_commit(tmp_path):
    with Journal(tmp_path / "journal.db") as journal:
        monitor = Monitor(journal)
        site = monitor.add("office", detector(), CONFIG)
        monitor.step(wide(TIMES, VALUES))
        status = read_status(journal.reader, "office", newest=1)
        assert {key: status[key] for key in summarize_site(site)} == summarize_site(site)
    assert status["open_incidents"] == 2 and [body["zone"] for body in status["incidents"]] == ["zone-03"]
