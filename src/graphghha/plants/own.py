"""A plant of the user's own: `plant.toml`, as `graphghha plant new` proposes it, becomes a plant.

A node is named like its column in the user's files, so that alarms, scores and labels use the user's names. A
signal without a column is named by its copy and role. Readings stay in the unit of the file.
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphghha._util.suggest import did_you_mean
from graphghha.errors import ConfigError, DataError, GraphError
from graphghha.graph import CpsGraph, Edge, Node
from graphghha.plants.base import Plant, Reporting, Signal

KINDS = ("sensor", "controller", "actuator")
ENCODINGS = ("float32 bits", "signed 16 bit")
STALE_STEPS = 3
_DAY_S = 86_400.0
_NODE_KEYS = ("name", "kind", "columns", "missing", "shared")
_SIGNAL_KEYS = (
    *("purpose", "quantity", "unit", "limits", "resolution", "sampling", "stale_after_s", "states", "words"),
    *("encoding", *_NODE_KEYS),
)
_PLANT_KEYS = ("format", "name", "title", "step_s", "zone", "dates", "labels")
_DATES = ("day first", "month first", "year first")
_Key = tuple[str, str, str]  # template, copy, role


def read_plant(path: Path) -> Plant:
    """Read a plant file; ConfigError says which entry is wrong and what to write instead."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise DataError(f"{path}: cannot be read as a plant file: {exc}; `graphghha plant new` writes one") from exc
    return parse_plant(text, str(path))


def parse_plant(text: str, where: str = "plant.toml") -> Plant:
    """Return the plant that a text in TOML describes."""
    try:
        raw = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as exc:
        raise ConfigError(f"{where}: not TOML: {exc}") from exc
    head = _table(raw.get("plant"), f"{where}: [plant]")
    _refuse_unknown(raw, ("plant", "template", "edge"), where)
    _refuse_unknown(head, _PLANT_KEYS, f"{where}: [plant]")
    step_s = _number(head.get("step_s"), f"{where}: plant.step_s")
    if not 0 < step_s <= _DAY_S:
        raise ConfigError(f"{where}: plant.step_s {step_s:g} must be above 0 and at most a day")
    dates = str(head.get("dates", ""))
    if dates and dates not in _DATES:
        raise ConfigError(f"{where}: plant.dates {dates!r} is unknown; use {' | '.join(_DATES)}")
    templates = _tables(raw.get("template"), f"{where}: [[template]]")
    if not templates:
        raise ConfigError(f"{where}: there is no [[template]]; a plant needs at least one with a [[template.signal]]")
    parts = _Parts(where, step_s)
    for template in templates:
        parts.add(template)
    for number, edge in enumerate(_tables(raw.get("edge", []), f"{where}: [[edge]]"), start=1):
        parts.join(edge, f"{where}: [[edge]] {number}")
    try:
        graph = CpsGraph(parts.nodes, parts.edges.values())
    except GraphError as exc:
        raise GraphError(f"{where}: {exc}") from exc
    name = str(head.get("name") or "plant")
    return Plant(
        name=name,
        title=str(head.get("title") or name),
        template=graph,
        signals=tuple(parts.signals),
        step_s=step_s,
        text=text,
        reporting=parts.reporting,
        time_zone=str(head["zone"]) if head.get("zone") else None,
        dates=dates,
        label_columns=tuple(map(str, head.get("labels", ()))),
    )


