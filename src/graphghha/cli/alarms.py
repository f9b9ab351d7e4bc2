"""`graphghha alarms`: an operator's work on a journal, with or without a running monitor."""

import getpass
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from graphghha._util.files import atomic_write
from graphghha.cli._incident_text import (
    as_shown,
    complete,
    display_of,
    incident_line,
    meaning,
    restated,
    show_incident,
)
from graphghha.cli._journal import JournalCommand, on_journal
from graphghha.cli._output import echo, echo_json
from graphghha.cli._outputs import OUTPUT_FILE
from graphghha.errors import ConfigError

DISPOSITIONS = ("attack", "fault", "maintenance", "false")
SHOWN = 50


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "operator"


@click.group()
def alarms() -> None:
    """List and handle incidents and alarms."""


def _as_operator(function: Callable[..., None]) -> Callable[..., None]:
    function = click.option("--by", default=_user, show_default="your user name", help="Name of the operator.")(
        function
    )
    return click.option("--version", type=int, help="Refuse the command unless the target still has this version.")(
        function
    )


@alarms.command("list", cls=JournalCommand)
@on_journal
@as_shown
@click.option("--all", "show_all", is_flag=True, help="Include closed and acknowledged incidents.")
def list_(
    path: Path, site: str | None, as_json: bool, time_zone: str | None, units: str | None, show_all: bool
) -> None:
    """List incidents, newest first.

    Open incidents are those that stand, and those that nobody has acknowledged. Then come conditions of the monitoring
    itself that stand, such as a zone that is no longer seen.
    """
    from graphghha.monitor import Reader
    from graphghha.monitor.conditions import read_conditions

    with Reader(path) as reader:
        incidents = reader.incidents(site=site, is_open=not show_all, limit=10_000)
        displays = {name: display_of(reader, name, time_zone, units) for name in {each["site"] for each in incidents}}
        conditions = [condition.to_dict() for condition in read_conditions(reader, site)]
    for body in incidents if as_json else incidents[:SHOWN]:
        with complete(path, body):
            echo_json(body) if as_json else echo(incident_line(body, displays[body["site"]]))
    if not as_json and not incidents:
        echo("no incidents" if show_all else "no open incidents", err=True)
    if not as_json and len(incidents) > SHOWN:
        echo(f"... and {len(incidents) - SHOWN} more; --json shows all", err=True)
    for body in conditions:
        line = f"{body['id']}  [{body['state']}, {body['priority']}]  since {body['since'][:16].replace('T', ' ')}: "
        echo_json(body) if as_json else echo(line + body["text"])


@alarms.command(cls=JournalCommand)
@on_journal
@as_shown
@click.argument("incident")
@click.option("--why", is_flag=True, help="Also show the model's neighbors, weights and gates.")
@click.option(
    "--html",
    type=OUTPUT_FILE,
    help="Write the incident as one page with plots, to print or hand on.",
)
def show(
    path: Path,
    site: str | None,
    as_json: bool,
    time_zone: str | None,
    units: str | None,
    incident: str,
    why: bool,
    html: Path | None,
) -> None:
    """Show one incident with evidence and history."""
    from graphghha.errors import NotFoundError
    from graphghha.monitor import Reader, site_rate
    from graphghha.monitor.story import story, story_lines

    with Reader(path) as reader:
        body, events = reader.incident(incident), story(reader.incident_events(incident))
        if body is None:
            raise NotFoundError(f"{path}: there is no incident {incident!r}; see `alarms list --all`")
        rate = site_rate(reader, body["site"]) if "calibrated_days" in body else None
        display = display_of(reader, body["site"], time_zone, units)
        if html is not None:
            from graphghha.monitor.page import incident_page

            with complete(path, body):
                atomic_write(html, incident_page(reader, body, display, meaning(body, rate)))
            echo(f"wrote {html}", err=True)
            return
    if as_json:
        echo_json({**body, **restated(body, rate), "story": events})
        return
    with complete(path, body):
        show_incident(body, story_lines(events, display), why, meaning(body, rate), display)


@alarms.command(cls=JournalCommand)
@on_journal
@_as_operator
@click.argument("target")
@click.option("--comment", "--reason", "reason", default="", help="A comment for the next shift.")
def ack(path: Path, site: str | None, as_json: bool, by: str, version: int | None, target: str, reason: str) -> None:
    """Acknowledge an incident or a node's alarm."""
    _send(path, site, as_json, verb="ack", target=target, by=by, version=version, reason=reason)


@alarms.command(cls=JournalCommand)
@on_journal
@_as_operator
@click.argument("target")
@click.option("--for", "hours", default=8.0, show_default=True, help="Hours of plant time, at most 24.")
@click.option("--reason", "--comment", "reason", required=True, help="Reason, recorded for the next shift.")
def shelve(
    path: Path,
    site: str | None,
    as_json: bool,
    by: str,
    version: int | None,
    target: str,
    hours: float,
    reason: str,
) -> None:
    """Shelve an incident or a node's alarm."""
    if not 0 < hours <= 24:
        raise ConfigError(f"shelve --for {hours:g}: give more than 0 and at most 24 hours")
    for_ms = int(hours * 3_600_000)
    _send(path, site, as_json, verb="shelve", target=target, by=by, version=version, for_ms=for_ms, reason=reason)


