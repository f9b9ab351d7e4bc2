"""What a model of a site says, whatever it was written in: its points, its equipment, and what feeds what."""

from dataclasses import dataclass, field

from graphghha.exports.notes import Omission


@dataclass(frozen=True, kw_only=True, slots=True)
class SheetPoint:
    """A point of a site. Without a kind or role these are guessed from its class and name."""

    name: str
    equipment: str = ""
    kind: str = ""  # sensor | controller | actuator
    role: str = ""
    what: str = ""  # its class, tags or description
    signal: str = ""  # its name in telemetry, if another one


@dataclass(frozen=True, kw_only=True, slots=True)
class SheetEquipment:
    """A piece of equipment or a space."""

    name: str
    what: str = ""  # its class or tags
    part_of: str = ""
    fed_by: tuple[str, ...] = ()  # names of equipment


@dataclass(frozen=True, slots=True)
class Sheet:
    """A site: points, equipment, edges that are stated between points, and what was not understood."""

    points: tuple[SheetPoint, ...]
    equipment: tuple[SheetEquipment, ...] = ()
    links: tuple[tuple[str, str], ...] = ()  # from point, to point
    unmapped: tuple[Omission, ...] = field(default=())
