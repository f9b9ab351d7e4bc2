"""Listens to a source before it is used: which names map to points, which do not, which points are silent."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from graphghha._util.times import iso
from graphghha.plants import Plant
from graphghha.sources.addresses import parse_address
from graphghha.sources.base import Batch, Rejection, Source, SourceStatus
from graphghha.sources.config import SourceConfig
from graphghha.sources.mapping import Mapper
from graphghha.sources.opening import open_source

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
    unit: str  # as the sender states it
    readings: int
    last_value: float | None  # in SI
    last_time_ms: int | None


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

    @property
    def is_sound(self) -> bool:
        """Return whether every point has readings and every name maps to a point."""
        return not self.unmapped and not self.silent

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
                    "last_time": None if each.last_time_ms is None else iso(each.last_time_ms),
                }
                for each in self.mapped
            ],
            "unmapped": [
                {"name": each.name, "readings": each.readings, "why": each.why, "nearest": each.nearest}
                for each in self.unmapped
            ],
            "silent": list(self.silent),
            "rejected": {str(why): count for why, count in self.rejected.items()},
        }

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return name, point, readings and remark: unmapped names first, then silent points, then the rest."""
        unmapped = [
            (each.name, "-", str(each.readings), each.why + (f"; did you mean {each.nearest}?" if each.nearest else ""))
            for each in self.unmapped
        ]
        silent = [("-", point, "0", "silent") for point in self.silent]
        mapped = [
            (
                each.name,
                each.point,
                str(each.readings),
                "" if each.last_value is None else f"last {each.last_value:.4g}",
            )
            for each in self.mapped
        ]
        return unmapped + silent + mapped


def check_address(address: str, *, site: str, points: Sequence[str], plant: Plant, seconds: float) -> CheckReport:
    """Check the source at an address, as `check_source` does."""
    return check_source(parse_address(address), site=site, points=points, plant=plant, seconds=seconds)


def check_source(
    config: SourceConfig, *, site: str, points: Sequence[str], plant: Plant, seconds: float
) -> CheckReport:
    """Listen for `seconds`, or until the source ends or has sent enough, and acknowledge nothing."""
    source = open_source(config, site=site, points=points, plant=plant, is_listener=True)
    try:
        return _listen(source, points, seconds)
    finally:
        source.close()


def _listen(source: Source, points: Sequence[str], seconds: float) -> CheckReport:
    counts = _ReadingCounts(len(points))
    start = time.monotonic()
    while (left := start + seconds - time.monotonic()) > 0 and counts.total < ENOUGH_READINGS:
        batch = source.poll(min(left, 0.5))
        if batch is not None:
            counts.add(batch)
        elif source.status.is_finished:
            break
    mapper = source.mapper if isinstance(source, HasMapper) else None
    return CheckReport(
        seconds=time.monotonic() - start,
        readings=counts.total,
        mapped=counts.mapped(mapper, points),
        unmapped=_unmapped(mapper),
        silent=tuple(point for point, count in zip(points, counts.by_point.tolist(), strict=True) if not count),
        rejected={why: count for why, count in counts.rejected.items() if count},
        status=source.status,
    )


class _ReadingCounts:
    """How many readings each point had, and the last of them."""

    def __init__(self, num_points: int) -> None:
        self.by_point = np.zeros(num_points, np.int64)
        self.rejected: Counter[Rejection] = Counter()
        self._values = np.full(num_points, np.nan)
        self._times = np.zeros(num_points, np.int64)

    @property
    def total(self) -> int:
        return int(self.by_point.sum())

    def add(self, batch: Batch) -> None:
        self.rejected.update(batch.rejected)
        columns, times, values = batch.readings()
        np.add.at(self.by_point, columns, 1)
        self._values[columns], self._times[columns] = values, times

    def mapped(self, mapper: Mapper | None, points: Sequence[str]) -> tuple[MappedName, ...]:
        names: dict[int, tuple[str, str]] = {}
        for (name, _), route in mapper.routes.items() if mapper else ():
            names.setdefault(route.column, (name, route.unit))
        return tuple(
            MappedName(
                *(name, points[column], unit, int(self.by_point[column])),
                *((float(self._values[column]), int(self._times[column])) if self.by_point[column] else (None, None)),
            )
            for column, (name, unit) in sorted(names.items())
        )


def _unmapped(mapper: Mapper | None) -> tuple[UnmappedName, ...]:
    if mapper is None:
        return ()
    unknown = [
        UnmappedName(name, count, "no such point", mapper.nearest_point(name))
        for name, count in mapper.unmapped.most_common()
    ]
    wrong_units = [UnmappedName(name, 0, why, None) for name, why in mapper.wrong_units.items()]
    return tuple(unknown + wrong_units)
