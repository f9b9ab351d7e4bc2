"""The story of an incident: what happened to it, and what people did, when and with which comment."""

from collections.abc import Iterable
from typing import Any

from graphghha._util.times import iso
from graphghha.alarms import StoredEvent
from graphghha.monitor.display import Display

_FIELDS = ("state", "verb", "by", "reason", "at", "disposition", "for_ms")
_HAPPENED = {
    "incident.annunciated": "announced",
    "incident.held": "recorded, not announced",
    "incident.closed": "back in range",
}
_DONE = {
    "ack": "acknowledged it",
    "shelve": "shelved it",
    "unshelve": "ended the shelving",
    "suppress": "suppressed it",
    "out-of-service": "took it out of service",
    "return": "returned it to service",
    "reset": "reset it",
}


def story(events: Iterable[StoredEvent]) -> list[dict[str, Any]]:
    """Return the events of an incident as plain JSON, oldest first."""
    return [
        {"time": iso(event.time_ms), "event": event.kind}
        | {name: event.body[name] for name in _FIELDS if event.body.get(name)}
        for event in events
    ]


def story_lines(entries: Iterable[dict[str, Any]], display: Display) -> list[tuple[str, str]]:
    """Return time and sentence of what an operator reads of a story."""
    lines, state = [], ""
    for entry in entries:
        if entry["event"] == "operator.command":
            lines.append((display.moment(entry["time"]), _done(entry, display)))
        elif entry["event"] != "incident.disposed":  # it repeats the command before it
            lines.append((display.moment(entry["time"]), _happened(entry, state)))
            state = entry.get("state", "")
    return lines


def _happened(entry: dict[str, Any], before: str) -> str:
    state = str(entry.get("state", ""))
    if happened := _HAPPENED.get(entry["event"]):
        return f"{happened}, {state}"
    return f"now {state}" if state != before else f"further nodes joined, {state}"


def _done(entry: dict[str, Any], display: Display) -> str:
    if entry.get("verb") == "dispose":
        done = f"recorded what it was, {entry.get('disposition', 'unknown')},"
    else:
        done = _DONE.get(str(entry.get("verb")), str(entry.get("verb")))
    hours = f" for {entry['for_ms'] / 3_600_000:g} h" if isinstance(entry.get("for_ms"), int | float) else ""
    at = f" at {display.moment(entry['at'])}" if entry.get("at") else ""
    comment = f": {entry['reason']}" if entry.get("reason") else ""
    return f"{entry.get('by', 'nobody')} {done}{hours}{at}{comment}"
