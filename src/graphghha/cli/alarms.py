"""`graphghha alarms`: an operator's work on a journal, with or without a running monitor."""

import getpass
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphghha.cli._output import echo, echo_json
from graphghha.errors import ConfigError, GraphGHHAError, JournalError

if TYPE_CHECKING:
    from graphghha.monitor.probability import SiteRate

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


def _on_journal(function: Callable[..., None]) -> Callable[..., None]:
    kind = click.Path(path_type=Path, dir_okay=False)
    function = click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)
    function = click.option("--site", help="Only this site.")(function)
    return click.option("--journal", "path", required=True, type=kind, help="The monitor's journal file.")(function)


def _as_operator(function: Callable[..., None]) -> Callable[..., None]:
    function = click.option("--by", default=_user, show_default="your user name", help="Name of the operator.")(
        function
    )
    return click.option("--version", type=int, help="Refuse the command unless the target still has this version.")(
        function
    )


@alarms.command("list")
@_on_journal
@click.option("--all", "show_all", is_flag=True, help="Include closed and acknowledged incidents.")
def list_(path: Path, site: str | None, as_json: bool, show_all: bool) -> None:
    """List incidents, newest first."""
    from graphghha.monitor import Reader

    with Reader(path) as reader:
        incidents = reader.incidents(site=site, is_open=not show_all, limit=10_000)
    for body in incidents if as_json else incidents[:SHOWN]:
        with _complete(path, body):
            echo_json(body) if as_json else echo(_line(body))
    if not as_json and not incidents:
        echo("no incidents" if show_all else "no open incidents", err=True)
    if not as_json and len(incidents) > SHOWN:
        echo(f"... and {len(incidents) - SHOWN} more; --json shows all", err=True)


@alarms.command()
@_on_journal
@click.argument("incident")
@click.option("--why", is_flag=True, help="Also show the model's neighbors, weights and gates.")
def show(path: Path, site: str | None, as_json: bool, incident: str, why: bool) -> None:
    """Show one incident with evidence and history."""
    from graphghha._util.times import iso
    from graphghha.errors import NotFoundError
    from graphghha.monitor import Reader, headline, related_incident, site_rate

    with Reader(path) as reader:
        body, events = reader.incident(incident), reader.incident_events(incident)
        if body is None:
            raise NotFoundError(f"{path}: there is no incident {incident!r}; see `alarms list --all`")
        rate = site_rate(reader, body["site"]) if "calibrated_days" in body else None
    story = [
        {"time": iso(event.time_ms), "event": event.kind}
        | {name: event.body[name] for name in ("state", "verb", "by", "reason") if event.body.get(name)}
        for event in events
    ]
    if as_json:
        echo_json({**body, **_restated(body, rate), "story": story})
        return
    with _complete(path, body):
        _show(body, story, why, headline(body), related_incident(body), _meaning(body, rate))


def _show(
    body: dict[str, Any], story: list[dict[str, Any]], why: bool, title: str, remark: str, meaning: list[str]
) -> None:
    echo(f"{_label(body)}  {title}")
    for line in meaning:
        echo(f"  {line}")
    for item in body["evidence"]:
        if why or item["kind"] == "signal":
            echo(f"  evidence: {_evidence(item)}")
    if remark:
        echo(f"  {remark} ({body['follows']['id']}), or be a new attack")
    echo(f"  alarms: {', '.join(body['alarms'])}")
    for hypothesis in body.get("hypotheses", ()):
        echo(f"  hypothesis: {hypothesis['kind']}. {' '.join(hypothesis['reasons'])}")
    if body["consistent_with"]:
        echo(f"  consistent with ATT&CK for ICS: {', '.join(body['consistent_with'])}")
    echo(f"  action: {body['action']}")
    if (note := body["disposition"]) is not None:
        reason = f": {note['reason']}" if note["reason"] else ""
        echo(f"  disposition: {note['is']}, recorded by {note['by']}{reason}")
    for entry in story:
        what = entry.get("state") or f"{entry['verb']} by {entry.get('by', 'nobody')}"
        echo(f"  {entry['time']}  {entry['event']}  {what}{': ' + entry['reason'] if 'reason' in entry else ''}")


@alarms.command()
@_on_journal
@_as_operator
@click.argument("target")
def ack(path: Path, site: str | None, as_json: bool, by: str, version: int | None, target: str) -> None:
    """Acknowledge an incident or a node's alarm."""
    _send(path, site, as_json, verb="ack", target=target, by=by, version=version)


@alarms.command()
@_on_journal
@_as_operator
@click.argument("target")
@click.option("--for", "hours", default=8.0, show_default=True, help="Hours of plant time, at most 24.")
@click.option("--reason", required=True, help="Reason, recorded for the next shift.")
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


@alarms.command()
@_on_journal
@_as_operator
@click.argument("verb", type=click.Choice(["unshelve", "suppress", "out-of-service", "return", "reset"]))
@click.argument("target")
@click.option("--reason", default="", help="Required to suppress or to take out of service.")
def change(
    path: Path, site: str | None, as_json: bool, by: str, version: int | None, verb: str, target: str, reason: str
) -> None:
    """Suspend, return or reset an alarm."""
    _send(path, site, as_json, verb=verb, target=target, by=by, version=version, reason=reason)


