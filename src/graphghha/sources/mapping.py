"""From the names that senders use (topics, columns) to the points of a site, with unit and scale; the mapping file."""

import math
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphghha._util.suggest import nearest
from graphghha.errors import ConfigError, DataError, SchemaError
from graphghha.plants import Points
from graphghha.plants.units import canonical, conversion
from graphghha.sources.base import Rejection
from graphghha.sources.patterns import NamePattern, fill_in, placeholders
from graphghha.sources.statistics import SourceStatistics

NAMES_REMEMBERED = 1_000  # unmapped names kept for the report: a flood of names must not fill the memory
ROUTES_REMEMBERED = 20_000  # or twice the number of points: a pattern may give one point any number of names
LONGEST_NAME = 1_000  # characters of a name that can be mapped
LONGEST_UNIT = 32
LONGEST_NOTE = 200  # characters kept of a foreign name
NAME_KEYS = ("topic", "column")  # keys for the sender's name, exactly one of them in each entry of a mapping file
RULE_KEYS = (*NAME_KEYS, "point", "unit", "scale", "offset")
FILE_KEYS = ("map", "rename", "units", "states", "table")
DEFAULT_POINT = "{zone}/{signal}"


@dataclass(frozen=True, slots=True)
class Route:
    """The point that a name leads to, and the conversion: SI value = (value - shift) * scale."""

    column: int
    unit: str
    shift: float
    scale: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One entry of a mapping file. `{word}` in the name matches one level, and the point may use the word."""

    name: str
    point: str
    unit: str | None = None
    scale: float = 1.0
    offset: float = 0.0

    @property
    def is_pattern(self) -> bool:
        return bool(placeholders(self.name))


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """A mapping file: rules in order (the first that matches applies), renamed words, and units by signal."""

    rules: tuple[Rule, ...] = ()
    rename: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # word -> sender's text -> our text
    units: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # signal -> sender's word -> our state
    table: Mapping[str, str] = field(default_factory=dict)  # how an exported table is written


class Mapper:
    """Finds the point for each name, remembers the names it met, and counts those it could not map."""

    def __init__(self, points: Points, rules: Rules | None = None, *, prefix: str = "") -> None:
        """`prefix` precedes our own names, such as the first levels of an MQTT topic."""
        self.points = points
        self._rules = rules or Rules()
        self._exact = {rule.name: rule for rule in reversed(self._rules.rules) if not rule.is_pattern}
        self._patterns = [(NamePattern(rule.name), rule) for rule in self._rules.rules if rule.is_pattern]
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self.routes: dict[tuple[str, str | None], Route] = {}
        self.unmapped: Counter[str] = Counter()
        self.wrong_units: dict[str, str] = {}  # name -> what is wrong with its unit
        self.assumed: set[str] = set()  # names whose unit nothing states
        self.statistics: SourceStatistics | None = None  # collected for a check only
        self._sent: tuple[int, dict[str, list[str]]] = (0, {})  # of how many routes, and their units

    def route(self, name: str, unit: str | None = None) -> Route | Rejection:
        """Return where a reading of this name goes. `unit` is the one that the message states; it takes precedence."""
        known = self.routes.get((name, unit))
        if known is not None:
            return known
        unit = unit.strip() if unit is not None else None
        resolved = self._resolve(name)
        if resolved is None:
            self.note_unmapped(name)
            return Rejection.UNMAPPED
        column, rule = resolved
        try:
            route = self._converting_route(column, rule, unit)
            if not unit and not self._states_unit(column, rule) and len(self.assumed) < NAMES_REMEMBERED:
                self.assumed.add(name)
        except SchemaError as exc:
            if len(self.wrong_units) < NAMES_REMEMBERED:
                self.wrong_units[name[:LONGEST_NOTE]] = str(exc)
            return Rejection.WRONG_UNIT
        if len(self.routes) >= max(ROUTES_REMEMBERED, 2 * len(self.points)):
            self.routes.clear()
        self.routes[name, unit] = route
        return route

    def knows(self, name: str) -> bool:
        """Return whether this name leads to a point."""
        return self._resolve(name) is not None

    def state_of(self, word: str, column: int) -> str:
        """Return the state of a point that a sender's word stands for: as the mapping file says, else the word."""
        words = self._rules.states.get(self.points.names[column].rpartition("/")[2], {})
        return {theirs.lower(): ours for theirs, ours in words.items()}.get(word.lower(), word).lower()

    def sent_units(self) -> dict[str, list[str]]:
        """Return the units in which signals are sent, of those that are not sent in the plant's own."""
        if self._sent[0] != len(self.routes):
            routes = self.routes.copy()  # a source may map names in a thread of its own
            found: dict[str, set[str]] = {}
            for route in routes.values():
                if route.unit != canonical(self.points.units[route.column]):
                    found.setdefault(self.points.names[route.column].rpartition("/")[2], set()).add(route.unit)
            self._sent = len(routes), {signal: sorted(units) for signal, units in sorted(found.items())}
        return self._sent[1]

    def fresh(self) -> "Mapper":
        """Return a mapper with the same rules that has met no name yet."""
        mapper = Mapper(self.points, self._rules, prefix=self._prefix)
        if self.statistics is not None:
            mapper.statistics = self.statistics
            mapper.statistics.by_column.clear()
        return mapper

    def note_unmapped(self, name: str) -> None:
        """Count a name that leads to no point."""
        name = name[:LONGEST_NOTE]
        if name in self.unmapped or len(self.unmapped) < NAMES_REMEMBERED:
            self.unmapped[name] += 1

    def nearest_point(self, name: str) -> str | None:
        """Return the point whose name resembles this one most."""
        return nearest(name.removeprefix(self._prefix), self.points.names)

    def _resolve(self, name: str) -> tuple[int, Rule | None] | None:
        if len(name) > LONGEST_NAME:
            return None
        rule = self._exact.get(name)
        point = rule.point if rule else None
        if point is None:
            for pattern, candidate in self._patterns:
                if (words := pattern.match(name)) is not None and (
                    filled := self._fill_in(candidate, words)
                ) in self.points.columns:
                    rule, point = candidate, filled
                    break
        if point is None:
            point = name.removeprefix(self._prefix)
        column = self.points.columns.get(point, self.points.signals.get(point))
        return None if column is None else (column, rule)

    def _fill_in(self, rule: Rule, words: Mapping[str, str]) -> str:
        """Return the point of a pattern with its words filled in, after renaming them."""
        renamed = {word: self._rules.rename.get(word, {}).get(text, text) for word, text in words.items()}
        return fill_in(rule.point, renamed)

    def _states_unit(self, column: int, rule: Rule | None) -> bool:
        """Return whether the mapping file states the unit of a point."""
        return bool(rule and rule.unit) or self.points.names[column].rpartition("/")[2] in self._rules.units

    def _converting_route(self, column: int, rule: Rule | None, unit: str | None) -> Route:
        if unit is not None and len(unit) > LONGEST_UNIT:
            raise SchemaError(f"unit {unit[:LONGEST_UNIT]!r}..: a unit has at most {LONGEST_UNIT} characters")
        signal = self.points.names[column].rpartition("/")[2]
        declared = (rule.unit if rule else None) or self._rules.units.get(signal) or self.points.units[column]
        effective = canonical(unit or declared)
        shift, scale = conversion(effective, self.points.units[column])
        if rule is None:
            return Route(column, effective, shift, scale)
        # ((value * rule.scale + rule.offset) - shift) * scale, in one step
        return Route(column, effective, (shift - rule.offset) / rule.scale, rule.scale * scale)


