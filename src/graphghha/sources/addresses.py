"""Sources by address: `sim:fcu?zones=12`, `csv:FILE`, `parquet:FILE`, `mqtt://host/prefix`, `-`."""

import math
import re
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from graphghha.errors import ConfigError
from graphghha.plants import CaseSpec, Plant, load_plant
from graphghha.plants.points import Points, nearest
from graphghha.sources.base import Source
from graphghha.sources.batch_builder import MAX_AHEAD_MS, Intake
from graphghha.sources.mapping import Mapper
from graphghha.sources.mapping_file import read_mapping
from graphghha.sources.replay import Replay
from graphghha.sources.stdin import LineSource

if TYPE_CHECKING:
    from graphghha.sources.mqtt_client import MqttConfig

FORMS = "sim:PLANT?zones=12&speed=60, csv:FILE, parquet:FILE, mqtt://HOST:PORT/PREFIX, mqtts://.., or - for JSON lines"
_MQTT_OPTIONS = {
    "client_id": str,
    "username": str,
    "password_file": Path,
    "ca_file": Path,
    "cert_file": Path,
    "key_file": Path,
    "keepalive_s": int,
    "session_expiry_s": int,
    "receive_maximum": int,
    "max_message_bytes": int,
    "reconnect_max_s": int,
}


def open_source(
    uri: str,
    *,
    site: str,
    points: Sequence[str],
    plant: Plant,
    mapping: Path | None = None,
    is_listener: bool = False,
) -> Source:
    """The source at this address, feeding these points of a site.

    A listener only looks on: it leaves the broker's session and the messages in it to the monitor.
    """
    scheme, rest, options = _parts(uri)
    table = Points.of(plant, points)
    if named := options.pop("mapping", []):
        mapping = Path(named[-1])
    rules = read_mapping(mapping, table) if mapping else None
    if scheme in ("mqtt", "mqtts"):
        return _open_mqtt(uri, options, site, Mapper(table, rules, prefix=urlsplit(uri).path), is_listener)
    mapper = Mapper(table, rules)
    if scheme == "-":
        ahead_ms = int(_number(options, "max_ahead_s", MAX_AHEAD_MS / 1000, uri) * 1000)
        _refuse_others(options, ("max_ahead_s", "mapping"), uri)
        return LineSource(sys.stdin.buffer, Intake(site, mapper, max_ahead_ms=ahead_ms))
    if scheme == "sim":
        return _open_simulation(uri, rest, options, site, mapper)
    speed = _number(options, "speed", None, uri)
    _refuse_others(options, ("speed", "mapping"), uri)
    return _open_file(scheme, Path(rest), site, mapper, plant, speed)


def zones_in(uri: str) -> tuple[str, ...] | None:
    """The zones a source knows of itself, before it is opened; None when only its readings will tell."""
    scheme, rest, options = _parts(uri)
    if scheme == "sim":
        count = int(_number(options, "zones", 12, uri))
        return tuple(dict.fromkeys(z for z in load_plant(rest).template.replicate(count).zones if z is not None))
    if scheme == "parquet":
        from graphghha.errors import SchemaError
        from graphghha.plants.telemetry import TelemetryFile

        try:
            return TelemetryFile(Path(rest)).meta.zones
        except SchemaError:
            return None
    return None


def file_of(uri: str) -> Path | None:
    """The file a source replays, if it is one."""
    scheme, rest, _ = _parts(uri)
    return Path(rest) if scheme in ("csv", "parquet") else None


def _parts(uri: str) -> tuple[str, str, dict[str, list[str]]]:
    """Scheme, what follows it, and the options after the question mark."""
    address, _, query = uri.partition("?") if not uri.startswith(("csv:", "parquet:")) else uri.rpartition("?")
    if not address:  # rpartition found no question mark
        address, query = query, ""
    scheme, colon, rest = address.partition(":")
    if (
        scheme not in ("sim", "csv", "parquet", "mqtt", "mqtts", "-")
        or (scheme == "-") == bool(colon)
        or not (rest or scheme == "-")
    ):
        raise ConfigError(f"source {_shown(uri)!r}: not an address; write {FORMS}")
    options: dict[str, list[str]] = {}
    for option in filter(None, query.split("&")):
        key, _, value = option.partition("=")
        options.setdefault(key, []).append(unquote(value))  # a + is a +: names of cases hold it
    return scheme, rest, options


