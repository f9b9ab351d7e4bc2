"""Equipment sheets: a table with a row for each point, as people keep them in a spreadsheet.

Columns: `point`, `equipment`, `kind`, `role`, `fed by`; only `point` must be filled. A row without a point describes
equipment alone. Several names in `fed by` are separated by semicolons; a name of a point there joins two points.
"""

import csv
from pathlib import Path

from graphghha._util.suggest import did_you_mean
from graphghha.errors import DataError, GraphError
from graphghha.exports.notes import Omission
from graphghha.exports.topology.sheet import Sheet, SheetEquipment, SheetPoint
from graphghha.graph import NodeKind

_COLUMNS = {
    "point": ("point", "point name", "pointname", "tag", "signal", "name", "node"),
    "equipment": ("equipment", "equip", "asset", "device", "unit", "zone", "equipment name"),
    "kind": ("kind", "type", "node kind"),
    "role": ("role",),
    "fed by": ("fed by", "fedby", "isfedby", "fed from", "upstream", "served by", "source"),
    "part of": ("part of", "partof", "ispartof", "parent"),
    "class": ("class", "brick class", "description", "meaning", "equipment class"),
    "signal": ("column", "topic", "timeseries", "history"),
}
_KINDS = {
    **{kind.value: kind.value for kind in NodeKind},
    **dict.fromkeys(("setpoint", "set-point", "sp", "plc", "mode", "parameter"), "controller"),
    **dict.fromkeys(("command", "position", "status", "valve", "damper", "pump", "fan", "output"), "actuator"),
    **dict.fromkeys(("measurement", "input", "transmitter"), "sensor"),
}


def read_sheet(path: Path) -> Sheet:
    """Read an equipment sheet; a GraphError names the row that cannot be used."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as exc:
        raise DataError(f"{path}: cannot be read: {exc.strerror}") from exc
    except UnicodeDecodeError:
        text = path.read_text(encoding="cp1252")
    first = text.split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    rows = list(csv.reader(text.splitlines(), delimiter=separator))
    if not rows:
        raise DataError(f"{path}: the file is empty; it needs a line of names: point, equipment, kind, role, fed by")
    heads = [" ".join(head.strip().lower().replace("_", " ").split()) for head in rows[0]]
    places = {key: heads.index(word) for key, words in _COLUMNS.items() for word in reversed(words) if word in heads}
    if "point" not in places:
        raise DataError(f"{path}: no column is named 'point'; it has {', '.join(heads)[:120]}")
    known = set(places.values())
    unmapped = [
        Omission(f"column {head!r}", "column", 1, "it is none of " + ", ".join(_COLUMNS))
        for number, head in enumerate(heads)
        if head and number not in known
    ]
    return _sheet(path, rows[1:], places, unmapped)


def _sheet(path: Path, rows: list[list[str]], places: dict[str, int], unmapped: list[Omission]) -> Sheet:
    points: dict[str, SheetPoint] = {}
    equipment: dict[str, dict[str, str]] = {}
    fed_by: dict[str, dict[str, int]] = {}  # by equipment or point: names, with the line
    for line, row in enumerate(rows, start=2):
        cell = {key: row[place].strip() for key, place in places.items() if place < len(row)}
        name, piece = cell.get("point", ""), cell.get("equipment", "")
        if not name and not piece:
            if any(cell.values()):
                unmapped.append(Omission(f"line {line}", "row", 1, "it names neither a point nor equipment"))
            continue
        if name in points:
            raise GraphError(f"{path}, line {line}: point {name!r} appears twice; every point needs a name of its own")
        if piece:
            facts = equipment.setdefault(piece, {"class": "", "part of": ""})
            facts["part of"] = facts["part of"] or cell.get("part of", "")
            facts["class"] = facts["class"] or ("" if name else cell.get("class", ""))
        for source in filter(None, map(str.strip, cell.get("fed by", "").split(";"))):
            fed_by.setdefault(piece or name, {}).setdefault(source, line)
        if name:
            points[name] = SheetPoint(
                name=name,
                equipment=piece,
                kind=_kind(cell.get("kind", ""), f"{path}, line {line}: point {name!r}"),
                role=cell.get("role", ""),
                what=cell.get("class", ""),
                signal=cell.get("signal", ""),
            )
    known = {*equipment, *points}
    for target, sources in fed_by.items():
        for source, line in sources.items():
            if source not in known:
                hint = did_you_mean(source, sorted(known)) or "; add a row for it or correct the name"
                raise GraphError(f"{path}, line {line}: {target!r} is fed by {source!r}, which has no row{hint}")
    pieces = tuple(
        SheetEquipment(
            name=name,
            what=facts["class"],
            part_of=facts["part of"],
            fed_by=tuple(source for source in fed_by.get(name, {}) if source in equipment),
        )
        for name, facts in equipment.items()
    )
    links = tuple(
        (source, target)
        for name, sources in fed_by.items()
        for source in sources
        if source not in equipment
        for target in ([name] if name in points else [p.name for p in points.values() if p.equipment == name])
        if source != target
    )
    return Sheet(tuple(points.values()), pieces, links, tuple(unmapped))


def _kind(text: str, where: str) -> str:
    if not text:
        return ""
    if text.lower() not in _KINDS:
        hint = did_you_mean(text.lower(), list(NodeKind)) or ""
        raise GraphError(f"{where}: kind {text!r} is unknown{hint}; use {' | '.join(NodeKind)}, or leave it empty")
    return _KINDS[text.lower()]