@alarms.command(cls=JournalCommand)
@on_journal
@_as_operator
@click.argument("verb", type=click.Choice(["unshelve", "suppress", "out-of-service", "return", "reset"]))
@click.argument("target")
@click.option("--reason", "--comment", "reason", default="", help="Required to suppress or to take out of service.")
def change(
    path: Path, site: str | None, as_json: bool, by: str, version: int | None, verb: str, target: str, reason: str
) -> None:
    """Suspend, return or reset an alarm."""
    _send(path, site, as_json, verb=verb, target=target, by=by, version=version, reason=reason)


@alarms.command(cls=JournalCommand)
@on_journal
@_as_operator
@click.argument("incident")
@click.argument("disposition", type=click.Choice(DISPOSITIONS))
@click.option("--reason", "--comment", "reason", default="", help="What was found at the plant.")
@click.option("--node", default="", help="Role of the node that it really was, such as FCU_DMPR.")
def dispose(
    path: Path,
    site: str | None,
    as_json: bool,
    by: str,
    version: int | None,
    incident: str,
    disposition: str,
    reason: str,
    node: str,
) -> None:
    """Record what an incident turned out to be."""
    command = {"verb": "dispose", "target": incident, "by": by, "version": version}
    _send(path, site, as_json, **command, disposition=disposition, reason=reason, right_node=node)


@alarms.command(cls=JournalCommand)
@on_journal
@click.option("--after", default=0, show_default=True, help="Start after the event of this number.")
@click.option("--kind", help="Only events of this kind, for example 'incident.*'.")
def export(path: Path, site: str | None, as_json: bool, after: int, kind: str | None) -> None:
    """Export events as JSON lines.

    The output is JSON with or without --json.
    """
    from graphghha._util.times import iso
    from graphghha.monitor import Reader

    with Reader(path) as reader:
        while events := reader.events_after(after, 1000, [kind] if kind else []):
            for event in events:
                if site in (None, event.site):
                    line = {"number": event.number, "site": event.site, "time": iso(event.time_ms), "kind": event.kind}
                    echo_json({**line, "body": event.body})
            after = events[-1].number


@alarms.command(cls=JournalCommand)
@on_journal
def kpi(path: Path, site: str | None, as_json: bool) -> None:
    """Compute the alarm figures of ISA-18.2.

    Every figure that has a target says whether it keeps it.
    """
    from graphghha.monitor import Reader
    from graphghha.monitor import kpi as compute_kpi

    with Reader(path) as reader:
        figures = compute_kpi(reader, site)
    if as_json:
        echo_json(figures)
        return
    targets = figures.pop("verdicts")
    for name, value in figures.items():
        text = ", ".join(f"{key} {share}" for key, share in value.items()) if isinstance(value, dict) else value
        target = targets.get(name)
        verdict = f"  {target['verdict']} (target: {target['target']})" if target else ""
        echo(f"{name.replace('_', ' '):<28} {'none' if text in (None, '') else text!s:<12}{verdict}".rstrip())


@alarms.command(cls=JournalCommand)
@on_journal
@click.option("--what", multiple=True, type=click.Choice(DISPOSITIONS), help="Only these dispositions.")
@click.option("--out", type=OUTPUT_FILE, help="Write this file (default: print).")
def labels(path: Path, site: str | None, as_json: bool, what: tuple[str, ...], out: Path | None) -> None:
    """Export dispositions as labels (CSV).

    One line per incident: start, end (UTC), nodes, class; what was a false alarm has the class normal. `graphghha
    evaluate --labels` reads it. The node is the one that the incident named: correct it if you know better.
    """
    import csv
    import io

    from graphghha.exports.notes import counted
    from graphghha.monitor import Reader
    from graphghha.monitor.labels import COLUMNS
    from graphghha.monitor.labels import labels as read_labels

    with Reader(path) as reader:
        sites = [site] if site else list(reader.sites())
        if len(sites) > 1:
            raise ConfigError(f"{path}: has the sites {', '.join(sites)}; name one with --site")
        with complete(path, {}):
            found = [label for name in sites for label in read_labels(reader, name, what or DISPOSITIONS)]
    if as_json:
        echo_json([dict(zip(COLUMNS, label.cells, strict=True)) for label in found])
        return
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *(label.cells for label in found)])
    if out is None:
        echo(text.getvalue(), is_one_line=False, is_end=False)
    else:
        atomic_write(out, text.getvalue())
        echo(f"wrote {out}: {counted(len(found), 'label')}", err=True)


def _send(path: Path, site: str | None, as_json: bool, **command: Any) -> None:
    from graphghha.alarms import Command
    from graphghha.monitor import Reader, send_command

    target = send_command(path, Command.from_dict(command), site, note=lambda text: echo(text, err=True))
    if as_json:
        echo_json(target)
        return
    with Reader(path) as reader:
        echo(incident_line(target, display_of(reader, target["site"], None, None)))
