"""An incident as JSON, by the public contract: from the pipeline's step, the witnesses and the plant's advice."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import Incident, iso
from graphghha.monitor.detector import Detector
from graphghha.monitor.pipeline import Step

TEXT_EVIDENCE = 2  # pieces of evidence that fit into a sentence
NEAR_CERTAIN = 0.995  # what two digits would call certain


def new_body(
    site: str,
    incident: Incident,
    step: Step,
    since_ms: int,
    follows: dict[str, Any] | None,
    detector: Detector,
    values: NDArray[Any],
    fresh: NDArray[np.bool_],
) -> dict[str, Any]:
    """The whole body, at the moment the grouping announces the incident; `values` [n p] are the newest rows."""
    root, graph = incident.root, detector.graph
    advice = detector.plant.advise(graph.roles[root])
    evidence = [item for witness in detector.witnesses for item in witness.testify(root, values, fresh)]
    evidence += step.explain(root)
    body = {
        "id": incident_id(site, incident, step.time_ms),
        "site": site,
        "zone": graph.zones[root],
        "root": graph.roles[root],
        "name": advice.name,
        "class": step.attack_class(root),
        "probability": round(step.probability(root), 3),
        "since": iso(since_ms),
        "time": iso(step.time_ms),
        "state": "unacknowledged",
        "priority": advice.priority,
        "follows": follows,
        "alarms": alarms_of(incident, detector),
        "evidence": evidence,
        "consistent_with": list(advice.techniques),
        "action": advice.action,
        "ranking": [graph.names[node] for node in incident.ranking[:3]],
    }
    return body | {"text": sentence(body)}


def incident_id(site: str, incident: Incident, time_ms: int) -> str:
    """Unique in a journal, even if numbers start again."""
    stamp = iso(time_ms).replace("-", "").replace(":", "")[:13]
    return f"{site}-{stamp}-{incident.number}"


def alarms_of(incident: Incident, detector: Detector) -> list[str]:
    """Members by role within the incident's zone, by full name beyond it."""
    graph = detector.graph
    zone = graph.zones[incident.root]
    return [
        graph.roles[node] if graph.zones[node] == zone else graph.names[node]
        for node in sorted(incident.members, key=lambda node: node != incident.root)
    ]


def sentence(body: dict[str, Any]) -> str:
    """For an operator: where, what, how sure, since when, and what shows it."""
    signals = [item for item in body["evidence"] if item["kind"] == "signal"]
    shown = [_said(item, body) for item in signals if item["unusual"]][:TEXT_EVIDENCE]
    if not shown and signals:
        shown = ["no single reading is out of its normal range"]
    said = [headline(body), ", ".join(shown), aftermath(body)]
    return "; ".join(part for part in said if part)


def aftermath(body: dict[str, Any]) -> str:
    """A zone under attack changes as a whole, and settles for hours: what comes then may still be the old attack."""
    match body.get("follows"):
        case {"closed": None}:
            return "perhaps part of the incident that is open there"
        case {"closed": closed}:
            return f"perhaps the aftermath of the incident that closed at {closed[11:16]}"
    return ""


def headline(body: dict[str, Any]) -> str:
    """Where, what, how sure, since when. No probability is rounded to certainty."""
    probability = body["probability"]
    sure = f"p = {probability:.2f}" if probability < NEAR_CERTAIN else "p > 0.99"
    return f"{subject(body)}, {body['class']} attack, {sure}, since {body['since'][11:16]}"


def subject(body: dict[str, Any]) -> str:
    """Zone and node in words: `zone-07` is zone 7."""
    words = [word.lstrip("0") or "0" if word.isdigit() else word for word in (body["zone"] or "").split("-")]
    place = " ".join(words)
    return f"{place[:1].upper()}{place[1:]}: {body['name']}" if place else str(body["name"])


def news(kind: str, body: dict[str, Any]) -> str:
    """One line about an incident's event."""
    match kind:
        case "incident.closed":
            return f"{subject(body)} is back to normal"
        case "incident.held":
            is_suspended = body["state"] in ("shelved", "suppressed", "out-of-service")
            return f"{body['text']} (not announced: {body['state'] if is_suspended else 'flood'})"
    return str(body["text"])


def _said(item: dict[str, Any], body: dict[str, Any]) -> str:
    """The incident's own node was named a moment ago."""
    text = str(item["text"])
    return f"it{text.removeprefix(body['name'])}" if item["node"] == body["root"] else text
