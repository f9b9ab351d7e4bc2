"""Zones and points of a site as the API sends them, with values, expected ranges and scores."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphghha._util.times import iso
from graphghha.alarms import STATE_NAMES, IsaState
from graphghha.monitor.journal import IncidentFilter
from graphghha.monitor.quantized import UNKNOWN
from graphghha.web.contract import sites as contract
from graphghha.web.library import Library, SiteAbout
from graphghha.web.site_view import as_of, latest_values, scores_now

DAY_MS = 86_400_000


def zone_now(
    library: Library, about: SiteAbout, zone: str, expected: Mapping[str, tuple[float, float]]
) -> contract.ZoneNow:
    """Return a zone with all its nodes; `expected` has mean and spread by point."""
    number, size = about.zone_number(zone), len(about.template)
    frame, summary = scores_now(library, about), library.reader.summary(about.name)
    values, read_ms, _ = latest_values(library, about)
    column = {point: at for at, point in enumerate(about.points)}
    alarms, stored = summary.get("alarms", {}), library.reader.board(about.name).get("alarms", {})
    nodes = []
    for at, node in enumerate(about.template):
        name = about.node_name(zone, node["role"])
        byte, point = frame[number * size + at], column.get(name)
        value = None if point is None or not np.isfinite(values[point]) else float(values[point])
        mean, spread = expected.get(name, (None, None))
        low_high = None
        if mean is not None and spread is not None:
            low_high = (max(node["low"], mean - 3 * spread), min(node["high"], mean + 3 * spread))
        letter = alarms.get(name)
        state = STATE_NAMES[IsaState(letter)] if letter else "unknown" if byte == UNKNOWN else "normal"
        nodes.append(
            contract.NodeNow(
                node=name,
                role=node["role"],
                name=node["name"],
                kind=node["kind"],
                value=value,
                text=_reading(node, value),
                unit=node.get("unit"),
                is_fresh=value is not None,
                read_at=iso(int(read_ms[point])) if point is not None and read_ms[point] else None,
                expected=None if mean is None else round(mean, node.get("decimals", 0) + 1),
                normal=low_high,
                disagrees=bool(low_high and value is not None and not low_high[0] <= value <= low_high[1]),
                p=None if byte == UNKNOWN else round(float(byte) / 254, 3),
                state=state,  # type: ignore[arg-type]
                version=int(stored.get(name, {}).get("version", 0)),
            )
        )
    wanted = IncidentFilter(sites=[about.name], zone=zone or None)
    newest, _ = library.reader.list_incidents(wanted, limit=20)
    states = {entry["zone"] or "": entry["state"] for entry in summary.get("zones", [])}
    return contract.ZoneNow(
        site=about.name,
        zone=zone,
        as_of=as_of(summary),
        state=states.get(zone, "unknown"),
        nodes=nodes,
        incidents=[body["id"] for body in newest],
    )


def list_points(library: Library, about: SiteAbout) -> contract.Points:
    """Return what is known of every point over the last day."""
    summary = library.reader.summary(about.name)
    rows = library.reader.rows(about.name, newest=max(1, round(DAY_MS / about.step_ms)))
    roles = {node["role"]: node for node in about.template}
    items = []
    for at, point in enumerate(about.points):
        node = roles.get(point.rpartition("/")[2], roles.get(point, {}))
        seen = rows.values[:, at] if rows is not None and rows.values.shape[1] == len(about.points) else np.empty(0)
        fresh = np.isfinite(seen)
        last = int(np.flatnonzero(fresh)[-1]) if fresh.any() else None
        read_ms = int(rows.times_ms[last]) if rows is not None and last is not None else None
        now_ms = int(rows.times_ms[-1]) if rows is not None else 0
        note = "" if fresh.any() else "no reading within the last day"
        if fresh.any() and not fresh[-1]:
            note = "silent now"
        elif fresh.sum() > 1 and np.ptp(seen[fresh]) == 0 and not node.get("is_setting"):
            note = "has not changed within the last day"
        items.append(
            contract.PointStatus(
                point=point,
                name=str(node.get("name", point)),
                unit=str(node.get("unit", "")),
                low=float(node.get("low") or 0.0),
                high=float(node.get("high") or 0.0),
                value=float(seen[-1]) if len(seen) and fresh[-1] else None,
                read_at=None if read_ms is None else iso(read_ms),
                age_s=None if read_ms is None else (now_ms - read_ms) / 1000,
                share_fresh=round(float(fresh.mean()), 4) if len(seen) else None,
                least=float(seen[fresh].min()) if fresh.any() else None,
                most=float(seen[fresh].max()) if fresh.any() else None,
                note=note,
            )
        )
    return contract.Points(
        site=about.name, as_of=as_of(summary), items=items, rejected=dict(summary.get("rejected", {}))
    )


def _reading(node: Mapping[str, Any], value: float | None) -> str | None:
    if value is None:
        return None
    if node.get("states"):
        return str(node["states"][min(max(round(value - node["low"]), 0), len(node["states"]) - 1)])
    decimals = int(node.get("decimals", 0))
    if node.get("unit") == "fraction":
        return f"{value:.{max(0, decimals - 2)}%}"
    symbol = {"degC": "°C"}.get(str(node.get("unit")), str(node.get("unit")))
    return f"{round(value, decimals) + 0.0:.{decimals}f} {symbol}"
