"""Incidents as JSON, by the public contract, and as sentences for operators."""

import logging
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha._util.times import iso
from graphghha.alarms import Incident
from graphghha.monitor.detector import Detector
from graphghha.monitor.display import PLAIN, Display
from graphghha.monitor.pipeline import Step
from graphghha.monitor.probability import likelihood
from graphghha.monitor.witnesses import gather
from graphghha.plants.techniques import name_techniques

log = logging.getLogger(__name__)
TEXT_EVIDENCE = 2  # pieces of evidence that fit into a sentence
BY_PATTERN = "no single reading is out of its normal range, the model judged by the pattern"


def build_incident(
    site: str,
    incident: Incident,
    step: Step,
    since_ms: int,
    follows: dict[str, Any] | None,
    detector: Detector,
    values: NDArray[Any],
    fresh: NDArray[np.bool_],
    display: Display = PLAIN,
) -> dict[str, Any]:
    """Return the body of an incident at its annunciation; `values` and `fresh` [n p] are the newest rows."""
    root, graph = incident.root, detector.graph
    advice = detector.plant.advise(_place(detector, root))
    providers = [partial(provider.explain, root, values, fresh) for provider in detector.evidence_providers]
    evidence, failed = gather([*providers, partial(step.explain, root)])
    body = {
        "id": incident_id(site, incident, step.time_ms),
        "site": site,
        "zone": graph.zones[root],
        "root": _place(detector, root),
        "name": advice.name,
        "class": (attack_class := step.attack_class(root)),
        **(detector.normal_judgement.marks(graph.names[root], attack_class) if detector.normal_judgement else {}),
        "probability": round(step.probability(root), 3),
        "since": iso(since_ms),
        "time": iso(step.time_ms),
        "state": "unacknowledged",
        "priority": advice.priority,
        "follows": follows,
        "alarms": member_names(incident, detector),
        "evidence": evidence,
        "consistent_with": list(advice.techniques),
        "techniques": name_techniques(list(advice.techniques)),
        "action": advice.action,
        "ranking": [graph.names[node] for node in incident.ranking[:3]],
    }
    return finished(body, failed, display)


def finished(body: dict[str, Any], failed: str, display: Display = PLAIN) -> dict[str, Any]:
    """Return the body with its sentence, and with the reason why evidence could not be gathered, if there is one."""
    if failed:
        body = body | {"evidence_failed": "; ".join(filter(None, (body.get("evidence_failed"), failed)))}
    try:
        return body | {"text": sentence(body, display)}
    except Exception as exc:  # evidence that cannot be put into words
        log.exception("the evidence of %s cannot be put into words", body["id"])
        body = body | {"evidence": [], "evidence_failed": f"{type(exc).__name__}: {exc}"}
        return body | {"text": f"{headline(body, display)}; {_missing_evidence(body)}"}


def incident_id(site: str, incident: Incident, time_ms: int) -> str:
    """Return an id that is unique in a journal, even if the numbers of incidents start again."""
    stamp = iso(time_ms).replace("-", "").replace(":", "")[:13]
    return f"{site}-{stamp}-{incident.number}"


def member_names(incident: Incident, detector: Detector) -> list[str]:
    """Return the incident's nodes, root first: by role within its zone, by full name in other zones."""
    graph = detector.graph
    zone = graph.zones[incident.root]
    return [
        _place(detector, node) if graph.zones[node] == zone else graph.names[node]
        for node in sorted(incident.members, key=lambda node: node != incident.root)
    ]


def _place(detector: Detector, node: int) -> str:
    return detector.graph.place(node)


def sentence(body: dict[str, Any], display: Display = PLAIN) -> str:
    """Return the incident as a sentence: where, what, how likely, since when, and the readings that show it."""
    items = [item for item in body["evidence"] if item["kind"] in ("contradiction", "signal")]
    shown = [_evidence_clause(item, body) for item in items if is_reason(item)][:TEXT_EVIDENCE]
    if not shown and items:
        shown = [BY_PATTERN]
    evidence = [*shown, _missing_evidence(body)]
    parts = [headline(body, display), *evidence, likeliest_hypothesis(body), related_incident(body, display)]
    return display.reword("; ".join(part for part in parts if part))


