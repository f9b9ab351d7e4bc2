"""From the names of the outside (topics, columns) to the points of a site, with unit and scale."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graphghha._util.suggest import nearest
from graphghha.errors import ConfigError, SchemaError
from graphghha.plants.points import Points
from graphghha.plants.units import canonical, conversion
from graphghha.sources.base import Rejection

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
NAMES_REMEMBERED = 1_000  # unmapped ones, for the report; whoever floods us with names fills no memory
ROUTES_REMEMBERED = 100_000
SHOWN = 200  # characters of a foreign name


@dataclass(frozen=True, slots=True)
class Route:
    """Where one outside name leads: SI value = (value - shift) * scale."""

    column: int
    unit: str
    shift: float
    scale: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One entry of a mapping file. `{word}` in the name matches one level and may stand in the point."""

    name: str
    point: str
    unit: str | None = None
    scale: float = 1.0
    offset: float = 0.0

    @property
    def is_pattern(self) -> bool:
        return bool(_PLACEHOLDER.search(self.name))

    def expression(self) -> re.Pattern[str]:
        parts = _PLACEHOLDER.split(self.name)  # text, word, text, word, ..
        return re.compile(
            "".join(f"(?P<{part}>[^/]+)" if number % 2 else re.escape(part) for number, part in enumerate(parts)),
            re.DOTALL,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """A mapping file: rules in order (the first that fits holds), other words for captured ones, units by signal."""

    rules: tuple[Rule, ...] = ()
    rename: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # word -> what it says -> what we say
    units: Mapping[str, str] = field(default_factory=dict)


class Mapper:
    """Resolves outside names, remembers the ones it met, and counts those it could not place."""

    def __init__(self, points: Points, rules: Rules | None = None, *, prefix: str = "") -> None:
        """`prefix` is what stands before our own names, such as the first levels of an MQTT topic."""
        self.points = points
        self._rules = rules or Rules()
        self._exact = {rule.name: rule for rule in reversed(self._rules.rules) if not rule.is_pattern}
        self._patterns = [(rule.expression(), rule) for rule in self._rules.rules if rule.is_pattern]
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self.routes: dict[tuple[str, str | None], Route] = {}
        self.unmapped: Counter[str] = Counter()
        self.misfits: dict[str, str] = {}  # name -> what is wrong with its unit

    def route(self, name: str, unit: str | None = None) -> Route | Rejection:
        """Where a reading of this name goes; `unit` is what the message itself says, and it prevails."""
        found = self.routes.get((name, unit))
        if found is not None:
            return found
        placed = self._place(name)
        if placed is None:
            self.note_unmapped(name)
            return Rejection.UNMAPPED
        column, rule = placed
        try:
            route = self._converted(column, rule, unit)
        except SchemaError as exc:
            if len(self.misfits) < NAMES_REMEMBERED:
                self.misfits[name[:SHOWN]] = str(exc)
            return Rejection.WRONG_UNIT
        if len(self.routes) >= ROUTES_REMEMBERED:
            self.routes.clear()
        self.routes[name, unit] = route
        return route

    def knows(self, name: str) -> bool:
        """Whether this name leads anywhere."""
        return self._place(name) is not None

    def note_unmapped(self, name: str, count: int = 1) -> None:
        name = name[:SHOWN]
        if name in self.unmapped or len(self.unmapped) < NAMES_REMEMBERED:
            self.unmapped[name] += count

    def nearest_point(self, name: str) -> str | None:
        """The point somebody may have meant."""
        return nearest(name.removeprefix(self._prefix), self.points.names)

    def _place(self, name: str) -> tuple[int, Rule | None] | None:
        rule = self._exact.get(name)
        point = rule.point if rule else None
        if point is None:
            for expression, candidate in self._patterns:
                if (fits := expression.fullmatch(name)) and (
                    meant := self._filled(candidate, fits.groupdict())
                ) in self.points.columns:
                    rule, point = candidate, meant
                    break
        if point is None:
            point = name.removeprefix(self._prefix)
        column = self.points.columns.get(point, self.points.signals.get(point))
        return None if column is None else (column, rule)

    def _filled(self, rule: Rule, words: Mapping[str, str]) -> str:
        meant = {word: self._rules.rename.get(word, {}).get(text, text) for word, text in words.items()}
        return _PLACEHOLDER.sub(lambda found: meant[found[1]], rule.point)

    def _converted(self, column: int, rule: Rule | None, unit: str | None) -> Route:
        signal = self.points.names[column].rpartition("/")[2]
        declared = (rule.unit if rule else None) or self._rules.units.get(signal) or self.points.units[column]
        said = canonical(unit or declared)
        shift, scale = conversion(said, self.points.units[column])
        if rule is None:
            return Route(column, said, shift, scale)
        # ((value * rule.scale + rule.offset) - shift) * scale, as one step
        return Route(column, said, (shift - rule.offset) / rule.scale, rule.scale * scale)


def check_rules(rules: Sequence[Rule], points: Points, where: str) -> None:
    """Refuse what can never work: unknown points, words nobody captures, units that do not fit."""
    for rule in rules:
        captured = set(_PLACEHOLDER.findall(rule.name))
        if missing := [word for word in _PLACEHOLDER.findall(rule.point) if word not in captured]:
            raise ConfigError(f"{where}: point {rule.point!r} uses {{{missing[0]}}}, which {rule.name!r} does not name")
        if len(captured) < len(_PLACEHOLDER.findall(rule.name)):
            raise ConfigError(f"{where}: {rule.name!r} names one word twice; give each its own")
        if rule.scale == 0:
            raise ConfigError(f"{where}: {rule.name!r} has scale 0: every value would be the same")
        if _PLACEHOLDER.search(rule.point):
            continue
        if rule.point not in points.columns:
            near = nearest(rule.point, points.names)
            hint = f"; did you mean {near!r}?" if near else f"; there are points like {points.names[0]!r}"
            raise ConfigError(f"{where}: {rule.name!r}: no point is named {rule.point!r}{hint}")
        if rule.unit is not None:
            try:
                conversion(rule.unit, points.units[points.columns[rule.point]])
            except SchemaError as exc:
                raise ConfigError(f"{where}: {rule.name!r}: {exc}") from exc
