"""One node's alarm against a reference that is the standard's table of transitions, written down."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from graphghha.alarms import Letter, NodeAlarm, Suspension, Verb, commanded
from graphghha.alarms.lifecycle import HOUR_MS, cleared, expired, raised, unsuspended
from graphghha.errors import ConfigError, ConflictError

# the four states of an alarm that nobody has taken aside, without latching
PROCESS = {
    ("A", "raise"): "B",
    ("B", "raise"): "B",
    ("C", "raise"): "B",
    ("D", "raise"): "B",
    ("A", "clear"): "A",
    ("B", "clear"): "D",
    ("C", "clear"): "A",
    ("D", "clear"): "D",
    ("B", "ack"): "C",
    ("D", "ack"): "A",
}


class AlarmsFollowTheStandard(RuleBasedStateMachine):
    """The reference knows two things: the state in the diagram, and whether the alarm is taken aside and till when."""

    @initialize(latching=st.booleans())
    def start(self, latching):
        self.latching, self.latched = latching, False
        self.alarm, self.now = NodeAlarm(), 0
        self.under, self.aside, self.until = "A", "none", None
        self.changes = 0

    def expect(self, verb, allowed, **more):
        before = self.alarm
        if allowed:
            self.alarm = commanded(before, verb, now_ms=self.now, version=before.version, **more)
            self.changes += 1
        else:
            with pytest.raises(ConflictError):
                commanded(before, verb, now_ms=self.now, version=before.version, **more)
        return allowed

    @rule()
    def condition_comes(self):
        self.alarm = raised(self.alarm, latching=self.latching)
        self.under, self.changes = PROCESS[self.under if self.under != "latched" else "C", "raise"], self.changes + 1
        self.latched = self.latched or self.latching

    @rule()
    def condition_goes(self):
        self.alarm, self.changes = cleared(self.alarm), self.changes + 1
        if self.under == "C" and self.latched:
            self.under = "latched"
        elif self.under != "latched":
            self.under = PROCESS[self.under, "clear"]

    @rule()
    def operator_acknowledges(self):
        if self.expect(Verb.ACK, self.under in "BD"):
            self.under = PROCESS[self.under, "ack"]
            if self.under == "A" and self.latched:
                self.under = "latched"

    @rule()
    def operator_resets(self):
        if self.expect(Verb.RESET, self.under == "latched"):
            self.under, self.latched = "A", False

    @rule(hours=st.integers(1, 24))
    def operator_shelves(self, hours):
        self.expect(Verb.SHELVE, True, for_ms=hours * HOUR_MS, reason="sensor is being changed")
        self.aside, self.until = "shelved", self.now + hours * HOUR_MS

    @rule(verb=st.sampled_from([Verb.SUPPRESS, Verb.OUT_OF_SERVICE]))
    def taken_out(self, verb):
        becomes = "suppressed" if verb is Verb.SUPPRESS else "out-of-service"
        if self.expect(verb, self.aside != becomes, reason="permit 7"):
            self.aside, self.until = becomes, None

    @rule(verb=st.sampled_from([Verb.UNSHELVE, Verb.RETURN]))
    def brought_back(self, verb):
        held = {"shelved"} if verb is Verb.UNSHELVE else {"suppressed", "out-of-service"}
        if self.expect(verb, self.aside in held):
            self.aside, self.until = "none", None

    @rule(hours=st.integers(0, 30))
    def time_passes(self, hours):
        self.now += hours * HOUR_MS
        due = self.aside == "shelved" and self.now >= self.until
        assert expired(self.alarm, self.now) == due
        if due:
            self.alarm, self.aside, self.until = unsuspended(self.alarm), "none", None
            self.changes += 1

    @rule(behind=st.integers(1, 3))
    def a_stale_request_is_refused(self, behind):
        with pytest.raises(ConflictError, match="look again"):
            commanded(self.alarm, Verb.ACK, now_ms=self.now, version=self.alarm.version - behind)

    @invariant()
    def the_letter_is_the_diagrams(self):
        aside = {"shelved": "E", "suppressed": "F", "out-of-service": "G"}
        assert self.alarm.letter == aside.get(self.aside, "C" if self.under == "latched" else self.under)

    @invariant()
    def every_change_has_a_version_of_its_own(self):
        assert self.alarm.version == self.changes

    @invariant()
    def it_survives_being_written_down(self):
        assert NodeAlarm.from_dict(self.alarm.to_dict()) == self.alarm


TestAlarmsFollowTheStandard = AlarmsFollowTheStandard.TestCase


@pytest.mark.parametrize("hours", [0, -1, 25])
def test_a_shelf_lasts_more_than_nothing_and_at_most_a_day(hours):
    with pytest.raises(ConfigError, match="at most 24"):
        commanded(NodeAlarm(), Verb.SHELVE, now_ms=0, for_ms=hours * HOUR_MS, reason="why not")


def test_taking_an_alarm_aside_needs_a_reason():
    with pytest.raises(ConfigError, match="reason"):
        commanded(NodeAlarm(), Verb.SHELVE, now_ms=0, reason=" ")


def test_a_shelved_alarm_comes_back_as_the_process_stands_by_then():
    alarm = commanded(raised(NodeAlarm()), Verb.SHELVE, now_ms=0, reason="known leak")
    assert alarm.letter is Letter.SHELVED and alarm.suspension is Suspension.SHELVED
    assert unsuspended(cleared(alarm)).letter is Letter.RETURNED
