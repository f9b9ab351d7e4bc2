"""The edges of a proposed plant: those of a given graph, else the usual ones, else such as the data show."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphghha.exports.equipment import Template, split_name
from graphghha.exports.learned import learn_edges
from graphghha.exports.notes import Guess
from graphghha.exports.proposed_signals import SignalProposal
from graphghha.exports.resample import STALE_STEPS
from graphghha.exports.series import Series
from graphghha.exports.topology.to_graph import in_usual_order
from graphghha.exports.usual_edges import Member, Triple, edges_between, edges_inside
from graphghha.graph import CpsGraph, Node

MOST_LONELY = 3
FEWEST_FEEDING = 3  # points of a piece that is taken to feed others because it is the only one without copies
MOST_USUAL = 8  # edges a signal, above which the data are asked
MOST_ROWS, BLOCKS, FEWEST_ROWS = 6000, 12, 256

# letters of equipment that others hang on, and of those that hang on it
_CENTRAL = (
    "AHU",
    "RTU",
    "MAU",
    "DOAS",
    "ERU",
    "HRU",
    "RLT",
    "CH",
    "CHLR",
    "BLR",
    "BOILER",
    "CHW",
    "HHW",
    "CT",
    "S",
    "AC",
)
_TERMINAL = ("VAV", "FCU", "CAV", "FPB", "FPVAV", "TU", "VVT", "RM", "ROOM", "ZN", "ZONE", "CB", "UV", "UH", "BOX")


@dataclass(frozen=True, slots=True)
class JoinedEdge:
    """An edge between two templates. Without `pairs` it joins all copies of the one with all copies of the other."""

    source: str
    role: str
    target: str
    other: str
    kind: str
    pairs: tuple[tuple[str, str], ...] = ()


Roles = Mapping[str, Sequence[SignalProposal]]  # by template


def members(signals: Sequence[SignalProposal]) -> list[Member]:
    """Return signals as members of a piece of equipment."""
    return [Member(signal.role, signal.kind, signal.purpose, signal.quantity) for signal in signals]


def inner_edges(
    template: Template, signals: Sequence[SignalProposal], alive: Mapping[str, Series], step_ms: int
) -> tuple[tuple[Triple, ...], Guess]:
    """Return the edges inside a template, and how they came about.

    Points that share no equipment, or too many of them, are joined by their readings.
    """
    usual = edges_inside(members(signals))
    if len(usual) <= MOST_USUAL * len(signals):
        return usual, Guess(
            template.name, "edges", f"{len(usual)} usual ones", "from the kinds and names of its points"
        )
    copy = max(template.copies, key=lambda each: sum((each, role) in template.points for role in template.roles))
    own = [signal for signal in signals if (copy, signal.role) in template.points]
    learned = _learned(own, [alive[template.points[copy, signal.role]] for signal in own], step_ms)
    if learned is None:
        reason = "its points are too many to join all of them, and its readings too few to learn from"
        kept = tuple(edge for edge in usual if edge[2] == "comm")[: MOST_USUAL * len(signals)]
        return kept, Guess(template.name, "edges", f"{len(kept)} usual ones", reason)
    reason = f"{len(usual)} usual ones would be too many; these are learned from its readings"
    return learned, Guess(template.name, "edges", f"{len(learned)} learned ones", reason)


def _learned(signals: Sequence[SignalProposal], series: Sequence[Series], step_ms: int) -> tuple[Triple, ...] | None:
    values = _rows(series, step_ms)
    if len(values) < FEWEST_ROWS:
        return None
    edges, _ = learn_edges(values, [""] * len(series))
    nodes = [Node(signal.role, signal.kind) for signal in signals]
    found = []
    for edge in edges:
        source, target = in_usual_order(nodes[edge.source], nodes[edge.target])
        found.append((source.name, target.name, "near"))
    return (*found, *_lonely(signals, found))


def _lonely(signals: Sequence[SignalProposal], found: Sequence[Triple]) -> Iterator[Triple]:
    """Yield edges of signals that nothing was learned about, with the few whose names have most words in common."""
    joined = {end for source, target, _ in found for end in (source, target)}
    words = {signal.role: set(signal.role.split("-")) for signal in signals}
    added: set[frozenset[str]] = set()
    for signal in signals:
        if signal.role in joined:
            continue
        for other in _alike(signal, signals, words):
            pair = frozenset((signal.role, other.role))
            if pair not in added:
                added.add(pair)
                source, target = in_usual_order(Node(signal.role, signal.kind), Node(other.role, other.kind))
                yield source.name, target.name, "near"


def _alike(
    signal: SignalProposal, signals: Sequence[SignalProposal], words: Mapping[str, set[str]]
) -> list[SignalProposal]:
    own = words[signal.role]
    others = [other for other in signals if other is not signal and words[other.role] & own]
    return sorted(others, key=lambda other: -len(words[other.role] & own))[:MOST_LONELY]


def _rows(series: Sequence[Series], step_ms: int) -> NDArray[np.float64]:
    """Return some thousand rows in blocks, at the times of the longest series: recordings may lie far apart."""
    times = max(series, key=len).times_ms
    if len(times) > MOST_ROWS:
        length = MOST_ROWS // BLOCKS
        firsts = np.linspace(0, len(times) - length, BLOCKS).astype(np.int64)
        times = times[(firsts[:, None] + np.arange(length)).ravel()]
    values = np.full((len(times), len(series)), np.nan)
    for column, each in enumerate(series):
        newest = np.searchsorted(each.times_ms, times, side="right") - 1
        age = times - each.times_ms[np.maximum(newest, 0)]
        known = (newest >= 0) & (each.holds | (age <= STALE_STEPS * max(step_ms, each.reporting.step_ms or 0)))
        values[known, column] = each.values[newest[known]]
    return values


def learned_joins(
    templates: Sequence[Template], roles: Roles, alive: Mapping[str, Series], step_ms: int
) -> tuple[tuple[JoinedEdge, ...], Guess | None]:
    """Return edges between pieces of equipment whose readings belong together, where names do not show what feeds what.

    Tags such as `LT101` and `FT101` name an instrument each: pieces with one point are taken as one piece.
    """
    place = {point: (each, *key) for each in templates for key, point in each.points.items()}
    values = _rows([alive[point] for point in place], step_ms)
    if len(values) < FEWEST_ROWS:
        return (), None
    piece = [copy if len(template.roles) > 1 else "" for template, copy, _ in place.values()]
    kinds = {(name, signal.role): signal.kind for name, own in roles.items() for signal in own}
    points = list(place)
    pairs: dict[tuple[str, str, str, str], list[tuple[str, str]]] = defaultdict(list)
    for edge in learn_edges(values, piece)[0]:
        one, other = points[edge.source], points[edge.target]
        if place[one][:2] == place[other][:2]:
            continue  # inside one piece
        nodes = [Node(point, kinds[place[point][0].name, place[point][2]]) for point in (one, other)]
        (source, copy, role), (target, other_copy, other_role) = (place[n.name] for n in in_usual_order(*nodes))
        pairs[source.name, role, target.name, other_role].append((copy, other_copy))
    joined = tuple(JoinedEdge(*key, kind="near", pairs=tuple(own)) for key, own in pairs.items())
    count = sum(len(own) for own in pairs.values())
    reason = "names do not show which piece feeds which; these are learned from their readings"
    return joined, Guess("between equipment", "edges", f"{count} learned ones", reason)


def joining_edges(
    templates: Sequence[Template], roles: Roles, parents: Mapping[str, str], site: str = ""
) -> tuple[tuple[JoinedEdge, ...], tuple[Guess, ...]]:
    """Return edges from equipment to what it feeds, and why.

    `parents` names for a copy the piece in front of it in the names of its points: `AHU1` of `AHU1/VAV-12/ZN-T`.
    The template named `site` holds the points that belong to no equipment, and feeds nothing.
    """
    edges: list[JoinedEdge] = []
    guesses: list[Guess] = []
    owner = {copy: template for template in templates for copy in template.copies}
    named = {
        copy: owner[parent] for copy, parent in parents.items() if parent in owner and owner[parent] != owner[copy]
    }
    pairs: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for copy, template in named.items():
        pairs[template.name, owner[copy].name].append((parents[copy], copy))
    by_name = {template.name: template for template in templates}
    for (source, target), joined in pairs.items():
        feeders = ", ".join(dict.fromkeys(feeder for feeder, _ in joined))
        guesses.append(Guess(target, "fed by", feeders, "it stands in front of the names"))
        edges += _joined(by_name[source], by_name[target], roles, tuple(joined))
    rest = [each for each in templates if each.name != site and not any(copy in named for copy in each.copies)]
    for central, box in _by_letters(rest):
        numbered = _by_number(central, box)
        reason = "it is the equipment that such copies usually hang on"
        if numbered:
            reason += "; their numbers begin with that of the one that feeds them"
        guesses.append(Guess(box.name, "fed by", ", ".join(central.copies), reason))
        edges += _joined(central, box, roles, numbered)
    edges += weather_edges(templates, roles, edges)
    return tuple(edges), tuple(guesses)


def weather_edges(templates: Sequence[Template], roles: Roles, known: Sequence[JoinedEdge]) -> Iterator[JoinedEdge]:
    """Yield edges from outdoor air that is measured apart from the equipment to everything that has copies."""
    joined = {(edge.source, edge.role, edge.target, edge.other) for edge in known}
    for source in templates:
        outdoor = [each for each in members(roles[source.name]) if each.is_measured and each.medium == "outdoor air"]
        for target in templates if len(source.copies) == 1 else ():
            for sensor in members(roles[target.name]) if len(target.copies) > 1 else ():
                for own in outdoor:
                    key = (source.name, own.name, target.name, sensor.name)
                    if sensor.is_measured and sensor.quantity == own.quantity and key not in joined:
                        yield JoinedEdge(*key, kind="near")


def _joined(
    source: Template, target: Template, roles: Roles, pairs: tuple[tuple[str, str], ...]
) -> Iterator[JoinedEdge]:
    every = {(one, other) for one in source.copies for other in target.copies}
    kept = () if set(pairs) == every else pairs
    for role, other, kind in edges_between(members(roles[source.name]), members(roles[target.name])):
        yield JoinedEdge(source.name, role, target.name, other, kind, kept)


def _by_letters(templates: Sequence[Template]) -> Iterator[tuple[Template, Template]]:
    """Yield central equipment with the copies that may hang on it.

    Copies with letters that are not those of a terminal hang on the only large piece: of two nobody knows which it is.
    """

    def letters(template: Template) -> str:
        return "".join(mark for mark in template.copies[0].upper() if mark.isalpha())

    boxes = [each for each in templates if len(each.copies) > 1 and not letters(each).startswith(_CENTRAL[:8])]
    named = [each for each in boxes if letters(each) in _TERMINAL]
    central = [each for each in templates if letters(each) in _CENTRAL and each not in boxes]
    single = [each for each in templates if len(each.copies) == 1 and len(each.roles) >= FEWEST_FEEDING]
    if not named and any(source not in central for source in single):
        central = [source for source in central if source in single and len(single) == 1]
    for box in named or boxes:
        for source in central or (single if len(single) == 1 else []):
            if source is not box:
                yield source, box


def _by_number(central: Template, box: Template) -> tuple[tuple[str, str], ...]:
    """Return which copy feeds which if numbers show it: AHU-1 feeds VAV-1-04 and VAV-104, AHU_N feeds VAV_N04."""
    if len(central.copies) < 2:
        return ()
    heads = {copy: _number(copy).lstrip("0") for copy in central.copies}
    pairs = []
    for copy in box.copies:
        number = _number(copy).lstrip("0")
        first, _, more = number.partition("-")
        above = [
            source
            for source, head in heads.items()
            if head and (first == head if more else number.startswith(head) and len(number) >= len(head) + 2)
        ]
        if len(above) != 1:
            return ()
        pairs.append((above[0], copy))
    return tuple(pairs)


def _number(copy: str) -> str:
    """Return what stands behind the letters of a piece of equipment: `1-04` of `VAV-1-04`."""
    return split_name(f"{copy}/x")[1]


def edges_of_graph(
    graph: CpsGraph, place: Mapping[str, tuple[str, str, str]]
) -> tuple[dict[str, tuple[Triple, ...]], tuple[JoinedEdge, ...]]:
    """Return the edges of a given graph: inside templates, and between them or between copies.

    `place` gives template, copy and role of a node. An edge inside one copy holds for all copies of its template.
    """
    inside: dict[str, dict[Triple, None]] = defaultdict(dict)
    between: dict[tuple[str, str, str, str, str], list[tuple[str, str]]] = defaultdict(list)
    copies: Counter[str] = Counter(template for template, _ in {each[:2] for each in place.values()})
    for edge in graph.edges:
        if edge.source not in place or edge.target not in place:
            continue
        (source, copy, role), (target, other_copy, other) = place[edge.source], place[edge.target]
        if (source, copy) == (target, other_copy):
            inside[source][role, other, str(edge.kind)] = None
        else:
            between[source, role, target, other, str(edge.kind)].append((copy, other_copy))
    joined = []
    for key, pairs in between.items():
        every = copies[key[0]] * copies[key[2]]
        joined.append(JoinedEdge(*key, pairs=() if len(pairs) == every and key[0] != key[2] else tuple(pairs)))
    return {name: tuple(found) for name, found in inside.items()}, tuple(joined)
