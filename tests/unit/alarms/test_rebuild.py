"""A desk is a fold over its events: folded again from what it wrote, it is the same desk."""

import json
from contextlib import suppress

from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphghha.alarms import Command, Desk, Verb, iso, refold
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
    """A day at the desk: one incident per zone while any of its nodes is in alarm."""

    def __init__(self, latching):
        self.desk, self.facts, self.now = Desk(NODES, latching=latching), [], 0
        self.standing, self.open, self.newest, self.count = set(), {}, {}, 0

    def take(self, step, what):
        self.now += MINUTE
        if step == "wait":
            self.now += what * HOUR
            self.facts += self.desk.process(self.now, {}, ())
        elif step == "raise" and what not in self.standing:
            self.standing.add(what)
            self.facts += self.desk.process(self.now, {what: 0.97}, ())
            self.facts += self.desk.report(self.now, [self.news(what)], ())
        elif step == "clear" and what in self.standing:
            self.standing.remove(what)
            self.facts += self.desk.process(self.now, {}, [what])
            zone = what.partition("/")[0]
            over = not any(node.startswith(zone) for node in self.standing)
            self.facts += self.desk.report(self.now, (), [self.open.pop(zone)["id"]] if over else ())
        elif isinstance(step, Verb):
            self.command(step, self.newest.get(what, what))

    def news(self, node):
        zone, _, role = node.partition("/")
        if zone not in self.open:
            self.count += 1
            self.newest[zone] = f"office-{self.count}"
            self.open[zone] = {"id": self.newest[zone], "zone": zone, "probability": 0.97, "state": "", "alarms": []}
        body = self.open[zone]
        body["alarms"] = [*body["alarms"], *([] if role in body["alarms"] else [role])]
        return dict(body), tuple(f"{zone}/{each}" for each in body["alarms"])

    def command(self, verb, target):
        told = [fact.body for fact in self.facts if fact.kind.startswith("incident.") and fact.body["id"] == target]
        if target in ZONES:
            return  # nothing has happened there yet
        found = "fault" if verb is Verb.DISPOSE else None
        command = Command(verb=verb, target=target, by="ada", reason="permit 7", disposition=found)
        with suppress(ConflictError):
            self.facts += self.desk.apply(command, self.now, told[-1] if told else None)


@settings(max_examples=100)
@given(st.lists(steps, max_size=40), st.booleans())
@example([("raise", NODES[0]), (Verb.ACK, NODES[0]), ("clear", NODES[0]), (Verb.RESET, NODES[0])], True)
def test_folded_from_its_events_it_is_the_same_desk(day, latching):
    shift = Shift(latching)
    for step, what in day:
        shift.take(step, what)
    events = [(fact.kind, json.loads(json.dumps(fact.body))) for fact in shift.facts]
    kept, found = shift.desk.to_dict(), refold(events, NODES, latching=latching)
    for part in ("alarms", "owner", "incidents"):
        assert found[part] == kept[part], part


def test_a_node_taken_aside_before_the_journal_begins_is_aside_all_the_same():
    body = {"node": NODES[0], "state": "G", "version": 9}
    desk = Desk.from_dict(refold([("alarm.cleared", body)], NODES), NODES)
    assert desk.letters == {NODES[0]: "G"} and desk.alarm(NODES[0]).version == 9
    shelved = body | {"state": "E", "reason": "being changed", "until": iso(8 * HOUR)}
    alarm = Desk.from_dict(refold([("alarm.shelved", shelved)], NODES), NODES).alarm(NODES[0])
    assert (alarm.until_ms, alarm.reason) == (8 * HOUR, "being changed")
