"""Addresses as people write them: `sim:fcu?zones=12`, `csv:FILE`, `parquet:FILE`, `mqtt://host/prefix`, `-`."""

import math
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import SplitResult, unquote, urlsplit

from graphghha._util.suggest import nearest
from graphghha.errors import ConfigError
from graphghha.plants import CaseSpec
from graphghha.sources.config import FileConfig, MqttConfig, SimulatedConfig, SourceConfig, StdinConfig

FORMS = "sim:PLANT?zones=12&speed=60, csv:FILE, parquet:FILE, mqtt://HOST:PORT/PREFIX, mqtts://.., or - for JSON lines"
_SCHEMES = ("sim", "csv", "parquet", "mqtt", "mqtts", "-")


def parse_address(address: str, folder: Path = Path()) -> SourceConfig:
    """Return the settings that an address describes. Relative paths in it count from `folder`."""
    try:
        return _parse(address, folder)
    except ConfigError as exc:
        raise ConfigError(f"source {_without_secrets(address)!r}: {exc}") from exc


def _parse(address: str, folder: Path) -> SourceConfig:
    scheme, rest, options = _split(address, folder)
    source: SourceConfig
    match scheme:
        case "sim":
            source = _simulated(rest, options)
        case "csv" | "parquet":
            source = _file(scheme, rest, options)
        case "-":
            source = StdinConfig(**options.given(max_ahead_s=options.number, mapping=options.path))
        case _:
            source = _mqtt(urlsplit(address), options)
    options.refuse_unknown()
    return source


def _split(address: str, folder: Path) -> tuple[str, str, "_Options"]:
    """Return the scheme, what follows it, and the options after the question mark."""
    head, _, query = address.partition("?")
    if address.startswith(("csv:", "parquet:")) and "?" in address:
        head, _, query = address.rpartition("?")  # the name of a file may contain a question mark
    scheme, colon, rest = head.partition(":")
    if scheme not in _SCHEMES or (scheme == "-") == bool(colon) or not (rest or scheme == "-"):
        raise ConfigError(f"not an address of a source; write {FORMS}")
    return scheme, rest, _Options(query, folder)


def _simulated(plant: str, options: "_Options") -> SimulatedConfig:
    return SimulatedConfig(
        plant=plant,
        **options.given(
            zones=options.whole_number,
            seed=options.whole_number,
            days=options.whole_number,
            start=options.time,
            speed=options.number,
            live_from=options.time,
            mapping=options.path,
        ),
        cases=tuple(CaseSpec.parse(text) for text in options.texts("case")),
    )


def _file(file_format: Literal["csv", "parquet"], path: str, options: "_Options") -> FileConfig:
    keys = ("zone", "dates", "time_column", "separator", "decimal")
    table = options.given(**dict.fromkeys(keys, options.text))
    return FileConfig(
        path=options.folder / Path(path).expanduser(),
        format=file_format,
        table={key: text.replace("-", " ") if key == "dates" else text for key, text in table.items()},
        is_held=options.given(hold=options.yes).get("hold", False),
        **options.given(speed=options.number, mapping=options.path),
    )


def _mqtt(parts: SplitResult, options: "_Options") -> MqttConfig:
    try:
        port = parts.port
    except ValueError as exc:
        raise ConfigError(str(exc)) from exc
    if parts.password is not None or "password" in options:
        raise ConfigError("an address must not contain a password, because addresses end up in logs; use password_file")
    use_tls = parts.scheme == "mqtts"
    given = options.given(
        client_id=options.text,
        username=options.text,
        password_file=options.path,
        ca_file=options.path,
        cert_file=options.path,
        key_file=options.path,
        keepalive_s=options.whole_number,
        session_expiry_s=options.whole_number,
        receive_maximum=options.whole_number,
        max_message_bytes=options.whole_number,
        reconnect_max_s=options.whole_number,
        mapping=options.path,
    )
    if parts.username:
        given.setdefault("username", unquote(parts.username))
    return MqttConfig(
        host=parts.hostname or "",
        port=port or (8883 if use_tls else 1883),
        prefix=parts.path.strip("/"),
        topics=options.texts("topic"),
        use_tls=use_tls,
        **given,
    )


class _Options:
    """The options of an address. Reading one makes it known; `refuse_unknown` reports those that nothing has read."""

    def __init__(self, query: str, folder: Path) -> None:
        self.folder = folder
        self._texts: dict[str, list[str]] = {}
        self._known: list[str] = []
        for option in filter(None, query.split("&")):
            key, _, value = option.partition("=")
            self._texts.setdefault(key, []).append(unquote(value))  # a + stays a +: names of cases contain it

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    def given(self, **readers: Callable[[str], Any]) -> dict[str, Any]:
        """Return the options that were written, each read by its reader."""
        self._known += readers
        return {key: read(key) for key, read in readers.items() if key in self}

    def texts(self, key: str) -> tuple[str, ...]:
        """Return all values of an option that may be repeated."""
        self._known.append(key)
        return tuple(self._texts.get(key, ()))

    def text(self, key: str) -> str:
        return self._texts[key][-1]

    def path(self, key: str) -> Path:
        return self.folder / Path(self.text(key)).expanduser()

    def number(self, key: str) -> float:
        try:
            number = float(self.text(key))
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise ConfigError(f"{key}={self.text(key)!r} is not a number")
        return number

    def whole_number(self, key: str) -> int:
        if not (number := self.number(key)).is_integer():
            raise ConfigError(f"{key}={self.text(key)!r} is not a whole number")
        return int(number)

    def yes(self, key: str) -> bool:
        if self.text(key) not in ("yes", "no"):
            raise ConfigError(f"{key}={self.text(key)!r} is neither yes nor no")
        return self.text(key) == "yes"

    def time(self, key: str) -> datetime:
        try:
            return datetime.fromisoformat(self.text(key)).replace(tzinfo=None)
        except ValueError:
            raise ConfigError(f"{key}={self.text(key)!r} is not a time like 2018-07-02T08:00") from None

    def refuse_unknown(self) -> None:
        for key in self._texts:
            if key not in self._known:
                near = nearest(key, self._known)
                hint = f"did you mean {near!r}?" if near else f"use {' | '.join(self._known)}"
                raise ConfigError(f"unknown option {key!r}; {hint}")


def _without_secrets(address: str) -> str:
    """Return the address for messages, without a password that it may contain."""
    address = re.sub(r"(?i)([?&][^=&]*(?:password|secret|token)=)[^&]*", r"\1***", address)
    head, at, tail = address.rpartition("@")
    return f"{head.partition('://')[0]}://***@{tail}" if at and "://" in head else address
