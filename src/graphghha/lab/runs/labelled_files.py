"""Labelled runs from telemetry files with label files beside them, as `graphghha simulate` writes them.

Shapes: m minutes, Z zones, n nodes of the template.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.errors import DataError, NotFoundError, SchemaError
from graphghha.lab.runs.recording import LabelledRun
from graphghha.lab.runs.run import Run
from graphghha.plants import NO_EVENT, CaseSpec, LabelledDay, Plant
from graphghha.plants.telemetry import LABEL_SCHEMA, TelemetryFile, labels_path, read_labels
from graphghha.windows import FileRows, Rows
from graphghha.windows.unchanged import HEARD_WITHIN_ROWS


@dataclass(frozen=True, slots=True)
class _Labels:
    """The columns of a label file, sorted by time, and its attacks."""

    times_ms: NDArray[np.int64]
    zone: NDArray[np.int64]
    node: NDArray[np.int64]
    attack_class: NDArray[np.int64]
    active: NDArray[np.bool_]
    observable: NDArray[np.bool_]
    recovering: NDArray[np.bool_]
    event: NDArray[np.int64]
    cases: tuple[CaseSpec, ...]


def telemetry_files(path: Path) -> list[Path]:
    """Return the file itself, or the telemetry files of a folder without their label files."""
    if path.is_file():
        return [path]
    files = sorted(file for file in path.glob("*.parquet") if not file.name.endswith(".labels.parquet"))
    if not files:
        raise NotFoundError(f"{path}: no telemetry (*.parquet) in it; `graphghha simulate --out` writes some")
    return files


def read_labelled_run(path: Path, plant: Plant, *, any_reporting: bool = False) -> LabelledRun:
    """Open one telemetry file with its labels. The seed in its metadata identifies the building for the leak check."""
    file = TelemetryFile(path)
    meta = file.meta
    if meta.plant != plant.name:
        raise SchemaError(f"{path}: telemetry of plant {meta.plant!r}, but the model is for {plant.name!r}")
    if meta.step_s != plant.step_s:
        raise SchemaError(f"{path}: its step is {meta.step_s:g} s; the plant has one row every {plant.step_s:g} s")
    if not labels_path(path).exists():
        raise DataError(
            f"{path}: has no labels, which a report card needs; give them with --labels FILE or beside it as "
            f"{labels_path(path).name}; to score without labels, use graphghha score MODEL {path}"
        )
    rows = FileRows(file, plant.template, any_reporting=any_reporting)
    labels = _read(path, plant, meta.zones)
    first = next(iter(file.chunks()), None)
    if first is None:
        raise DataError(f"{path}: contains no readings")
    start: datetime = first.times[0].astype("datetime64[ms]").item()
    run = Run(
        seed=meta.seed if meta.seed is not None else -1,
        start=start,
        days=-(-file.num_steps // plant.steps_per_day),
        zones=len(meta.zones),
        cases=labels.cases,
    )
    days = partial(_days, rows, labels, plant.template.num_nodes)
    return LabelledRun(run, days, f"{_digest(path)} {run!r}", where=str(path))


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _days(rows: FileRows, labels: _Labels, num_nodes: int) -> Iterator[LabelledDay]:
    used, last_ms = 0, 0
    for portion in rows:
        last_ms = int(portion.times_ms[-1])
        begin, end = np.searchsorted(labels.times_ms, [portion.times_ms[0], portion.times_ms[-1] + 1]).tolist()
        if begin != used:
            break
        yield _labelled(portion, labels, slice(begin, end), len(rows.zones), num_nodes, rows.step_ms)
        used = end
    # a site that sends a sample now and then has labels after its last one; attacks in other minutes that the telemetry
    # lacks would silently be left out of the evaluation
    rest = labels.times_ms[used:]
    lacking = rest[(rest <= last_ms) | (rest > last_ms + HEARD_WITHIN_ROWS * rows.step_ms)]
    if len(lacking):
        minute = np.datetime64(int(lacking[0]), "ms").astype("datetime64[m]")
        raise DataError(
            f"{labels_path(rows.file.path)}: has labels for {minute}, but the telemetry has no such minute; "
            "check that the labels belong to this file"
        )


def _labelled(rows: Rows, labels: _Labels, mine: slice, num_zones: int, num_nodes: int, step_ms: int) -> LabelledDay:
    shape = (len(rows), num_zones, num_nodes)
    day = LabelledDay(
        times=rows.times_ms.astype("datetime64[ms]"),
        values=rows.values.reshape(len(rows), num_zones, -1),
        attack_class=np.zeros(shape, np.uint8),
        event=np.full(shape, NO_EVENT, np.int16),
        observable=np.zeros(shape, np.bool_),
        recovering=np.zeros(shape[:2], np.bool_),
    )
    row = (labels.times_ms[mine] - rows.times_ms[0]) // step_ms
    zone, node, active = labels.zone[mine], labels.node[mine], labels.active[mine]
    cell = (row[active], zone[active], node[active])
    day.attack_class[cell] = labels.attack_class[mine][active]
    day.event[cell] = labels.event[mine][active]
    day.observable[cell] = labels.observable[mine][active]
    after = labels.recovering[mine]
    day.recovering[row[after], zone[after]] = True
    return day


def _read(path: Path, plant: Plant, zones: tuple[str, ...]) -> _Labels:
    table = read_labels(path)
    where = labels_path(path)
    if holes := [name for name in LABEL_SCHEMA.names if table[name].null_count]:
        raise SchemaError(f"{where}: column {holes[0]!r} has nulls; fill in every label")
    table = table.sort_by("time")
    times_ms = table["time"].cast("timestamp[ms]", safe=False).to_numpy().astype("datetime64[ms]").astype(np.int64)
    zone = _codes(table["zone"], zones, f"{where}: zone")
    node = _codes(table["node"], plant.template.names, f"{where}: node")
    names, case = _names(table["case"])
    flags = {name: _flag(table[name]) for name in ("active", "observable", "recovering")}
    event, cases = _attacks(times_ms, zone, case, flags["active"], names, round(plant.step_s * 1000))
    attack_class = _codes(table["class"], CLASSES, f"{where}: class")
    if (flags["active"] & (attack_class == 0)).any():
        raise SchemaError(f"{where}: some rows of an active attack have class {CLASSES[0]!r}; give the attacked class")
    return _Labels(times_ms, zone, node, attack_class, **flags, event=event, cases=cases)


def _attacks(
    times_ms: NDArray[np.int64],
    zone: NDArray[np.int64],
    case: NDArray[np.int64],
    active: NDArray[np.bool_],
    names: list[str],
    step_ms: int,
) -> tuple[NDArray[np.int64], tuple[CaseSpec, ...]]:
    """Return the attack number of every row, and the attacks; consecutive minutes of one case in a zone are one."""
    event = np.full(len(times_ms), NO_EVENT, np.int64)
    specs: list[CaseSpec] = []
    for place, kind in sorted({(int(z), int(c)) for z, c in zip(zone[active], case[active], strict=True)}):
        mine = np.flatnonzero(active & (zone == place) & (case == kind))
        breaks = np.flatnonzero(np.diff(times_ms[mine]) > step_ms) + 1
        for rows in np.split(mine, breaks):
            event[rows] = len(specs)
            start = times_ms[rows[0]].astype("datetime64[ms]").astype("datetime64[m]").item()
            steps = int(times_ms[rows[-1]] - times_ms[rows[0]]) // step_ms + 1
            duration = timedelta(milliseconds=steps * step_ms)
            specs.append(CaseSpec(name=names[kind], zone=str(place + 1), start=start, duration=duration))
    return event, tuple(specs)


def _names(column: Any) -> tuple[list[str], NDArray[np.int64]]:
    encoded = column.cast("string").combine_chunks().dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)


def _codes(column: Any, known: tuple[str, ...], what: str) -> NDArray[np.int64]:
    names, codes = _names(column)
    if unknown := [name for name in names if name not in known]:
        raise SchemaError(f"{what} {unknown[0]!r} is not among {', '.join(known[:6])}{', ..' * (len(known) > 6)}")
    lookup: NDArray[np.int64] = np.array([known.index(name) for name in names], np.int64)[codes]
    return lookup


def _flag(column: Any) -> NDArray[np.bool_]:
    flags: NDArray[np.bool_] = column.combine_chunks().to_numpy(zero_copy_only=False).astype(np.bool_)
    return flags
