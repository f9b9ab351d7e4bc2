"""Labels as people write them: a CSV file with `start,end,nodes,class`, one line per event, beside telemetry.

`graphghha alarms labels` writes such a file from what operators recorded.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphghha._util.suggest import did_you_mean
from graphghha._util.times import parse_time_ms
from graphghha.classes import CLASSES
from graphghha.errors import DataError, SchemaError
from graphghha.graph import CpsGraph
from graphghha.plants import Plant
from graphghha.plants.arrow import pa
from graphghha.plants.telemetry import LABEL_SCHEMA, ParquetSink, TelemetryFile, coded, labels_path

COLUMNS = ("start", "end", "nodes", "class")
CASE = "reported"  # the name under which such events are counted
NODE_SEPARATOR = ";"


@dataclass(frozen=True, slots=True)
class ListedEvent:
    """One line of a label list; times are milliseconds since 1970 UTC, `end_ms` is the first one after the event."""

    start_ms: int
    end_ms: int
    nodes: tuple[str, ...]
    attack_class: str


@dataclass(frozen=True, slots=True)
class WrittenLabels:
    """How many events were labelled, and how many lie outside the telemetry."""

    events: int
    outside: int


def read_label_list(path: Path, graph: CpsGraph) -> list[ListedEvent]:
    """Return the events of a label list; those of class normal, which say that nothing was there, are left out."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            table = csv.DictReader(stream)
            lines = list(table)
    except UnicodeDecodeError as exc:
        raise DataError(
            f"{path}: is no text in UTF-8, and labels are CSV with the columns {','.join(COLUMNS)}; labels in Parquet "
            "are found beside the telemetry, as NAME.labels.parquet, without being named"
        ) from exc
    except (OSError, csv.Error) as exc:
        raise DataError(f"{path}: cannot be read as CSV: {exc}") from exc
    if not lines and (absent := [name for name in COLUMNS if name not in (table.fieldnames or ())]):
        raise SchemaError(f"{path}: has no column {absent[0]!r}; the columns are {','.join(COLUMNS)}")
    events = [_event(f"{path}, line {number}", line, graph) for number, line in enumerate(lines, start=2)]
    return [event for event in events if event.attack_class != CLASSES[0]]


def write_labels(path: Path, telemetry: Path, plant: Plant) -> WrittenLabels:
    """Write the label list `path` beside a telemetry file, as the labels that are evaluated."""
    file = TelemetryFile(telemetry)
    graph = plant.template.replicate(list(file.meta.zones))
    events = read_label_list(path, graph)
    times = np.unique(np.concatenate([_ms(chunk.times) for chunk in file.chunks()] or [np.empty(0, np.int64)]))
    rows = [each for event in events for each in _rows(event, times, graph)]
    inside = sum(bool(len(_covered(event, times))) for event in events)
    if events and not inside:
        raise DataError(f"{path}: none of its events lies within {telemetry}; check times and time zone")
    _write(labels_path(telemetry), rows, file.meta.zones, plant.template.names)
    return WrittenLabels(inside, len(events) - inside)


def _event(where: str, line: dict[str, str | None], graph: CpsGraph) -> ListedEvent:
    if missing := [name for name in COLUMNS if not line.get(name)]:
        raise SchemaError(f"{where}: no {missing[0]}; the columns are {','.join(COLUMNS)}")
    times = [parse_time_ms(line[name]) for name in ("start", "end")]
    start_ms, end_ms = times
    if start_ms is None or end_ms is None:
        wrong = "start" if start_ms is None else "end"
        raise SchemaError(f"{where}: {wrong} {line[wrong]!r} is not a time like 2018-07-02T09:00:00Z")
    if end_ms <= start_ms:
        raise SchemaError(f"{where}: its end is not after its start")
    nodes = tuple(node.strip() for node in str(line["nodes"]).split(NODE_SEPARATOR))
    for node in nodes:
        if node not in graph.names:
            raise SchemaError(f"{where}: there is no node {node!r}{did_you_mean(node, list(graph.names))}")
    if line["class"] not in CLASSES:
        raise SchemaError(f"{where}: class {line['class']!r} is not one of {', '.join(CLASSES)}")
    return ListedEvent(start_ms, end_ms, nodes, str(line["class"]))


def _covered(event: ListedEvent, times: NDArray[np.int64]) -> NDArray[np.int64]:
    return times[(times >= event.start_ms) & (times < event.end_ms)]


def _rows(event: ListedEvent, times: NDArray[np.int64], graph: CpsGraph) -> Iterator[tuple[int, str, str, str]]:
    for name in event.nodes:
        node = graph.index(name)
        for time_ms in _covered(event, times).tolist():
            yield time_ms, graph.zones[node] or "", graph.roles[node], event.attack_class


def _write(path: Path, rows: list[tuple[int, str, str, str]], zones: tuple[str, ...], nodes: tuple[str, ...]) -> None:
    stamps, where, node, classes = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [], [])
    is_true, is_false = np.ones(len(rows), np.bool_), np.zeros(len(rows), np.bool_)
    columns = [
        pa.array(np.array(stamps, "datetime64[ms]"), pa.timestamp("ms")).cast(LABEL_SCHEMA.field("time").type),
        coded(_codes(where, zones).astype(np.int16), zones),
        coded(_codes(node, nodes).astype(np.int16), nodes),
        coded(np.zeros(len(rows), np.int16), [CASE]),
        coded(_codes(classes, CLASSES).astype(np.int8), CLASSES),
        pa.array(is_true),
        pa.array(is_true),  # somebody has seen it
        pa.array(is_false),
    ]
    with ParquetSink(path, LABEL_SCHEMA) as sink:
        sink.append(pa.Table.from_arrays(columns, schema=LABEL_SCHEMA))


def _codes(names: list[str], known: tuple[str, ...]) -> NDArray[np.int64]:
    position = {name: at for at, name in enumerate(known)}
    return np.array([position[name] for name in names], np.int64)


def _ms(times: NDArray[np.datetime64]) -> NDArray[np.int64]:
    return times.astype("datetime64[ms]").astype(np.int64)
