"""Incidents as text for an operator."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphghha.cli._output import echo
from graphghha.errors import GraphGHHAError, JournalError

if TYPE_CHECKING:
    from graphghha.monitor import Display, Reader
    from graphghha.monitor.probability import SiteRate


def as_shown(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say how times and readings are shown."""
    units = click.Choice(["degC", "degF"])
    function = click.option("--units", type=units, help="Unit of temperatures (default: the site's).")(function)
    return click.option("--time-zone", help="Show times in this zone, such as America/Chicago (default: the site's).")(
        function
    )


def display_of(reader: "Reader", site: str, time_zone: str | None, units: str | None) -> "Display":
    """Return how a site is shown: as asked for, otherwise as the journal keeps it."""
    from graphghha.monitor import Display

    return Display.of_site(reader.sites().get(site, {}), time_zone, units)


def show_incident(
    body: dict[str, Any], story: list[tuple[str, str]], why: bool, meaning: list[str], display: "Display"
) -> None:
    """Print an incident with its evidence and its story."""
    from graphghha.monitor import headline, related_incident
    from graphghha.monitor.incident_json import BY_PATTERN, is_reason
    from graphghha.plants.techniques import describe_techniques

    echo(f"{label(body)}  {headline(body, display)}")
    echo(f"  announced: {announced(body, display)}")
    for line in meaning:
        echo(f"  {line}")
    signals = [item for item in body["evidence"] if item["kind"] in ("contradiction", "signal")]
    for item in [item for item in signals if is_reason(item)]:
        echo(f"  evidence: {display.reword(evidence(item))}")
    if signals and not any(map(is_reason, signals)):
        echo(f"  evidence: {BY_PATTERN}")
    for item in body["evidence"]:
        if not is_reason(item) and (why or item["kind"] == "signal"):
            echo(f"  {'also' if item['kind'] == 'signal' else 'inside the model'}: {display.reword(evidence(item))}")
    if remark := related_incident(body, display):
        echo(f"  {remark} ({body['follows']['id']}), or be a new attack")
    echo(f"  alarms: {', '.join(body['alarms'])}")
    for hypothesis in body.get("hypotheses", ()):
        echo(f"  hypothesis: {hypothesis['kind']}. {display.reword(' '.join(hypothesis['reasons']))}")
    echo(f"  if manipulation, consistent with ATT&CK for ICS: {describe_techniques(body['consistent_with'])}")
    echo(f"  action: {body['action']}")
    if (note := body["disposition"]) is not None:
        reason = f": {note['reason']}" if note["reason"] else ""
        at = f" at {display.moment(note['at'])}" if note.get("at") else ""
        echo(f"  what it was: {note['is']}, recorded by {note['by']}{at}{reason}")
    for time, sentence in story:
        echo(f"  {time}  {sentence}")


def announced(body: dict[str, Any], display: "Display") -> str:
    """Return when an incident was announced, or that it was not."""
    return display.moment(body["annunciated"]) if body.get("annunciated") else "not announced"


@contextmanager
def complete(path: Path, body: dict[str, Any]) -> Iterator[None]:
    """Turn what goes wrong with a body that no monitor wrote into an error that names it."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as exc:
        if isinstance(exc, GraphGHHAError):
            raise
        raise JournalError(f"{path}: incident {body.get('id')!r} is not one that a monitor writes: {exc!r}") from exc


def meaning(body: dict[str, Any], rate: "SiteRate | None") -> list[str]:
    """Return what the probability of an incident holds for, and which incidents it belongs to or consists of."""
    from graphghha.monitor.probability import calibration_sentence, class_sentence, restated_sentence, tail_sentence

    lines = [tail_sentence()] if body.get("p_is") == "tail" else []
    lines += filter(None, [class_sentence(body.get("class_is", ""))])
    if (days := body.get("calibrated_days")) is not None:
        lines.append(calibration_sentence(days))
        if rate is not None:
            lines.append(restated_sentence(body["probability"], rate, days))
    if body.get("part_of"):
        lines.append(f"part of the building's incident {body['part_of']}")
    return lines + [f"member: {member}" for member in body.get("members", ())]


def restated(body: dict[str, Any], rate: "SiteRate | None") -> dict[str, Any]:
    """Return the probability of an incident at the site's own rate of events, as JSON; nothing if that is unknown."""
    from graphghha.monitor.probability import restate

    if rate is None:
        return {}
    own = restate(body["probability"], rate.days_per_event, body["calibrated_days"])
    days = round(rate.days_per_event, 1)
    return {"restated": {"probability": round(own, 3), "days_per_event": days, "disposed": rate.disposed}}


def incident_line(body: dict[str, Any], display: "Display") -> str:
    """Return an incident, or the alarm of a node, as one line."""
    from graphghha.monitor import sentence

    if "node" in body:
        return f"{body['node']}  v{body['version']}  [{body['state']}]  {body['reason']}".rstrip()
    return f"{label(body)}  {display.moment(body['time'])}  {sentence(body, display)}"


def label(body: dict[str, Any]) -> str:
    """Return id, version, state and priority of an incident."""
    closed = "closed, " if body["closed"] else ""
    return f"{body['id']}  v{body['version']}  [{closed}{body['state']}, {body['priority']}]"


def evidence(item: dict[str, Any]) -> str:
    """Return a piece of evidence in words."""
    match item["kind"]:
        case "contradiction":
            return f"{item['text']} ({item['node']}, {item['against']})"
        case "signal":
            low, high = item["normal"]
            normal = f", normal {_range(low, high, item['unit'])}" if item.get("unusual", True) else ""
            return f"{item['text']}; {item['node']}{normal}"
        case "gate":
            gates = ", ".join(f"{branch} {' '.join(map(str, item[branch]))}" for branch in ("global", "local"))
            return f"gates of {item['node']} by layer: {gates}"
        case "edge" if "weight" in item:
            return f"the model attended to {item['source']} (weight {item['weight']})"
    return f"{item['source']} and {item['target']} disagree ({item['relation']})"


def _range(low: float, high: float, unit: str) -> str:
    if unit == "degC":  # with a unit each, so that both are converted where people want another one
        return f"{low:.1f} °C to {high:.1f} °C"
    return f"{low:.0%} to {high:.0%}" if unit == "fraction" else f"{low:g} to {high:g} {unit}"
