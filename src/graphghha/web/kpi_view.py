"""Figures of the alarm system: ISA-18.2 beside its targets, and how often the monitor was right."""

from collections import Counter
from typing import Any

import numpy as np

from graphghha._util.times import iso, parse_time_ms
from graphghha.monitor import kpi
from graphghha.monitor.incident_json import zone_name
from graphghha.monitor.journal import IncidentFilter
from graphghha.monitor.kpi import REAL
from graphghha.web.contract.figures import Bin, Count, Delays, FoundByPeople, Kpis, RightNode, Target18, Week
from graphghha.web.library import Library, SiteAbout

BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
LEAST_DAYS = 1.0
LEAST_FOR_SHARE = 20  # announcements; fewer say nothing about a share of ten nodes
WEEK_MS = 7 * 86_400_000
MOST_WEEKS = 12
MOST_INCIDENTS = 10_000
MOST_FINDS = 200  # of people
# key, title, unit, target in words, the largest value that is within it
TARGETS = (
    ("per_10_min", "announcements in 10 minutes, on average", "", "at most 1", 1.0),
    ("per_hour", "announcements in an hour, on average", "", "at most 6", 6.0),
    ("per_day", "announcements in a day, on average", "", "at most 144", 144.0),
    ("most_in_10_min", "most announcements in any 10 minutes", "", "at most 10", 10.0),
    ("share_of_time_in_flood", "share of time in flood", "share", "below 1 %", 0.01),
    ("top_10_share", "share of the ten most frequent nodes", "share", "at most 5 %", 0.05),
    ("chattering", "chattering alarms", "", "none", 0.0),
    ("stale", "alarms standing for more than a day", "", "fewer than 5", 4.0),
    ("priority_high", "share of priority high and critical", "share", "about 5 %", 0.1),
    ("priority_medium", "share of priority medium", "share", "about 15 %", 0.3),
)


def site_kpis(library: Library, about: SiteAbout, span: tuple[int, int] | None) -> Kpis:
    """Return the figures of a site; those of ISA-18.2 are over all that the journal keeps."""
    reader = library.reader
    figures = kpi(reader, about.name)
    end_ms = int(reader.summary(about.name).get("time_ms", 0))
    begin_ms = end_ms - int(float(figures["days"]) * 86_400_000)
    if span is not None:
        begin_ms, end_ms = max(span[0], begin_ms), span[1]
    wanted = IncidentFilter(sites=[about.name], from_time=iso(begin_ms), to_time=iso(end_ms))
    bodies, _ = reader.list_incidents(wanted, limit=MOST_INCIDENTS)
    announced = [body for body in bodies if body.get("annunciated")]
    judged = [body for body in announced if body.get("disposition")]
    real = [body for body in judged if body["disposition"]["is"] in REAL]
    roots = Counter((str(body.get("zone") or ""), str(body.get("root"))) for body in announced)
    kinds = Counter(str(body["disposition"]["is"]) for body in judged)
    return Kpis(
        site=about.name,
        start=iso(begin_ms),
        end=iso(end_ms),
        days=round((end_ms - begin_ms) / 86_400_000, 3),
        rows=[_target(figures, *each) for each in TARGETS],
        announced=len(announced),
        real=len(real),
        false=len(judged) - len(real),
        not_judged=len(announced) - len(judged),
        by_disposition=dict(kinds),
        honesty=_honesty(judged),
        worst_nodes=[_worst(about, announced, *node, count) for node, count in roots.most_common(10)],
        weeks=_weeks(announced, end_ms),
        time_to_acknowledge_min=_delays(library, announced),
        right_node=_right_node(real),
        found_by_people=_found_by_people(library, about, begin_ms, end_ms),
        figures=figures,
    )


def _right_node(real: list[dict[str, Any]]) -> RightNode | None:
    """Return how often the named node was the right one, among incidents of which people said so."""
    said = [body for body in real if body["disposition"].get("right_node")]
    yes = sum(body["disposition"]["right_node"] == body.get("root") for body in said)
    return RightNode(yes=yes, of=len(said)) if said else None


