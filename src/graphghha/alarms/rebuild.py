"""A desk from the events it has written: for when its checkpoint cannot be read. Pure: no clock, no I/O."""

from collections.abc import Container, Iterable, Mapping
from datetime import datetime
from typing import Any

from graphghha.alarms.flood import FloodState
from graphghha.alarms.lifecycle import WORDS, Letter, NodeAlarm, Suspension

_SUSPENSIONS = {
    Letter.SHELVED: Suspension.SHELVED,
    Letter.SUPPRESSED: Suspension.SUPPRESSED,
    Letter.OUT_OF_SERVICE: Suspension.OUT_OF_SERVICE,
}


def refold(
    events: Iterable[tuple[str, Mapping[str, Any]]], nodes: Container[str], *, latching: bool = False
) -> dict[str, Any]:
    """What `Desk.to_dict` gave after these events (kind and body, in order), with a flood meter that starts again."""
    alarms: dict[str, NodeAlarm] = {}
    owner: dict[str, str] = {}
    incidents: dict[str, Mapping[str, Any]] = {}
    for event, body in events:
        room, _, kind = event.partition(".")
        if room == "alarm":
            alarms[body["node"]] = _after(alarms.get(body["node"], NodeAlarm()), kind, body, latching)
        elif room == "incident":
            key = body["id"]
            if kind == "disposed" and key not in incidents:
                continue  # it had left the desk before
            if key not in incidents or incidents[key]["alarms"] != body["alarms"]:
                owner |= {_name(body["zone"], alarm, nodes): key for alarm in body["alarms"]}
            incidents[key] = dict(body)
            if body["closed"] and body["state"] == WORDS[Letter.NORMAL]:
                del incidents[key]
                owner = {node: other for node, other in owner.items() if other != key}
    return {
        "alarms": {node: alarm.to_dict() for node, alarm in alarms.items()},
        "owner": owner,
        "flood": FloodState().to_dict(),
        "incidents": incidents,
    }


def _after(alarm: NodeAlarm, kind: str, body: Mapping[str, Any], latching: bool) -> NodeAlarm:
    """The letter in the event decides: what led to it may be older than the journal remembers."""
    suspension = _SUSPENSIONS.get(Letter(body["state"]), Suspension.NONE)
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


def _name(zone: str | None, alarm: str, nodes: Container[str]) -> str:
    """Incidents name their own zone's nodes by role."""
    full = f"{zone}/{alarm}"
    return full if full in nodes else alarm


def _ms(time: str | None) -> int | None:
    return None if time is None else round(datetime.fromisoformat(time).timestamp() * 1000)
