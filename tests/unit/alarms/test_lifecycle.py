"""One node's alarm against a reference: the transition table of ISA-18.2."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from graphghha.alarms import IsaState, NodeAlarm, Suspension, Verb, apply_command
from graphghha.alarms.lifecycle import HOUR_MS, clear_alarm, end_suspension, is_shelving_over, raise_alarm
from graphghha.errors import ConfigError, ConflictError

# the four states of an alarm that is not suspended, without latching
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
    """The reference keeps the state in the diagram, and whether the alarm is suspended and until when."""

    @initialize(latching=st.booleans())
    def start(self, latching):
        self.latching, self.latched = latching, False
        self.alarm, self.now = NodeAlarm(), 0
        self.under, self.suspended, self.until = "A", "none", None
        self.changes = 0

    def expect(self, verb, allowed, **more):
        before = self.alarm
        if allowed:
            self.alarm = apply_command(before, verb, now_ms=self.now, version=before.version, **more)
            self.changes += 1
        else:
            with pytest.raises(ConflictError):
                apply_command(before, verb, now_ms=self.now, version=before.version, **more)
        return allowed

    @rule()
    def condition_comes(self):
        self.alarm = raise_alarm(self.alarm, latching=self.latching)
        self.under, self.changes = PROCESS[self.under if self.under != "latched" else "C", "raise"], self.changes + 1
        self.latched = self.latched or self.latching

    @rule()
    def condition_goes(self):
        self.alarm, self.changes = clear_alarm(self.alarm), self.changes + 1
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
        self.suspended, self.until = "shelved", self.now + hours * HOUR_MS

    @rule(verb=st.sampled_from([Verb.SUPPRESS, Verb.OUT_OF_SERVICE]))
    def operator_suspends(self, verb):
        becomes = "suppressed" if verb is Verb.SUPPRESS else "out-of-service"
        if self.expect(verb, self.suspended != becomes, reason="permit 7"):
            self.suspended, self.until = becomes, None

    @rule(verb=st.sampled_from([Verb.UNSHELVE, Verb.RETURN]))
    def operator_ends_suspension(self, verb):
        held = {"shelved"} if verb is Verb.UNSHELVE else {"suppressed", "out-of-service"}
        if self.expect(verb, self.suspended in held):
            self.suspended, self.until = "none", None

    @rule(hours=st.integers(0, 30))
    def time_passes(self, hours):
        self.now += hours * HOUR_MS
        due = self.suspended == "shelved" and self.now >= self.until
        assert is_shelving_over(self.alarm, self.now) == due
        if due:
            self.alarm, self.suspended, self.until = end_suspension(self.alarm), "none", None
            self.changes += 1

    @rule(behind=st.integers(1, 3))
    def a_stale_request_is_refused(self, behind):
        with pytest.raises(ConflictError, match="review it and retry"):
            apply_command(self.alarm, Verb.ACK, now_ms=self.now, version=self.alarm.version - behind)

    @invariant()
    def the_state_is_that_of_the_diagram(self):
        suspended = {"shelved": "E", "suppressed": "F", "out-of-service": "G"}
        assert self.alarm.state == suspended.get(self.suspended, "C" if self.under == "latched" else self.under)

    @invariant()
    def every_change_has_a_version_of_its_own(self):
        assert self.alarm.version == self.changes

    @invariant()
    def it_survives_serialization(self):
        assert NodeAlarm.from_dict(self.alarm.to_dict()) == self.alarm


TestAlarmsFollowTheStandard = AlarmsFollowTheStandard.TestCase


@pytest.mark.parametrize("hours", [0, -1, 25])
def test_shelving_lasts_more_than_nothing_and_at_most_a_day(hours):
    with pytest.raises(ConfigError, match="at most 24"):
        apply_command(NodeAlarm(), Verb.SHELVE, now_ms=0, for_ms=hours * HOUR_MS, reason="why not")


def test_suspending_an_alarm_needs_a_reason():
    with pytest.raises(ConfigError, match="reason"):
        apply_command(NodeAlarm(), Verb.SHELVE, now_ms=0, reason=" ")


def test_a_shelved_alarm_comes_back_in_the_present_state_of_the_process():
    alarm = apply_command(raise_alarm(NodeAlarm()), Verb.SHELVE, now_ms=0, reason="known leak")
    assert alarm.state is IsaState.SHELVED and alarm.suspension is Suspension.SHELVED
    assert end_suspension(clear_alarm(alarm)).state is IsaState.RETURNED