def is_reason(item: dict[str, Any]) -> bool:
    """Return whether a piece of evidence is something that an operator can see to be wrong."""
    return item["kind"] == "contradiction" or (item["kind"] == "signal" and bool(item.get("unusual", True)))


def _missing_evidence(body: dict[str, Any]) -> str:
    reason = body.get("evidence_failed")
    return f"evidence could not be gathered: {reason}" if reason else ""


def likeliest_hypothesis(body: dict[str, Any]) -> str:
    """Return the first hypothesis of an incident in a few words; empty if it has none."""
    return f"likeliest: {body['hypotheses'][0]['kind']}" if body.get("hypotheses") else ""


def related_incident(body: dict[str, Any], display: Display = PLAIN) -> str:
    """Return a remark if an earlier incident may explain this one, because zones settle for hours after an attack."""
    match body.get("follows"):
        case {"closed": None}:
            return "may belong to the incident already open in this zone"
        case {"closed": closed}:
            return f"may be an after-effect of the incident closed at {display.clock(closed, body.get('time'))}"
    return ""


def headline(body: dict[str, Any], display: Display = PLAIN) -> str:
    """Return where, what, how likely and since when; with the date if it began on another day than it was announced."""
    chance = likelihood(body["probability"]) + (" by the tail" if body.get("p_is") == "tail" else "")
    likely = f"{chance}, since {display.clock(body['since'], body.get('time'))}"
    if "members" in body:
        return f"{building_subject(body)}, {likely}"
    match body.get("class_is"):
        case "by_kind":
            return f"{subject(body)} is anomalous ({body['class']}, by its kind), {likely}"
        case "unknown":
            return f"{subject(body)} is anomalous ({body['class']}), {likely}"
    if "suspects" not in body:
        return f"{subject(body)}, {body['class']} attack, {likely}"
    if len(body["suspects"]) == 1:
        return f"{subject(body)} is anomalous ({body['class']}), {likely}"
    return f"{zone_name(body) or 'The plant'} is anomalous, {likely}; node: {suspects_clause(body)}"


def suspects_clause(body: dict[str, Any]) -> str:
    """Return the suspects of an incident in words, with how often they include the attacked node."""
    names = either(body["suspect_names"])
    return f"{names} (one of them in {body['coverage']:.0%} of attacks of the kinds it was taught)"


def either(names: Sequence[str]) -> str:
    """Return names as `A, B or C`."""
    return " or ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def building_subject(body: dict[str, Any]) -> str:
    """Return what an incident of the building is about."""
    zones = body["zones"]
    return f"Building: {len(zones)} of {body['zones_of_building']} zones are anomalous ({', '.join(zones)})"


def zone_name(body: dict[str, Any]) -> str:
    """Return the zone in words: `zone-07` becomes `Zone 7`."""
    words = [word.lstrip("0") or "0" if word.isdigit() else word for word in (body["zone"] or "").split("-")]
    place = " ".join(words)
    return f"{place[:1].upper()}{place[1:]}"


def subject(body: dict[str, Any]) -> str:
    """Return zone and node in words."""
    place = zone_name(body)
    return f"{place}: {body['name']}" if place else str(body["name"])


def event_line(kind: str, body: dict[str, Any], display: Display = PLAIN) -> str:
    """Return one line about an event of an incident."""
    if kind == "incident.closed":
        since = f" since {display.clock(body['cleared'], body['closed'])}" if body.get("cleared") else ""
        return f"{subject(body)} is back in range{since}"
    text = sentence(body, display)
    match kind:
        case "incident.held" if body.get("part_of"):
            return f"{text} (not announced: part of the building's incident)"
        case "incident.held" if body.get("held"):
            return f"{text} (not announced: {body['held']})"
        case "incident.held":
            is_suspended = body["state"] in ("shelved", "suppressed", "out-of-service")
            return f"{text} (not announced: {body['state'] if is_suspended else 'alarm flood'})"
    return text


def _evidence_clause(item: dict[str, Any], body: dict[str, Any]) -> str:
    """Return the evidence in words; the incident's root, which the headline has just named, becomes `it`."""
    text, name = str(item["text"]), str(body["name"])
    return f"it{text.removeprefix(name)}" if item["node"] == body["root"] and text.startswith(name) else text
