"""`graphghha status`: what a monitor sees of its sites, and what it does not."""

import time
from pathlib import Path
from typing import Any

import click

from graphghha.cli._journal import JournalCommand, on_journal
from graphghha.cli._output import echo, echo_json


@click.command(cls=JournalCommand)
@on_journal
@click.option("--zone", help="Only the points of this zone.")
@click.option("--brief", is_flag=True, help="Leave out points that are in order.")
def status(path: Path, site: str | None, as_json: bool, zone: str | None, brief: bool) -> None:
    """Show what is seen of a site, and what not.

    For every site, zone and point: the last reading, its age, unit and usual step, and what was rejected and why;
    sources that are lost; nodes whose alarms are shelved, suppressed or out of service. It is read from the journal,
    with or without a running monitor.
    """
    from graphghha.errors import NotFoundError
    from graphghha.monitor import Reader
    from graphghha.monitor.point_status import read_full_status

    with Reader(path) as reader:
        names = list(reader.sites())
        if site is not None and site not in names:
            raise NotFoundError(f"{path}: has no site {site!r}; its sites are {', '.join(names) or 'none'}")
        now_ms = time.time_ns() // 1_000_000
        sites = [read_full_status(reader, name, now_ms) for name in names if site in (None, name)]
    zones = {each["zone"] for one in sites for each in one["zones"]}
    if zone is not None and zone not in zones:
        raise NotFoundError(
            f"{path}: has no zone {zone!r}; its zones are {', '.join(map(str, sorted(zones, key=str)))}"
        )
    for one in sites:
        one["zones"] = [each for each in one["zones"] if zone in (None, each["zone"])]
        echo_json(one) if as_json else _show(one, brief)


def _show(site: dict[str, Any], is_brief: bool) -> None:
    as_of = "no reading yet" if site["as_of"] is None else f"data as of {site['as_of']}, {_span(site['behind_s'])} ago"
    doing = "lost" if site["is_lost"] else "watching" if site["is_warm"] else "filling its windows"
    echo(f"{site['site']}  {doing}, {as_of}; model {site['model']}; {site['open_incidents']} open incidents")
    for each in site["conditions"]:
        echo(f"  {each['priority']}: {each['text']} (since {each['since']})")
    if not site["conditions"]:
        echo("  every point is heard" if site["as_of"] else "  nothing is known yet")
    if site["rejected"]:
        counts = ", ".join(f"{count:,} {why}" for why, count in site["rejected"].items())
        echo(f"  rejected readings: {counts}")
    for each in site["suspended"]:
        until = f" until {each['until']}" if each["until"] else ""
        echo(f"  {each['state']}{until}: {each['node']}  {each['reason']}".rstrip())
    for zone in site["zones"]:
        unknown = f", {zone['unknown']} unknown" if zone["unknown"] else ""
        silent = all(point["time"] is None and not point["rejected"] for point in zone["points"])
        none = f"; none of its {len(zone['points'])} points was ever heard" if silent and zone["points"] else ""
        echo(f"  {zone['zone'] or 'plant'}: {zone['state']}{unknown}{none}")
        for point in zone["points"]:
            if not (is_brief and (silent or _is_in_order(point))):
                echo(f"    {_point(point)}")


def _is_in_order(point: dict[str, Any]) -> bool:
    step_s = point["step_s"] or 60.0
    return point["age_s"] is not None and point["age_s"] <= 5 * step_s and not point["rejected"]


def _point(point: dict[str, Any]) -> str:
    name = point["point"].rpartition("/")[2]
    reading = "never heard" if point["time"] is None else f"{point['value']:.4g} {point['unit'] or ''}".rstrip()
    age = "" if point["age_s"] is None else f"{_span(point['age_s'])} old"
    step = "" if point["step_s"] is None else f"every {_span(point['step_s'])}"
    rejected = "; ".join(
        f"{each['count']:,} {why}" + (f", such as {each['example']}" if each["example"] else "")
        for why, each in point["rejected"].items()
    )
    return f"{name:<16} {reading:<16} {age:<14} {step:<12} {rejected}".rstrip()


def _span(seconds: float) -> str:
    """Return a span of time, in the largest unit that leaves two digits."""
    seconds = max(0.0, seconds)
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
