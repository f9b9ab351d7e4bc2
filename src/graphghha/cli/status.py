"""`graphghha status`: what a monitor sees of its sites, and what it does not."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphghha.cli._incident_text import display_of
from graphghha.cli._journal import JournalCommand, on_journal
from graphghha.cli._output import echo, echo_json

if TYPE_CHECKING:
    from graphghha.monitor import Display


@click.command(cls=JournalCommand)
@on_journal
@click.option("--zone", help="Only the points of this zone.")
@click.option("--time-zone", help="Show times in this zone (default: the one the journal keeps for the site).")
@click.option("--units", type=click.Choice(["degC", "degF"]), help="Show temperatures in this unit.")
@click.option("--brief", is_flag=True, help="Leave out points that are in order.")
def status(
    path: Path,
    site: str | None,
    as_json: bool,
    zone: str | None,
    time_zone: str | None,
    units: str | None,
    brief: bool,
) -> None:
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
        displays = {name: display_of(reader, name, time_zone, units) for name in names}
        sites = [read_full_status(reader, name, now_ms) for name in names if site in (None, name)]
    zones = {each["zone"] for one in sites for each in one["zones"]}
    if zone is not None and zone not in zones:
        raise NotFoundError(
            f"{path}: has no zone {zone!r}; its zones are {', '.join(map(str, sorted(zones, key=str)))}"
        )
    for one in sites:
        one["zones"] = [each for each in one["zones"] if zone in (None, each["zone"])]
        echo_json(one) if as_json else _show(one, brief, displays[one["site"]])


def _show(site: dict[str, Any], is_brief: bool, display: "Display") -> None:
    as_of = "no reading yet"
    if site["as_of"] is not None:
        as_of = f"data as of {display.moment(site['as_of'])}, {_span(site['behind_s'])} ago"
    doing = "lost" if site["is_lost"] else "watching" if site["is_warm"] else "filling its windows"
    echo(f"{site['site']}  {doing}, {as_of}; model {site['model']}; {site['open_incidents']} incidents open")
    for each in site["conditions"]:
        echo(f"  {each['priority']}: {each['text']} (since {display.moment(each['since'])})")
    if not site["conditions"]:
        echo("  every point is heard" if site["as_of"] else "  nothing is known yet")
    if site["rejected"]:
        counts = ", ".join(f"{count:,} {why}" for why, count in site["rejected"].items())
        echo(f"  rejected readings: {counts}")
    for each in site["suspended"]:
        until = f" until {display.moment(each['until'])}" if each["until"] else ""
        echo(f"  {each['state']}{until}: {each['node']}  {each['reason']}".rstrip())
    for zone in site["zones"]:
        unknown = f", {zone['unknown']} unknown" if zone["unknown"] else ""
        silent = all(point["time"] is None and not point["rejected"] for point in zone["points"])
        none = f"; none of its {len(zone['points'])} points was ever heard" if silent and zone["points"] else ""
        echo(f"  {zone['zone'] or 'plant'}: {zone['state']}{unknown}{none}")
        for point in zone["points"]:
            if not (is_brief and (silent or _is_in_order(point))):
                echo(f"    {_point(point, display)}")


def _is_in_order(point: dict[str, Any]) -> bool:
    step_s = point["step_s"] or 60.0
    return point["age_s"] is not None and point["age_s"] <= 5 * step_s and not point["rejected"]


def _point(point: dict[str, Any], display: "Display") -> str:
    name = point["point"].rpartition("/")[2]
    reading = "never heard" if point["time"] is None else _reading(point["value"], point["unit"] or "", display)
    age = "" if point["age_s"] is None else f"{_span(point['age_s'])} old"
    step = "" if point["step_s"] is None else f"every {_span(point['step_s'])}"
    sent = f"sent in {' and '.join(point['sent_units'])}" if point["sent_units"] else ""
    rejected = "; ".join(
        f"{each['count']:,} {why}" + (f", such as {each['example']}" if each["example"] else "")
        for why, each in point["rejected"].items()
    )
    return (
        f"{name:<16} {reading:<16} {age:<14} {step:<12} {'; '.join(part for part in (sent, rejected) if part)}".rstrip()
    )


def _reading(value: float | None, unit: str, display: "Display") -> str:
    if value is None:
        return "no value"
    if unit == "degC" and display.units != unit:
        value, unit = value * 1.8 + 32, display.units
    return f"{value:.4g} {unit}".rstrip()


def _span(seconds: float) -> str:
    """Return a span of time, in the largest unit that leaves two digits."""
    seconds = max(0.0, seconds)
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
