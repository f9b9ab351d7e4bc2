"""The studio of a simulated site: what can be injected, what was, and how it was found."""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

from graphghha._util.times import iso, parse_time_ms
from graphghha.alarms import StoredEvent
from graphghha.errors import ConflictError, NotFoundError
from graphghha.monitor.journal import IncidentFilter
from graphghha.monitor.quantized import MOST, UNKNOWN
from graphghha.web.contract.studio import Case, Cases, Found, Injection, Injections, NewInjection, NewRun, Score
from graphghha.web.incident_view import DOUBT, node_index
from graphghha.web.library import Library, SiteAbout
from graphghha.web.site_view import as_of

GRACE_MS = 3_600_000  # an incident that begins within an hour after the end of an attack is its effect
SAYS = (
    "These attacks were chosen by hand in a simulated plant. The figures show how this model behaves here, not how "
    "often it would find attacks in a real building."
)


def refuse_real(about: SiteAbout) -> None:
    """Raise if a site is not simulated."""
    if not about.body.get("is_simulated"):
        raise NotFoundError(f"site {about.name!r} is not simulated: it has no studio")


def list_cases(about: SiteAbout) -> Cases:
    """Return the attacks that can be injected."""
    refuse_real(about)
    names = about.names
    items = [
        Case(**{**case, "target_names": [names.get(role, role) for role in case["targets"]]})
        for case in about.body["cases"]
    ]
    return Cases(site=about.name, items=items)


def plan(about: SiteAbout, new: NewInjection) -> dict[str, Any]:
    """Return the order that injects an attack."""
    refuse_real(about)
    case = next((case for case in about.body["cases"] if case["name"] == new.case), None)
    if case is None:
        raise NotFoundError(f"plant {about.body['plant']!r} has no case {new.case!r}")
    about.zone_number(new.zone)
    times = {"in_minutes": new.in_minutes, "minutes": new.minutes}
    known = {"name": new.case, "zone": new.zone, "id": secrets.token_hex(6), "reason": new.comment}
    return {"order": "inject", **known, **times}


def start_over(about: SiteAbout, new: NewRun, *, can_start_over: bool) -> dict[str, Any]:
    """Return the order that ends the run of a simulated site and begins it anew."""
    refuse_real(about)
    if not can_start_over:
        raise NotFoundError(
            f"site {about.name!r} cannot start over from here: only the demonstration does; stop the monitor and give "
            "it an empty state_dir instead"
        )
    seed = about.body.get("seed") if new.seed is None else new.seed
    return {"order": "start-over", "seed": seed or 0, "reason": new.comment}


def injections(library: Library, about: SiteAbout, *, can_start_over: bool = False) -> Injections:
    """Return what was injected and how it was found, newest first."""
    refuse_real(about)
    events = [event for event in injected(library) if event.site == about.name]
    summary = library.reader.summary(about.name)
    now_ms = int(summary.get("time_ms", 0))
    bodies, _ = library.reader.list_incidents(IncidentFilter(sites=[about.name]), limit=1000)
    items = [_injection(library, about, event, bodies, now_ms) for event in events]
    return Injections(
        site=about.name,
        as_of=as_of(summary),
        items=items,
        score=_score(items, bodies, about, events),
        says=SAYS,
        can_start_over=can_start_over,
    )


def injected(library: Library) -> list[StoredEvent]:
    """Return the events of injected attacks, newest first; one that was ended has the end that it then got.

    An attack that was withdrawn before it began is not among them.
    """
    events = library.reader.events_before(None, 400, ("studio.injected", "studio.withdrawn"))
    ended = {event.body.get("case"): event.body for event in events if event.kind == "studio.withdrawn"}
    found = []
    for event in events:
        end = ended.get(event.body.get("case"))
        if event.kind != "studio.injected" or (end is not None and end.get("end") is None):
            continue
        until = {} if end is None else {"end": end["end"], "stopped_by": end.get("by", "")}
        found.append(replace(event, body={**event.body, **until}))
    return found


def withdrawal(library: Library, about: SiteAbout, key: str, comment: str) -> dict[str, Any]:
    """Return the order that ends an attack."""
    refuse_real(about)
    events = [event for event in injected(library) if event.site == about.name and event.body.get("id") == key]
    if not events:
        raise NotFoundError(f"site {about.name!r} has no attack {key[:60]!r}")
    body = events[0].body
    if "stopped_by" in body:
        raise ConflictError(f"{body['stopped_by']} has ended the attack already")
    return {
        "order": "withdraw",
        "case": body.get("case", ""),
        "id": key,
        "zone": body.get("zone", ""),
        "reason": comment,
    }