def read_mapping(path: Path, points: Points) -> Rules:
    """Read a mapping file, or raise an error that says which entry is wrong and what to write instead."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as exc:
        raise DataError(f"{path}: cannot be read: {exc}") from exc
    except (tomllib.TOMLDecodeError, RecursionError) as exc:
        raise ConfigError(f"{path}: not TOML: {exc}") from exc
    _check_keys(raw, FILE_KEYS, str(path))
    entries = raw.get("map", [])
    if not isinstance(entries, list):
        raise ConfigError(f"{path}: write each entry under [[map]]")
    rules = tuple(_parse_rule(entry, f"{path}: entry {number}") for number, entry in enumerate(entries, start=1))
    for number, rule in enumerate(rules, start=1):
        _check_rule(rule, points, f"{path}: entry {number}")
    rename = _as_table(raw.get("rename", {}), f"{path}: [rename]")
    units = _as_texts(raw.get("units", {}), f"{path}: [units]")
    _check_units(units, points, f"{path}: [units]")
    states = _as_table(raw.get("states", {}), f"{path}: [states]")
    words = {signal: _as_texts(table, f"{path}: [states.{signal}]") for signal, table in states.items()}
    _check_states(words, points, str(path))
    return Rules(
        rules=rules,
        rename={word: _as_texts(table, f"{path}: [rename.{word}]") for word, table in rename.items()},
        units=units,
        states=words,
        table=_as_texts(raw.get("table", {}), f"{path}: [table]"),
    )


def _parse_rule(entry: Any, where: str) -> Rule:
    entry = _as_table(entry, where)
    _check_keys(entry, RULE_KEYS, where)
    names = [entry[key] for key in NAME_KEYS if key in entry]
    if len(names) != 1:
        raise ConfigError(f"{where}: give it exactly one of {' | '.join(NAME_KEYS)}")
    for key in (*NAME_KEYS, "point", "unit"):
        if key in entry and not (isinstance(entry[key], str) and entry[key].strip()):
            raise ConfigError(f"{where}: {key} {entry[key]!r} must be a string")
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


def _check_rule(rule: Rule, points: Points, where: str) -> None:
    """Refuse a rule that can never work: an unknown point, a word without a value, a unit that does not fit."""
    captured = placeholders(rule.name)
    if missing := [word for word in placeholders(rule.point) if word not in captured]:
        raise ConfigError(f"{where}: point {rule.point!r} uses {{{missing[0]}}}, which {rule.name!r} does not capture")
    if len(set(captured)) < len(captured):
        raise ConfigError(f"{where}: {rule.name!r} uses one word twice; give each level its own word")
    if rule.scale == 0:
        raise ConfigError(f"{where}: {rule.name!r} has scale 0, which makes every value the same; give another scale")
    if placeholders(rule.point):
        return
    if rule.point not in points.columns:
        near = nearest(rule.point, points.names)
        hint = f"did you mean {near!r}?" if near else f"points have names like {points.names[0]!r}"
        raise ConfigError(f"{where}: {rule.name!r}: no point is named {rule.point!r}; {hint}")
    if rule.unit is not None:
        _check_unit(rule.unit, points.units[points.columns[rule.point]], f"{where}: {rule.name!r}")


def _check_units(units: Mapping[str, str], points: Points, where: str) -> None:
    signals = {name.rpartition("/")[2]: unit for name, unit in zip(points.names, points.units, strict=True)}
    _check_keys(units, tuple(signals), where)
    for signal, unit in units.items():
        _check_unit(unit, signals[signal], f"{where}: {signal}")


def _check_states(words: Mapping[str, Mapping[str, str]], points: Points, where: str) -> None:
    _check_keys(words, tuple(points.states), f"{where}: [states]")
    for signal, table in words.items():
        for word, state in table.items():
            if state.lower() not in points.states[signal]:
                known = " | ".join(points.states[signal])
                raise ConfigError(f"{where}: [states.{signal}]: {word} = {state!r} is no state; use {known}")


def _check_unit(unit: str, si_unit: str, where: str) -> None:
    try:
        conversion(unit, si_unit)
    except SchemaError as exc:
        raise ConfigError(f"{where}: {exc}") from exc


def _check_keys(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in table:
        if key not in known:
            near = nearest(key, known)
            hint = f"did you mean {near!r}?" if near else f"use {' | '.join(known)}"
            raise ConfigError(f"{where}: unknown key {key!r}; {hint}")


def _as_table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where} must be a table")
    return value


def _as_texts(value: Any, where: str) -> dict[str, str]:
    table = _as_table(value, where)
    for key, text in table.items():
        if not isinstance(text, str):
            raise ConfigError(f"{where}: {key} = {text!r} must be a string")
    return table
