"""The usual edges of a piece of equipment and between two of them, where nothing but names and kinds is known.

Measurements and set-points command actuators, and actuators move what is measured. A command, a position and a state
of one part (`SF-C`, `SF-O`, `SF-S`) belong together. Nothing in a plant moves the weather.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphghha.exports.naming import ACTUATOR, CONTROLLER, SENSOR, words_of

MOST_NEAR = 6  # near edges of a node that would have no edge otherwise
_SHARED = {
    "outdoor air": re.compile(
        r"\b(?:OA|OAT|OAH|OADB|OAWB|OUTSIDE|OUTDOOR|AMBIENT|WEATHER|WETTER|AUSSEN\w*|EXTÉRIEURE?)\b"
    ),
    "supply air": re.compile(r"^(?:DA|SA|DAT|SAT|DAP|SAP|DISCHARGE|SUPPLY AIR|DUCT)\b"),
    "plant water": re.compile(r"^(?:CHW\w*|HHW\w*|HW|HWS\w*|HWR\w*|HWST|HWRT|CW[SR]T?|CHILLED|HOT WATER)\b"),
}
_SETPOINT_END = re.compile(r"(?:SP|SPT|STPT|STP|SETPT|SETPOINT|SETTING)\d*$")

Triple = tuple[str, str, str]  # from, to, comm | phys | near


@dataclass(frozen=True, slots=True)
class Member:
    """A node of a piece of equipment: its name, what it is, and its role in the piece if that is another text."""

    name: str
    kind: str
    purpose: str = "unknown"
    quantity: str | None = None
    role: str = ""

    @property
    def words(self) -> str:
        return words_of(self.role or self.name)

    @property
    def medium(self) -> str | None:
        return shared_medium(self.role or self.name)

    @property
    def stem(self) -> str:
        """The part that a set-point, command, position or state belongs to: `SF` of `SF-C`, `DAT` of `DAT-SP`."""
        words = self.words.split()
        if self.kind == CONTROLLER:
            return _SETPOINT_END.sub("", "".join(words))
        return "".join(words[:-1] if self.kind == ACTUATOR and len(words) > 1 else words)

    @property
    def is_measured(self) -> bool:
        return self.kind == SENSOR and self.purpose != "alarm"


def shared_medium(name: str) -> str | None:
    """Return the medium that a point measures if several pieces share it: outdoor air, supply air, plant water."""
    words = words_of(name)
    if re.search(r"FLOW|CFM|GPM", words):
        return None  # dampers and valves move it
    return next((medium for medium, pattern in _SHARED.items() if pattern.search(words)), None)


def edges_inside(members: Sequence[Member]) -> tuple[Triple, ...]:
    """Return the usual edges inside one piece of equipment; no node stays without an edge if there are two."""
    found = dict.fromkeys(_inside(members))
    joined = {end for source, target, _ in found for end in (source, target)}
    for member in members:
        if member.name not in joined:
            others = [other for other in members if other is not member]
            others.sort(key=lambda other: (other.quantity != member.quantity, other.kind != member.kind))
            found |= dict.fromkeys(
                (member.name, other.name, "near")
                for other in others[:MOST_NEAR]
                if (other.name, member.name, "near") not in found
            )
    return tuple(found)


def _inside(members: Sequence[Member]) -> Iterator[Triple]:
    sensors = [member for member in members if member.is_measured]
    controllers = [member for member in members if member.kind == CONTROLLER]
    actuators = [member for member in members if member.kind == ACTUATOR]
    for controller in controllers:
        for sensor in _controlled(controller, sensors):
            yield sensor.name, controller.name, "comm"
        own = [actuator for actuator in actuators if actuator.stem == controller.stem]
        for actuator in own or actuators:
            yield controller.name, actuator.name, "comm"
    for actuator in actuators:
        siblings = [other for other in actuators if other.stem == actuator.stem and other is not actuator]
        if actuator.purpose == "command" and any(other.purpose != "command" for other in siblings):
            for other in siblings:
                if other.purpose != "command":
                    yield actuator.name, other.name, "near"
            continue  # what follows the command moves the plant
        for sensor in sensors:
            if sensor.medium != "outdoor air":
                yield actuator.name, sensor.name, "phys"
    outdoor = [sensor for sensor in sensors if sensor.medium == "outdoor air"]
    for weather in outdoor:
        for sensor in sensors:
            if sensor not in outdoor and sensor.quantity == weather.quantity:
                yield weather.name, sensor.name, "near"


def _controlled(controller: Member, sensors: Sequence[Member]) -> Sequence[Member]:
    """Return the sensors that a controller may read: of the same name, else of the same quantity, else all."""
    own = [sensor for sensor in sensors if sensor.stem == controller.stem]
    alike = [sensor for sensor in sensors if controller.quantity and sensor.quantity == controller.quantity]
    return own or alike or sensors


def edges_between(upstream: Sequence[Member], downstream: Sequence[Member]) -> tuple[Triple, ...]:
    """Return the edges from a piece of equipment to one that it feeds.

    Its actuators move what is measured there. What it measures of a shared medium goes with what is measured there. The
    set-points of a place without actuators, such as a room, command the equipment that feeds it.
    """
    return tuple(dict.fromkeys(_between(upstream, downstream)))


def _between(upstream: Sequence[Member], downstream: Sequence[Member]) -> Iterator[Triple]:
    measured = [member for member in downstream if member.is_measured]
    commands = {member.stem for member in upstream if member.kind == ACTUATOR and member.purpose != "command"}
    actuators = [
        member
        for member in upstream
        if member.kind == ACTUATOR and not (member.purpose == "command" and member.stem in commands)
    ]
    for actuator in actuators:
        for sensor in measured:
            yield actuator.name, sensor.name, "phys"
    if not any(member.kind == ACTUATOR for member in downstream):
        for controller in (member for member in downstream if member.kind == CONTROLLER):
            for actuator in (member for member in upstream if member.kind == ACTUATOR):
                yield controller.name, actuator.name, "comm"
    shared = [member for member in upstream if member.is_measured and member.medium]
    for member in shared or ([] if actuators else [each for each in upstream if each.is_measured]):
        for sensor in measured:
            if sensor.quantity == member.quantity or not actuators:
                yield member.name, sensor.name, "near"
