"""The status of a site as plain JSON: the one read model behind terminals and web pages."""

from typing import Any

import numpy as np

from graphghha._util.times import iso
from graphghha.alarms import STATE_NAMES, IsaState
from graphghha.monitor.journal import Reader
from graphghha.monitor.site import Site
from graphghha.sources import Source
from graphghha.sources.check import HasMapper

UNKNOWN = "unknown"
# a zone is in the first of these states that any of its nodes is in; an unknown node is never counted as normal
WORST_FIRST = (
    STATE_NAMES[IsaState.UNACKNOWLEDGED],
    STATE_NAMES[IsaState.ACKNOWLEDGED],
    STATE_NAMES[IsaState.RETURNED],
    UNKNOWN,
    STATE_NAMES[IsaState.SHELVED],
    STATE_NAMES[IsaState.SUPPRESSED],
    STATE_NAMES[IsaState.OUT_OF_SERVICE],
    STATE_NAMES[IsaState.NORMAL],
)


def summarize_site(site: Site, source: Source | None = None) -> dict[str, Any]:
    """Return the status of a site. It is written with every commit, so that readers need no model."""
    graph, counters = site.detector.graph, site.counters
    states: dict[str, set[str]] = {zone or "": set() for zone in graph.zones}
    unknown = dict.fromkeys(states, 0)
    for node in np.flatnonzero(site.unknown).tolist():
        states[graph.zones[node] or ""].add(UNKNOWN)
        unknown[graph.zones[node] or ""] += 1
    alarms = site.alarm_states
    zone_by_name = dict(zip(graph.names, graph.zones, strict=True))
    for name, state in alarms.items():
        if name in zone_by_name:  # otherwise it belongs to a graph that this site had before
            states[zone_by_name[name] or ""].add(STATE_NAMES[state])
    return {
        "site": site.name,
        "as_of": iso(site.time_ms),
        "time_ms": site.time_ms,
        "model": site.detector.model,
        "is_lost": site.is_lost,
        "is_warm": site.is_warm,
        "learning_until": site.learning_until_ms and iso(site.learning_until_ms),
        "learning_days": site.config.learn_days if site.is_learning else None,
        "is_flood": site.is_flood,
        "steps": site.steps,
        "zones": [
            {"zone": zone or None, "state": _worst(present), "unknown": unknown[zone]}
            for zone, present in states.items()
        ],
        "alarms": {name: str(state) for name, state in alarms.items()},
        "counters": {name: getattr(counters, name) for name in counters.__dataclass_fields__},
        "rejected": site.rejected,
        "sent_units": source.mapper.sent_units() if isinstance(source, HasMapper) else {},
        "unseen": [each.to_dict() for each in site.point_watch.conditions(site.name)],
    }


def read_status(reader: Reader, site: str, *, newest: int = 10) -> dict[str, Any]:
    """Return a site as of its last commit: zones, newest incidents with their sentences, counters, time of the data."""
    incidents = reader.incidents(site=site, limit=newest)
    open_count = len(reader.incidents(site=site, is_open=True))
    return {**reader.summary(site), "open_incidents": open_count, "incidents": incidents}


def _worst(states: set[str]) -> str:
    return next((state for state in WORST_FIRST if state in states), STATE_NAMES[IsaState.NORMAL])
