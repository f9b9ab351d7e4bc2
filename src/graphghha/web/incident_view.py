"""Incidents of the journal as the API sends them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphghha._util.times import iso, parse_time_ms
from graphghha.alarms import StoredEvent
from graphghha.monitor.incident_json import is_reason, sentence, zone_name
from graphghha.monitor.journal import PageReader
from graphghha.monitor.quantized import MOST, UNKNOWN
from graphghha.plants.techniques import TECHNIQUES
from graphghha.web.contract.incidents import (
    Evidence,
    EvidenceEdge,
    Hypothesis,
    Incident,
    IncidentLine,
    Judged,
    Note,
    Parts,
    Related,
    Story,
    Technique,
)
from graphghha.web.events import to_story
from graphghha.web.library import Library, SiteAbout
from graphghha.web.parts import in_parts, text_in_parts

DOUBT = 0.05  # a score above it is mentioned in the story of an incident
READING = {"node", "meaning", "value", "expected", "normal", "unit", "deviation", "unusual", "text"}
RANKS = ("fits best", "possible", "cannot be excluded")
MOST_CHARTS = 6
BEFORE_MS = 3_600_000


def incident_line(
    body: Mapping[str, Any], about: SiteAbout | None, p_now: float | None, note: StoredEvent | None, is_drill: bool
) -> IncidentLine:
    """Return one row of the list."""
    return IncidentLine(**_line(body, about, p_now, note, is_drill))


def present_p(library: Library, about: SiteAbout, body: Mapping[str, Any]) -> float | None:
    """Return P of an incident's root now; None if it is unknown or the incident is closed."""
    if body.get("closed"):
        return None
    newest = library.reader.newest_scores(about.name)
    at = node_index(about, body.get("zone"), str(body.get("root")))
    if newest is None or at is None or at >= len(newest[1]) or newest[1][at] == UNKNOWN:
        return None
    return round(float(newest[1][at]) / MOST, 3)


def node_index(about: SiteAbout, zone: str | None, role: str) -> int | None:
    """Return the number of a node in frames; None if there is none."""
    roles = [node["role"] for node in about.template]
    zones = about.zones
    if role not in roles or (zone or "") not in zones:
        return None
    return zones.index(zone or "") * len(roles) + roles.index(role)


def incident_view(library: Library, about: SiteAbout, body: Mapping[str, Any], is_drill: bool) -> Incident:
    """Return everything about one incident."""
    reader, key = library.reader, str(body["id"])
    note = reader.notes_about([key]).get(key)
    line = _line(body, about, present_p(library, about, body), note, is_drill)
    zone, root = body.get("zone"), str(body.get("root") or "")
    signals = [_evidence(item, about) for item in body.get("evidence", ()) if item.keys() >= READING]
    edges = [item for item in body.get("evidence", ()) if item.get("kind") == "edge" and "source" in item]
    doubt = first_doubt(reader, about, body)
    names = about.names
    return Incident(
        **line,
        action=str(body.get("action", "")),
        equivalents=[names.get(role, role) for role in about.body.get("equivalents", {}).get(root, [])],
        suspects=list(body.get("suspect_names", [])),
        coverage=body.get("coverage"),
        alarms=[_full(alarm, zone, about) for alarm in body.get("alarms", [])],
        signals=signals,
        edges=[
            EvidenceEdge(**{name: item[name] for name in EvidenceEdge.model_fields if name in item}) for item in edges
        ],
        hypotheses=[
            Hypothesis.model_validate({**item, "rank": RANKS[min(at, 2)]})
            for at, item in enumerate(body.get("hypotheses", ()))
        ],
        techniques=[Technique(id=each, name=TECHNIQUES.get(each, each)) for each in body.get("consistent_with", ())],
        follows=Related(**body["follows"]) if body.get("follows") else None,
        first_doubt=doubt,
        charts=_charts(about, zone, root, [item.role for item in signals if item.is_unusual]),
        story=story(reader, key, body, doubt),
        members=list(body.get("members", [])),
        body=dict(body),
    )


def story(reader: PageReader, key: str, body: Mapping[str, Any], doubt: str | None) -> list[Story]:
    """Return what happened around an incident, oldest first."""
    found = [to_story(event) for event in (*reader.incident_events(key), *reader.refusals(key))]
    moments = sorted((each for each in found if each is not None), key=lambda each: each.number or 0)
    begin = [Story(number=None, time=body["since"], wall_time=None, mark="onset", by=None, text="It began.")]
    if doubt is not None and doubt < body["since"]:
        text = f"P of the root first rose above {DOUBT:g}."
        begin.insert(0, Story(number=None, time=doubt, wall_time=None, mark="fact", by=None, text=text))
    return begin + moments


