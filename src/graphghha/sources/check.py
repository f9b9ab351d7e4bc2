"""Listens to a source before it is used: which names map to points, which do not, which points are silent."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from graphghha._util.times import iso
from graphghha.errors import DataError
from graphghha.plants import Plant
from graphghha.plants.units import canonical, conversion
from graphghha.sources.addresses import parse_address
from graphghha.sources.base import Batch, CoarseError, Rejection, Source, SourceStatus
from graphghha.sources.config import FileConfig, SourceConfig
from graphghha.sources.draft import DraftEntry, draft_points, mapping_text, unit_choices
from graphghha.sources.mapping import Mapper
from graphghha.sources.opening import open_source
from graphghha.sources.plausibility import Doubt, find_doubts
from graphghha.sources.replay import Replay
from graphghha.sources.statistics import PointStatistics, SourceStatistics

NO_SUCH_POINT = "no such point"
ENOUGH_READINGS = 1_000_000  # the first rows of a long file show everything


@runtime_checkable
class HasMapper(Protocol):
    """A source that maps names."""

    @property
    def mapper(self) -> Mapper: ...


@dataclass(frozen=True, slots=True)
class MappedName:
    """A name of the sender that leads to a point."""

    name: str
    point: str
    unit: str  # as the sender states it, else as the mapping does, else the point's own
    readings: int
    last_value: float | None  # in the point's own unit
    last_time_ms: int | None
    own_unit: str = ""  # of the point; empty if it is the sender's
    is_assumed: bool = False  # nothing states the unit
    out_of_limits: int = 0  # readings that the instrument cannot have made
    doubt: str = ""  # why the readings do not fit the point
    fitting_units: tuple[str, ...] = ()  # units in which they would


@dataclass(frozen=True, slots=True)
class UnmappedName:
    """A name of the sender that leads to no point, or comes in a unit that does not fit."""

    name: str
    readings: int
    why: str
    nearest: str | None  # the point it resembles most


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a source sent while it was listened to."""

    seconds: float
    readings: int
    mapped: tuple[MappedName, ...]
    unmapped: tuple[UnmappedName, ...]
    silent: tuple[str, ...]  # points without a reading
    rejected: dict[Rejection, int]
    status: SourceStatus
    step_s: float | None = None  # usual interval of a point
    draft: str = ""  # a mapping file for what was heard
    problem: str = ""  # why the source cannot be watched as it is
    notes: tuple[str, ...] = ()  # what was guessed about a recording or left out of it

    @property
    def doubts(self) -> tuple[MappedName, ...]:
        """The names whose readings do not fit their points."""
        return tuple(each for each in self.mapped if each.doubt)

    @property
    def is_sound(self) -> bool:
        """Return whether every point has readings that fit it, and every name maps to a point."""
        return not self.unmapped and not self.silent and not self.doubts and not self.problem

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "sound": self.is_sound,
            "seconds": round(self.seconds, 1),
            "readings": self.readings,
            "connected": self.status.is_connected or self.status.is_finished,
            "detail": self.status.detail,
            "mapped": [
                {
                    "name": each.name,
                    "point": each.point,
                    "unit": each.unit,
                    "readings": each.readings,
                    "last_value": each.last_value,
                    "last_value_unit": each.own_unit or each.unit,
                    "last_time": None if each.last_time_ms is None else iso(each.last_time_ms),
                    "unit_assumed": each.is_assumed,
                    "out_of_limits": each.out_of_limits,
                    "doubt": each.doubt or None,
                }
                for each in self.mapped
            ],
            "unmapped": [
                {"name": each.name, "readings": each.readings, "why": each.why, "nearest": each.nearest}
                for each in self.unmapped
            ],
            "silent": list(self.silent),
            "rejected": {str(why): count for why, count in self.rejected.items()},
            "step_s": self.step_s,
            "problem": self.problem or None,
            "notes": list(self.notes),
        }

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return name, point, unit, readings and remark: unmapped names first, then silent points, then the rest.

        Names whose readings do not fit their points come before those that do.
        """
        unmapped = [
            (
                *(each.name, "-", "", str(each.readings)),
                each.why + (f"; did you mean {each.nearest}?" if each.nearest else ""),
            )
            for each in self.unmapped
        ]
        silent = [("-", point, "", "0", "silent") for point in self.silent]
        if not self.mapped and silent:
            silent = [("-", f"all {len(silent)} points", "", "0", "silent")]
        mapped = sorted(self.mapped, key=lambda each: not each.doubt)
        return unmapped + silent + [_mapped_row(each) for each in mapped]


def _mapped_row(each: MappedName) -> tuple[str, str, str, str, str]:
    unit = f"{each.unit}?" if each.is_assumed else each.unit
    last = "" if each.last_value is None else f"last {_in_both_units(each, each.last_value)}"
    rejected = f"{each.out_of_limits} out of limits" if each.out_of_limits else ""
    remark = "; ".join(part for part in (each.doubt, rejected, last) if part)
    return each.name, each.point, unit, str(each.readings), remark


def _in_both_units(each: MappedName, value: float) -> str:
    """Return a value in the unit of the sender, and in that of the point if it is another."""
    if not each.own_unit:
        return f"{value:.4g}"
    shift, scale = conversion(each.unit, each.own_unit)
    return f"{value / scale + shift:.4g} {each.unit} = {value:.4g} {each.own_unit}"


def check_address(address: str, *, site: str, points: Sequence[str], plant: Plant, seconds: float) -> CheckReport:
    """Check the source at an address, as `check_source` does."""
    return check_source(parse_address(address), site=site, points=points, plant=plant, seconds=seconds)


def check_source(
    config: SourceConfig, *, site: str, points: Sequence[str], plant: Plant, seconds: float
) -> CheckReport:
    """Listen for `seconds`, or until the source ends or has sent enough, and acknowledge nothing."""
    statistics = SourceStatistics()
    settings: dict[str, Any] = {"site": site, "points": points, "plant": plant, "statistics": statistics}
    problem = ""
    try:
        source = open_source(config, is_listener=True, **settings)
    except DataError as exc:
        if not (isinstance(exc.__cause__, CoarseError) and isinstance(config, FileConfig)):
            raise
        # its names and units can be checked all the same
        problem = str(exc)
        source = open_source(replace(config, is_held=True), is_listener=True, **settings)
    try:
        report = _listen(source, points, seconds, plant, statistics, config)
        return replace(report, problem=problem) if problem else report
    finally:
        source.close()


def _listen(
    source: Source,
    points: Sequence[str],
    seconds: float,
    plant: Plant,
    statistics: SourceStatistics,
    config: SourceConfig,
) -> CheckReport:
    counts = _ReadingCounts(len(points))
    start = time.monotonic()
    while (left := start + seconds - time.monotonic()) > 0 and counts.total < ENOUGH_READINGS:
        batch = source.poll(min(left, 0.5))
        if batch is not None:
            counts.add(batch)
        elif source.status.is_finished:
            break
    mapper = source.mapper if isinstance(source, HasMapper) else None
    doubts = _doubts(mapper, plant, statistics)
    mapped = counts.mapped(mapper, points, statistics, doubts)
    guessed = _guessed_points(mapper, plant, mapped)
    unmapped = _unmapped(mapper, guessed)
    silent = tuple(point for point, count in zip(points, counts.by_point.tolist(), strict=True) if not count)
    return CheckReport(
        seconds=time.monotonic() - start,
        readings=counts.total,
        mapped=mapped,
        unmapped=unmapped,
        silent=silent,
        rejected={why: count for why, count in counts.rejected.items() if count},
        status=source.status,
        step_s=counts.step_s,
        notes=source.notes if isinstance(source, Replay) else (),
        draft=_draft(mapper, mapped, unmapped, guessed, silent, config) if mapper else "",
    )


def _doubts(mapper: Mapper | None, plant: Plant, statistics: SourceStatistics) -> dict[int, Doubt]:
    if mapper is None:
        return {}
    routes = {route.column: route for route in mapper.routes.values()}
    assumed = {route.column for (name, _), route in mapper.routes.items() if name in mapper.assumed}
    return find_doubts(mapper.points, plant, statistics, routes, assumed)


def _draft(
    mapper: Mapper,
    mapped: Sequence[MappedName],
    unmapped: Sequence[UnmappedName],
    guessed: Mapping[str, str],
    silent: Sequence[str],
    config: SourceConfig,
) -> str:
    """Return a mapping file for the names that were heard."""
    entries = []
    for each in mapped:
        unit = each.fitting_units[0] if each.fitting_units else None if each.is_assumed else each.unit
        entries.append(DraftEntry(each.name, each.point, unit, unit_why=each.doubt, needs_unit=each.is_assumed))
    names = [each.name for each in unmapped if each.why == NO_SUCH_POINT]
    for name in names:
        entries.append(DraftEntry(name, guessed.get(name, ""), None, "guessed from its name", needs_unit=True))
    left = [point for point in silent if point not in guessed.values()]
    table = config.table if isinstance(config, FileConfig) else {}
    return mapping_text(entries, mapper.points, left, table)


class _ReadingCounts:
    """How many readings each point had, and the last of them."""

    def __init__(self, num_points: int) -> None:
        self.by_point = np.zeros(num_points, np.int64)
        self.rejected: Counter[Rejection] = Counter()
        self._values = np.full(num_points, np.nan)
        self._times = np.zeros(num_points, np.int64)
        self._first = np.full(num_points, np.iinfo(np.int64).max)

    @property
    def total(self) -> int:
        return int(self.by_point.sum())

    def add(self, batch: Batch) -> None:
        self.rejected.update(batch.rejected)
        columns, times, values = batch.readings()
        np.add.at(self.by_point, columns, 1)
        self._values[columns], self._times[columns] = values, times
        np.minimum.at(self._first, columns, times)

    @property
    def step_s(self) -> float | None:
        """The usual time between two readings of a point."""
        several = self.by_point > 2
        if not several.any():
            return None
        spans = (self._times[several] - self._first[several]) / (self.by_point[several] - 1)
        return round(float(np.median(spans)) / 1000, 1)

    def mapped(
        self,
        mapper: Mapper | None,
        points: Sequence[str],
        statistics: SourceStatistics,
        doubts: Mapping[int, Doubt],
    ) -> tuple[MappedName, ...]:
        names: dict[int, tuple[str, str]] = {}
        for (name, _), route in mapper.routes.items() if mapper else ():
            names.setdefault(route.column, (name, route.unit))
        assumed = mapper.assumed if mapper else set()
        nothing, no_doubt = PointStatistics(), Doubt("")
        found = []
        for column, (name, unit) in sorted(names.items()):
            is_heard = bool(self.by_point[column])
            own_unit = mapper.points.units[column] if mapper else unit
            found.append(
                MappedName(
                    name=name,
                    point=points[column],
                    unit=unit,
                    readings=int(self.by_point[column]),
                    last_value=float(self._values[column]) if is_heard else None,
                    last_time_ms=int(self._times[column]) if is_heard else None,
                    own_unit="" if canonical(own_unit) == canonical(unit) else own_unit,
                    is_assumed=name in assumed and len(unit_choices(unit)) > 1,
                    out_of_limits=statistics.by_column.get(column, nothing).out_of_limits,
                    doubt=doubts.get(column, no_doubt).text,
                    fitting_units=doubts.get(column, no_doubt).units,
                )
            )
        return tuple(found)


def _guessed_points(mapper: Mapper | None, plant: Plant, mapped: Sequence[MappedName]) -> dict[str, str]:
    """Return the points that names which map to none may mean."""
    if mapper is None:
        return {}
    taken = {each.name: each.point for each in mapped}
    return draft_points([name for name, _ in mapper.unmapped.most_common()], mapper.points, plant, taken)


def _unmapped(mapper: Mapper | None, guessed: Mapping[str, str]) -> tuple[UnmappedName, ...]:
    if mapper is None:
        return ()
    unknown = [
        UnmappedName(name, count, NO_SUCH_POINT, guessed.get(name) or mapper.nearest_point(name))
        for name, count in mapper.unmapped.most_common()
    ]
    wrong_units = [UnmappedName(name, 0, why, None) for name, why in mapper.wrong_units.items()]
    return tuple(unknown + wrong_units)
