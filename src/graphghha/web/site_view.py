"""Sites of the journal as the API sends them: what they consist of, and how they are now."""

import base64
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha._util.times import iso, parse_time_ms
from graphghha.alarms import StoredEvent
from graphghha.errors import ConfigError
from graphghha.monitor.incident_json import zone_name
from graphghha.monitor.journal import IncidentFilter
from graphghha.monitor.quantized import UNKNOWN
from graphghha.web.access_store import Identity
from graphghha.web.contract import sites as contract
from graphghha.web.library import Library, SiteAbout

GREY_AT, DOUBT_AT = 0.28, 0.05
PRIORITIES = ("critical", "high", "medium", "low")
MOST_STALE = 200
DAY_MS = 86_400_000
MOST_LOOKED_AT = 100  # events of one kind, newest first
LATEST_MS = 4_102_444_800_000  # the year 2100


def now_text() -> str:
    """Return the server's time."""
    return iso(time.time_ns() // 1_000_000)


def site_line(library: Library, about: SiteAbout) -> dict[str, Any]:
    """Return the fields of a site in the list of sites."""
    summary = library.reader.summary(about.name)
    return {
        "name": about.name,
        "plant": about.body["plant"],
        "title": about.body["title"],
        "model": about.model,
        "zones": len(about.zones),
        "nodes": len(about.nodes),
        "points": len(about.points),
        "step_s": about.step_ms / 1000,
        "is_simulated": bool(about.body["is_simulated"]),
        "as_of": as_of(summary),
        "is_lost": bool(summary.get("is_lost", False)),
        "open_incidents": library.reader.count_incidents(IncidentFilter(sites=[about.name], is_open=True)),
    }


def as_of(summary: Mapping[str, Any]) -> str | None:
    """Return the plant time of the newest row."""
    return iso(summary["time_ms"]) if summary.get("time_ms") else None


def list_sites(library: Library, who: Identity) -> contract.Sites:
    """Return the sites that somebody may see."""
    lines = [contract.SiteLine(**site_line(library, library.about(site))) for site in library.sites(who)]
    return contract.Sites(items=lines, server_time=now_text())


def site_about(library: Library, about: SiteAbout, time_zone: str | None) -> contract.SiteAbout:
    """Return what a site consists of."""
    body, numbers = about.body, about.body["numbers"]
    template = [contract.TemplateNode(**node) for node in about.template]
    main = list(body.get("main_value", []))
    names = about.names
    groups = _groups(about.zones)
    return contract.SiteAbout(
        **site_line(library, about),
        hash=about.hash,
        zones_info=[
            contract.ZoneInfo(zone=zone, title=zone_name({"zone": zone}) or body["title"], group=group)
            for zone, group in zip(about.zones, groups, strict=True)
        ],
        template=template,
        edges=[contract.TemplateEdge(source=a, target=b, kind=kind) for a, b, kind in body["edges"]],
        levels=contract.AlarmLevels(
            raise_at=numbers["rule.raise_at"],
            clear_at=numbers["rule.clear_at"],
            votes=numbers["rule.votes"],
            window=numbers["rule.window"],
            doubt_at=min(DOUBT_AT, numbers["rule.raise_at"]),
            grey_at=min(GREY_AT, numbers["rule.raise_at"]),
        ),
        main_value=contract.MainValue(role=main[0], name=names[main[0]], settings=main[1:]) if main else None,
        judges_zones=body["judges_zones"],
        stale_after_s=body["stale_after_s"],
        lost_after_s=body["lost_after_s"],
        time_zone=time_zone,
        speed=body.get("speed"),
        seed=body.get("seed"),
    )


def site_state(library: Library, about: SiteAbout) -> contract.SiteState:
    """Return how a site is now."""
    reader = library.reader
    number = reader.last_event_number()
    summary, board = reader.summary(about.name), reader.board(about.name)
    frame = scores_now(library, about)
    is_open, _ = reader.list_incidents(IncidentFilter(sites=[about.name], is_open=True), limit=1000)
    values, read_ms, as_of_ms = latest_values(library, about)
    aside = _put_aside(about, board, reader.suspended_by(about.name))
    stops = _stops(library, about, board)
    stale = _stale(about, read_ms, as_of_ms)
    unknown = int((frame == UNKNOWN).sum())
    closed = _last_closed(library, about)
    is_warm, step = bool(summary.get("is_warm", False)), about.step_ms
    waiting = [body for body in is_open if body.get("state") in ("unacknowledged", "returned") and _is_announced(body)]
    return contract.SiteState(
        site=about.name,
        hash=about.hash,
        number=number,
        as_of=as_of(summary),
        age_s=library.age_s(),
        server_time=now_text(),
        monitor="running" if library.is_monitored() else "stopped",
        is_lost=bool(summary.get("is_lost", False)),
        is_warm=is_warm,
        warm_at=None if is_warm or not as_of_ms else iso(as_of_ms + _rows_to_warm(library, about) * step),
        is_flood=bool(summary.get("is_flood", False)),
        scores=base64.b64encode(frame.tobytes()).decode(),
        alarms=dict(summary.get("alarms", {})),
        zones=_zones(about, summary, is_open, values),
        waiting=contract.AlarmCounts(
            **{name: sum(body.get("priority") == name for body in waiting) for name in PRIORITIES}
        ),
        acknowledged=sum(body.get("state") == "acknowledged" for body in is_open),
        last_closed=closed,
        stale=stale,
        put_aside=aside,
        planned_stops=stops,
        counters=contract.Counters(
            nodes=len(about.nodes),
            scored=len(about.nodes) - unknown,
            unknown=unknown,
            put_aside=len(aside),
            points=len(about.points),
            fresh=int(np.isfinite(values).sum()),
            announced_10_min=_announced(library, about, as_of_ms, 600_000),
            announced_day=_announced(library, about, as_of_ms, 86_400_000),
            rejected=dict(summary.get("rejected", {})),
        ),
        learning=_learning(summary),
        learning_progress=_progress(summary),
        no_incident_since=None if is_open or not is_warm else closed or _began(library, about, "site.watching"),
        lost=_lost(library, about) if summary.get("is_lost") else None,
        flood_since=_began(library, about, "flood.started") if summary.get("is_flood") else None,
    )


def scores_now(library: Library, about: SiteAbout) -> NDArray[np.uint8]:
    """Return the newest scores [s]; all unknown before the first, and while the site is lost."""
    newest = library.reader.newest_scores(about.name)
    if newest is None or len(newest[1]) != len(about.nodes) or library.reader.summary(about.name).get("is_lost"):
        return np.full(len(about.nodes), UNKNOWN, np.uint8)
    return newest[1]


def latest_values(library: Library, about: SiteAbout) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
    """Return the newest values [p], NaN if not fresh, the time of each point's last fresh reading (0: none), and now.

    A point that was not fresh within the newest sixty rows is looked for no further.
    """
    values, read_ms = np.full(len(about.points), np.nan), np.zeros(len(about.points), np.int64)
    rows = library.reader.rows(about.name, newest=60)
    if rows is None or rows.values.shape[1] != len(about.points):
        return values, read_ms, 0
    fresh = np.isfinite(rows.values)
    values = rows.values[-1].astype(np.float64)
    last = len(rows.times_ms) - 1 - np.argmax(fresh[::-1], axis=0)
    read_ms = np.where(fresh.any(axis=0), rows.times_ms[last], 0)
    return values, read_ms, int(rows.times_ms[-1])


def _groups(zones: list[str]) -> list[str]:
    """Return what zones share before their last part: a floor or a wing. Empty if it is the same for all."""
    groups = [zone.replace("/", "-").rpartition("-")[0] for zone in zones]
    return groups if len(set(groups)) > 1 else [""] * len(zones)


def _zones(
    about: SiteAbout, summary: Mapping[str, Any], is_open: list[dict[str, Any]], values: NDArray[np.float64]
) -> list[contract.ZoneState]:
    column = {point: at for at, point in enumerate(about.points)}
    main = list(about.body.get("main_value", []))
    known = {entry["zone"] or "": entry for entry in summary.get("zones", [])}
    worst: dict[str, dict[str, Any]] = {}
    for body in is_open:
        zone = body.get("zone") or ""
        if body.get("state") not in ("normal",) and (zone not in worst or _rank(body) < _rank(worst[zone])):
            worst[zone] = body
    found = []
    for zone in about.zones:
        entry, standing = known.get(zone, {}), worst.get(zone)
        numbers = []
        for role in main:
            at = column.get(about.node_name(zone, role))
            numbers.append(float(values[at]) if at is not None and np.isfinite(values[at]) else None)
        found.append(
            contract.ZoneState(
                zone=zone,
                state=entry.get("state", "unknown"),
                unknown=int(entry.get("unknown", len(about.template))),
                priority=standing["priority"] if standing else None,
                incident=standing["id"] if standing else None,
                root=str(standing.get("name")) if standing else None,
                since=standing.get("since") if standing else None,
                main=numbers[0] if numbers else None,
                settings=numbers[1:],
            )
        )
    return found


def _rank(body: Mapping[str, Any]) -> tuple[int, int]:
    states = ("unacknowledged", "returned", "acknowledged")
    state = states.index(body["state"]) if body.get("state") in states else len(states)
    return state, PRIORITIES.index(body["priority"]) if body.get("priority") in PRIORITIES else len(PRIORITIES)


def _is_announced(body: Mapping[str, Any]) -> bool:
    return bool(body.get("annunciated")) and not body.get("part_of")


def _put_aside(about: SiteAbout, board: Mapping[str, Any], by: Mapping[str, str]) -> list[contract.PutAside]:
    names, found = about.names, []
    for node, alarm in board.get("alarms", {}).items():
        if alarm.get("suspension", "none") == "none":
            continue
        zone, _, role = node.rpartition("/")
        found.append(
            contract.PutAside(
                node=node,
                name=names.get(role, role),
                zone=zone or None,
                state=alarm["suspension"],
                until=iso(alarm["until_ms"]) if alarm.get("until_ms") else None,
                reason=alarm.get("reason", ""),
                by=by.get(node, ""),
                version=alarm.get("version", 0),
            )
        )
    return found


def _stops(library: Library, about: SiteAbout, board: Mapping[str, Any]) -> list[contract.PlannedStop]:
    found = []
    for stop in list(board.get("stops", []))[1:]:
        wanted = IncidentFilter(sites=[about.name], from_time=iso(stop["since_ms"]))
        recent, _ = library.reader.list_incidents(wanted, limit=500)
        zones = None if stop["zones"] is None else list(stop["zones"])
        held = [b for b in recent if not b.get("annunciated") and (zones is None or b.get("zone") in zones)]
        found.append(
            contract.PlannedStop(
                zones=zones,
                since=iso(stop["since_ms"]),
                until=iso(stop["until_ms"]),
                reason=stop["reason"],
                by=stop["by"],
                recorded=len(held),
                version=stop["version"],
            )
        )
    return found


def _stale(about: SiteAbout, read_ms: NDArray[np.int64], now_ms: int) -> list[contract.StalePoint]:
    if not now_ms:
        return []
    names, found = about.names, []
    for at in np.flatnonzero(read_ms < now_ms)[:MOST_STALE].tolist():
        point, last = about.points[at], int(read_ms[at])
        role = point.rpartition("/")[2]
        age = (now_ms - last) / 1000 if last else None
        found.append(
            contract.StalePoint(point=point, name=names.get(role, role), since=iso(last) if last else None, age_s=age)
        )
    return found


def _last_closed(library: Library, about: SiteAbout) -> str | None:
    newest, _ = library.reader.list_incidents(IncidentFilter(sites=[about.name], is_open=False), limit=50)
    closed = [str(body["closed"]) for body in newest if body.get("closed")]
    return max(closed) if closed else None


def _announced(library: Library, about: SiteAbout, now_ms: int, within_ms: int) -> int:
    if not now_ms:
        return 0
    wanted = IncidentFilter(sites=[about.name], from_time=iso(now_ms - within_ms))
    recent, _ = library.reader.list_incidents(wanted, limit=1000)
    since = iso(now_ms - within_ms)
    return sum(str(body.get("annunciated") or "") > since for body in recent)


def _learning(summary: Mapping[str, Any]) -> str | None:
    """Return a sentence while a site is commissioned."""
    until = summary.get("learning_until")
    return (
        f"Learning what is normal here until {until[:10]} (UTC). Until then the shipped model judges, more coarsely: "
        "expect fewer finds."
        if until
        else None
    )


def _progress(summary: Mapping[str, Any]) -> contract.Learning | None:
    until_ms, days = parse_time_ms(summary.get("learning_until") or ""), summary.get("learning_days")
    if until_ms is None or not isinstance(days, int):
        return None
    since_ms = until_ms - days * DAY_MS
    day = (int(summary.get("time_ms", since_ms)) - since_ms) // DAY_MS + 1
    return contract.Learning(since=iso(since_ms), until=iso(until_ms), day=min(max(day, 1), days), days=days)


def _lost(library: Library, about: SiteAbout) -> contract.Lost:
    """Return since when a source is silent, and why, as far as the journal states it."""
    event = _newest(library, about, "source.lost")
    if event is None:
        return contract.Lost(since=None, reason="")
    return contract.Lost(
        since=str(event.body.get("since") or iso(event.time_ms)), reason=str(event.body.get("reason", ""))
    )


def _began(library: Library, about: SiteAbout, kind: str) -> str | None:
    event = _newest(library, about, kind)
    return iso(event.time_ms) if event is not None else None


def _newest(library: Library, about: SiteAbout, kind: str) -> StoredEvent | None:
    found = library.reader.events_before(None, MOST_LOOKED_AT, (kind,))
    return next((event for event in found if event.site == about.name), None)


def _rows_to_warm(library: Library, about: SiteAbout) -> int:
    rows = library.reader.rows(about.name, newest=int(about.body["warm_up_rows"]))
    return max(0, int(about.body["warm_up_rows"]) - (0 if rows is None else len(rows)))


def moment_ms(text: str, name: str) -> int:
    """Return a time of a request in milliseconds."""
    time_ms = parse_time_ms(text)
    if time_ms is None or not 0 <= time_ms <= LATEST_MS:
        raise ConfigError(f"{name}: {text[:40]!r} is not a time like 2018-07-10T17:41:00Z")
    return time_ms


def span_ms(begin: str | None, end: str | None, newest_ms: int, default_ms: int) -> tuple[int, int]:
    """Return a span of time from the texts of a request."""
    end_ms = moment_ms(end, "to") if end else newest_ms
    return (moment_ms(begin, "from") if begin else max(0, end_ms - default_ms)), end_ms
