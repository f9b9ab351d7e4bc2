"""Labels of attacks as people write them: a table with start, end, nodes and class, and a file if there are several."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from graphghha._util.suggest import did_you_mean
from graphghha.classes import CLASSES
from graphghha.errors import DataError, SchemaError
from graphghha.exports.headers import split_header
from graphghha.exports.naming import words_of
from graphghha.exports.recordings import Recording
from graphghha.exports.times import NO_TIME, Family, Order, family_of, take_apart
from graphghha.plants import Plant
from graphghha.plants.arrow import pa

NEEDED = ("start", "end", "nodes")
OTHER_CLASSES = ("other", "unknown", "unclassified", "attack", "anomaly", "")
_MARKS = re.compile(r"[/\\\]]")
DAYS_OF_MONTH = 31


@dataclass(frozen=True, slots=True)
class AttackEvent:
    """One attack in one recording: rows start <= row < stop."""

    recording: int
    start: int
    stop: int
    nodes: tuple[str, ...]
    attack_class: str  # empty: none was stated
    text: str


def read_labels(path: Path, recordings: Sequence[Recording], plant: Plant) -> tuple[AttackEvent, ...]:
    """Read a label file for recordings; errors name the line and what to write instead."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except UnicodeDecodeError as exc:
        raise DataError(f"{path}: is no text in UTF-8; write labels as CSV: start,end,nodes,class[,file]") from exc
    except (OSError, csv.Error) as exc:
        raise DataError(f"{path}: cannot be read as labels: {exc}") from exc
    names = {name.strip().lower(): name for name in (rows[0] if rows else {}) if name}
    if rows and (missing := [name for name in NEEDED if name not in names]):
        raise SchemaError(f"{path}: has no column {missing[0]!r}; write start,end,nodes,class[,file]")
    known = node_names(plant)
    events = []
    for line, row in enumerate(rows, start=2):
        cells = {name: (row[own] or "").strip() for name, own in names.items()}
        events.append(_event(cells, f"{path}: line {line}", recordings, known, plant))
    return tuple(sorted(events, key=lambda event: (event.recording, event.start)))


def node_names(plant: Plant) -> dict[str, str]:
    """Return every way to write a node: its name, its column, copy/role, and what only one node ends with.

    That is its role, or the last parts of a column that is as long as a path, with or without what trend logs append.
    """
    known = {name: name for name in plant.template.names}
    ends: dict[str, set[str]] = {}
    for name, role in zip(plant.template.names, plant.template.roles, strict=True):
        for part in {role.rpartition("/")[2], words_of(name), *_ends_of_path(name)}:
            ends.setdefault(part, set()).add(name)
    for node, report in plant.reporting.items():
        known.setdefault(report.column, node)
        known.setdefault(report.alias, node)
    return {**{end: min(own) for end, own in ends.items() if len(own) == 1 and end not in known}, **known}


def _ends_of_path(name: str) -> Iterator[str]:
    """Yield what stands behind each mark that divides a path: `AHU-1/ZN-T` and `ZN-T` of `[site]AHU-1/ZN-T`."""
    yield from (name[match.end() :] for match in _MARKS.finditer(name) if match.end() < len(name))


def attacked_rows(recording: Recording, number: int, events: Sequence[AttackEvent]) -> NDArray[np.bool_]:
    """Return which rows of a recording are inside an attack."""
    rows = np.zeros(len(recording.times_ms), np.bool_)
    for event in events:
        if event.recording == number:
            rows[event.start : event.stop] = True
    return rows


