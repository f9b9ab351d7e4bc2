"""Conditions of the monitoring itself: raised by events, ended by events, read from the journal."""

import pytest

from graphghha.alarms import Event, StoredEvent
from graphghha.monitor import Journal
from graphghha.monitor.conditions import KINDS, read_conditions, standing_conditions
from graphghha.monitor.journal import Commit

HIGH = {"priority": "high"}


def stored(*events, site="office", era="a"):
    return [StoredEvent(at, site, 60_000 * at, kind, body, era) for at, (kind, body) in enumerate(events, start=1)]


def found(events, era="a"):
    return [(each.kind, each.site, each.about) for each in standing_conditions(events, era)]


RAISES = [
    (("zone.blind", {"zone": "zone-07", **HIGH}), ("zone.seen", {"zone": "zone-07"}), "zone-07"),
    (
        ("device.clock", {"device": "zone-07", "state": "wrong", "offset_s": 90, "kind": "ahead", **HIGH}),
        ("device.clock", {"device": "zone-07", "state": "right", "offset_s": 0}),
        "zone-07",
    ),
    (("source.lost", {"since": "", **HIGH}), ("source.found", {}), ""),
    (("source.slow", {"every_s": 900, "reason": "every 15 min", **HIGH}), ("source.prompt", {}), ""),
    (("source.silent", {"reason": "connecting", **HIGH}), ("source.heard", {}), ""),
    (("source.failed", {"reason": "no route", **HIGH}), ("source.recovered", {}), ""),
    (("model.refused", {"reason": "gone", "kept": "m@1", "priority": "medium"}), ("model.swapped", HIGH), ""),
    (("journal.failing", {"reason": "full", **HIGH}), ("journal.recovered", {}), ""),
    (("resources.exhausted", {"what": "threads", **HIGH}), ("resources.available", {"what": "threads"}), "threads"),
]


@pytest.mark.parametrize(("raised", "ended", "about"), RAISES, ids=[raised[0] for raised, *_ in RAISES])
def test_a_condition_stands_until_it_is_over(raised, ended, about):
    assert found(stored(raised)) == found(stored(raised, raised)) == [(raised[0], "office", about)]
    assert found(stored(raised, ended)) == []
    assert found(stored(raised) + stored(ended, site="north")) == [(raised[0], "office", about)]
    (condition,) = standing_conditions(stored(raised), "a")
    assert condition.text and condition.to_dict()["priority"] == raised[1]["priority"]


def test_zones_devices_and_resources_stand_by_themselves():
    blind = [("zone.blind", {"zone": f"zone-0{number}", **HIGH}) for number in (1, 2, 3)]
    seen = ("zone.seen", {"zone": "zone-02"})
    assert found(stored(*blind, seen)) == [("zone.blind", "office", "zone-03"), ("zone.blind", "office", "zone-01")]
    assert found(stored(*blind, ("site.reset", {"reason": "fresh"}))) == []


def test_a_step_of_the_plants_clock_does_not_stand():
    body = {"device": None, "state": "stepped", "offset_s": -3600, "priority": "medium"}
    assert found(stored(("device.clock", body))) == []


def test_what_a_process_found_out_ends_with_it_and_what_the_plant_did_does_not():
    before = stored(("source.failed", {"reason": "no route", **HIGH}), ("zone.blind", {"zone": "zone-07", **HIGH}))
    assert len(found(before)) == 2
    assert found(before, era="b") == [("zone.blind", "office", "zone-07")]


def test_the_journal_shows_what_stands(tmp_path):
    with Journal(tmp_path / "journal.db") as journal:
        events = [Event(1, "zone.blind", {"zone": "zone-07", **HIGH}), Event(2, "nodes.unknown", {"count": 3})]
        journal.write([Commit(site="office", time_ms=2, events=events), Commit(site="north", time_ms=2)])
        (condition,) = read_conditions(journal.reader)
        assert (condition.kind, condition.about, condition.since_ms) == ("zone.blind", "zone-07", 1)
        assert read_conditions(journal.reader, "north") == [] and "nodes.unknown" not in KINDS


def test_a_new_process_that_has_written_anything_ends_the_conditions_of_the_one_before(tmp_path):
    for kind, body in (("source.failed", {"reason": "no route", **HIGH}), ("site.watching", {})):
        with Journal(tmp_path / "journal.db") as journal:
            journal.write([Commit(site="office", time_ms=1, events=[Event(1, kind, body)])])
            found = [condition.kind for condition in read_conditions(journal.reader)]
            assert found == (["source.failed"] if kind == "source.failed" else [])
