"""Orders that concern a site rather than an alarm: planned stops, injected attacks, notes of who logged in."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any, Protocol, runtime_checkable

from graphghha._util.text import encodable
from graphghha._util.times import iso
from graphghha.alarms import DISPOSITIONS, Command, Event
from graphghha.errors import ConfigError, ConflictError, GraphGHHAError
from graphghha.monitor.journal import parse_body
from graphghha.monitor.site import Site
from graphghha.plants import CaseSpec

KINDS = ("stop", "end-stop", "inject", "withdraw", "start-over", "found", "note")
NOTES = ("access.login", "access.logout", "access.refused", "access.changed", "operator.refused")
STARTED_OVER = "studio.started_over"
MOST_SEED = 2**31 - 1
MOST_TEXT = 2_000
MOST_MINUTES = 10_080
ORIGIN = ("by", "token", "address", "wall_time")


@runtime_checkable
class Injectable(Protocol):
    """A source of a simulated plant, which takes further attacks while it runs."""

    def inject(self, name: str, zone: str, in_minutes: int, minutes: int | None) -> CaseSpec:
        """Begin an attack so many minutes after the newest reading; raise an error with the reason if it cannot be."""

    def withdraw(self, spec: CaseSpec) -> CaseSpec | None:
        """End an attack now; return it as it was then, None if it had not begun."""


@dataclass(frozen=True, slots=True)
class Order:
    """What was asked of a site, as plain JSON."""

    kind: str
    body: Mapping[str, Any]


def parse_request(text: str, sent_ms: int) -> Command | Order:
    """Return the command or order in a text; raise an error with the reason why it is refused."""
    data = parse_body(text, sent_ms)
    if "order" not in data:
        return Command.from_dict(data)
    kind = data.pop("order")
    if kind not in KINDS:
        raise ConfigError(f"order: {str(kind)[:40]!r} must be one of {', '.join(KINDS)}")
    return Order(kind, data)


def carry_out(order: Order, site: Site, source: object, now_ms: int) -> list[Event]:
    """Carry out an order and return its events; raise an error with the reason if it is refused."""
    body, origin = order.body, origin_of(order.body)
    by = str(origin.get("by", ""))
    match order.kind:
        case "stop":
            zones = _zones(body.get("zones"), site)
            event = site.stops.begin(now_ms, body.get("minutes", 0), body.get("reason", ""), by, zones)
            return [Event(now_ms, event.kind, {**event.body, **origin})]
        case "end-stop":
            event = site.stops.end(now_ms, body.get("version", 0), by)
            return [Event(now_ms, event.kind, {**event.body, **origin})]
        case "inject" | "withdraw" | "start-over":
            if not isinstance(source, Injectable):
                raise ConflictError(f"site {site.name!r} is not simulated; attacks are never sent to a plant")
            if order.kind == "inject":
                return [Event(now_ms, "studio.injected", {**_inject(body, source), **origin})]
            if order.kind == "start-over":  # by the program that runs this monitor, which follows the journal
                return [Event(now_ms, STARTED_OVER, {"seed": _seed(body), "reason": _text(body, "reason"), **origin})]
            return [Event(now_ms, "studio.withdrawn", {**_withdraw(body, source), **origin})]
        case "found":
            return [Event(now_ms, "operator.found", {**_find(body, site), **origin})]
    kind = _text(body, "kind")
    if kind not in NOTES:
        raise ConfigError(f"note: {kind[:40]!r} must be one of {', '.join(NOTES)}")
    keys = ("what", "reason", "role", "target", "verb", "error")
    return [Event(now_ms, kind, {key: _text(body, key) for key in keys if key in body} | origin)]


def refusal(text: str, exc: Exception) -> dict[str, Any]:
    """Return the body of the event about a refused command: what was asked, by whom, and why it was refused."""
    try:
        data = json.loads(text)
        data = data if isinstance(data, dict) else {}
    except (ValueError, RecursionError):
        data = {}
    keys = ("verb", "order", "target", "version", "reason", "disposition")
    asked = {key: data[key] for key in keys if isinstance(data.get(key), str | int)}
    asked = {key: encodable(value[:MOST_TEXT]) if isinstance(value, str) else value for key, value in asked.items()}
    why = str(exc) if isinstance(exc, GraphGHHAError) else repr(exc)
    return {**asked, **origin_of(data), "error": type(exc).__name__, "why": encodable(why[:MOST_TEXT])}


def origin_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return who asked: person, token, address and the time of the server's clock, as far as they are known."""
    known = {key: body[key] for key in ORIGIN if isinstance(body.get(key), str) and body[key]}
    return {key: encodable(value[:100]) for key, value in known.items()}


