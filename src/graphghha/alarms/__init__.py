"""From scores to alarms and incidents: pure functions, no clock, no I/O, no torch."""

from graphghha.alarms.incident import Change, ChangeKind, GroupRule, GroupState, Incident, group
from graphghha.alarms.proximity import Proximity
from graphghha.alarms.replay import replay
from graphghha.alarms.rule import NONE, AlarmEvents, AlarmRule, AlarmState, advance

__all__ = [
    "NONE",
    "AlarmEvents",
    "AlarmRule",
    "AlarmState",
    "Change",
    "ChangeKind",
    "GroupRule",
    "GroupState",
    "Incident",
    "Proximity",
    "advance",
    "group",
    "replay",
]
