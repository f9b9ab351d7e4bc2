"""A building-wide event is one incident of the building, with the incidents of its zones as members."""

import numpy as np
import pytest

from builders import loop_template
from graphghha.alarms import BuildingRule, Command, StoredEvent, Verb, board_from_events
from graphghha.monitor import Site
from graphghha.monitor.journal.codec import pack, unpack
from graphghha.monitor.sinks.cef import cef_line
from graphghha.windows import Rows
from monitor_builders import CONFIG, MINUTE, START, plain, wide, zone_detector, zone_scores

GRAPH = loop_template().replicate(6)
ZONES = GRAPH.zone_names
ROWS = 80
RULE = BuildingRule()


def made(begins, ends=40, rule=RULE):
    """A detector whose zones turn at the given rows."""
    attacks = [(zone, begin, ends, {"valve": 1.0}) for zone, begin in zip(ZONES, begins, strict=False)]
    return zone_detector(zone_scores(ROWS, attacks, GRAPH), GRAPH, building=rule)


def site(*arguments, **more):
    return Site("office", made(*arguments, **more), CONFIG)


def batch(begin=0, end=ROWS):
    return wide(START + MINUTE * np.arange(begin, end), np.full((end - begin, len(GRAPH.points)), 20.0))


def of_kind(events, kind):
    return [event.body for event in events if event.kind == f"incident.{kind}"]


def test_zones_that_turn_at_once_are_announced_as_one_building():
    events = site([10] * 6).take(batch()).events
    (body,) = of_kind(events, "annunciated")
    assert (body["zone"], body["root"], body["name"]) == (None, None, "Building")
    assert body["zones"] == list(ZONES) and body["zones_of_building"] == 6 and body["priority"] == "high"
    held = of_kind(events, "held")
    assert [each["id"] for each in held] == body["members"] and {each["part_of"] for each in held} == {body["id"]}
    assert body["text"].startswith("Building: 6 of 6 zones are anomalous (zone-01, zone-02, ")
    assert {each["kind"] for each in body["hypotheses"]} == {
        "equipment fault",
        "configuration or maintenance",
        "manipulation",
    }


def test_it_closes_with_the_last_of_its_zones_and_is_acknowledged_with_all_of_them():
    watched = site([10] * 6)
    watched.take(batch(0, 20))
    (key,) = [key for key, body in watched.board_incidents.items() if "members" in body]
    events = watched.command(Command(verb=Verb.ACK, target=key, by="ada"))
    assert sum(event.kind == "alarm.acknowledged" for event in events) == 6
    assert watched.board_incidents[key]["state"] == "acknowledged"
    events = watched.take(batch(20, ROWS)).events
    closed = of_kind(events, "closed")
    assert len(closed) == 7 and closed[-1]["id"] == key
    assert watched.board_incidents == {} and watched.alarm_states == {}


def test_zones_that_were_announced_before_become_members_and_later_ones_join():
    events = site([10, 14, 18, 22, 26]).take(batch()).events
    first, second, building = of_kind(events, "annunciated")
    assert (first["zone"], second["zone"], building["zone"]) == ("zone-01", "zone-02", None)
    last = [event.body for event in events if event.body.get("id") == building["id"]][-1]
    assert last["zones"] == list(ZONES[:5]) and len(last["members"]) == 5
    updated = {body["id"]: body for body in of_kind(events, "updated")}
    assert updated[first["id"]]["part_of"] == building["id"] == updated[second["id"]]["part_of"]


@pytest.mark.parametrize(
    ("begins", "rule"), [([10, 12], RULE), ([10] * 6, None), ([10, 20, 30], BuildingRule(within=5))], ids=str
)
def test_few_zones_no_rule_or_zones_one_by_one_are_incidents_of_their_own(begins, rule):
    bodies = of_kind(site(begins, rule=rule).take(batch()).events, "annunciated")
    assert bodies and all(body["zone"] for body in bodies)
    assert not any("part_of" in body or "members" in body for body in bodies)


def test_killed_and_restored_the_events_are_the_same():
    detector, clean = made([10, 12, 14, 20, 20]), site([10, 12, 14, 20, 20]).take(batch()).events
    first = Site("office", detector, CONFIG)
    update = first.take(batch(0, 16))
    values = np.concatenate(update.rows)
    history = Rows(np.array(update.times_ms), values, np.isfinite(values), np.ones(len(values), bool))
    state, board = unpack(pack(first.to_state())), unpack(pack(first.board_state()))
    second = Site.from_state("office", detector, CONFIG, state, board, history)
    assert plain(update.events + second.take(batch(16)).events) == plain(clean)


def test_a_board_rebuilt_from_events_has_the_building_and_its_members():
    watched = site([10] * 6)
    events = watched.take(batch(0, 20)).events
    rebuilt = board_from_events(((event.kind, event.body) for event in events), GRAPH.names).to_dict()
    board = watched.board_state()
    for part in ("alarms", "owner", "incidents"):
        assert rebuilt[part] == board[part]


def test_a_siem_receives_an_anomaly():
    body = of_kind(site([10] * 6).take(batch()).events, "annunciated")[0]
    line = cef_line(StoredEvent(1, "office", START, "incident.annunciated", body))
    assert "|actuator anomaly annunciated|8|" in line and "cs1=office" in line
