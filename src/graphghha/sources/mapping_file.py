"""The mapping file: TOML, read once and checked whole."""

import math
import tomllib
from pathlib import Path
from typing import Any

from graphghha._util.suggest import nearest
from graphghha.errors import ConfigError, DataError, SchemaError
from graphghha.plants.points import Points
from graphghha.plants.units import conversion
from graphghha.sources.mapping import Rule, Rules, check_rules

NAME_KEYS = ("topic", "column")  # what a name of the outside is called: one of them in each entry
RULE_KEYS = (*NAME_KEYS, "point", "unit", "scale", "offset")
FILE_KEYS = ("map", "rename", "units")
DEFAULT_POINT = "{zone}/{signal}"


def read_mapping(path: Path, points: Points) -> Rules:
    """The rules of a file, or an error that says which entry and what instead."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as exc:
        raise DataError(f"{path}: cannot be read: {exc}") from exc
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError(f"{path}: not TOML: {exc}") from exc
    _known(raw, FILE_KEYS, str(path))
    entries = raw.get("map", [])
    if not isinstance(entries, list):
        raise ConfigError(f"{path}: write each entry under [[map]]")
    rules = tuple(_rule(entry, f"{path}: entry {number}") for number, entry in enumerate(entries, start=1))
    check_rules(rules, points, str(path))
    rename = _table(raw.get("rename", {}), f"{path}: [rename]")
    return Rules(
        rules=rules,
        rename={word: _words(table, f"{path}: [rename.{word}]") for word, table in rename.items()},
        units=_units(_words(raw.get("units", {}), f"{path}: [units]"), points, f"{path}: [units]"),
    )


def _rule(entry: Any, where: str) -> Rule:
    entry = _table(entry, where)
    _known(entry, RULE_KEYS, where)
    names = [entry[key] for key in NAME_KEYS if key in entry]
    if len(names) != 1:
        raise ConfigError(f"{where}: give it one of {' | '.join(NAME_KEYS)}")
    for key in (*NAME_KEYS, "point", "unit"):
        if key in entry and not (isinstance(entry[key], str) and entry[key].strip()):
            raise ConfigError(f"{where}: {key} {entry[key]!r} must be a text")
    for key in ("scale", "offset"):
        number = entry.get(key, 1.0)
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise ConfigError(f"{where}: {key} {number!r} must be a number")
    return Rule(
        name=names[0],
        point=entry.get("point", DEFAULT_POINT),
        unit=entry.get("unit"),
        scale=float(entry.get("scale", 1.0)),
        offset=float(entry.get("offset", 0.0)),
    )


def _units(units: dict[str, str], points: Points, where: str) -> dict[str, str]:
    signals = {name.rpartition("/")[2]: unit for name, unit in zip(points.names, points.units, strict=True)}
    _known(units, tuple(signals), where)
    for signal, unit in units.items():
        try:
            conversion(unit, signals[signal])
        except SchemaError as exc:
            raise ConfigError(f"{where}: {signal}: {exc}") from exc
    return units


def _known(table: dict[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys:
            near = nearest(key, keys)
            raise ConfigError(
                f"{where}: unknown key {key!r}; " + (f"did you mean {near!r}?" if near else f"use {' | '.join(keys)}")
            )


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where} must be a table")
    return value


def _words(value: Any, where: str) -> dict[str, str]:
    table = _table(value, where)
    for key, word in table.items():
        if not isinstance(word, str):
            raise ConfigError(f"{where}: {key} = {word!r} must be a text")
    return table
