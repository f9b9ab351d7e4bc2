"""An alarm board rebuilt from the events it has written, for when its checkpoint cannot be read. Pure."""

from collections.abc import Container, Iterable, Mapping
from datetime import datetime
from typing import Any

from graphghha.alarms.board import AlarmBoard
from graphghha.alarms.flood import FloodState
from graphghha.alarms.lifecycle import STATE_NAMES, SUSPENSIONS, IsaState, NodeAlarm, Suspension


def board_from_events(
    events: Iterable[tuple[str, Mapping[str, Any]]], nodes: Container[str], *, latching: bool = False
) -> AlarmBoard:
    """Return the board as it was after these events (kind and body, in order); only its flood control starts afresh."""
    alarms: dict[str, NodeAlarm] = {}
    owner: dict[str, str] = {}
    incidents: dict[str, Mapping[str, Any]] = {}
    for event, body in events:
        subject, _, kind = event.partition(".")
        if subject == "alarm":
            alarms[body["node"]] = _alarm_after(alarms.get(body["node"], NodeAlarm()), kind, body, latching)
        elif subject == "incident":
            key = body["id"]
            if kind == "disposed" and key not in incidents:
                continue  # the incident had left the board before it was disposed
            is_changed = key not in incidents or incidents[key]["alarms"] != body["alarms"]
            if is_changed and "members" not in body:  # an incident of the building has the nodes of its members
                owner |= {_full_name(body["zone"], alarm, nodes): key for alarm in body["alarms"]}
            incidents[key] = dict(body)
            if body["closed"] and body["state"] == STATE_NAMES[IsaState.NORMAL]:
                del incidents[key]
                owner = {node: other for node, other in owner.items() if other != key}
    state = {
        "alarms": {node: alarm.to_dict() for node, alarm in alarms.items()},
        "owner": owner,
        "flood": FloodState().to_dict(),
        "incidents": incidents,
    }
    return AlarmBoard.from_dict(state, nodes, latching=latching)


def _alarm_after(alarm: NodeAlarm, kind: str, body: Mapping[str, Any], latching: bool) -> NodeAlarm:
    """Return the alarm after an event. The state named in the event decides: its cause may lie before the journal."""
    suspension = SUSPENSIONS.get(IsaState(body["state"]), Suspension.NONE)
    until_ms, reason = (None, "") if suspension is Suspension.NONE else (alarm.until_ms, alarm.reason)
    if kind == suspension:
        until_ms, reason = _ms(body.get("until")), body["reason"]
    return NodeAlarm(
        active={"raised": True, "cleared": False}.get(kind, alarm.active),
        unacked={"raised": True, "acknowledged": False}.get(kind, alarm.unacked),
        latched={"raised": alarm.latched or latching, "reset": False}.get(kind, alarm.latched),
        suspension=suspension,
        until_ms=until_ms,
        reason=reason,
        version=body["version"],
    )


def _full_name(zone: str | None, alarm: str, nodes: Container[str]) -> str:
    """Return the node's full name: an incident names the nodes of its own zone by role only."""
    full = f"{zone}/{alarm}"
    return full if full in nodes else alarm


def _ms(time: str | None) -> int | None:
    return None if time is None else round(datetime.fromisoformat(time).timestamp() * 1000)
