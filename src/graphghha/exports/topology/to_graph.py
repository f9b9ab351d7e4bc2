"""From a sheet to a graph: points become nodes, parts join their piece, and what feeds what becomes edges."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphghha.errors import GraphError
from graphghha.exports.equipment import alike_pieces, role_of, split_name
from graphghha.exports.naming import ACTUATOR, UNKNOWN, Kind
from graphghha.exports.notes import Guess, Omission
from graphghha.exports.topology.kinds import kind_of_point
from graphghha.exports.topology.sheet import Sheet, SheetPoint
from graphghha.exports.usual_edges import Member, edges_between, edges_inside
from graphghha.graph import RULES, CpsGraph, Edge, EdgeKind, Node, NodeKind

MOST_FEEDS = 200_000  # edges


@dataclass(frozen=True, slots=True)
class Imported:
    """A graph, and what was guessed or left out on the way to it."""

    graph: CpsGraph
    guesses: tuple[Guess, ...]
    omissions: tuple[Omission, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what was guessed and left out as JSON values."""
        return {
            "nodes": self.graph.num_nodes,
            "edges": self.graph.num_edges,
            "zones": list(self.graph.zone_names),
            "guesses": [guess.to_dict() for guess in self.guesses],
            "left_out": [omission.to_dict() for omission in self.omissions],
        }


def graph_of_sheet(sheet: Sheet, where: str) -> Imported:
    """Return the graph of a sheet; a GraphError says what to change if there is none."""
    guesses: list[Guess] = []
    omissions = list(sheet.unmapped)
    kinds: dict[str, Kind] = {}
    points: list[SheetPoint] = []
    for point in sheet.points:
        kind = _kind(point)
        if kind is None:
            reason = "neither its class nor its name shows whether it is a sensor, a controller or an actuator"
            omissions.append(Omission(point.name, "point", 1, f"{reason}; state its kind"))
            continue
        if not point.kind:
            guesses.append(Guess(point.name, "kind", kind.role, kind.reason))
        kinds[point.name] = kind
        points.append(point)
    if not points:
        raise GraphError(
            f"{where}: no point could be used; give at least one with a kind: sensor | controller | actuator"
        )
    pieces = _Pieces(sheet, points, kinds)
    omissions += pieces.omissions
    nodes = pieces.nodes()
    edges = _edges(sheet, pieces, {node.name: node for node in nodes}, omissions)
    try:
        return Imported(CpsGraph(nodes, edges), tuple(guesses), tuple(omissions))
    except GraphError as exc:
        raise GraphError(f"{where}: {exc}") from exc


def _kind(point: SheetPoint) -> Kind | None:
    found = kind_of_point(point.name, point.what)
    if not point.kind:
        return found
    if found and found.role == point.kind:
        return found
    return Kind(point.kind, UNKNOWN, found.quantity if found else None, "stated")