def _found_by_people(library: Library, about: SiteAbout, begin_ms: int, end_ms: int) -> list[FoundByPeople]:
    found = []
    for event in library.reader.events_before(None, MOST_FINDS, ("operator.found",)):
        if event.site != about.name or not begin_ms <= event.time_ms <= end_ms:
            continue
        body, node = event.body, str(event.body.get("node", ""))
        found.append(
            FoundByPeople(
                time=iso(event.time_ms),
                zone_title=zone_name({"zone": body.get("zone")}),
                name=about.names.get(node, node),
                disposition=body["disposition"],
                text=str(body.get("text", "")),
                by=str(body.get("by", "")),
            )
        )
    return found


def _worst(about: SiteAbout, announced: list[dict[str, Any]], zone: str, root: str, count: int) -> Count:
    own = [body for body in announced if (body.get("zone") or "", body.get("root")) == (zone, root)]
    kinds = Counter(str(body["disposition"]["is"]) for body in own if body.get("disposition"))
    title = zone_name({"zone": zone}) or ""
    return Count(name=about.names.get(root, root), count=count, zone_title=title, by_disposition=dict(kinds))


def _weeks(announced: list[dict[str, Any]], end_ms: int) -> list[Week]:
    """Return what was announced in each of the last weeks, oldest first; none before the first."""
    found: dict[int, Counter[str]] = {}
    for body in announced:
        week = (end_ms - (parse_time_ms(body["annunciated"]) or end_ms)) // WEEK_MS
        note = body.get("disposition")
        kind = "not_judged" if not note else "real" if note["is"] in REAL else "false"
        found.setdefault(week, Counter())[kind] += 1
    oldest = min(max(found, default=-1), MOST_WEEKS - 1)
    weeks = []
    for week in range(oldest, -1, -1):
        counts = found.get(week, Counter())
        weeks.append(
            Week(
                start=iso(end_ms - (week + 1) * WEEK_MS),
                real=counts["real"],
                false=counts["false"],
                not_judged=counts["not_judged"],
            )
        )
    return weeks


def _delays(library: Library, announced: list[dict[str, Any]]) -> Delays | None:
    """Return how long people took to acknowledge, in plant time."""
    times = {body["id"]: parse_time_ms(body["annunciated"]) for body in announced}
    took: dict[str, float] = {}
    for event in library.reader.events_before(None, MOST_INCIDENTS, ("operator.command",)):
        key = str(event.body.get("target"))
        if event.body.get("verb") == "ack" and (begin := times.get(key)) is not None:
            took[key] = max(0.0, (event.time_ms - begin) / 60_000)  # the first one is read last
    if not took:
        return None
    median, p90 = np.quantile(list(took.values()), (0.5, 0.9))
    return Delays(median=round(float(median), 1), p90=round(float(p90), 1))


def _target(figures: dict[str, Any], key: str, title: str, unit: str, target: str, most: float) -> Target18:
    value, why = _value(figures, key), ""
    if float(figures["days"]) < LEAST_DAYS:
        why = "less than a day of data"
    elif unit == "share" and key != "share_of_time_in_flood" and int(figures["annunciated"]) < LEAST_FOR_SHARE:
        why = f"fewer than {LEAST_FOR_SHARE} announcements"
    is_within = None if value is None or why else float(value) <= most
    if is_within is False:
        why = f"{value:.0%} instead of {target}" if unit == "share" else f"{value:g} instead of {target}"
    return Target18(
        key=key, title=title, value=value, unit=unit, target=target, is_within=is_within, why=why, number_of_target=most
    )


def _value(figures: dict[str, Any], key: str) -> float | None:
    shares = figures.get("priorities", {})
    if not key.startswith("priority_"):
        return figures.get(key)
    if not shares:
        return None
    names = ("critical", "high") if key == "priority_high" else ("medium",)
    return round(sum(float(shares.get(name, 0.0)) for name in names), 3)


def _honesty(judged: list[dict[str, Any]]) -> list[Bin]:
    bins = []
    for low, high in zip(BINS[:-1], BINS[1:], strict=True):
        inside = [b for b in judged if low <= float(b["probability"]) < high or (high == 1.0 == b["probability"])]
        real = sum(body["disposition"]["is"] in REAL for body in inside)
        bins.append(Bin(low=low, high=high, judged=len(inside), real=real))
    return bins
