"""The one read model: what a terminal shows and a web API serves comes from here."""

from typing import Any

import numpy as np

from graphghha.alarms import WORDS, Letter, iso
from graphghha.monitor.journal.reader import Reader
from graphghha.monitor.site import Site

UNKNOWN = "unknown"
# a zone is in the first of these states that any of its nodes is in; unknown is never normal
WORST_FIRST = (
    WORDS[Letter.UNACKNOWLEDGED],
    WORDS[Letter.ACKNOWLEDGED],
    WORDS[Letter.RETURNED],
    UNKNOWN,
    WORDS[Letter.SHELVED],
    WORDS[Letter.SUPPRESSED],
    WORDS[Letter.OUT_OF_SERVICE],
    WORDS[Letter.NORMAL],
)


def summarise(site: Site) -> dict[str, Any]:
    """How a site stands, as plain JSON: written with every commit, so that readers need no model."""
    graph, counters = site.detector.graph, site.intake.counters
    states: dict[str, set[str]] = {zone or "": set() for zone in graph.zones}
    missing = dict.fromkeys(states, 0)
    for node in np.flatnonzero(site.unknown).tolist():
        states[graph.zones[node] or ""].add(UNKNOWN)
        missing[graph.zones[node] or ""] += 1
    letters = site.desk.letters
    zone_of = dict(zip(graph.names, graph.zones, strict=True))
    for name, letter in letters.items():
        if name in zone_of:  # else it belongs to a graph this site had before
            states[zone_of[name] or ""].add(WORDS[letter])
    return {
        "site": site.name,
        "as_of": iso(site.time_ms),
        "time_ms": site.time_ms,
        "model": site.detector.model,
        "is_lost": site.is_lost,
        "is_warm": site.is_warm,
        "is_flood": site.desk.is_flood,
        "steps": site.steps,
        "zones": [
            {"zone": zone or None, "state": worst(found), "unknown": missing[zone]} for zone, found in states.items()
        ],
        "alarms": {name: str(letter) for name, letter in letters.items()},
        "counters": {name: getattr(counters, name) for name in counters.__dataclass_fields__},
        "rejected": dict(site.intake.rejected),
    }


def worst(states: set[str]) -> str:
    return next((state for state in WORST_FIRST if state in states), WORDS[Letter.NORMAL])


def read_view(reader: Reader, site: str, *, newest: int = 10) -> dict[str, Any]:
    """A site at its last commit: zones, newest incidents with their sentences, counters, data-as-of."""
    incidents = reader.incidents(site=site, limit=newest)
    open_count = len(reader.incidents(site=site, is_open=True))
    return {**reader.summary(site), "open_incidents": open_count, "incidents": incidents}
