"""The status of a site in full, from a journal: every zone and point, what is lost, and which alarms are suspended."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphghha._util.times import iso
from graphghha.alarms import STATE_NAMES
from graphghha.alarms.lifecycle import NodeAlarm
from graphghha.errors import JournalError
from graphghha.monitor.conditions import read_conditions
from graphghha.monitor.journal import Reader
from graphghha.monitor.point_watch import PointWatch
from graphghha.monitor.status import UNKNOWN


def read_full_status(reader: Reader, site: str, now_ms: int) -> dict[str, Any]:
    """Return a site as of its last commit. `now_ms` is the time of this machine's clock."""
    about, summary = reader.sites()[site], reader.summary(site)
    checkpoint = reader.checkpoint(site)
    time_ms = int(summary.get("time_ms", 0))
    try:
        watch = PointWatch(about.get("points", ()))
        state, board = checkpoint if checkpoint is not None else ({}, {})
        watch.load(state.get("points") if state else None)
        suspended = _suspended((board or {}).get("alarms", {}))
        points = _points(watch, about.get("point_units"), summary.get("sent_units", {}), time_ms)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as exc:
        raise JournalError(f"{reader.path}: the state of site {site!r} is not one that a monitor writes") from exc
    by_zone = {zone["zone"]: zone for zone in summary.get("zones", ())}
    names = dict.fromkeys(point["zone"] for point in points)
    zones = [
        {
            "zone": zone,
            "state": by_zone.get(zone, {}).get("state", UNKNOWN),
            "unknown": by_zone.get(zone, {}).get("unknown"),
            "points": [point for point in points if point["zone"] == zone],
        }
        for zone in names
    ]
    return {
        "site": site,
        "plant": about.get("plant"),
        "model": summary.get("model", about.get("model")),
        "as_of": iso(time_ms) if time_ms else None,
        "behind_s": round((now_ms - time_ms) / 1000) if time_ms else None,
        "is_lost": bool(summary.get("is_lost", False)),
        "is_warm": bool(summary.get("is_warm", False)),
        "open_incidents": len(reader.incidents(site=site, is_open=True)),
        "conditions": [each.to_dict() for each in read_conditions(reader, site)],
        "rejected": dict(summary.get("rejected", {})),
        "unmapped": [
            {"name": name, "why": why, "readings": count}
            for name, (why, count) in sorted(watch.names.items(), key=lambda each: -each[1][1])
        ],
        "suspended": suspended,
        "zones": zones,
    }


def _points(
    watch: PointWatch, units: list[str] | None, sent: Mapping[str, list[str]], time_ms: int
) -> list[dict[str, Any]]:
    points = []
    for column, name in enumerate(watch.points):
        heard_ms, step_ms = int(watch.heard_ms[column]), float(watch.step_ms[column])
        is_heard = heard_ms >= 0
        points.append(
            {
                "point": name,
                "zone": name.rpartition("/")[0] or None,
                "value": float(watch.value[column]) if is_heard and np.isfinite(watch.value[column]) else None,
                "unit": units[column] if units else None,
                "sent_units": sent.get(name.rpartition("/")[2], []),
                "time": iso(heard_ms) if is_heard else None,
                "age_s": round((time_ms - heard_ms) / 1000) if is_heard and time_ms else None,
                "step_s": round(step_ms / 1000, 1) if step_ms else None,
                "rejected": {
                    why: {"count": count, "example": example}
                    for why, (count, example) in watch.refused.get(column, {}).items()
                },
            }
        )
    return points


def _suspended(alarms: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes whose alarms are shelved, suppressed or out of service."""
    found = []
    for node, data in alarms.items():
        alarm = NodeAlarm.from_dict(data)
        if alarm.is_suspended:
            until = None if alarm.until_ms is None else iso(alarm.until_ms)
            found.append({"node": node, "state": STATE_NAMES[alarm.state], "until": until, "reason": alarm.reason})
    return found
