"""From scores to alarms and incidents: pure functions, no clock, no I/O, no torch."""

from graphghha.alarms.board import Desk
from graphghha.alarms.command import DISPOSITIONS, Command
from graphghha.alarms.distances import Proximity
from graphghha.alarms.events import Fact, iso
from graphghha.alarms.flood import FloodRule, FloodState, Told, Waiting, meter
from graphghha.alarms.incident import Change, ChangeKind, GroupRule, GroupState, Incident, group
from graphghha.alarms.lifecycle import WORDS, Letter, NodeAlarm, Suspension, Verb, commanded
from graphghha.alarms.offline import replay
from graphghha.alarms.rebuild import refold
from graphghha.alarms.rule import NONE, AlarmEvents, AlarmRule, AlarmState, advance

__all__ = [
    "DISPOSITIONS",
    "NONE",
    "WORDS",
    "AlarmEvents",
    "AlarmRule",
    "AlarmState",
    "Change",
    "ChangeKind",
    "Command",
    "Desk",
    "Fact",
    "FloodRule",
    "FloodState",
    "GroupRule",
    "GroupState",
    "Incident",
    "Letter",
    "NodeAlarm",
    "Proximity",
    "Suspension",
    "Told",
    "Verb",
    "Waiting",
    "advance",
    "commanded",
    "group",
    "iso",
    "meter",
    "refold",
    "replay",
]
