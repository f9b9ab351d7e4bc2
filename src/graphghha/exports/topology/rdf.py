"""Brick and ASHRAE 223P models in Turtle, as sheets.

Brick: `hasPoint`, `hasPart`, `feeds` and their inverses. 223P: `hasProperty`, `contains`, `observes`, functions with
their inputs and outputs, and connections, which are contracted: a duct or a pipe joins the equipment at its two ends.
"""

from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphghha.errors import DataError, EngineError
from graphghha.exports.notes import Omission
from graphghha.exports.topology.sheet import Sheet, SheetEquipment, SheetPoint

if TYPE_CHECKING:
    from rdflib import Graph

BRICK = "https://brickschema.org/schema/Brick#"
S223 = "http://data.ashrae.org/standard223#"
LARGEST = 200 << 20  # bytes

# predicates by their last part: what they mean with the subject first (+) or last (-)
_POINT = {"hasPoint": 1, "isPointOf": -1, "hasProperty": 1}
_PART = {"hasPart": 1, "isPartOf": -1, "contains": 1, "hasMember": 1}
_FEEDS = {"feeds": 1, "isFedBy": -1, "feedsAir": 1, "connectedTo": 1, "connectedFrom": -1}
_LOCATION = {"hasLocation": 1, "isLocationOf": -1, "hasPhysicalLocation": 1}
_CONNECTION_POINTS = {"hasConnectionPoint": 1, "isConnectionPointOf": -1}
_CONNECTIONS = {"connectsAt": -1, "connectsThrough": 1}  # connection point first
_QUIET = {
    *("type", "label", "comment", "hasUnit", "hasQuantityKind", "hasMedium", "hasExternalReference", "hasTimeseriesId"),
    *("hasTimeseriesReference", "hasRole", "hasAspect", "hasTag", "hasTimestamp", "cnx", "connected", "connectsFrom"),
    *("connectsTo", "pairedConnectionPoint", "mapsTo", "hasSubstance", "hasValue", "storedAt", "ofMedium", "isTagOf"),
    *("hasObservationLocation", "observes", "hasInput", "hasOutput", "hasDomain", "executes", "imports"),
    *("commandedByProperty", "actuatedByProperty"),
}


def read_rdf(path: Path) -> Sheet:
    """Read a Brick or 223P model."""
    return _Model(_parse(path), path).sheet()


def _parse(path: Path) -> "Graph":
    try:
        from rdflib import Graph
    except ImportError as exc:
        raise EngineError("rdflib is not installed; run: pip install 'graphghha[brick]'") from exc
    try:
        if path.stat().st_size > LARGEST:
            raise DataError(f"{path}: is larger than {LARGEST >> 20} MB; export the site without the ontology")
        data = path.read_bytes()
    except OSError as exc:
        raise DataError(f"{path}: cannot be read: {exc.strerror}") from exc
    try:
        # nothing that a file names is fetched
        return Graph().parse(data=data, format="turtle", publicID="urn://model/")
    except Exception as exc:  # rdflib's parsers raise many kinds of errors
        first = " ".join(str(exc).split())[:200]
        raise DataError(f"{path}: is not an RDF model: {first}") from exc


def local_name(term: Any) -> str:
    """Return the last part of an address."""
    text = str(term)
    return text.rsplit("#", 1)[-1].rsplit("/", 1)[-1].rsplit(":", 1)[-1] or text


