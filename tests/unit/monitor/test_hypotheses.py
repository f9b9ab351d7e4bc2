"""Hypotheses: manipulation is first only on positive evidence, and every hypothesis has a reason."""

from dataclasses import replace

import pytest

from graphghha.monitor.hypotheses import CommandCheck, Facts, hypotheses

VALVE = Facts(name="valve", kind="actuator")
SENSOR = replace(VALVE, name="room temperature", kind="sensor")
COIL = replace(VALVE, name="coil", is_measured=False)
SETPOINT = replace(VALVE, name="cooling setpoint", kind="controller", is_setting=True)
LOOP = replace(VALVE, name="valve command", kind="controller")
FOLLOWS = CommandCheck(position="valve", command="valve command", reads="80%", commanded="81%", agrees=True)
STUCK = replace(FOLLOWS, reads="100%", agrees=False)
EQUIPMENT, CONFIGURATION, MANIPULATION = "equipment fault", "configuration or maintenance", "manipulation"


def order(facts):
    listed = hypotheses(facts)
    assert all(each["reasons"] and all(reason.endswith(".") for reason in each["reasons"]) for each in listed)
    assert not any("  " in reason or reason[0].islower() for each in listed for reason in each["reasons"])
    return [each["kind"] for each in listed]


def reasons(facts, kind):
    return " ".join(next(each["reasons"] for each in hypotheses(facts) if each["kind"] == kind))


@pytest.mark.parametrize(
    "facts",
    [
        VALVE,
        SENSOR,
        COIL,
        replace(VALVE, command=STUCK, contradicting=("flow", "return water")),
        replace(VALVE, command=replace(FOLLOWS, may_pass=True), contradicting=("flow", "return water")),
        replace(VALVE, command=FOLLOWS, contradicting=("flow",)),
        replace(SENSOR, held=("room temperature",), readings=20),
        replace(SENSOR, held=tuple("abcdefghijkl"), readings=20),
        replace(SENSOR, zones_together=5, zones_alike=5),
        replace(COIL, zones_together=5, zones_alike=5),
        replace(VALVE, zones_together=5, zones_alike=1),
        replace(VALVE, suspects=4),
    ],
)
def test_without_evidence_for_manipulation_a_fault_is_likeliest_and_manipulation_last(facts):
    assert order(facts) == [EQUIPMENT, CONFIGURATION, MANIPULATION]
    assert "cannot exclude" in reasons(facts, MANIPULATION)


@pytest.mark.parametrize(
    "facts",
    [SETPOINT, LOOP, replace(VALVE, is_schedule_change=True, zones_together=4, zones_alike=4)],
    ids=["setpoint", "loop", "schedule"],
)
def test_settings_programs_and_schedules_are_first_of_all_configuration(facts):
    assert order(facts) == [CONFIGURATION, EQUIPMENT, MANIPULATION]


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (replace(VALVE, command=FOLLOWS, contradicting=("flow", "return water")), "flow and return water"),
        (replace(SENSOR, repeated=("room temperature",)), "to the last digit"),
        (replace(SENSOR, held=("a", "b"), readings=20), "a and b"),
        (replace(SETPOINT, moved_alone="02:14"), "moved at 02:14"),
        (replace(VALVE, zones_together=3, zones_alike=2), "same point of 2 other zones"),
    ],
    ids=["claimed", "replayed", "held", "setpoint", "zones"],
)
def test_positive_evidence_puts_manipulation_first_and_is_its_reason(facts, said):
    assert order(facts)[0] == MANIPULATION
    assert said in reasons(facts, MANIPULATION) and "cannot exclude" not in reasons(facts, MANIPULATION)


def test_reasons_name_the_readings():
    assert "valve reads 100% while the valve command is 81%" in reasons(replace(VALVE, command=STUCK), EQUIPMENT)
    sensor = replace(SENSOR, own_deviation="room temperature reads low (18 °C, expected 22)")
    assert reasons(sensor, EQUIPMENT).startswith("Room temperature reads low (18 °C, expected 22); sensors drift")
    assert "3 nodes are suspect" in reasons(replace(COIL, suspects=3), EQUIPMENT)
    assert "is a setting" in reasons(SETPOINT, CONFIGURATION) and "output of a program" in reasons(LOOP, CONFIGURATION)


def test_what_speaks_for_and_against_a_hypothesis_stands_apart():
    stuck = replace(VALVE, command=STUCK, jump="from 30% to 100%", knows_schedule=True)
    listed = {each["kind"]: each for each in hypotheses(stuck)}
    assert "stuck drive" in listed[EQUIPMENT]["for"][0] and "from 30% to 100%" in listed[EQUIPMENT]["against"][0]
    assert listed[CONFIGURATION]["for"] == [] and "No schedule" in listed[CONFIGURATION]["against"][0]
    assert "disagree" in listed[MANIPULATION]["for"][0] and "one node" in listed[MANIPULATION]["against"][0]
    moved = {each["kind"]: each for each in hypotheses(replace(SETPOINT, moved_alone="03:10 UTC"))}
    assert moved[MANIPULATION]["for"] == moved[MANIPULATION]["reasons"] and moved[MANIPULATION]["against"] == []
    assert moved[EQUIPMENT]["against"] == ["A setting does not wear."]