def first_doubt(reader: PageReader, about: SiteAbout, body: Mapping[str, Any]) -> str | None:
    """Return when P of the root rose above `DOUBT` for the run that led to the incident."""
    at, since_ms = node_index(about, body.get("zone"), str(body.get("root"))), parse_time_ms(body.get("since"))
    found_ms = parse_time_ms(body.get("time"))
    if at is None or since_ms is None or found_ms is None:
        return None
    times, scores = reader.scores(about.name, since_ms - BEFORE_MS, found_ms)
    if not len(times) or at >= scores.shape[1]:
        return None
    above = (scores[:, at] != UNKNOWN) & (scores[:, at] > DOUBT * MOST)
    quiet = np.flatnonzero(~above)
    begin = int(quiet[-1]) + 1 if len(quiet) else 0
    return iso(int(times[begin])) if begin < len(times) else None


def _line(
    body: Mapping[str, Any], about: SiteAbout | None, p_now: float | None, note: StoredEvent | None, is_drill: bool
) -> dict[str, Any]:
    root, judged = str(body.get("root") or ""), body.get("disposition")
    kinds = {node["role"]: node["kind"] for node in about.template} if about else {}
    is_held = bool(body.get("held")) and not body.get("annunciated") and not body.get("closed")
    shown = ", ".join([item["text"] for item in body.get("evidence", ()) if is_reason(item)][:2])
    return {
        "id": body["id"],
        "site": body.get("site", about.name if about else ""),
        "zone": body.get("zone"),
        "zone_title": zone_name({"zone": body.get("zone")}) or _whole(about),
        "root": root,
        "name": str(body.get("name", root)),
        "kind": kinds.get(root, "equipment"),
        "attack_class": str(body.get("class", "")),
        "class_is": body.get("class_is", "by_model"),
        "p_is": body.get("p_is", "calibrated"),
        "text": str(body.get("text", "")),
        "text_parts": _text_parts(body),
        "evidence": shown,
        "evidence_parts": text_in_parts(shown),
        "state": "suppressed" if is_held else body.get("state", "unknown"),
        "priority": body.get("priority", "medium"),
        "p": float(body.get("probability", 0.0)),
        "p_now": p_now,
        "since": str(body.get("since", body.get("time", ""))),
        "time": str(body.get("time", "")),
        "announced": body.get("annunciated"),
        "cleared": body.get("cleared"),
        "closed": body.get("closed"),
        "is_open": body.get("closed") is None or body.get("state") != "normal",
        "is_drill": is_drill,
        "last_note": _note(note),
        "judged": _judged(judged, root) if judged else None,
        "part_of": body.get("part_of"),
        "version": int(body.get("version", 0)),
    }


def _whole(about: SiteAbout | None) -> str:
    """Return what an incident without a zone belongs to: a building, or a plant that has no zones."""
    return "Building" if about is None or any(about.zones) else str(about.body["title"])


def _judged(note: Mapping[str, Any], root: str) -> Judged:
    right = note.get("right_node")
    return Judged(
        disposition=note["is"],
        by=note["by"],
        reason=note["reason"],
        time=note["time"],
        right_node=right,
        is_right_node=None if right is None else right == root,
    )


def _text_parts(body: Mapping[str, Any]) -> Parts:
    """Return the parts of an incident's sentence; of one that an older version wrote, its text."""
    try:
        return in_parts(lambda display: sentence(dict(body), display))
    except (KeyError, TypeError, ValueError, IndexError):
        return text_in_parts(str(body.get("text", "")))


def _note(event: StoredEvent | None) -> Note | None:
    if event is None:
        return None
    body = event.body
    text = str(body.get("reason", "")) or str(body.get("verb", ""))
    wall = body.get("wall_time")
    return Note(by=str(body.get("by", "")), text=text, time=iso(event.time_ms), wall_time=wall)


def _evidence(item: Mapping[str, Any], about: SiteAbout) -> Evidence:
    return Evidence(
        role=item["node"],
        name=about.names.get(item["node"], item["node"]),
        meaning=item["meaning"],
        value=item["value"],
        expected=item["expected"],
        normal=tuple(item["normal"]),
        unit=item["unit"],
        deviation=item["deviation"],
        is_unusual=item["unusual"],
        text=item["text"],
    )


def _charts(about: SiteAbout, zone: str | None, root: str, evidence: list[str]) -> list[str]:
    """Return the points to draw: those of the evidence, the root, then its neighbours."""
    roles = [node["role"] for node in about.template]
    measured = {node["role"] for node in about.template if node["signal"]}
    near = []
    if root in roles:
        at = roles.index(root)
        for source, target, _ in about.body["edges"]:
            near += [roles[target]] if source == at else [roles[source]] if target == at else []
    wanted = [role for role in dict.fromkeys([*evidence, root, *near]) if role in measured]
    return [about.node_name(zone or "", role) for role in wanted[:MOST_CHARTS]]


def _full(alarm: str, zone: str | None, about: SiteAbout) -> str:
    return alarm if alarm in about.nodes else about.node_name(zone or "", alarm)
