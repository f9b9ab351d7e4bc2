"""Planned stops: recorded, not announced; announced afterwards if it still stands."""

import pytest

from graphghha.alarms import AlarmBoard, PlannedStops
from graphghha.errors import ConfigError, NotFoundError

MINUTE = 60_000


def incident(zone="a"):
    return {"id": f"i-{zone}", "zone": zone, "probability": 0.9, "state": "unacknowledged", "alarms": ["v"]}


def kinds(events):
    return [event.kind for event in events]


def raised(board, zone, now_ms):
    node = f"{zone}/v"
    events = board.update_alarms(now_ms, {node: 0.9}, ())
    return events + board.update_incidents(now_ms, [(incident(zone), (node,))], ())


def test_an_incident_in_a_planned_stop_is_held_and_announced_when_the_stop_ends():
    board = AlarmBoard({"a/v", "b/v"})
    began = board.stops.begin(0, 10, "filters", "ortiz", ["a"])
    assert began.kind == "stop.began" and began.body["until"] == "1970-01-01T00:10:00Z"
    assert "incident.held" in kinds(raised(board, "a", MINUTE)) and board.incidents["i-a"]["held"] == "planned stop"
    assert "incident.annunciated" in kinds(raised(board, "b", MINUTE)), "other zones are announced"
    again = AlarmBoard.from_dict(board.to_dict(), {"a/v", "b/v"})
    assert again.stops.covers("a") and not again.stops.covers("b"), "a restart keeps it"
    assert kinds(again.update_alarms(10 * MINUTE, {}, ())) == ["stop.ended"]
    assert "incident.annunciated" in kinds(again.update_incidents(10 * MINUTE, (), ()))


def test_a_stop_ends_before_its_time_and_numbers_go_on():
    stops = PlannedStops()
    first = stops.begin(0, 60, "x", "a", None)
    assert stops.covers("anything") and stops.covers(None)
    assert stops.end(MINUTE, first.body["stop"], "b").body["by"] == "b"
    with pytest.raises(NotFoundError):
        stops.end(MINUTE, first.body["stop"], "b")
    assert PlannedStops.from_list(stops.to_list()).begin(0, 1, "y", "a", None).body["stop"] == 2


@pytest.mark.parametrize("wrong", [(0, "x"), (10_081, "x"), (True, "x"), ("5", "x"), (5, " "), (5, None)])
def test_a_stop_needs_minutes_and_a_reason(wrong):
    with pytest.raises(ConfigError):
        PlannedStops().begin(0, *wrong, "a", None)
