"""The public LBNL files as telemetry with labels, one Parquet file per case: real data where simulated data goes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from graphghha.errors import DataError
from graphghha.plants.fcu.imposition import MINUTES, Day
from graphghha.plants.fcu.labels import Labeller, LabelRows
from graphghha.plants.fcu.labels_file import LabelsWriter
from graphghha.plants.fcu.lbnl import LbnlFile, open_lbnl
from graphghha.plants.fcu.lbnl_cases import FAULT_FREE
from graphghha.plants.fcu.lbnl_rows import Repairs
from graphghha.plants.fcu.schedule import Event
from graphghha.plants.fcu.signals import NAMES, SIGNALS
from graphghha.plants.fcu.topology import TEMPLATE
from graphghha.plants.telemetry import Chunk, Layout, TelemetryMeta, TelemetryWriter, labels_path

ZONE = "zone-01"


def import_lbnl(
    source: Path,
    out: Path,
    *,
    cases: Iterable[str] | None = None,
    repair: bool = False,
    layout: Layout = "long",
    site: str = "lbnl",
    on_file: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Write `out/CASE.parquet` and its labels for every (or every named) file; says what was altered and repaired.

    The fault-free file is the attack-free twin that decides what is observable; without it every minute counts as such.
    """
    everything = open_lbnl(source)
    chosen = open_lbnl(source, cases)
    out.mkdir(parents=True, exist_ok=True)
    summary: dict[str, Any] = {"plant": "fcu", "files": [], "altered": [], "repairs": {}}
    for name, file in chosen.items():
        if alteration := file.alteration():
            summary["altered"].append(alteration)
        repairs = Repairs(file.where)
        path = out / f"{name}.parquet"
        _convert(file, everything.get(FAULT_FREE), path, repairs if repair else None, layout, site)
        summary["files"] += [str(path), str(labels_path(path))]
        if repairs:
            summary["repairs"][name] = dict(repairs.counts)
        on_file()
    return summary


def _convert(
    file: LbnlFile, clean: LbnlFile | None, path: Path, repairs: Repairs | None, layout: Layout, site: str
) -> None:
    meta = TelemetryMeta(
        plant="fcu",
        template_hash=TEMPLATE.content_hash,
        site=site,
        zones=(ZONE,),
        points=NAMES,
        units=tuple(signal.unit for signal in SIGNALS),
        step_s=60.0,
        layout=layout,
        cases=() if file.case is None else (file.case_name,),
        notes={
            "source": f"LBNL {file.case_name}",
            "observable": "judged" if clean else "not judged: no fault-free file",
        },
    )
    days = file.read(repairs)
    # a repair of the twin is counted when its own turn comes
    twins = repeat(None) if clean is None or file.is_normal else clean.read(None if repairs is None else Repairs(""))
    first = next(days, None)
    if first is None:
        raise DataError(f"{file.where}: no rows")
    start: datetime = first.times[0].astype("datetime64[s]").item()
    events = [] if file.case is None else [Event(case=file.case_name, zone=0, start=start)]
    with TelemetryWriter(path, meta) as telemetry, LabelsWriter(labels_path(path), events, (ZONE,)) as truth:
        labeller = Labeller(events)
        for chunk, twin in zip(_chain(first, days), twins, strict=False):
            telemetry.write(chunk)
            truth.write(_labels(labeller, chunk, twin) if events else None)


def _chain(first: Chunk, rest: Iterator[Chunk]) -> Iterator[Chunk]:
    yield first
    yield from rest


def _labels(labeller: Labeller, chunk: Chunk, twin: Chunk | None) -> LabelRows:
    """Labels of one chunk; a last one that is shorter than a day is padded, and the padding's rows dropped."""
    length = len(chunk.times)
    day = Day(0, chunk.times[0].astype("datetime64[s]").item())
    attacked, clean = (np.zeros((1, MINUTES, len(NAMES))) for _ in range(2))
    attacked[:, :length] = chunk.values
    if twin is None:
        clean[:, :length] = np.inf
    else:
        both = min(length, len(twin.times))
        clean[:, :length] = chunk.values
        clean[:, :both] = twin.values[:, :both]
    return _cut(labeller.label(day, attacked, clean), day.times[length - 1])


def _cut(rows: LabelRows, last: np.datetime64) -> LabelRows:
    keep = rows.times <= last
    columns: Sequence[Any] = (
        rows.times,
        rows.zones,
        rows.nodes,
        rows.events,
        rows.active,
        rows.observable,
        rows.recovering,
    )
    return LabelRows(*(column[keep] for column in columns))