def _inject(body: Mapping[str, Any], source: Injectable) -> dict[str, Any]:
    zone, name, lasts = _text(body, "zone"), _text(body, "name"), body.get("minutes")
    for number in (body.get("in_minutes"), 1 if lasts is None else lasts):
        if type(number) is not int or not 1 <= number <= MOST_MINUTES:
            raise ConfigError(f"inject: minutes must be whole numbers from 1 to {MOST_MINUTES}")
    spec = source.inject(name, zone, body["in_minutes"], lasts)
    start = spec.start.replace(tzinfo=UTC)
    end = None if lasts is None else iso(round((start + timedelta(minutes=lasts)).timestamp() * 1000))
    texts = {"name": name, "zone": zone, "id": _text(body, "id"), "reason": _text(body, "reason")}
    return {**texts, "case": str(spec), "start": iso(round(start.timestamp() * 1000)), "end": end}


def _withdraw(body: Mapping[str, Any], source: Injectable) -> dict[str, Any]:
    case = _text(body, "case")
    ended = source.withdraw(CaseSpec.parse(case))
    end = None
    if ended is not None and ended.duration is not None:
        end = iso(round((ended.start + ended.duration).replace(tzinfo=UTC).timestamp() * 1000))
    texts = {"id": _text(body, "id"), "zone": _text(body, "zone"), "reason": _text(body, "reason")}
    return {**texts, "case": case, "became": "" if ended is None else str(ended), "end": end}


def _seed(body: Mapping[str, Any]) -> int:
    seed = body.get("seed")
    if type(seed) is not int or not 0 <= seed <= MOST_SEED:
        raise ConfigError(f"start-over: seed must be a whole number from 0 to {MOST_SEED}")
    return seed


def _find(body: Mapping[str, Any], site: Site) -> dict[str, Any]:
    """Return what people found and the monitor did not."""
    zone, node, what, text = (_text(body, key) for key in ("zone", "node", "disposition", "text"))
    graph = site.detector.graph
    if zone not in graph.zone_names:
        raise ConfigError(f"found: zone {zone[:40]!r} must be one of {', '.join(graph.zone_names[:5])} and so on")
    if node and node not in graph.roles:
        raise ConfigError(f"found: {node[:40]!r} must be the role of a node")
    if what not in DISPOSITIONS or what == "false":
        raise ConfigError(f"found: {what[:40]!r} must be one of {', '.join(DISPOSITIONS[:-1])}")
    if not text:
        raise ConfigError("found: say what was found")
    return {"zone": zone, "node": node, "disposition": what, "text": text}


def _zones(zones: Any, site: Site) -> list[str] | None:
    if zones is None:
        return None
    known = site.detector.graph.zone_names
    if not isinstance(zones, list) or not zones or not all(zone in known for zone in zones):
        raise ConfigError(f"stop: zones must be some of {', '.join(known[:5])} and so on")
    return zones


def _text(body: Mapping[str, Any], key: str) -> str:
    value = body.get(key, "")
    if not isinstance(value, str) or len(value) > MOST_TEXT:
        raise ConfigError(f"order: {key} must be a text of at most {MOST_TEXT} characters")
    return encodable(value)