class _Model:
    """The triples of a model by what they mean."""

    def __init__(self, graph: "Graph", path: Path) -> None:
        from rdflib import RDF, Literal

        self._path = path
        self._types: dict[Any, list[str]] = defaultdict(list)
        self._points: dict[Any, list[Any]] = defaultdict(list)  # point -> equipment
        self._parts: dict[Any, Any] = {}  # part -> whole
        self._feeds: list[tuple[Any, Any]] = []
        self._ends: dict[Any, Any] = {}  # connection point -> equipment
        self._through: dict[Any, set[Any]] = defaultdict(set)  # connection -> its connection points
        self._observes: list[tuple[Any, Any]] = []
        self._actuated: dict[Any, Any] = {}  # property -> actuator
        self._inputs: dict[Any, list[Any]] = defaultdict(list)
        self._outputs: dict[Any, list[Any]] = defaultdict(list)
        self._aspects: dict[Any, str] = {}
        self._series: dict[Any, str] = {}
        self._references: dict[Any, list[Any]] = defaultdict(list)
        self._labels: dict[Any, str] = {}
        self._unknown: Counter[str] = Counter()
        for subject, predicate, other in sorted(graph, key=str):
            name = local_name(predicate)
            if predicate == RDF.type:
                self._types[subject].append(local_name(other))
            elif name in ("hasTimeseriesId", "hasTimeseriesID"):
                self._series[subject] = str(other)
            elif name == "object-name":  # of a BACnet reference
                self._series.setdefault(subject, str(other))
            elif name == "label":
                self._labels.setdefault(subject, str(other))
            elif name in ("hasExternalReference", "hasTimeseriesReference", "timeseries"):
                self._references[subject].append(other)
            elif isinstance(other, Literal):
                continue
            else:
                self._take(name, subject, other)

    def _take(self, name: str, subject: Any, other: Any) -> None:
        def ordered(sign: int) -> tuple[Any, Any]:
            return (subject, other) if sign > 0 else (other, subject)

        if name in _POINT:
            equipment, point = ordered(_POINT[name])
            self._points[point].append(equipment)
        elif name in _PART or name in _LOCATION:
            sign = _PART[name] if name in _PART else -_LOCATION[name]
            whole, part = ordered(sign)
            if name in _PART or part not in self._parts:
                self._parts[part] = whole
        elif name in _FEEDS:
            self._feeds.append(ordered(_FEEDS[name]))
        elif name in _CONNECTION_POINTS:
            equipment, end = ordered(_CONNECTION_POINTS[name])
            self._ends[end] = equipment
        elif name in _CONNECTIONS:
            end, connection = ordered(_CONNECTIONS[name])
            self._through[connection].add(end)
        elif name == "observes":
            self._observes.append((subject, other))
        elif name in ("actuatedByProperty", "commandedByProperty"):
            self._actuated[other] = subject
        elif name == "hasInput":
            self._inputs[subject].append(other)
        elif name == "hasOutput":
            self._outputs[subject].append(other)
        elif name in ("hasAspect", "hasRole"):
            self._aspects[subject] = local_name(other)
        elif name not in _QUIET:
            self._unknown[name] += 1

    def sheet(self) -> Sheet:
        """Return what was understood."""
        self._connect()
        observed = {prop for _, prop in self._observes}
        for sensor, prop in self._observes:
            self._points[prop] = self._points.get(prop) or [sensor]
        for prop, actuator in self._actuated.items():
            if not self._points.get(prop):
                self._points[prop] = [actuator]
        if not self._points:
            raise DataError(f"{self._path}: no point is found: the model has neither hasPoint nor hasProperty")
        names = self._names()
        labels = Counter(self._labels.get(point, "") for point in self._points)
        omissions = [
            Omission(f"{count} x {predicate}", "relation", count, "this relation is not understood")
            for predicate, count in self._unknown.most_common()
        ]
        points = []
        for point, owners in self._points.items():
            distinct = list(dict.fromkeys(owners))
            owner = self._one_owner(point, distinct, names, omissions)
            kind = "actuator" if point in self._actuated else "sensor" if point in observed else ""
            if "setpoint" in self._aspects.get(point, "").lower():
                kind = "controller"
            series = self._column(point, labels)
            what = self._class_of(point)
            points.append(SheetPoint(name=names[point], equipment=owner, kind=kind, what=what, signal=series))
        points.sort(key=lambda point: point.name)
        return Sheet(tuple(points), self._equipment(names, omissions), self._links(names), tuple(omissions))

    def _column(self, point: Any, labels: Counter[str]) -> str:
        """Return how data name a point: its time series, its BACnet object, else a label that no other point has."""
        known = [self._series[each] for each in (point, *self._references[point]) if each in self._series]
        label = self._labels.get(point, "")
        return known[0] if known else label if labels[label] == 1 else ""

    def _class_of(self, thing: Any) -> str:
        general = {"Class", "NamedIndividual", "Point", "Equipment", "Resource", "Thing"}
        found = sorted((each for each in self._types.get(thing, ()) if each not in general), key=len)
        return found[-1] if found else ""

    def _names(self) -> dict[Any, str]:
        things = [*self._points, *(each for owners in self._points.values() for each in owners)]
        things += [*self._parts, *self._parts.values(), *(each for pair in self._feeds for each in pair)]
        things = list(dict.fromkeys(things))
        counts = Counter(map(local_name, things))
        # two addresses with the same last part keep their whole address
        return {each: local_name(each) if counts[local_name(each)] == 1 else str(each) for each in things}

    def _one_owner(self, point: Any, owners: list[Any], names: dict[Any, str], omissions: list[Omission]) -> str:
        if len(owners) > 1:
            wholes = {self._whole(owner) for owner in owners}
            listed = " and ".join(sorted(names[owner] for owner in owners))
            reason = f"it is a point of {listed}, whose readings cannot be told apart"
            omissions.append(Omission(names[point], "relation", len(owners) - 1, f"{reason}; it is one node"))
            if len(wholes) == 1:
                return names.get(next(iter(wholes)), "")
        return names[owners[0]] if owners else ""

    def _whole(self, thing: Any) -> Any:
        seen = {thing}
        while (whole := self._parts.get(thing)) is not None and whole not in seen:
            seen.add(whole)
            thing = whole
        return thing

    def _connect(self) -> None:
        """Contract connections: the equipment at an outlet feeds the equipment at an inlet."""
        for ends in self._through.values():
            placed = sorted((end for end in ends if end in self._ends), key=str)
            inlets = [end for end in placed if any("Inlet" in each for each in self._types.get(end, ()))]
            outlets = [end for end in placed if end not in inlets]
            self._feeds += [
                (self._ends[out], self._ends[end])
                for out in outlets
                for end in inlets
                if self._ends[out] != self._ends[end]
            ]

    def _equipment(self, names: dict[Any, str], omissions: list[Omission]) -> tuple[SheetEquipment, ...]:
        bearing = {self._whole(owner) for owners in self._points.values() for owner in owners}
        fed_by: dict[Any, dict[Any, None]] = defaultdict(dict)
        for source, target in dict.fromkeys(self._feeds):
            for other in self._reached(target, bearing):
                fed_by[other][source] = None
        things = dict.fromkeys(
            [*(owner for owners in self._points.values() for owner in owners), *self._parts, *fed_by]
            + [source for sources in fed_by.values() for source in sources]
            + list(self._parts.values())
            + [end for pair in self._feeds for end in pair]
        )
        for thing in things:
            if self._whole(thing) not in bearing:
                omissions.append(Omission(names.get(thing, local_name(thing)), "equipment", 1, "it has no point"))
        return tuple(
            SheetEquipment(
                name=names.get(thing, local_name(thing)),
                what=self._class_of(thing),
                part_of=names.get(self._parts.get(thing), "") if self._part_is_equipment(thing) else "",
                fed_by=tuple(names[source] for source in fed_by.get(thing, ())),
            )
            for thing in sorted(things, key=str)
        )

    def _part_is_equipment(self, thing: Any) -> bool:
        """Return whether a thing is a part of equipment; a piece in a building or on a floor is not a part of it."""
        whole = self._parts.get(thing)
        places = ("Building", "Floor", "Site", "Storey", "Wing", "Campus", "System", "PhysicalSpace", "Collection")
        if whole is None or self._class_of(whole).endswith(places):
            return False
        return not self._class_of(thing).endswith(("AHU", "Air_Handling_Unit", "VAV", "Variable_Air_Volume_Box"))

    def _reached(self, target: Any, bearing: set[Any]) -> list[Any]:
        """Return the next equipment with points at or below one that is fed."""
        found, seen, queue = [], {target}, [target]
        while queue:
            thing = queue.pop()
            if self._whole(thing) in bearing:
                found.append(thing)
                continue
            below = [other for source, other in self._feeds if source == thing]
            below += [part for part, whole in self._parts.items() if whole == thing]
            queue += [other for other in below if other not in seen]
            seen.update(below)
        return found

    def _links(self, names: dict[Any, str]) -> tuple[tuple[str, str], ...]:
        """Return edges from the inputs of functions to their outputs."""
        return tuple(
            (names[source], names[target])
            for function, sources in self._inputs.items()
            for source in sources
            for target in self._outputs.get(function, ())
            if source in names and target in names
        )