class _Parts:
    """Collects the nodes, signals and edges of a plant file."""

    def __init__(self, where: str, step_s: float) -> None:
        self.where, self.step_s = where, step_s
        self.nodes: list[Node] = []
        self.signals: list[Signal] = []
        self.reporting: dict[str, Reporting] = {}
        self.edges: dict[tuple[str, str], Edge] = {}
        self._names: dict[_Key, str] = {}
        self._copies: dict[str, tuple[str, ...]] = {}
        self._roles: dict[str, list[str]] = {}

    def add(self, template: Mapping[str, Any]) -> None:
        """Take one template with its signals and edges."""
        name = _text(template.get("name"), f"{self.where}: template.name")
        where = f"{self.where}: template {name!r}"
        if name in self._copies:
            raise ConfigError(f"{where}: the name is given twice")
        _refuse_unknown(template, ("name", "copies", "edges", "signal", "equipment"), where)
        copies = tuple(map(str, template.get("copies") or (name,)))
        self._copies[name], self._roles[name] = copies, []
        for signal in _tables(template.get("signal", []), f"{where}: [[template.signal]]"):
            self._add_signal(name, copies, signal, where)
        for equipment in _tables(template.get("equipment", []), f"{where}: [[template.equipment]]"):
            _refuse_unknown(equipment, _NODE_KEYS, f"{where}: equipment {equipment.get('name')!r}")
            self._add_nodes(name, copies, equipment, where, has_signal=False)
        for edge in template.get("edges", []):
            if not isinstance(edge, Sequence) or len(edge) != 3:
                raise ConfigError(f"{where}: edges: {edge!r} must be [from, to, kind]")
            source, target, kind = map(str, edge)
            for copy in copies:
                self._edge((name, copy, source), (name, copy, target), kind, where)

    def join(self, edge: Mapping[str, Any], where: str) -> None:
        """Take an edge between two templates, which holds for all of their copies."""
        _refuse_unknown(edge, ("from", "to", "kind", "pairs"), where)
        ends = []
        for key in ("from", "to"):
            text = _text(edge.get(key), f"{where}: {key}")
            template = next((each for each in self._copies if text.startswith(f"{each}/")), None)
            if template is None:
                hint = did_you_mean(text.partition("/")[0], self._copies)
                raise ConfigError(f"{where}: {key} = {text!r} must be TEMPLATE/SIGNAL{hint}")
            ends.append((template, text[len(template) + 1 :]))
        (source, role), (target, other) = ends
        own, others = self._copies[source], self._copies[target]
        pairs = [(copy, further) for copy in own for further in others if source != target or copy == further]
        if "pairs" in edge:
            pairs = [self._pair(pair, own, others, where) for pair in edge["pairs"]]
        for copy, further in pairs:
            self._edge((source, copy, role), (target, further, other), str(edge.get("kind", "phys")), where)

    def _pair(self, pair: Any, own: Sequence[str], others: Sequence[str], where: str) -> tuple[str, str]:
        if not isinstance(pair, list) or len(pair) != 2 or pair[0] not in own or pair[1] not in others:
            raise ConfigError(f"{where}: pairs: {pair!r} must be a copy of each template: [{own[0]!r}, {others[0]!r}]")
        return str(pair[0]), str(pair[1])

    def _add_signal(self, template: str, copies: tuple[str, ...], signal: Mapping[str, Any], where: str) -> None:
        role = _text(signal.get("name"), f"{where}: signal.name")
        where = f"{where}: signal {role!r}"
        _refuse_unknown(signal, _SIGNAL_KEYS, where)
        low, high = _limits(signal.get("limits"), where)
        states = tuple(map(str, signal.get("states", ())))
        if states:
            low, high = 0.0, float(len(states) - 1)
        encoding = str(signal.get("encoding", ""))
        if encoding and encoding not in ENCODINGS:
            raise ConfigError(f"{where}: encoding {encoding!r} is unknown; use {' | '.join(ENCODINGS)}")
        words = _table(signal.get("words", {}), f"{where}: words")
        codes = {str(word).lower(): _number(code, f"{where}: words.{word}") for word, code in words.items()}
        sampling = signal.get("sampling", self.step_s)
        is_held = isinstance(sampling, str)
        if is_held and sampling not in ("cov", "event"):
            raise ConfigError(f'{where}: sampling {sampling!r} must be seconds, "cov" or "event"')
        own_s = self.step_s if is_held else _number(sampling, f"{where}: sampling")
        usual_s = STALE_STEPS * max(own_s, self.step_s)
        stale_s = _number(signal.get("stale_after_s", usual_s), f"{where}: stale_after_s")
        resolution = signal.get("resolution")
        for node, column in self._add_nodes(template, copies, signal, where, has_signal=True):
            self.signals.append(
                Signal(
                    name=node,
                    meaning=role,
                    unit=str(signal.get("unit", "")),
                    low=low,
                    high=high,
                    noise=_number(resolution, f"{where}: resolution") if resolution is not None else 0.0,
                    states=states,
                )
            )
            self.reporting[node] = Reporting(
                column=column,
                alias=self._alias(template, node),
                stale_after_s=max(stale_s, self.step_s),
                is_held=is_held,
                encoding=encoding,
                words=codes,
                resolution=float(resolution) if resolution is not None else None,
            )

    def _add_nodes(
        self, template: str, copies: tuple[str, ...], entry: Mapping[str, Any], where: str, *, has_signal: bool
    ) -> list[tuple[str, str]]:
        """Add a node for each copy that has this role; return names and columns."""
        role = _text(entry.get("name"), f"{where}: name")
        kind = entry.get("kind", "sensor" if has_signal else "actuator")
        if kind not in KINDS:
            raise ConfigError(f"{where}: kind {kind!r} is unknown; use {' | '.join(KINDS)}")
        columns = entry.get("columns", {})
        if isinstance(columns, str):
            columns = dict.fromkeys(copies[:1], columns)
        columns = _table(columns, f"{where}: columns")
        if unknown := next((each for each in columns if each not in copies), None):
            raise ConfigError(f"{where}: columns: no copy is named {unknown!r}{did_you_mean(unknown, copies)}")
        missing = set(map(str, entry.get("missing", ())))
        self._roles[template].append(role)
        if entry.get("shared") and len(copies) > 1:
            return [
                self._add_shared(template, [copy for copy in copies if copy not in missing], role, kind, columns, where)
            ]
        added = []
        for copy in copies:
            if copy in missing or (columns and copy not in columns):
                continue
            plain = role if len(self._copies) == 1 and len(copies) == 1 else f"{copy}/{role}"
            column = str(columns.get(copy, plain))
            name = column if column not in {node.name for node in self.nodes} else plain
            self._names[template, copy, role] = name
            self.nodes.append(Node(name, kind, f"{template}/{role}", name if has_signal else None))
            added.append((name, column))
        return added

    def _add_shared(
        self, template: str, copies: Sequence[str], role: str, kind: Any, columns: Mapping[str, Any], where: str
    ) -> tuple[str, str]:
        """Add one node that these copies share; return its name and column."""
        distinct = list(dict.fromkeys(map(str, columns.values())))
        if len(distinct) != 1:
            raise ConfigError(
                f"{where}: is shared by all copies, so `columns` must name one column, not {len(distinct)}"
            )
        self.nodes.append(Node(distinct[0], kind, f"{template}/{role}", distinct[0]))
        self._names |= {(template, copy, role): distinct[0] for copy in copies}
        return distinct[0], distinct[0]

    def _alias(self, template: str, node: str) -> str:
        return next(f"{copy}/{role}" for (each, copy, role), name in self._names.items() if name == node)

    def _edge(self, source: _Key, target: _Key, kind: str, where: str) -> None:
        for template, _, role in (source, target):
            if role not in self._roles[template]:
                hint = did_you_mean(role, self._roles[template])
                raise ConfigError(f"{where}: edges: template {template!r} has no signal {role!r}{hint}")
        names = [self._names.get(key) for key in (source, target)]
        if names[0] is not None and names[1] is not None and names[0] != names[1]:
            self.edges.setdefault((names[0], names[1]), Edge(names[0], names[1], kind))


def _refuse_unknown(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    """Refuse keys that mean nothing: a misspelled one would be without effect."""
    if unknown := next((key for key in table if key not in known), None):
        raise ConfigError(
            f"{where}: {unknown!r} is unknown{did_you_mean(unknown, known) or '; use ' + ' | '.join(known)}"
        )


def _limits(limits: Any, where: str) -> tuple[float, float]:
    if not limits:
        return -math.inf, math.inf
    if not isinstance(limits, list) or len(limits) != 2:
        raise ConfigError(f"{where}: limits {limits!r} must be [lowest, highest] of the instrument")
    low, high = (_number(each, f"{where}: limits") for each in limits)
    if low >= high:
        raise ConfigError(f"{where}: limits [{low:g}, {high:g}]: the first must be below the second")
    return low, high


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where} is missing or not a table")
    return value


def _tables(value: Any, where: str) -> list[Mapping[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise ConfigError(f"{where} must be tables in double brackets")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{where} must be a text")
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigError(f"{where} must be a number, found {value!r}")
    return float(value)