class _Pieces:
    """The pieces of a sheet: equipment that is part of no other, with the points of all its parts."""

    def __init__(self, sheet: Sheet, points: Sequence[SheetPoint], kinds: Mapping[str, Kind]) -> None:
        self.omissions: list[Omission] = []
        self.kinds = kinds
        self._parent = {piece.name: piece.part_of for piece in sheet.equipment if piece.part_of}
        self._what = {piece.name: piece.what for piece in sheet.equipment}
        self.points: dict[str, list[SheetPoint]] = defaultdict(list)  # by piece
        self._parts: dict[str, list[SheetPoint]] = defaultdict(list)  # by part itself
        for point in points:
            self.points[self.root(point.equipment)].append(point)
            self._parts[point.equipment].append(point)
        self.roles = {point.name: self._role(point) for point in points}
        self.zones = self._zones()
        self.bodies = self._bodies()  # part without an actuator -> its node

    def root(self, name: str) -> str:
        """Return the piece that a part belongs to."""
        seen = {name}
        while (parent := self._parent.get(name)) and parent not in seen:
            seen.add(parent)
            name = parent
        return name

    def _role(self, point: SheetPoint) -> str:
        if point.role:
            return point.role
        rest = point.name
        piece = self.root(point.equipment)
        if piece and rest.lower().startswith(piece.lower()) and len(rest) > len(piece) + 1:
            rest = rest[len(piece) :].strip("-_./: ")
        elif split_name(rest)[0]:
            rest = split_name(rest)[2]
        return role_of(rest, self.kinds[point.name])

    def _zones(self) -> dict[str, str]:
        """Return the zone of each piece that has copies: pieces with the same letters that share most roles."""
        groups: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
        for piece, points in self.points.items():
            if piece:
                letters = self._what.get(piece) or split_name(f"{piece}_x")[0] or piece
                groups[letters][piece] = {self.roles[point.name]: point.name for point in points}
        found: dict[str, str] = {}
        for pieces in groups.values():
            for group in alike_pieces(pieces):
                if len(group) > 1:
                    found |= {piece: piece for piece in group}
        return found

    def _bodies(self) -> dict[str, str]:
        """Return a name for each piece of equipment that measures something and commands nothing."""
        taken = set(self.roles)
        found: dict[str, str] = {}
        for part, points in self._parts.items():
            is_space = any(word in f"{self._what.get(part, '')} {part}".lower() for word in ("zone", "room", "space"))
            has_actuator = any(self.kinds[point.name].role == ACTUATOR for point in points)
            if part in self._parent and not has_actuator and not is_space:
                found[part] = part if part not in taken else f"{part} (equipment)"
        return found

    def nodes(self) -> list[Node]:
        names = [
            Node(
                point.name,
                self.kinds[point.name].role,
                role=self.roles[point.name],
                signal=point.signal or point.name,
                zone=self.zones.get(piece),
            )
            for piece, points in self.points.items()
            for point in points
        ]
        counts = Counter((node.zone, node.role) for node in names)
        unique = [
            Node(node.name, node.kind, node.name, node.signal, node.zone) if counts[node.zone, node.role] > 1 else node
            for node in names
        ]
        bodies = [
            Node(name, NodeKind.ACTUATOR, zone=self.zones.get(self.root(part))) for part, name in self.bodies.items()
        ]
        return unique + bodies

    def members(self, piece: str) -> list[Member]:
        """Return the nodes of a piece, named by their roles."""
        return [
            Member(
                point.name, (kind := self.kinds[point.name]).role, kind.purpose, kind.quantity, self.roles[point.name]
            )
            for point in self.points.get(piece, ())
        ]

    def parts(self) -> Iterator[tuple[str, str, list[SheetPoint]]]:
        for part, name in self.bodies.items():
            yield part, name, self._parts[part]


def _edges(sheet: Sheet, pieces: _Pieces, nodes: Mapping[str, Node], omissions: list[Omission]) -> list[Edge]:
    found: dict[tuple[str, str], Edge] = {}

    def add(source: str, target: str, kind: str, reason: str) -> None:
        is_back = kind == "near" and (target, source) in found  # comm one way and phys the other is a loop
        if source != target and not is_back:
            found.setdefault((source, target), Edge(source, target, kind, reason))

    for source, target in sheet.links:
        if source in nodes and target in nodes:
            add(source, target, usual_kind(nodes[source], nodes[target]), "stated between the points")
        else:
            absent = source if source not in nodes else target
            omissions.append(Omission(f"{source} -> {target}", "edge", 1, f"{absent!r} is not a node"))
    for piece in pieces.points:
        if piece:
            for source, target, kind in edges_inside(pieces.members(piece)):
                add(source, target, kind, f"points of {piece}")
    for part, name, points in pieces.parts():
        for point in points:
            if nodes[point.name].kind == NodeKind.SENSOR:
                add(name, point.name, "phys", f"measured at {part}")
    for fed in sheet.equipment:
        for feeder in fed.fed_by:
            upstream, downstream = pieces.root(feeder), pieces.root(fed.name)
            if upstream == downstream:
                continue
            triples = edges_between(pieces.members(upstream), pieces.members(downstream))
            if not triples:
                reason = "one of them has no point that the other could move or explain"
                omissions.append(Omission(f"{feeder} feeds {fed.name}", "edge", 1, reason))
            for source, target, kind in triples[: max(0, MOST_FEEDS - len(found))]:
                add(source, target, kind, f"{feeder} feeds {fed.name}")
    return list(found.values())


def usual_kind(source: Node, target: Node) -> EdgeKind:
    """Return comm or phys where the kinds of two nodes allow it, else near."""
    for kind in (EdgeKind.PHYS, EdgeKind.COMM):
        senders, receivers, _ = RULES[kind]
        if source.kind in senders and target.kind in receivers:
            return kind
    return EdgeKind.NEAR


def in_usual_order(one: Node, other: Node) -> tuple[Node, Node]:
    """Return two nodes in the order in which an edge usually goes: actuator, sensor, controller, actuator."""
    following = {NodeKind.ACTUATOR: NodeKind.SENSOR, NodeKind.SENSOR: NodeKind.CONTROLLER}
    goes_back = following.get(NodeKind(other.kind), NodeKind.ACTUATOR) == one.kind
    return (other, one) if goes_back and one.kind != other.kind else (one, other)