def _open_simulation(uri: str, plant: str, options: dict[str, list[str]], site: str, mapper: Mapper) -> Source:
    from graphghha.sources.simulated import SimulationConfig, simulated_source

    default = SimulationConfig()
    config = replace(
        default,
        zones=int(_number(options, "zones", default.zones, uri)),
        seed=int(_number(options, "seed", default.seed, uri)),
        days=int(_number(options, "days", default.days, uri)),
        start=_time(options, default.start, uri),
        cases=tuple(CaseSpec.parse(text) for text in options.get("case", ())),
        speed=_number(options, "speed", None, uri),
    )
    _refuse_others(options, ("zones", "seed", "days", "start", "case", "speed", "mapping"), uri)
    return simulated_source(load_plant(plant), site, mapper, config)


def _open_file(scheme: str, path: Path, site: str, mapper: Mapper, plant: Plant, speed: float | None) -> Source:
    from graphghha.sources.files import csv_batches, parquet_batches

    batches = (csv_batches if scheme == "csv" else parquet_batches)(path, site, mapper, plant)
    return Replay(batches, mapper, what=str(path), speed=speed)


def _open_mqtt(uri: str, options: dict[str, list[str]], site: str, mapper: Mapper, is_listener: bool) -> Source:
    from graphghha.sources.mqtt import MqttSource

    config = mqtt_config(uri, options, client_id=f"graphghha-{site}", is_listener=is_listener)
    return MqttSource(config, Intake(site, mapper))


def mqtt_config(uri: str, options: dict[str, list[str]], **defaults: Any) -> "MqttConfig":
    """Settings of an `mqtt://` or `mqtts://` address."""
    from graphghha.sources.mqtt_client import MqttConfig

    try:
        split = urlsplit(uri)
        port = split.port
    except ValueError as exc:
        raise ConfigError(f"source {_shown(uri)!r}: {exc}") from exc
    if split.password is not None:
        raise ConfigError(f"source {_shown(uri)!r}: a password in an address ends up in logs; give password_file=FILE")
    use_tls = split.scheme == "mqtts"
    given: dict[str, Any] = {"username": unquote(split.username)} if split.username else {}
    for key, kind in _MQTT_OPTIONS.items():
        if key in options:
            given[key] = int(_number(options, key, None, uri)) if kind is int else kind(options[key][-1])
    _refuse_others(options, (*_MQTT_OPTIONS, "topic", "mapping"), uri)
    assert set(given) <= {field.name for field in fields(MqttConfig)}
    settings = defaults | given
    if settings.get("is_listener"):
        settings["client_id"] += "-check"
    return MqttConfig(
        host=split.hostname or "",
        port=port or (8883 if use_tls else 1883),
        prefix=split.path.strip("/"),
        topics=tuple(options.get("topic", ())),
        use_tls=use_tls,
        **settings,
    )


def _number(options: dict[str, list[str]], key: str, default: Any, uri: str) -> Any:
    if key not in options:
        return default
    try:
        number = float(options[key][-1])
        if not math.isfinite(number):
            raise ValueError("not finite")
        return number
    except ValueError:
        raise ConfigError(f"source {_shown(uri)!r}: {key}={options[key][-1]!r} is not a number") from None


def _time(options: dict[str, list[str]], default: datetime, uri: str) -> datetime:
    if "start" not in options:
        return default
    try:
        return datetime.fromisoformat(options["start"][-1]).replace(tzinfo=None)
    except ValueError:
        text = options["start"][-1]
        raise ConfigError(f"source {_shown(uri)!r}: start={text!r} is not a time like 2018-07-02T08:00") from None


def _refuse_others(options: dict[str, list[str]], known: Sequence[str], uri: str) -> None:
    for key in options:
        if key not in known:
            near = nearest(key, known)
            hint = f"did you mean {near!r}?" if near else f"use {' | '.join(known)}"
            raise ConfigError(f"source {_shown(uri)!r}: unknown option {key!r}; {hint}")


def _shown(uri: str) -> str:
    """An address for messages, without the password somebody may have put into it."""
    uri = re.sub(r"(?i)([?&][^=&]*(?:password|secret|token)=)[^&]*", r"\1***", uri)
    head, at, tail = uri.rpartition("@")
    return f"{head.partition('://')[0]}://***@{tail}" if at and "://" in head else uri
