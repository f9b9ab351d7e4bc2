"""The figures of ISA-18.2, from a journal of several sites."""

import pytest

from graphghha.alarms import Event
from graphghha.errors import NotFoundError
from graphghha.monitor import Journal, kpi, site_rate
from graphghha.monitor.journal import Commit
from graphghha.monitor.journal.retention import DAY_MS

YEARS_MS = 3000 * DAY_MS
NODE = {"node": "zone-01/valve"}


def watched(site, begin_ms):
    events = [Event(begin_ms, "site.watching", {}), Event(begin_ms + 1000, "alarm.raised", NODE)]
    return Commit(site=site, time_ms=begin_ms + DAY_MS, events=events, state={}, summary={"time_ms": begin_ms + DAY_MS})


@pytest.fixture
def reader(tmp_path):
    with Journal(tmp_path / "journal.db") as journal:
        for site, begin_ms in (("replay", DAY_MS), ("live", YEARS_MS), ("annex", YEARS_MS)):
            journal.register(site, {"nodes": [NODE["node"]]})
            journal.write([watched(site, begin_ms)])
        journal.write([Commit(site="live", time_ms=0, events=[Event(0, "model.swapped", {})])])
        yield journal.reader


def test_sites_with_clocks_years_apart_are_not_one_span_of_years(reader):
    assert kpi(reader)["days"] == 1.0


def test_nodes_of_one_name_in_several_sites_are_several_nodes(reader):
    figures = kpi(reader)
    assert figures["chattering"] == 0 and figures["stale"] == 0


def test_figures_of_an_unknown_site_are_refused(reader):
    with pytest.raises(NotFoundError, match="no site 'nope'; the journal has annex, live, replay"):
        kpi(reader, "nope")


def disposed(count, kinds, **more):
    """Incidents of the newest day, of which the first ones are disposed of."""
    bodies = [{"id": f"i-{at}", "time": "", "state": "normal", "root": "valve", **more} for at in range(count)]
    for body, kind in zip(bodies, kinds, strict=False):
        body["disposition"] = {"is": kind}
    return [Event(YEARS_MS + 2000, "incident.updated", body) for body in bodies]


def rate_after(reader_path, events):
    with Journal(reader_path / "rates.db") as journal:
        journal.register("live", {"nodes": [NODE["node"]], "zones": [f"zone-{at}" for at in range(10)]})
        journal.write([watched("live", YEARS_MS)])
        journal.write([Commit(site="live", time_ms=0, events=events)])
        return site_rate(journal.reader, "live")


def test_a_sites_rate_comes_from_what_operators_recorded(tmp_path):
    rate = rate_after(tmp_path, disposed(6, ["attack", "fault", "maintenance", "false", "false", "false"]))
    assert (rate.disposed, rate.days_per_event) == (6, pytest.approx(10 / 3.5)), "ten zones for a day"


def test_without_enough_dispositions_the_rate_is_unknown(tmp_path):
    assert rate_after(tmp_path, disposed(20, ["fault"] * 6)) is None


def test_members_of_a_buildings_incident_share_its_disposition(tmp_path):
    building = {"id": "b", "time": "", "state": "normal", "members": [], "disposition": {"is": "fault"}}
    events = [*disposed(6, [], part_of="b"), Event(YEARS_MS + 2000, "incident.updated", building)]
    rate = rate_after(tmp_path, events)
    assert (rate.disposed, rate.days_per_event) == (6, pytest.approx(10 / 6.5))
