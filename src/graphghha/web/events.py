"""Events of the journal as lines for people."""

from collections.abc import Mapping
from typing import Any

from graphghha._util.times import iso
from graphghha.alarms import StoredEvent
from graphghha.monitor import event_line
from graphghha.monitor.display import PLAIN, Display
from graphghha.monitor.incident_json import zone_name
from graphghha.web.contract.incidents import EventLine, Story
from graphghha.web.parts import in_parts

_WORDS = {
    "source.lost": "The source is silent.",
    "source.found": "Data is back.",
    "source.slow": "The source sends too seldom.",
    "source.prompt": "The source sends often enough again.",
    "source.silent": "The source has not sent a usable reading.",
    "source.failed": "The source failed.",
    "flood.started": "An alarm flood began.",
    "flood.ended": "The alarm flood is over.",
    "site.watching": "Scoring began.",
    "site.learning": "The site began to learn what is normal here.",
    "site.commissioned": "The site has learned what is normal here.",
    "site.reset": "The site started afresh.",
    "journal.failing": "The journal cannot be written.",
    "journal.recovered": "The journal is written again.",
    "model.swapped": "Another model is in use.",
    "model.refused": "A new model was refused.",
}


def to_line(event: StoredEvent) -> EventLine:
    """Return an event as the API sends it."""
    body = dict(event.body)
    return EventLine(
        number=event.number,
        site=event.site,
        time=iso(event.time_ms),
        kind=event.kind,
        by=_text(body.get("by")),
        priority=_text(body.get("priority")),
        text=sentence(event.kind, body),
        parts=in_parts(lambda display: sentence(event.kind, body, display)),
        body=body,
    )


def sentence(kind: str, body: Mapping[str, Any], display: Display = PLAIN) -> str:
    """Return an event in one line."""
    try:
        return _sentence(kind, body, display)
    except (KeyError, TypeError, ValueError, AttributeError):
        return kind  # a body that no monitor writes


def _sentence(kind: str, body: Mapping[str, Any], display: Display) -> str:
    by, why = body.get("by", "somebody"), f": {body['reason']}" if body.get("reason") else ""
    match kind.partition("."):
        case ("incident", _, "disposed"):
            note = body["disposition"]
            return f"{note['by']} judged {body['id']}: {note['is']}{': ' + note['reason'] if note['reason'] else ''}"
        case ("incident", _, _):
            return event_line(kind, dict(body), display)
        case ("alarm", _, what):
            person = f" by {body['by']}" if body.get("by") else ""
            return f"{body['node']}: alarm {what.replace('-', ' ')}{person}{why}"
        case ("operator", _, "command"):
            what = f" ({body['disposition']})" if body.get("disposition") else ""
            return f"{by}: {body['verb']} {body['target']}{what}{why}"
        case ("operator", _, "refused"):
            what = body.get("verb") or body.get("order") or "a command"
            return f"Refused: {by}: {what} {body.get('target', '')}: {body.get('why') or body.get('reason', '')}"
        case ("operator", _, "found"):
            return f"{by} found what was not announced, {body['zone']} {body['node']}: {body['text']}"
        case ("access", _, what):
            return f"{by}: {what}{' ' + body['what'] if body.get('what') else ''}{why}"
        case ("stop", _, what):
            return f"Planned stop {what} until {display.clock(body['until'])} ({by}){why}"
        case ("studio", _, what):
            return _of_studio(what, by, body, display) + why
        case ("nodes", _, what):
            return f"{body['count']} nodes are {what}"
        case ("zone", _, what):
            return f"{body['zone']} is {'no longer seen' if what == 'blind' else 'seen again'}"
    return f"{_WORDS.get(kind, kind)}{' ' + body['reason'] if body.get('reason') else ''}"


def _of_studio(what: str, by: str, body: Mapping[str, Any], display: Display) -> str:
    if what == "started_over":
        return f"{by} ended this run; the building starts over with seed {body['seed']}"
    place = zone_name({"zone": body["zone"]})
    if what == "withdrawn":
        name = str(body["case"]).partition("@")[0]
        when = f", at {display.clock(body['end'])}" if body.get("end") else ", before it began"
        return f"{by} ended {name} in {place}{when}"
    end = f" until {display.clock(body['end'], body['start'])}" if body.get("end") else ""
    return f"{by} injected {body['name']} into {place}, from {display.clock(body['start'])}{end}"


def to_story(event: StoredEvent) -> Story | None:
    """Return an event as a moment of an incident's story; None if it adds nothing for people."""
    body, kind = event.body, event.kind
    marks = {
        "incident.annunciated": "announced",
        "incident.held": "fact",
        "incident.closed": "closed",
        "operator.command": "person",
        "operator.refused": "refused",
        "incident.updated": "fact",
    }
    if kind not in marks:
        return None
    text, parts = sentence(kind, body), in_parts(lambda display: sentence(kind, body, display))
    if kind == "incident.updated":
        text = _update(body)
        parts = [text]
    return Story(
        number=event.number,
        time=iso(event.time_ms),
        wall_time=_text(body.get("wall_time")),
        mark=marks[kind],  # type: ignore[arg-type]
        by=_text(body.get("by")),
        text=text,
        parts=parts,
    )


def _update(body: Mapping[str, Any]) -> str:
    """Return what is new about an incident, in a sentence."""
    alarms = len(body.get("alarms", ()))
    nodes = "1 node" if alarms == 1 else f"{alarms} nodes"
    match body.get("state"):
        case "returned":
            return "Back in range, not acknowledged."
        case "normal" if body.get("cleared"):
            return "Back in range, acknowledged."
        case state:
            return f"Now {state}, {nodes}."


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
