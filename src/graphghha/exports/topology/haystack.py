"""Project Haystack in JSON (version 3 or 4, a grid or a list of entities), as a sheet."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphghha.errors import DataError
from graphghha.exports.notes import Omission
from graphghha.exports.topology.sheet import Sheet, SheetEquipment, SheetPoint

# references to what supplies a piece of equipment
_FEEDERS = (
    *("airRef", "ahuRef", "ductRef", "hotWaterRef", "chilledWaterRef", "steamRef", "elecRef", "refrigRef", "waterRef"),
    *("chilledWaterPlantRef", "hotWaterPlantRef", "steamPlantRef", "plantRef", "condenserWaterRef"),
)
_PLACES = ("site", "floor", "building")
_MOVING = ("damper", "valve")


def sheet_of_haystack(data: Any, path: Path) -> Sheet:
    """Return the sheet of entities; a DataError says what is none."""
    rows = data.get("rows") if isinstance(data, dict) else data
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{path}: expected a Haystack grid with rows, or a list of entities with tags")
    entities: dict[str, Mapping[str, Any]] = {}
    nameless = 0
    for row in rows:
        identity = _reference(row.get("id"))
        if identity:
            entities[identity] = row
        else:
            nameless += 1
    omissions = [Omission(path.name, "row", nameless, "it has no id")] if nameless else []
    return _sheet(path, entities, omissions)


def _sheet(path: Path, entities: Mapping[str, Mapping[str, Any]], omissions: list[Omission]) -> Sheet:
    names = _names(entities)
    points, equipment = [], []
    for identity, tags in entities.items():
        if "point" in tags:
            points.append(_point(identity, tags, names))
        elif "equip" in tags or "space" in tags:
            fed_by = [names[each] for tag in _FEEDERS if (each := _reference(tags.get(tag))) in names]
            whole = _reference(tags.get("equipRef"))
            part_of = names.get(whole, "") if whole and "equip" in entities.get(whole, {}) else ""
            equipment.append(
                SheetEquipment(
                    name=names[identity],
                    what=_marks(
                        tags, ("ahu", "vav", "fcu", "boiler", "chiller", "pump", "fan", "coil", "space", "room")
                    ),
                    part_of="" if part_of in fed_by else part_of,
                    fed_by=tuple(fed_by),
                )
            )
        elif not any(place in tags for place in _PLACES):
            reason = "it has none of the tags point, equip and space"
            omissions.append(Omission(names[identity], "entity", 1, reason))
    if not points:
        raise DataError(f"{path}: no entity has the tag 'point'; export the points with their tags")
    return Sheet(tuple(points), tuple(equipment), (), tuple(omissions))


def _point(identity: str, tags: Mapping[str, Any], names: Mapping[str, str]) -> SheetPoint:
    owner = next((each for tag in ("equipRef", "spaceRef") if (each := _reference(tags.get(tag))) in names), "")
    kind = ""
    if "sp" in tags or "setpoint" in tags:
        kind = "controller"
    elif "cmd" in tags or ("sensor" in tags and any(mark in tags for mark in _MOVING)):
        kind = "actuator"
    elif "sensor" in tags:
        kind = "sensor"
    words = ("zone", "discharge", "supply", "return", "outside", "mixed", "air", "water", "temp", "flow", "pressure")
    what = " ".join([_marks(tags, (*words, "humidity", "fan", "valve", "damper", "occ")), _text(tags.get("navName"))])
    return SheetPoint(name=names[identity], equipment=names.get(owner, ""), kind=kind, what=what.strip())


def _names(entities: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return what people call each entity: its display name if no other has it, else its id."""
    shown = {identity: _text(tags.get("dis")) or _text(tags.get("navName")) for identity, tags in entities.items()}
    counts: dict[str, int] = {}
    for text in shown.values():
        counts[text] = counts.get(text, 0) + 1
    return {identity: text if text and counts[text] == 1 else identity for identity, text in shown.items()}


def _reference(value: Any) -> str:
    """Return the id of a reference, as version 3 (`r:id text`) or version 4 (`_kind`) writes it."""
    if isinstance(value, dict):
        value = value.get("val") or ""
    text = str(value or "")
    if text.startswith("r:"):
        text = text[2:].split(" ", 1)[0]
    return text.removeprefix("@")


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    return text.removeprefix("s:").strip()


def _marks(tags: Mapping[str, Any], known: tuple[str, ...]) -> str:
    return " ".join(mark for mark in known if mark in tags)
