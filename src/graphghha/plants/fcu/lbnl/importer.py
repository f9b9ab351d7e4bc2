"""Import the public LBNL files as telemetry with labels, one Parquet file per case, as if they were simulated."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError, DataError, NotFoundError
from graphghha.plants.base import CaseSpec
from graphghha.plants.fcu.attacks.hooks import MINUTES, Day
from graphghha.plants.fcu.attacks.labels import Labeller, LabelRows
from graphghha.plants.fcu.attacks.labels_file import LabelsWriter
from graphghha.plants.fcu.attacks.schedule import Event
from graphghha.plants.fcu.lbnl.cases import FAULT_FREE
from graphghha.plants.fcu.lbnl.files import MANIFEST, LbnlFile, open_lbnl
from graphghha.plants.fcu.lbnl.rows import Repairs
from graphghha.plants.fcu.physics.building import MAX_ZONES
from graphghha.plants.fcu.signals import NAMES, SIGNALS
from graphghha.plants.fcu.topology import TEMPLATE
from graphghha.plants.telemetry import Chunk, Layout, TelemetryMeta, TelemetryWriter, labels_path, make_folder

ZONE = "zone-01"
# the entries that are equal for two simulated runs which differ only in their attacks
_SAME_RUN = ("seed", "zone", "weather", "start")
_ANY_ZONE = tuple(str(number) for number in range(1, MAX_ZONES + 1))


@dataclass(frozen=True, slots=True)
class Twin:
    """The readings of the fault-free file, one row per minute without a gap."""

    about: dict[str, Any]
    first: np.datetime64
    values: NDArray[np.float32]  # [minutes, signals]

    @property
    def last(self) -> np.datetime64:
        return self.first + np.timedelta64(len(self.values) - 1, "m")

    def at(self, times: NDArray[np.datetime64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the readings of these minutes, infinite where unknown, and which of them are known."""
        row = (times - self.first) // np.timedelta64(1, "m")
        known = (row >= 0) & (row < len(self.values))
        readings = np.full((len(times), len(NAMES)), np.inf)
        readings[known] = self.values[row[known]]
        return readings, known


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
    """Write `out/CASE.parquet` and its labels for every file, or for the named cases; return a summary.

    The summary lists altered and repaired files, and how many minutes of each could not be judged. The fault-free file
    is the attack-free twin that decides what is observable; minutes that it does not cover count as observable.
    """
    everything = open_lbnl(source)
    chosen = everything if cases is None else open_lbnl(source, cases)
    for file in chosen.values():
        _check_known(file)
    make_folder(out)
    twin = _read_twin(everything, repair) if any(not file.is_normal for file in chosen.values()) else None
    summary: dict[str, Any] = {"plant": "fcu", "files": [], "altered": [], "repairs": {}, "not_judged_min": {}}
    for name, file in chosen.items():
        if alteration := file.alteration():
            summary["altered"].append(alteration)
        repairs = Repairs(file.where)
        path = out / f"{name}.parquet"
        missed = _convert(file, twin, path, repairs if repair else None, layout, site)
        summary["files"] += [str(path), str(labels_path(path))]
        if repairs:
            summary["repairs"][name] = dict(repairs.counts)
        if missed:
            summary["not_judged_min"][name] = missed
        on_file()
    return summary


def _check_known(file: LbnlFile) -> None:
    """Refuse a file without known labels, which would otherwise be taken for a normal one."""
    if "cases" not in file.about and not file.is_normal and file.case is None:
        raise DataError(
            f"{file.where}: no case is named {file.case_name!r} and {MANIFEST} does not list the file, so its labels "
            "are unknown; move it away, or choose other files with --case"
        )
    file_events(file, datetime(2018, 1, 1))


def file_events(file: LbnlFile, first: datetime) -> list[Event]:
    """Return the events of a file: those of the manifest, or the fault it is named after from the first minute on."""
    if "cases" not in file.about:
        return [] if file.is_normal else [Event(case=file.case_name, zone=0, start=first)]
    try:
        return [replace(Event.from_spec(CaseSpec.parse(text), _ANY_ZONE), zone=0) for text in file.about["cases"]]
    except (ConfigError, NotFoundError, TypeError, AttributeError) as exc:
        raise DataError(f"{file.where}: {MANIFEST} lists cases that cannot be read: {exc}") from exc


def _read_twin(files: dict[str, LbnlFile], repair: bool) -> Twin | None:
    if FAULT_FREE not in files:
        return None
    file = files[FAULT_FREE]
    # repairs of the twin are counted when the file itself is imported
    days = list(_slim(file.read(Repairs("") if repair else None)))
    if not days:
        raise DataError(f"{file.where}: no rows")
    return Twin(file.about, days[0][0], np.concatenate([values for _, values in days]))


def _slim(chunks: Iterable[Chunk]) -> Iterator[tuple[np.datetime64, NDArray[np.float32]]]:
    for chunk in chunks:
        yield chunk.times[0], chunk.values[0].astype(np.float32)


def _convert(file: LbnlFile, twin: Twin | None, path: Path, repairs: Repairs | None, layout: Layout, site: str) -> int:
    """Write one file; return the number of minutes that could not be judged."""
    days = file.read(repairs)
    first = next(days, None)
    if first is None:
        raise DataError(f"{file.where}: no rows")
    events = file_events(file, first.times[0].astype("datetime64[s]").item())
    if twin is not None and any(file.about.get(key) != twin.about.get(key) for key in _SAME_RUN):
        twin = None
    meta = TelemetryMeta(
        plant="fcu",
        template_hash=TEMPLATE.content_hash,
        site=site,
        zones=(ZONE,),
        points=NAMES,
        units=tuple(signal.unit for signal in SIGNALS),
        step_s=60.0,
        layout=layout,
        cases=tuple(str(event) for event in events),
        notes={"source": f"LBNL {file.case_name}", "observable": _observability_note(events, twin)},
    )
    not_judged = 0
    with TelemetryWriter(path, meta) as telemetry, LabelsWriter(labels_path(path), events, (ZONE,)) as truth:
        labeller = Labeller(events)
        for chunk in chain([first], days):
            telemetry.write(chunk)
            if events:
                rows, known = _labels(labeller, chunk, twin)
                truth.write(rows)
                not_judged += int((~known).sum())
    return not_judged


def _observability_note(events: Sequence[Event], twin: Twin | None) -> str:
    if not events:
        return "nothing to judge: no attack"
    if twin is None:
        return "not judged: no fault-free file of this run; every minute counts as observable"
    return f"judged from {twin.first} to {twin.last}; other minutes count as observable"


def _labels(labeller: Labeller, chunk: Chunk, twin: Twin | None) -> tuple[LabelRows, NDArray[np.bool_]]:
    """Return the labels of one chunk, and which minutes were judged.

    A last chunk that is shorter than a day is padded, and the padding's rows are dropped.
    """
    length = len(chunk.times)
    day = Day(0, chunk.times[0].astype("datetime64[s]").item())
    attacked, clean = (np.zeros((1, MINUTES, len(NAMES))) for _ in range(2))
    attacked[0, :length] = chunk.values[0]
    known = np.zeros(length, np.bool_)
    clean[0, :length] = np.inf
    if twin is not None:
        clean[0, :length], known = twin.at(chunk.times)
    return _cut(labeller.label(day, attacked, clean), day.times[length - 1]), known


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