def _event(
    cells: dict[str, str], where: str, recordings: Sequence[Recording], known: dict[str, str], plant: Plant
) -> AttackEvent:
    start_ms, end_ms = (_time_ms(cells[key], plant, f"{where}: {key}") for key in ("start", "end"))
    if end_ms < start_ms:
        raise SchemaError(f"{where}: the end {cells['end']} is before the start {cells['start']}")
    nodes = []
    for text in filter(None, (part.strip() for part in cells["nodes"].replace("|", ";").split(";"))):
        if text not in known:
            text = split_header(text).name  # a header as it stands in the file: `Room [degC]`
        if text not in known and words_of(text) in known:
            text = words_of(text)
        if text not in known:
            raise SchemaError(f"{where}: plant {plant.name!r} has no node {text!r}{did_you_mean(text, known)}")
        nodes.append(known[text])
    attack_class = cells.get("class", "").lower()
    if attack_class not in CLASSES[1:] and attack_class not in OTHER_CLASSES:
        raise SchemaError(f"{where}: class {attack_class!r} is unknown; use {' | '.join(CLASSES[1:])} or other")
    number = _recording(cells.get("file", ""), start_ms, end_ms, recordings, where)
    times = recordings[number].times_ms
    start, stop = int(np.searchsorted(times, start_ms)), int(np.searchsorted(times, end_ms, side="right"))
    return AttackEvent(number, start, max(stop, start + 1), tuple(nodes), attack_class, f"{cells['start']}")


def _recording(file: str, start_ms: int, end_ms: int, recordings: Sequence[Recording], where: str) -> int:
    inside = [
        number for number, each in enumerate(recordings) if each.times_ms[0] <= end_ms and start_ms <= each.times_ms[-1]
    ]
    if file:
        names = {Path(name).name for each in recordings for name in each.files}
        stems = {Path(name).stem for name in names}
        wanted = Path(file).name
        if wanted not in names and wanted not in stems:
            raise SchemaError(
                f"{where}: labels a file {file!r} that is not among the data{did_you_mean(wanted, names)}"
            )
        inside = [n for n in inside if any(wanted in (Path(f).name, Path(f).stem) for f in recordings[n].files)]
    if not inside:
        spans = "; ".join(f"{each.name} {_span(each)}" for each in recordings[:3])
        raise SchemaError(
            f"{where}: the attack lies outside of the data ({spans}); are these the labels of another file, or is the "
            "time zone in plant.toml wrong?"
        )
    if len(inside) > 1 and not file:
        raise SchemaError(f"{where}: {len(inside)} recordings overlap this time; add a column `file` that names one")
    return inside[0]


def _span(recording: Recording) -> str:
    ends = (int(recording.times_ms[0]), int(recording.times_ms[-1]))
    return " to ".join(datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M") for ms in ends) + " UTC"


def _time_ms(text: str, plant: Plant, where: str) -> int:
    stated: datetime | None
    try:
        stated = datetime.fromisoformat(text)
    except ValueError:
        stated = _written_like_the_data(text, plant)
    if stated is None:
        raise SchemaError(f"{where} {text!r} is not a time like 2026-03-01 14:05:00")
    if stated.tzinfo is None:
        stated = stated.replace(tzinfo=ZoneInfo(plant.time_zone) if plant.time_zone else UTC)
    return round(stated.timestamp() * 1000)


def _written_like_the_data(text: str, plant: Plant) -> datetime | None:
    """Return the time of a text such as 01.03.2026 14:05, in the order of dates of the plant; None if it is no time."""
    family = family_of([text])
    if family is None:
        return None
    fields = take_apart(pa.array([text], pa.string()), family)
    if any(fields.zones) or not fields.has_clock:
        return None
    order = Order(plant.dates) if plant.dates else Order.DAY_FIRST
    if family is Family.NUMBERS and fields.a[0] > DAYS_OF_MONTH:
        order = Order.YEAR_FIRST
    elif family is Family.NUMBERS and not (plant.dates or fields.has_points):
        return None  # 3/5/2026 may be in March or in May
    ms = int(fields.local_ms(order)[0])
    return None if ms == NO_TIME else datetime.fromtimestamp(ms / 1000, UTC).replace(tzinfo=None)
