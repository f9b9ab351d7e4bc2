"""The figures of ISA-18.2, from a journal of several sites."""

import pytest

from graphghha.alarms import Event
from graphghha.errors import NotFoundError
from graphghha.monitor import Journal, kpi
from graphghha.monitor.journal import Commit
from graphghha.monitor.journal.journal import DAY_MS

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
