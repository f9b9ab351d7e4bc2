"""Proposes a plant from an export: templates and their copies, signals, shared nodes and edges.

Equipment comes from names, or from a graph that the user has; what was guessed and left out is kept with the reason.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from graphghha.errors import DataError, GraphError
from graphghha.exports.dialects import recognize
from graphghha.exports.equipment import Template, find_templates, parent_of
from graphghha.exports.naming import LABEL, UNKNOWN
from graphghha.exports.notes import Guess, Omission
from graphghha.exports.parts import merge_parts
from graphghha.exports.proposed_edges import (
    JoinedEdge,
    edges_of_graph,
    inner_edges,
    joining_edges,
    learned_joins,
    weather_edges,
)
from graphghha.exports.proposed_signals import SignalProposal, propose_signal
from graphghha.exports.reader import Export
from graphghha.exports.resample import common_step_ms
from graphghha.exports.series import Series
from graphghha.exports.suspicions import counts_up
from graphghha.exports.usual_edges import Triple, shared_medium
from graphghha.graph import CpsGraph, Edge, Node

__all__ = ["JoinedEdge", "PlantProposal", "SignalProposal", "TemplateProposal", "propose_plant"]


@dataclass(frozen=True, slots=True)
class TemplateProposal:
    """A kind of equipment with its signals, the edges between them, and equipment without a signal."""

    name: str
    copies: tuple[str, ...]
    signals: tuple[SignalProposal, ...]
    edges: tuple[Triple, ...]
    equipment: tuple[tuple[str, str], ...] = ()  # name, kind


@dataclass(frozen=True, slots=True)
class PlantProposal:
    """A plant as it may be: a person looks it through before it is used."""

    name: str
    step_s: float
    zone: str
    templates: tuple[TemplateProposal, ...]
    shared_edges: tuple[JoinedEdge, ...]
    labels: tuple[str, ...]  # columns that label attacks
    guesses: tuple[Guess, ...]
    omissions: tuple[Omission, ...]
    dates: str = ""  # the order of day and month where the files show it; later ones may not


def propose_plant(export: Export, name: str, graph: CpsGraph | None = None) -> PlantProposal:
    """Return a plant for the points of an export. A graph gives kinds, equipment, roles and edges."""
    merged = merge_parts(export.series)
    labels = tuple(each.name for each in merged if each.kind.role == LABEL)
    alive = {each.name: each for each in merged if len(each) and each.kind.role != LABEL}
    omissions = [each for each in export.omissions if each.what in ("file", "column", "point")]
    omissions += [Omission(each.name, "point", 1, _why_dead(each)) for each in merged if not len(each)]
    meters = [point for point, each in alive.items() if not each.states and counts_up(each.values)]
    reason = "it only ever grows, like a meter: what it reads next week lies beyond all it has read"
    omissions += [Omission(point, "point", 1, reason) for point in meters]
    alive = {point: each for point, each in alive.items() if point not in meters}
    if not alive:
        raise DataError(f"{name}: there is no point with a reading; `graphghha data check` says what was left out")
    measured = [each for each in alive.values() if each.kind.purpose in ("measurement", "position", UNKNOWN)]
    step_ms = common_step_ms(measured) or common_step_ms(list(alive.values()))
    guesses = [*_dialect(export, list(alive)), *export.guesses]
    if export.zone.is_stated and not any(guess.what == "time zone" for guess in guesses):
        guesses.append(Guess(name, "time zone", export.zone.clock.zone, export.zone.reason))
    if step_ms is None:
        step_ms = 60_000
        guesses.append(Guess(name, "step", "60 s", "no point is sampled at a fixed interval"))
    given = _Given(graph, alive) if graph is not None else None
    stated = given.stated if given else {}
    kinds = {point: series.kind for point, series in alive.items()}
    units = {point: series.stated_unit for point, series in alive.items()}
    templates, found = find_templates(kinds, name, stated, units)
    signals = {template.name: _signals(template, alive, given) for template in templates}
    guesses += found + _unknown(signals)
    if given is None:
        inside, between, more = _guessed_edges(templates, signals, alive, step_ms, name)
    else:
        inside, between, more = _given_edges(templates, signals, given)
        omissions += given.omissions
    proposals = tuple(
        TemplateProposal(
            template.name,
            template.copies,
            _shared(template, signals[template.name], between),
            inside.get(template.name, ()),
            given.equipment.get(template.name, ()) if given else (),
        )
        for template in templates
    )
    _check_rules(proposals)
    return PlantProposal(
        name=name,
        step_s=step_ms / 1000,
        zone=export.zone.clock.zone,
        templates=proposals,
        shared_edges=between,
        labels=labels,
        guesses=(*guesses, *more),
        omissions=tuple(omissions),
        dates=_dates(export.guesses),
    )


def _dates(guesses: Iterable[Guess]) -> str:
    """Return the order of dates that the files of an export agree on, or nothing."""
    orders = {guess.value for guess in guesses if guess.what == "dates"}
    return orders.pop() if len(orders) == 1 else ""


def _why_dead(series: Series) -> str:
    return max(series.omissions, key=lambda each: each.count).reason if series.omissions else "it has no reading"


def _dialect(export: Export, names: Sequence[str]) -> list[Guess]:
    by_file: dict[str, set[str]] = {}
    for series in export.series:
        by_file.setdefault(str(series.file), set()).add(series.column.lower())
    columns = [
        frozenset(own | set(report.columns)) for report in export.files if (own := by_file.get(str(report.path)))
    ]
    found = recognize(names, columns)
    if found is None:
        return []
    dialect, reason = found
    return [Guess("files", "dialect", dialect.name, f"{reason} ({dialect.about})")]


def _signals(template: Template, alive: Mapping[str, Series], given: "_Given | None") -> tuple[SignalProposal, ...]:
    signals = []
    for role in template.roles:
        columns = [(copy, template.points[copy, role]) for copy in template.copies if (copy, role) in template.points]
        kinds = {given.kinds[point] for _, point in columns if point in given.kinds} if given else set()
        series = [alive[point] for _, point in columns]
        signals.append(propose_signal(role, columns, series, template.missing(role), *sorted(kinds)[:1]))
    return tuple(signals)


def _unknown(signals: Mapping[str, Sequence[SignalProposal]]) -> tuple[Guess, ...]:
    return tuple(
        Guess(column, "kind", signal.kind, "neither its name nor its unit shows it")
        for own in signals.values()
        for signal in own
        if signal.purpose == UNKNOWN
        for _, column in signal.columns
    )


def _guessed_edges(
    templates: Sequence[Template],
    signals: Mapping[str, Sequence[SignalProposal]],
    alive: Mapping[str, Series],
    step_ms: int,
    site: str,
) -> tuple[dict[str, tuple[Triple, ...]], tuple[JoinedEdge, ...], list[Guess]]:
    inside, guesses = {}, []
    for template in templates:
        inside[template.name], guess = inner_edges(template, signals[template.name], alive, step_ms)
        guesses.append(guess)
    parents = {
        copy: parent
        for template in templates
        for (copy, _), point in template.points.items()
        if (parent := parent_of(point))
    }
    between, more = joining_edges(templates, signals, parents, site)
    if len(templates) > 1 and not more:  # names show no piece that feeds another; outdoor air at most is shared
        joined, learned = learned_joins(templates, signals, alive, step_ms)
        known = {(edge.source, edge.role, edge.target, edge.other) for edge in between}
        between += tuple(edge for edge in joined if (edge.source, edge.role, edge.target, edge.other) not in known)
        more = (*more, learned) if learned else more
    return inside, between, [*guesses, *more]


def _given_edges(
    templates: Sequence[Template], signals: Mapping[str, Sequence[SignalProposal]], given: "_Given"
) -> tuple[dict[str, tuple[Triple, ...]], tuple[JoinedEdge, ...], list[Guess]]:
    place = {
        given.node_of[point]: (template.name, copy, role)
        for template in templates
        for (copy, role), point in template.points.items()
        if point in given.node_of
    }
    place |= given.place_equipment(templates, place)
    inside, between = edges_of_graph(given.graph, place)
    absent = {point for t in templates for point in t.points.values() if point not in given.node_of}
    strangers = [t for t in templates if absent.issuperset(t.points.values())]
    weather = [
        edge for edge in weather_edges(templates, signals, between) if edge.source in {each.name for each in strangers}
    ]
    explained = {t.points[t.copies[0], edge.role] for t in strangers for edge in weather if edge.source == t.name}
    reason = "the graph has no such node"
    guesses = [Guess(point, "edges", "none", f"{reason}; it gets no edge") for point in sorted(absent - explained)]
    guesses += [Guess(point, "edges", "to all copies", f"{reason}; it is outdoor air") for point in sorted(explained)]
    return inside, between + tuple(weather), guesses


def _shared(
    template: Template, signals: Sequence[SignalProposal], between: Sequence[JoinedEdge]
) -> tuple[SignalProposal, ...]:
    """Mark what several pieces share: the media that a piece without copies hands to others."""
    if len(template.copies) > 1:
        return tuple(signals)
    handed = {edge.role for edge in between if edge.source == template.name}
    return tuple(
        replace(signal, is_shared=True, remarks=(*signal.remarks, f"shared: {medium}"))
        if signal.role in handed and (medium := shared_medium(signal.role)) and signal.kind == "sensor"
        else signal
        for signal in signals
    )


def _check_rules(templates: Sequence[TemplateProposal]) -> None:
    for template in templates:
        nodes = [Node(signal.role, signal.kind) for signal in template.signals]
        nodes += [Node(name, kind) for name, kind in template.equipment]
        try:
            CpsGraph(nodes, [Edge(*edge) for edge in template.edges])
        except GraphError as exc:
            raise GraphError(f"template {template.name!r}: {exc}") from exc


class _Given:
    """A graph that the user gave, matched with the points of the export by signal or name."""

    def __init__(self, graph: CpsGraph, alive: Mapping[str, Series]) -> None:
        self.graph = graph
        self.node_of: dict[str, str] = {}  # point -> node
        self.kinds: dict[str, str] = {}
        self.stated: dict[str, tuple[str, str]] = {}  # point -> copy, role
        self.omissions: list[Omission] = []
        self.equipment: dict[str, tuple[tuple[str, str], ...]] = {}
        by_plain = {_plain(point): point for point in alive}
        for node in graph.nodes:
            texts = [text for text in (node.signal, node.name) if text]
            point = next((by_plain[_plain(text)] for text in texts if _plain(text) in by_plain), None)
            if point is None:
                if node.signal is not None:
                    reason = "no point of the data has its name or signal"
                    self.omissions.append(Omission(node.name, "node", 1, reason))
                continue
            self.node_of[point], self.kinds[point] = node.name, str(node.kind)
            if node.zone is not None:
                self.stated[point] = (node.zone, node.role)
        if not self.node_of:
            raise GraphError(
                f"the graph and the data have no point in common: it has {', '.join(graph.names[:3])} .., the data "
                f"have {', '.join(list(alive)[:3])} ..; give the nodes a signal that is the name of a column"
            )

    def place_equipment(
        self, templates: Sequence[Template], place: Mapping[str, tuple[str, str, str]]
    ) -> dict[str, tuple[str, str, str]]:
        """Give nodes without a signal to the template of their zone, else to that of most of their neighbors."""
        owner = {copy: template.name for template in templates for copy in template.copies}
        found: dict[str, tuple[str, str, str]] = {}
        waiting = [node for node in self.graph.nodes if node.signal is None and node.name not in place]
        while waiting:
            placed = {node.name: home for node in waiting if (home := self._home(node, owner, {**place, **found}))}
            for node in waiting:
                if node.name in placed:
                    template, copy = placed[node.name]
                    role = node.role if node.zone else node.name
                    found[node.name] = (template, copy, role)
                    known = self.equipment.get(template, ())
                    self.equipment[template] = tuple(dict.fromkeys([*known, (role, str(node.kind))]))
            waiting = [node for node in waiting if node.name not in placed]
            if not placed:
                reason = "it has no signal and is joined to no node that has one"
                self.omissions += [Omission(node.name, "node", 1, reason) for node in waiting]
                break
        return found

    def _home(
        self, node: Node, owner: Mapping[str, str], place: Mapping[str, tuple[str, str, str]]
    ) -> tuple[str, str] | None:
        if node.zone is not None and node.zone in owner:
            return owner[node.zone], node.zone
        near = [
            place[other][:2]
            for edge in self.graph.edges
            if node.name in (edge.source, edge.target)
            for other in (edge.source, edge.target)
            if other in place
        ]
        return max(near, key=near.count, default=None)


def _plain(text: str) -> str:
    return "".join(mark for mark in text.lower() if mark.isalnum()) or text