@alarms.command()
@_on_journal
@_as_operator
@click.argument("incident")
@click.argument("disposition", type=click.Choice(DISPOSITIONS))
@click.option("--reason", default="", help="What was found at the plant.")
def dispose(
    path: Path,
    site: str | None,
    as_json: bool,
    by: str,
    version: int | None,
    incident: str,
    disposition: str,
    reason: str,
) -> None:
    """Record what an incident turned out to be."""
    command = {"verb": "dispose", "target": incident, "by": by, "version": version}
    _send(path, site, as_json, **command, disposition=disposition, reason=reason)


@alarms.command()
@_on_journal
@click.option("--after", default=0, show_default=True, help="Start after the event of this number.")
@click.option("--kind", help="Only events of this kind, for example 'incident.*'.")
def export(path: Path, site: str | None, as_json: bool, after: int, kind: str | None) -> None:
    """Export events as JSON lines.

    The output is JSON with or without --json.
    """
    from graphghha._util.times import iso
    from graphghha.monitor import Reader

    with Reader(path) as reader:
        while events := reader.events_after(after, 1000, kind=kind):
            for event in events:
                if site in (None, event.site):
                    line = {"number": event.number, "site": event.site, "time": iso(event.time_ms), "kind": event.kind}
                    echo_json({**line, "body": event.body})
            after = events[-1].number


@alarms.command()
@_on_journal
def kpi(path: Path, site: str | None, as_json: bool) -> None:
    """Compute the alarm figures of ISA-18.2."""
    from graphghha.monitor import Reader
    from graphghha.monitor import kpi as compute_kpi

    with Reader(path) as reader:
        figures = compute_kpi(reader, site)
    if as_json:
        echo_json(figures)
        return
    for name, value in figures.items():
        text = ", ".join(f"{key} {share}" for key, share in value.items()) if isinstance(value, dict) else value
        echo(f"{name.replace('_', ' '):<28} {text}")


def _send(path: Path, site: str | None, as_json: bool, **command: Any) -> None:
    from graphghha.alarms import Command
    from graphghha.monitor import send_command

    target = send_command(path, Command.from_dict(command), site, note=lambda text: echo(text, err=True))
    echo_json(target) if as_json else echo(_line(target))


@contextmanager
def _complete(path: Path, body: dict[str, Any]) -> Iterator[None]:
    """Turn what goes wrong with a body that no monitor wrote into an error that names it."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as exc:
        if isinstance(exc, GraphGHHAError):
            raise
        raise JournalError(f"{path}: incident {body.get('id')!r} is not one that a monitor writes: {exc!r}") from exc


def _meaning(body: dict[str, Any], rate: "SiteRate | None") -> list[str]:
    """Return what the probability of an incident holds for, and which incidents it belongs to or consists of."""
    from graphghha.monitor.probability import calibration_sentence, restated_sentence

    lines = []
    if (days := body.get("calibrated_days")) is not None:
        lines.append(calibration_sentence(days))
        if rate is not None:
            lines.append(restated_sentence(body["probability"], rate, days))
    if body.get("part_of"):
        lines.append(f"part of the building's incident {body['part_of']}")
    return lines + [f"member: {member}" for member in body.get("members", ())]


def _restated(body: dict[str, Any], rate: "SiteRate | None") -> dict[str, Any]:
    """Return the probability of an incident at the site's own rate of events, as JSON; nothing if that is unknown."""
    from graphghha.monitor.probability import restate

    if rate is None:
        return {}
    own = restate(body["probability"], rate.days_per_event, body["calibrated_days"])
    days = round(rate.days_per_event, 1)
    return {"restated": {"probability": round(own, 3), "days_per_event": days, "disposed": rate.disposed}}


def _line(body: dict[str, Any]) -> str:
    if "node" in body:
        return f"{body['node']}  v{body['version']}  [{body['state']}]  {body['reason']}".rstrip()
    return f"{_label(body)}  {body['text']}"


def _label(body: dict[str, Any]) -> str:
    closed = "closed, " if body["closed"] else ""
    return f"{body['id']}  v{body['version']}  [{closed}{body['state']}, {body['priority']}]"


def _evidence(item: dict[str, Any]) -> str:
    match item["kind"]:
        case "signal":
            low, high = item["normal"]
            return f"{item['text']}; {item['node']}, normal {_range(low, high, item['unit'])}"
        case "gate":
            gates = ", ".join(f"{branch} {' '.join(map(str, item[branch]))}" for branch in ("global", "local"))
            return f"gates of {item['node']} by layer: {gates}"
        case "edge" if "weight" in item:
            return f"the model attended to {item['source']} (weight {item['weight']})"
    return f"{item['source']} and {item['target']} disagree ({item['relation']})"


def _range(low: float, high: float, unit: str) -> str:
    return f"{low:.0%} to {high:.0%}" if unit == "fraction" else f"{low:g} to {high:g} {unit.replace('degC', '°C')}"
