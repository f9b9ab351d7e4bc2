"""What may be behind an incident, in words: an equipment fault, configuration or maintenance, or manipulation. Pure.

Telemetry alone rarely separates them, so there are reasons and no probabilities. Manipulation comes first only on
positive evidence for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

EQUIPMENT, CONFIGURATION, MANIPULATION = "equipment fault", "configuration or maintenance", "manipulation"
TOGETHER = 2  # other zones, from which on zones turn together


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandCheck:
    """An actuator's position beside its command."""

    position: str  # names and readings as an operator knows them
    command: str
    reads: str
    commanded: str
    agrees: bool
    may_pass: bool = False  # the position is in the lower half of its range, where leaks show


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What is known about an incident when it is annunciated. Names are those of the plant's advice."""

    name: str  # of the root
    kind: str  # of the root: sensor, controller or actuator
    is_measured: bool = True
    is_setting: bool = False  # a setpoint or a mode
    own_deviation: str = ""  # the root's own reading against what is expected of it, if it is unusual
    command: CommandCheck | None = None
    contradicting: tuple[str, ...] = ()  # readings that the root acts upon and that are unusual
    repeated: tuple[str, ...] = ()  # readings of the zone that were read before, to the last digit
    held: tuple[str, ...] = ()  # readings of the zone that have stopped to vary
    readings: int = 0  # of the zone that vary
    moved_alone: str = ""  # the time at which the root, a setting, moved although settings do not move at that time
    is_schedule_change: bool = False  # settings of most zones have just moved
    zones_together: int = 0  # other zones with a new incident
    zones_alike: int = 0  # those of them whose root has the same role
    suspects: int = 1
    jump: str = ""  # the root's own reading before and after a jump within one row: `from 30% to 80%`
    knows_schedule: bool = False  # there are zones enough to tell a change of the schedule


def hypotheses(facts: Facts) -> list[dict[str, Any]]:
    """Return the hypotheses, likeliest first, as an incident's JSON holds them."""
    evidence = manipulation_evidence(facts)
    is_settings = facts.kind == "controller" or (facts.is_schedule_change and facts.zones_together >= 1)
    usual = [CONFIGURATION, EQUIPMENT] if is_settings else [EQUIPMENT, CONFIGURATION]
    order = [MANIPULATION, *usual] if evidence else [*usual, MANIPULATION]
    reasons = {
        EQUIPMENT: _equipment(facts),
        CONFIGURATION: _configuration(facts),
        MANIPULATION: evidence or [NO_EVIDENCE],
    }
    pros, cons = _pros(facts, evidence), _cons(facts, evidence)
    return [{"kind": kind, "reasons": reasons[kind], "for": pros[kind], "against": cons[kind]} for kind in order]


def _pros(facts: Facts, evidence: list[str]) -> dict[str, list[str]]:
    """Return what speaks for each hypothesis, a sentence each."""
    check, weak = facts.command, []
    if check and not check.agrees and not evidence:
        weak = [f"The {check.position} and its command disagree, as after a forged command or reading."]
    return {
        EQUIPMENT: _equipment(facts),
        CONFIGURATION: [reason for reason in _configuration(facts) if reason != ASK],
        MANIPULATION: evidence or weak,
    }


def _cons(facts: Facts, evidence: list[str]) -> dict[str, list[str]]:
    """Return what speaks against each hypothesis, a sentence each."""
    equipment, configuration, manipulation = [], [], []
    if facts.repeated:
        equipment.append("A fault does not repeat earlier readings to the last digit.")
    if facts.is_setting:
        equipment.append("A setting does not wear.")
    if facts.zones_alike >= TOGETHER and facts.kind != "sensor" and facts.is_measured:
        equipment.append(f"The same part of {facts.zones_alike} other zones would have to fail within minutes.")
    if facts.jump:
        equipment.append(f"It went {facts.jump} within one reading; wear and drift are slower.")
    if facts.knows_schedule and not facts.is_schedule_change:
        configuration.append("No schedule changed within the last hour.")
    if not evidence and facts.suspects == 1 and facts.zones_together == 0:
        manipulation.append("It shows at one node of one zone.")
    return {EQUIPMENT: equipment, CONFIGURATION: configuration, MANIPULATION: manipulation}


def manipulation_evidence(facts: Facts) -> list[str]:
    """Return the positive evidence for manipulation, a sentence each."""
    found = []
    check = facts.command
    if check and check.agrees and not check.may_pass and len(facts.contradicting) >= 2:
        found.append(
            f"The {check.position} reports {check.reads}, as commanded, but what it acts upon contradicts it: "
            f"{_names(facts.contradicting)}."
        )
    if facts.repeated:
        found.append(f"Readings repeat earlier ones to the last digit, noise included: {_names(facts.repeated)}.")
    if 2 <= len(facts.held) < max(3, facts.readings / 2):
        found.append(f"Several readings stopped to vary while the rest of the zone did not: {_names(facts.held)}.")
    if facts.moved_alone:
        found.append(
            f"The {facts.name} moved at {facts.moved_alone}, a time at which neither it nor the same setting of any "
            "other zone usually moves."
        )
    if facts.zones_alike >= TOGETHER and facts.kind != "sensor" and facts.is_measured and not facts.is_schedule_change:
        found.append(
            f"The same point of {facts.zones_alike} other zones turned within minutes, and no schedule changed."
        )
    return found


def _equipment(facts: Facts) -> list[str]:
    reasons = []
    check = facts.command
    if check and not check.agrees:
        reasons.append(
            f"The {check.position} reads {check.reads} while the {check.command} is {check.commanded}: a stuck drive "
            "or one in hand does that."
        )
    elif check and facts.contradicting and check.may_pass:
        reasons.append(f"The {check.position} reports {check.reads}, but acts otherwise: one that passes does that.")
    elif check and facts.contradicting:
        reasons.append(f"A drive that turns without moving the {check.position} reports the position it does not have.")
    if facts.kind == "sensor":
        what = f"{facts.own_deviation}; sensors" if facts.own_deviation else "Sensors"
        reasons.append(f"{what[:1].upper()}{what[1:]} drift and fail more often than they are falsified.")
    elif not facts.is_measured:
        reasons.append(f"The {facts.name} is not measured itself; wear, dirt or a blockage has this effect.")
    if facts.held:
        reasons.append(f"A failed instrument or interface repeats its last value: {_names(facts.held)}.")
    if facts.zones_together >= TOGETHER and not facts.is_schedule_change:
        reasons.append(f"{facts.zones_together} other zones turned as well: a supply that they share may have failed.")
    if facts.suspects > 1:
        reasons.append(f"{facts.suspects} nodes are suspect, and one physical cause moves several readings.")
    return reasons or [f"The {facts.name} may have failed; faults are far more frequent than attacks."]


def _configuration(facts: Facts) -> list[str]:
    reasons = []
    if facts.is_schedule_change:
        reasons.append("Settings of most zones changed within the last hour, as at a change of the schedule.")
    if facts.is_setting:
        reasons.append(f"The {facts.name} is a setting, which people and schedules change.")
    elif facts.kind == "controller":
        reasons.append(f"The {facts.name} is the output of a program; tuning it or taking it in hand has this effect.")
    return [*reasons, ASK]


ASK = "The monitor does not know of work on site: ask who works on it now."
NO_EVIDENCE = "Nothing in the readings points to it, but readings alone cannot exclude it."


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]
