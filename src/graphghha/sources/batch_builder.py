"""Collects single readings as they arrive, checks each of them, and hands them over as one batch."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.plants import Points
from graphghha.sources.base import Quality, ReadingBatch, Rejection
from graphghha.sources.config import MAX_AHEAD_S
from graphghha.sources.mapping import Mapper, Route
from graphghha.sources.refusals import RefusalCounter

EARLIEST_MS = 631_152_000_000  # 1990: a reading that claims to be older has a wrong clock
LATEST_MS = 7_258_118_400_000  # 2200
USABLE_QUALITIES = frozenset(
    {Quality.GOOD, Quality.UNCERTAIN, "repaired", "ok"}
)  # our own names, and those that devices use


class BatchBuilder:
    """Collects readings until `take` hands them over. Bad input never raises here: it is counted."""

    def __init__(self, site: str, mapper: Mapper, *, max_ahead_s: float = MAX_AHEAD_S) -> None:
        self.site = site
        self.mapper = mapper
        self._max_ahead_ms = round(max_ahead_s * 1000)
        self._rejected: Counter[Rejection] = Counter()
        self._refusals = RefusalCounter()
        self._routes: list[Route] = []
        self._times: list[int] = []
        self._values: list[float] = []
        self._withdrawn: dict[int, int] = {}  # column -> time of its newest reading that is marked bad

    def __len__(self) -> int:
        return len(self._values)

    def add(self, name: str, value: object, time_ms: int, unit: object = None, quality: object = None) -> None:
        """Add one reading under the name that the sender gives it."""
        if unit is not None and not isinstance(unit, str):
            self._refuse(name, Rejection.WRONG_UNIT, unit)
            return
        route = self.mapper.route(name, unit)
        if isinstance(route, Rejection):
            self._refuse(name, route, unit if route is Rejection.WRONG_UNIT else value)
        elif value is None or (quality is not None and not _is_usable(quality)):
            self._refuse(route.column, Rejection.BAD_QUALITY, quality if isinstance(quality, str) else "")
            self._withdrawn[route.column] = max(time_ms, self._withdrawn.get(route.column, time_ms))
        elif type(value) is float or type(value) is int:
            try:
                self._values.append(float(value))
            except OverflowError:  # an integer of hundreds of digits
                self._refuse(route.column, Rejection.OUT_OF_LIMITS, "a number of hundreds of digits")
                return
            self._times.append(time_ms)
            self._routes.append(route)
        else:
            self._refuse(route.column, Rejection.MALFORMED, value)

    def reject(self, reason: Rejection, count: int = 1) -> None:
        """Count something that did not become a reading."""
        self._rejected[reason] += count

    def _refuse(self, key: int | str, reason: Rejection, example: object) -> None:
        self._rejected[reason] += 1
        # a foreign text may be of any length; numbers and words are kept as they came
        self._refusals.add(key, reason, example if isinstance(example, str | int | float) else type(example).__name__)

    def take(self, received_ms: int, receipt: Any = None) -> ReadingBatch:
        """Return everything collected so far as one batch, and start over."""
        routes, count = self._routes, len(self._routes)
        columns = np.fromiter((route.column for route in routes), np.int32, count)
        shift = np.fromiter((route.shift for route in routes), np.float64, count)
        scale = np.fromiter((route.scale for route in routes), np.float64, count)
        raw = np.array(self._values, np.float64)
        times = np.array([min(max(time, -1), LATEST_MS) for time in self._times], np.int64)
        latest = min(received_ms + self._max_ahead_ms, LATEST_MS - 1)
        is_stray = (times < EARLIEST_MS) | (times > latest)
        keep, values, rejected = validate_readings(self.mapper.points, columns, raw, shift, scale, times, latest)
        if self.mapper.statistics is not None:
            self.mapper.statistics.add_readings(columns, raw, self.mapper.points.impossible(columns, values))
        if not keep.all():
            note_invalid(self._refusals, self.mapper.points, columns, raw, values, times, latest)
        batch = ReadingBatch(
            site=self.site,
            received_ms=received_ms,
            times_ms=times[keep],
            values=values[keep],
            points=columns[keep],
            rejected=dict(self._rejected + rejected),
            refused=self._refusals.take(),
            strays=(columns[is_stray], times[is_stray]) if is_stray.any() else (),
            withdrawn=self._take_withdrawn(columns, times, ~keep & ~is_stray, latest),
            receipt=receipt,
        )
        self._routes, self._times, self._values = [], [], []
        self._rejected = Counter()
        return batch

    def _take_withdrawn(
        self, columns: NDArray[np.int32], times_ms: NDArray[np.int64], invalid: NDArray[np.bool_], latest_ms: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]] | tuple[()]:
        """Return columns and times of readings that are marked bad, and of the invalid ones of those collected [n]."""
        pairs = [pair for pair in self._withdrawn.items() if EARLIEST_MS <= pair[1] <= latest_ms]
        self._withdrawn = {}
        if not pairs and not invalid.any():
            return ()
        bad = np.array(pairs, np.int64).reshape(-1, 2)
        return np.append(bad[:, 0].astype(np.int32), columns[invalid]), np.append(bad[:, 1], times_ms[invalid])


def validate_readings(
    points: Points,
    columns: NDArray[np.int32],
    raw: NDArray[np.float64],
    shift: NDArray[np.float64],
    scale: NDArray[np.float64],
    times_ms: NDArray[np.int64],
    latest_ms: int,
) -> tuple[NDArray[np.bool_], NDArray[np.float64], Counter[Rejection]]:
    """Return which readings [n] to keep, their values in SI, and the rejections, one reason for each other reading."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = (raw - shift) * scale
    malformed = np.isnan(values)
    bad_time = ~malformed & ((times_ms < EARLIEST_MS) | (times_ms > latest_ms))
    impossible = ~malformed & ~bad_time & points.impossible(columns, values)
    rejected = Counter(
        {
            Rejection.MALFORMED: int(malformed.sum()),
            Rejection.BAD_TIME: int(bad_time.sum()),
            Rejection.OUT_OF_LIMITS: int(impossible.sum()),
        }
    )
    return ~(malformed | bad_time | impossible), values, rejected


def note_invalid(
    refusals: RefusalCounter,
    points: Points,
    columns: NDArray[np.int32],
    raw: NDArray[np.float64],
    values: NDArray[np.float64],
    times_ms: NDArray[np.int64],
    latest_ms: int,
) -> None:
    """Count, by column, the readings [n] that `validate_readings` does not keep."""
    malformed = np.isnan(values)
    bad_time = ~malformed & ((times_ms < EARLIEST_MS) | (times_ms > latest_ms))
    refusals.add_columns(columns, raw, malformed, Rejection.MALFORMED)
    refusals.add_columns(columns, raw, bad_time, Rejection.BAD_TIME)
    impossible = ~malformed & ~bad_time & points.impossible(columns, values)
    refusals.add_columns(columns, raw, impossible, Rejection.OUT_OF_LIMITS)


def _is_usable(quality: object) -> bool:
    return isinstance(quality, str) and quality.lower() in USABLE_QUALITIES
