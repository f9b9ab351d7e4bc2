"""Incidents, commands, events and health."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

from graphghha._util.times import iso
from graphghha.alarms import Command, Verb
from graphghha.errors import GraphGHHAError, NotFoundError
from graphghha.monitor.journal import IncidentFilter, PageReader
from graphghha.web.access_store import Identity
from graphghha.web.context import Context, Parts, Who, address, needs
from graphghha.web.contract.common import Disposition, Kind, Priority, State
from graphghha.web.contract.incidents import (
    EventLine,
    Events,
    Incident,
    IncidentLine,
    Incidents,
    Order,
    Result,
    Results,
    Target,
)
from graphghha.web.contract.sites import Health
from graphghha.web.events import to_line, to_story
from graphghha.web.incident_view import incident_line, incident_view, present_p
from graphghha.web.library import Outcome, error_of, origin
from graphghha.web.roles import may_read
from graphghha.web.site_view import moment_ms, now_text
from graphghha.web.studio_view import drills

router = APIRouter(tags=["incidents"])
MOST_EXPORTED = 100_000
PAGE = 500
Number = Annotated[int | None, Query(ge=0, le=2**62)]
Limit = Annotated[int, Query(ge=1, le=500)]


def _wanted(
    who: Who,
    parts: Parts,
    site: Annotated[str | None, Query(max_length=64)] = None,
    zone: Annotated[str | None, Query(max_length=64)] = None,
    root: Annotated[str | None, Query(max_length=100)] = None,
    kind: Annotated[list[Kind], Query(max_length=4, description="of the root")] = [],  # noqa: B006
    state: Annotated[list[State], Query(max_length=8)] = [],  # noqa: B006 - FastAPI copies it
    priority: Annotated[list[Priority], Query(max_length=4)] = [],  # noqa: B006
    is_open: Annotated[bool | None, Query(alias="open")] = None,
    judged: bool | None = None,
    disposition: Disposition | None = None,
    begin: Annotated[str | None, Query(alias="from", max_length=40)] = None,
    to: Annotated[str | None, Query(max_length=40)] = None,
    q: Annotated[str, Query(max_length=200)] = "",
) -> IncidentFilter:
    sites = [name for name in parts.library.sites(who) if site in (None, name)]
    return IncidentFilter(
        sites=sites,
        zone=zone,
        root=root,
        roots=_roots(parts, sites, kind) if kind else None,
        states=state,
        priorities=priority,
        is_open=is_open,
        is_judged=judged,
        disposition=disposition,
        from_time=None if begin is None else iso(moment_ms(begin, "from")),
        to_time=None if to is None else iso(moment_ms(to, "to")),
        words=q,
    )


def _roots(parts: Context, sites: Sequence[str], kinds: Sequence[Kind]) -> list[tuple[str, str]]:
    """Return the nodes of these kinds, as site and role."""
    templates = {site: parts.library.about(site).template for site in sites}
    return [(site, node["role"]) for site, nodes in templates.items() for node in nodes if node["kind"] in kinds]


Wanted = Annotated[IncidentFilter, Depends(_wanted)]


@router.get("/incidents")
def list_incidents(
    wanted: Wanted,
    who: Who,
    parts: Parts,
    limit: Limit = 50,
    cursor: Annotated[str | None, Query(max_length=80)] = None,
) -> Incidents:
    """A page of incidents, newest first."""
    reader = parts.library.reader
    number = reader.last_event_number()
    bodies, after, total = reader.list_and_count(wanted, after=_cursor(cursor), limit=limit)
    return Incidents(
        items=_lines(parts, bodies),
        total=total,
        unfiltered=reader.count_incidents(IncidentFilter(sites=parts.library.sites(who))),
        next=f"{after[0]}~{after[1]}" if after else None,
        number=number,
    )


@router.get("/incidents/export", response_class=Response)
def export_incidents(wanted: Wanted, parts: Parts, format: Literal["csv", "json"] = "csv") -> Response:
    """All incidents that a filter finds, as a file with the columns of the list, and the site's offset from UTC."""
    kind = "text/csv" if format == "csv" else "application/json"
    days = [time[:10] for time in parts.library.reader.span_of_incidents(wanted) if time]
    name = f"{'_'.join(['_'.join(wanted.sites or ['none'])[:60], 'alarms', *days])}.{format}"
    lines = ((line, _offset(parts, line)) for line in _exported(parts, wanted))
    content = _as_csv(lines) if format == "csv" else _as_json(lines)
    return StreamingResponse(
        content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


@router.get("/incidents/{incident}")
def read_incident(incident: str, who: Who, parts: Parts) -> Incident:
    """Everything about one incident."""
    body = parts.library.reader.incident(incident)
    if body is None or not who.may_see(str(body.get("site"))):
        raise NotFoundError(f"there is no incident {incident[:100]!r}")
    about = parts.library.about(str(body["site"]))
    return incident_view(parts.library, about, body, bool(drills(parts.library, about, [body])))


@router.post("/commands")
def command(order: Order, request: Request, response: Response, who: Who, parts: Parts) -> Results:
    """Carry out a command on one or several incidents or nodes."""
    parts.need(who, request, order.verb)
    found: list[tuple[str, dict[str, Any]] | GraphGHHAError] = []
    for target in order.targets:
        try:
            found.append(_command(parts, who, request, order, target))
        except GraphGHHAError as exc:
            found.append(exc)
    asked = [each for each in found if not isinstance(each, GraphGHHAError)]
    outcomes = iter(parts.library.ask(asked) if asked else [])
    results, statuses = [], []
    for target, each in zip(order.targets, found, strict=True):
        if isinstance(each, GraphGHHAError):
            outcome, site = Outcome("refused", type(each).__name__, str(each)), ""
            statuses.append(each.http_status)
            parts.refused(who, request, f"{order.verb} {target.id}", str(each))
        else:
            outcome, site = next(outcomes), each[0]
            statuses.append(200 if outcome.state == "done" else error_of(outcome).http_status)
        results.append(_result(parts.library.reader, target, site, outcome))
    response.status_code = 200 if 200 in statuses else statuses[0]
    return Results(results=results)


@router.get("/events")
def list_events(
    who: Who,
    parts: Parts,
    after: Number = None,
    before: Number = None,
    limit: Limit = 200,
    kind: Annotated[str | None, Query(max_length=60)] = None,
) -> Events:
    """Events of the journal: after a number in order, otherwise the newest first."""
    reader, kinds = parts.library.reader, (kind,) if kind else ()
    if after is not None:
        found = reader.events_after(after, limit, kinds)
    else:
        found = reader.events_before(before, limit, kinds)
    return _events(reader, who, found, limit)


@router.get("/audit", dependencies=[needs("audit")])
def audit(who: Who, parts: Parts, before: Number = None, limit: Limit = 200) -> Events:
    """What people did and what was refused, newest first."""
    reader = parts.library.reader
    return _events(reader, who, reader.events_of_people(before, limit), limit)


@router.get("/health")
def health(who: Who, parts: Parts) -> Health:
    """The condition of monitor and web process."""
    library, is_running = parts.library, parts.library.is_monitored()
    reasons = [] if is_running else ["no monitor runs on this journal"]
    for site in library.sites(who):
        if library.reader.summary(site).get("is_lost"):
            reasons.append(f"site {site}: the source is silent")
    return Health(
        status="ready" if not reasons else "degraded" if is_running else "not ready",
        reasons=reasons,
        monitor="running" if is_running else "stopped",
        journal_mb=round(library.path.stat().st_size / 1e6, 3),
        last_event=library.reader.last_event_number(),
        clients=len(parts.broadcaster.clients),
        server_time=now_text(),
    )


def _events(reader: PageReader, who: Identity, found: list[Any], limit: int) -> Events:
    items: list[EventLine] = [
        to_line(event)
        for event in found
        if (not event.site or who.may_see(event.site)) and may_read(who.role, event.kind)
    ]
    return Events(
        items=items,
        first=reader.first_event_number(),
        last=reader.last_event_number(),
        next=found[-1].number if len(found) == limit else None,
    )


def _lines(parts: Context, bodies: list[dict[str, Any]]) -> list[IncidentLine]:
    library = parts.library
    notes = library.reader.notes_about([body["id"] for body in bodies])
    abouts = {site: library.about(site) for site in {str(body["site"]) for body in bodies}}
    own = {site: drills(library, about, [b for b in bodies if b["site"] == site]) for site, about in abouts.items()}
    lines = []
    for body in bodies:
        about = abouts[str(body["site"])]
        p_now = present_p(library, about, body)
        lines.append(incident_line(body, about, p_now, notes.get(body["id"]), body["id"] in own[about.name]))
    return lines


def _cursor(text: str | None) -> tuple[str, int] | None:
    if text is None:
        return None
    time, _, number = text.rpartition("~")
    if not number.isdecimal() or not number.isascii() or len(number) > 18:
        raise NotFoundError("cursor: use the `next` of an earlier answer")
    return time, int(number)


def _command(
    parts: Context, who: Identity, request: Request, order: Order, target: Target
) -> tuple[str, dict[str, Any]]:
    """Return the site of a target and the command for it."""
    site, asked = _site_of(parts, who, target), origin(who, address(request))
    right = order.right_node if order.verb == "dispose" else None
    if right:
        parts.library.about(site).role(right)  # raises if there is none
    made = Command(
        verb=Verb(order.verb),
        target=target.id,
        version=target.version,
        for_ms=order.minutes * 60_000 if order.minutes and order.verb == "shelve" else None,
        reason=order.comment,
        disposition=order.disposition if order.verb == "dispose" else None,
        right_node=right or "",
        by=asked["by"],
        token=asked["token"],
        address=asked["address"],
        wall_time=asked["wall_time"],
    )
    return site, made.to_dict()


def _site_of(parts: Context, who: Identity, target: Target) -> str:
    library = parts.library
    body = library.reader.incident(target.id)
    if body is not None and who.may_see(str(body.get("site"))):
        return str(body["site"])
    sites = [name for name in library.sites(who) if target.site in (None, name)]
    having = [name for name in sites if target.id in library.about(name).nodes]
    if len(having) != 1:
        what = "exists in several sites; name one" if having else "does not exist"
        raise NotFoundError(f"the incident or node {target.id[:100]!r} {what}")
    return having[0]


def _result(reader: PageReader, target: Target, site: str, outcome: Outcome) -> Result:
    body = reader.incident(target.id)
    version, state = (body["version"], body["state"]) if body is not None and site else (None, None)
    if body is None and site:
        alarm = reader.board(site).get("alarms", {}).get(target.id, {})
        version = alarm.get("version", 0)
    number, changes = None, []
    if outcome.state == "done":
        note = reader.notes_about([target.id]).get(target.id)
        number = note.number if note is not None else None
    elif body is not None and site and version != target.version:
        events = [each for each in reader.incident_events(target.id) if each.body.get("version", 0) > target.version]
        changes = [story for event in events if (story := to_story(event)) is not None]
    return Result(
        id=target.id,
        outcome=outcome.state,  # type: ignore[arg-type]
        error=outcome.error or None,
        message=outcome.message or None,
        version=version,
        state=state,
        number=number,
        changes=changes,
    )


def _exported(parts: Context, wanted: IncidentFilter) -> Iterator[IncidentLine]:
    after, count = None, 0
    while count < MOST_EXPORTED:
        bodies, after = parts.library.reader.list_incidents(wanted, after=after, limit=PAGE)
        yield from _lines(parts, bodies)
        count += len(bodies)
        if after is None:
            return


def _offset(parts: Context, line: IncidentLine) -> str:
    """Return how far the site's clocks are from UTC at the time of an incident; `-05:00` alone would be a formula."""
    zone = ZoneInfo(parts.config.time_zones.get(line.site, "UTC"))
    return "UTC" + datetime.fromisoformat(line.time).astimezone(zone).isoformat()[-6:]


def _as_csv(lines: Iterator[tuple[IncidentLine, str]]) -> Iterator[str]:
    names = [name for name in IncidentLine.model_fields if not name.endswith("_parts")]
    rows = ([*(_cell(getattr(line, name)) for name in names), offset] for line, offset in lines)
    for values in chain([[*names, "utc_offset"]], rows):
        text = io.StringIO()
        csv.writer(text).writerow(values)
        yield text.getvalue()


def _cell(value: Any) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    text = "" if value is None else value.text if hasattr(value, "text") else str(value)
    if hasattr(value, "disposition"):
        text = str(value.disposition)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") and not isinstance(value, int | float) else text


def _as_json(lines: Iterator[tuple[IncidentLine, str]]) -> Iterator[str]:
    yield "["
    for at, (line, offset) in enumerate(lines):
        yield (",\n" if at else "\n") + json.dumps(line.model_dump() | {"utc_offset": offset})
    yield "\n]\n"