def drills(library: Library, about: SiteAbout, incidents: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the ids of those incidents that injected attacks caused."""
    if not about.body.get("is_simulated"):
        return frozenset()
    attacks: dict[str, list[Mapping[str, Any]]] = {}
    for event in injected(library):
        if event.site == about.name:
            attacks.setdefault(str(event.body.get("zone")), []).append(event.body)
    return frozenset(
        body["id"] for body in incidents if any(_is_of(body, each) for each in attacks.get(str(body.get("zone")), ()))
    )


def _injection(
    library: Library, about: SiteAbout, event: StoredEvent, bodies: list[dict[str, Any]], now_ms: int
) -> Injection:
    body = event.body
    cases: list[dict[str, Any]] = about.body["cases"]
    case = next((case for case in cases if case["name"] == body.get("name")), dict[str, Any]())
    start, end = str(body.get("start", iso(event.time_ms))), body.get("end")
    now = iso(now_ms)
    state = "planned" if now < start else "over" if end is not None and now >= end else "running"
    return Injection(
        id=str(body.get("id", event.number)),
        case=str(body.get("name", "")),
        title=str(case.get("title", body.get("name", ""))),
        zone=str(body.get("zone", "")),
        targets=list(case.get("targets", [])),
        start=start,
        end=end,
        by=str(body.get("by", "")),
        comment=str(body.get("reason", "")),
        state=state,  # type: ignore[arg-type]
        stopped_by=body.get("stopped_by"),
        found=_found(library, about, body, case, bodies, now_ms),
    )


def _found(
    library: Library,
    about: SiteAbout,
    body: Mapping[str, Any],
    case: Mapping[str, Any],
    bodies: list[dict[str, Any]],
    now_ms: int,
) -> Found:
    start_ms = parse_time_ms(body.get("start")) or now_ms
    own = [each for each in bodies if _is_of(each, body) and each.get("annunciated")]
    first = min(own, key=lambda each: str(each["annunciated"]), default=None)
    near = [*case.get("targets", []), *case.get("equivalents", [])]
    doubt = _doubt(library, about, str(body.get("zone", "")), near, start_ms, now_ms)
    if first is None:
        return Found(incident=None, first_doubt=doubt, since=None, announced=None, minutes=None, hit=None)
    root = first.get("root")
    is_same = root in case.get("targets", [])
    hit = "that very node" if is_same else "cannot be told apart" if root in case.get("equivalents", []) else "another"
    announced_ms = parse_time_ms(first["annunciated"]) or now_ms
    return Found(
        incident=first["id"],
        first_doubt=doubt,
        since=first.get("since"),
        announced=first["annunciated"],
        minutes=round((announced_ms - start_ms) / 60_000, 1),
        hit=hit,  # type: ignore[arg-type]
        named=str(first.get("name") or root),
    )


def _doubt(library: Library, about: SiteAbout, zone: str, roles: list[str], start_ms: int, now_ms: int) -> str | None:
    numbers = [at for role in roles if (at := node_index(about, zone, role)) is not None]
    times, scores = library.reader.scores(about.name, start_ms, min(now_ms, start_ms + 86_400_000))
    if not numbers or not len(times) or scores.shape[1] != len(about.nodes):
        return None
    part = scores[:, numbers]
    above = np.flatnonzero(((part != UNKNOWN) & (part > DOUBT * MOST)).any(axis=1))
    return iso(int(times[above[0]])) if len(above) else None


def _is_of(incident: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    """Return whether an incident lies in the zone and time of an injected attack."""
    start, end_ms = str(body.get("start", "")), parse_time_ms(body.get("end") or "")
    if incident.get("zone") != body.get("zone") or str(incident.get("time", "")) < start:
        return False
    return end_ms is None or (parse_time_ms(incident.get("time")) or 0) <= end_ms + GRACE_MS


def _score(items: list[Injection], bodies: list[dict[str, Any]], about: SiteAbout, events: list[StoredEvent]) -> Score:
    begun = [item for item in items if item.state != "planned"]
    hits = [item.found.hit for item in begun]
    times = [item.found.minutes for item in begun if item.found.minutes is not None]
    since = min((item.start for item in begun), default="9")
    false = [
        body
        for body in bodies
        if body.get("annunciated") and str(body.get("time")) >= since and not any(_is_of(body, e.body) for e in events)
    ]
    return Score(
        attacks=len(begun),
        found=sum(hit is not None for hit in hits),
        that_very_node=hits.count("that very node"),
        cannot_be_told_apart=hits.count("cannot be told apart"),
        another=hits.count("another"),
        median_minutes=median(times) if times else None,
        false_alarms=len(false) if begun else 0,
    )
