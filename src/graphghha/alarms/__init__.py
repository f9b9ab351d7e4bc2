"""From scores to alarms and incidents: pure functions and values, no clock, no I/O, no torch."""

from graphghha.alarms.board import AlarmBoard
from graphghha.alarms.building import BuildingRule, Opening, members_of_building, newcomers
from graphghha.alarms.distances import Proximity
from graphghha.alarms.events import Event, StoredEvent
from graphghha.alarms.flood import FloodRule, FloodState, QueuedIncident, ThrottleResult, throttle
from graphghha.alarms.incident import Change, ChangeKind, GroupRule, GroupState, Incident, group
from graphghha.alarms.lifecycle import (
    DISPOSITIONS,
    STATE_NAMES,
    Command,
    IsaState,
    NodeAlarm,
    Suspension,
    Verb,
    apply_command,
)
from graphghha.alarms.offline import replay
from graphghha.alarms.rebuild import board_from_events
from graphghha.alarms.rule import NONE, AlarmRule, AlarmState, AlarmTransitions, advance
from graphghha.alarms.stops import PlannedStops, Stop
from graphghha.alarms.suspects import node_shares, suspects

__all__ = [
    "DISPOSITIONS",
    "NONE",
    "STATE_NAMES",
    "AlarmBoard",
    "AlarmRule",
    "AlarmState",
    "AlarmTransitions",
    "BuildingRule",
    "Change",
    "ChangeKind",
    "Command",
    "Event",
    "FloodRule",
    "FloodState",
    "GroupRule",
    "GroupState",
    "Incident",
    "IsaState",
    "NodeAlarm",
    "Opening",
    "PlannedStops",
    "Proximity",
    "QueuedIncident",
    "Stop",
    "StoredEvent",
    "Suspension",
    "ThrottleResult",
    "Verb",
    "advance",
    "apply_command",
    "board_from_events",
    "group",
    "members_of_building",
    "newcomers",
    "node_shares",
    "replay",
    "suspects",
    "throttle",
]
