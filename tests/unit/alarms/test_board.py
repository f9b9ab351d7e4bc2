"""The alarm board: what the detector and operators do becomes events, and incidents follow their alarms."""

import pytest

from graphghha.alarms import AlarmBoard, Command, FloodRule, Verb
from graphghha.errors import ConflictError, NotFoundError

NODES = ("zone-01/valve", "zone-01/flow", "zone-02/valve")
MINUTE = 60_000


def board(**settings):
    return AlarmBoard(NODES, **settings)


def incident(key="i-1", zone="zone-01", alarms=("valve",)):
    body = {"id": key, "zone": zone, "probability": 0.97, "state": "unacknowledged", "alarms": list(alarms)}
    return body, tuple(f"{zone}/{alarm}" for alarm in alarms)


def attacked(**settings):
    """A board with one annunciated incident on one valve."""
    made = board(**settings)
    made.update_alarms(MINUTE, {"zone-01/valve": 0.97}, ())
    made.update_incidents(MINUTE, [incident()], ())
    return made


def command(verb, target="i-1", **more):
    return Command(verb=verb, target=target, by="ada", **more)


def kinds(events):
    return [event.kind for event in events]


def test_an_incident_leaves_the_board_once_it_is_closed_and_acknowledged():
    made = attacked()
    assert made.states == {"zone-01/valve": "B"}
    assert kinds(made.update_alarms(2 * MINUTE, {}, ["zone-01/valve"])) == ["alarm.cleared"]
    assert kinds(made.update_incidents(2 * MINUTE, (), ["i-1"])) == ["incident.closed"]
    assert made.incidents["i-1"]["state"] == "returned"
    events = made.apply(command(Verb.ACK), 3 * MINUTE)
    assert kinds(events) == ["operator.command", "alarm.acknowledged", "incident.updated"]
    assert made.incidents == {} and made.states == {}


def test_an_incident_says_when_its_last_alarm_went_back_in_range():
    made = attacked()
    made.update_alarms(2 * MINUTE, {"zone-01/flow": 0.95}, ())
    made.update_incidents(2 * MINUTE, [incident(alarms=("valve", "flow"))], ())
    made.update_alarms(3 * MINUTE, {}, ["zone-01/valve"])
    assert made.update_incidents(3 * MINUTE, (), ()) == []  # the flow still stands
    made.apply(command(Verb.ACK), 4 * MINUTE)
    made.update_alarms(5 * MINUTE, {}, ["zone-01/flow"])
    (event,) = made.update_incidents(5 * MINUTE, (), ())
    assert (event.body["state"], event.body["cleared"]) == ("normal", "1970-01-01T00:05:00Z")
    made.update_alarms(6 * MINUTE, {"zone-01/flow": 0.95}, ())
    assert [event.body["cleared"] for event in made.update_incidents(6 * MINUTE, (), ())] == [None]
    made.update_alarms(7 * MINUTE, {}, ["zone-01/flow"])
    made.update_incidents(7 * MINUTE, (), ())
    (event,) = made.update_incidents(9 * MINUTE, (), ["i-1"])
    assert (event.body["cleared"], event.body["closed"]) == ("1970-01-01T00:07:00Z", "1970-01-01T00:09:00Z")


def test_nobody_notes_when_an_alarm_that_was_put_aside_went_back_in_range():
    made = attacked()
    made.apply(command(Verb.SHELVE, reason="known", for_ms=5 * MINUTE), MINUTE)
    made.update_alarms(2 * MINUTE, {}, ["zone-01/valve"])
    assert made.update_incidents(2 * MINUTE, (), ()) == []
    made.update_alarms(6 * MINUTE, {}, ())
    (event,) = made.update_incidents(6 * MINUTE, (), ())
    assert (event.body["state"], event.body["cleared"]) == ("returned", None)


def test_an_incident_is_in_the_worst_state_of_its_alarms():
    made = attacked()
    made.apply(command(Verb.ACK), MINUTE)
    assert made.incidents["i-1"]["state"] == "acknowledged"
    made.update_alarms(2 * MINUTE, {"zone-01/flow": 0.95}, ())
    (event,) = made.update_incidents(2 * MINUTE, [incident(alarms=("valve", "flow"))], ())
    assert event.kind == "incident.updated" and event.body["state"] == "unacknowledged"


def test_an_incident_of_shelved_alarms_is_held_until_the_shelving_ends():
    made = board()
    made.apply(command(Verb.SHELVE, "zone-01/valve", reason="being changed", for_ms=5 * MINUTE), 0)
    made.update_alarms(MINUTE, {"zone-01/valve": 0.97}, ())
    assert kinds(made.update_incidents(MINUTE, [incident()], ())) == ["incident.held"]
    assert kinds(made.update_alarms(5 * MINUTE, {}, ())) == ["alarm.unshelved"]
    assert kinds(made.update_incidents(5 * MINUTE, (), ())) == ["incident.annunciated"]


def test_what_the_throttle_holds_back_is_announced_later():
    made = board(flood_rule=FloodRule(burst=1, refill_ms=2 * MINUTE))
    made.update_alarms(0, {"zone-01/valve": 0.97, "zone-02/valve": 0.95}, ())
    events = made.update_incidents(0, [incident(), incident("i-2", "zone-02")], ())
    assert [(event.kind, event.body["id"]) for event in events] == [
        ("incident.annunciated", "i-1"),
        ("incident.held", "i-2"),
    ]
    assert made.update_incidents(MINUTE, (), ()) == []
    (event,) = made.update_incidents(2 * MINUTE, (), ())
    assert (event.kind, event.body["id"]) == ("incident.annunciated", "i-2")


def test_closing_all_leaves_what_must_be_acknowledged():
    made = attacked()
    assert kinds(made.close_all(2 * MINUTE)) == ["alarm.cleared", "incident.closed"]
    assert made.incidents["i-1"]["state"] == "returned" and made.states == {"zone-01/valve": "D"}


def test_a_disposition_is_recorded_on_an_incident_that_has_left_the_board():
    past = incident()[0] | {"version": 4}
    _, event = board().apply(command(Verb.DISPOSE, disposition="fault", reason="worn seal"), MINUTE, past)
    assert event.kind == "incident.disposed" and event.body["version"] == 5
    assert event.body["disposition"]["is"] == "fault" and event.body["disposition"]["by"] == "ada"


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (command(Verb.ACK, "i-9"), NotFoundError, "there is no incident 'i-9'"),
        (command(Verb.DISPOSE, "zone-01/valve", disposition="fault"), NotFoundError, "there is no incident"),
        (command(Verb.ACK, version=7), ConflictError, "you acted on version 7, the incident is now at version 1"),
        (command(Verb.UNSHELVE), ConflictError, "i-1: cannot unshelve an alarm that is unacknowledged"),
    ],
    ids=["unknown", "node-disposed", "stale", "not-shelved"],
)
def test_a_command_that_cannot_be_carried_out_changes_nothing(asked, error, message):
    made = attacked()
    before = made.to_dict()
    with pytest.raises(error, match=message):
        made.apply(asked, 2 * MINUTE)
    assert made.to_dict() == before
