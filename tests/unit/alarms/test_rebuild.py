"""A board rebuilt from the events it wrote is the same board."""

import json
from contextlib import suppress

from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphghha._util.times import iso
from graphghha.alarms import AlarmBoard, Command, Verb, board_from_events
from graphghha.errors import ConflictError

ZONES = ("zone-01", "zone-02")
NODES = tuple(f"{zone}/{role}" for zone in ZONES for role in ("valve", "flow"))
MINUTE, HOUR = 60_000, 3_600_000
OPERATORS = (Verb.ACK, Verb.SHELVE, Verb.UNSHELVE, Verb.SUPPRESS, Verb.OUT_OF_SERVICE, Verb.RETURN, Verb.RESET)

steps = st.one_of(
    st.tuples(st.just("raise"), st.sampled_from(NODES)),
    st.tuples(st.just("clear"), st.sampled_from(NODES)),
    st.tuples(st.sampled_from(OPERATORS), st.sampled_from((*NODES, *ZONES))),
    st.tuples(st.just(Verb.DISPOSE), st.sampled_from(ZONES)),
    st.tuples(st.just("wait"), st.integers(1, 10)),
)


class Shift:
    """A day of alarms and commands, with one incident per zone while any of its nodes is in alarm."""

    def __init__(self, latching):
        self.board, self.events, self.now = AlarmBoard(NODES, latching=latching), [], 0
        self.standing, self.open, self.newest, self.count = set(), {}, {}, 0

    def take(self, step, what):
        self.now += MINUTE
        if step == "wait":
            self.now += what * HOUR
            self.events += self.board.update_alarms(self.now, {}, ())
        elif step == "raise" and what not in self.standing:
            self.standing.add(what)
            self.events += self.board.update_alarms(self.now, {what: 0.97}, ())
            self.events += self.board.update_incidents(self.now, [self.changed(what)], ())
        elif step == "clear" and what in self.standing:
            self.standing.remove(what)
            self.events += self.board.update_alarms(self.now, {}, [what])
            zone = what.partition("/")[0]
            over = not any(node.startswith(zone) for node in self.standing)
            self.events += self.board.update_incidents(self.now, (), [self.open.pop(zone)["id"]] if over else ())
        elif isinstance(step, Verb):
            self.command(step, self.newest.get(what, what))

    def changed(self, node):
        zone, _, role = node.partition("/")
        if zone not in self.open:
            self.count += 1
            self.newest[zone] = f"office-{self.count}"
            self.open[zone] = {"id": self.newest[zone], "zone": zone, "probability": 0.97, "state": "", "alarms": []}
        body = self.open[zone]
        body["alarms"] = [*body["alarms"], *([] if role in body["alarms"] else [role])]
        return dict(body), tuple(f"{zone}/{each}" for each in body["alarms"])

    def command(self, verb, target):
        bodies = [
            event.body for event in self.events if event.kind.startswith("incident.") and event.body["id"] == target
        ]
        if target in ZONES:
            return  # nothing has happened there yet
        disposition = "fault" if verb is Verb.DISPOSE else None
        command = Command(verb=verb, target=target, by="ada", reason="permit 7", disposition=disposition)
        with suppress(ConflictError):
            self.events += self.board.apply(command, self.now, bodies[-1] if bodies else None)


@settings(max_examples=100)
@given(st.lists(steps, max_size=40), st.booleans())
@example([("raise", NODES[0]), (Verb.ACK, NODES[0]), ("clear", NODES[0]), (Verb.RESET, NODES[0])], True)
def test_a_board_rebuilt_from_its_events_is_the_same_board(day, latching):
    shift = Shift(latching)
    for step, what in day:
        shift.take(step, what)
    events = [(event.kind, json.loads(json.dumps(event.body))) for event in shift.events]
    before, rebuilt = shift.board.to_dict(), board_from_events(events, NODES, latching=latching).to_dict()
    for part in ("alarms", "owner", "incidents"):
        assert rebuilt[part] == before[part], part


def test_a_node_suspended_before_the_journal_begins_stays_suspended():
    body = {"node": NODES[0], "state": "G", "version": 9}
    board = board_from_events([("alarm.cleared", body)], NODES)
    assert board.states == {NODES[0]: "G"} and board.alarm(NODES[0]).version == 9
    shelved = body | {"state": "E", "reason": "being changed", "until": iso(8 * HOUR)}
    alarm = board_from_events([("alarm.shelved", shelved)], NODES).alarm(NODES[0])
    assert (alarm.until_ms, alarm.reason) == (8 * HOUR, "being changed")
