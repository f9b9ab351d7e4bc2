"""Tables with one column per point, put into the order of the site's points."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import SchemaError
from graphghha.sources.base import Rejection, RowBatch
from graphghha.sources.batch_builder import EARLIEST_MS, LATEST_MS
from graphghha.sources.mapping import Mapper, Route
from graphghha.sources.refusals import MOST_NAMES, RefusalCounter


class WideLayout:
    """Which column of a table feeds which point. The cells of all other columns are counted as rejected."""

    def __init__(
        self, site: str, mapper: Mapper, names: Sequence[str], units: Sequence[str | None], where: str
    ) -> None:
        """`names` and `units` describe the columns of the table; `where` names the table in error messages."""
        self.site = site
        self.mapper = mapper
        routes: dict[int, Route] = {}
        self._unused: Counter[Rejection] = Counter()  # columns by reason
        self._refusals = RefusalCounter()
        self._unused_names: list[tuple[str, Rejection]] = []
        column_of_point: dict[int, int] = {}
        for number, (name, unit) in enumerate(zip(names, units, strict=True)):
            route = mapper.route(name, unit)
            if isinstance(route, Rejection):
                self._unused[route] += 1
                self._unused_names.append((name, route))
                continue
            if (other := column_of_point.setdefault(route.column, number)) != number:
                point = mapper.points.names[route.column]
                raise SchemaError(
                    f"{where}: columns {names[other]!r} and {name!r} both feed {point!r}; map one of them elsewhere"
                )
            routes[number] = route
        self.used = np.array(sorted(routes), np.int64)  # columns of the table
        ordered = [routes[number] for number in self.used.tolist()]
        self._targets = np.array([route.column for route in ordered], np.int64)
        self._shift = np.array([route.shift for route in ordered])
        self._scale = np.array([route.scale for route in ordered])
        self._is_in_si = not self._shift.any() and bool((self._scale == 1.0).all())
        self._is_in_order = np.array_equal(self._targets, np.arange(len(mapper.points)))

    def batch(self, times_ms: NDArray[np.int64], used: NDArray[Any], malformed: Sequence[int] = ()) -> RowBatch:
        """Return a batch from the used columns [r u] in their own units, NaN where a cell is empty.

        Rows without a usable time are left out. `malformed` is how many cells of each used column hold no number.
        """
        values = raw = np.asarray(used, np.float64)
        rejected = Counter({reason: count * len(times_ms) for reason, count in self._unused.items()})
        for column, count in zip(self._targets.tolist(), malformed, strict=False):
            if count:
                rejected[Rejection.MALFORMED] += count
                self._refusals.add(column, Rejection.MALFORMED, count=count)
        bad_time = (times_ms < EARLIEST_MS) | (times_ms >= LATEST_MS)
        if bad_time.any():
            rejected[Rejection.BAD_TIME] += int(np.isfinite(values[bad_time]).sum())
            times_ms, values = times_ms[~bad_time], values[~bad_time]
            raw = values
        if not self._is_in_si:
            with np.errstate(over="ignore", invalid="ignore"):
                values = (values - self._shift) * self._scale
        points = self.mapper.points
        if not self._is_in_order:
            placed = np.full((len(times_ms), len(points)), np.nan)
            placed[:, self._targets] = values
            values = placed
        impossible = points.impossible(slice(None), values)
        if self.mapper.statistics is not None:
            self.mapper.statistics.add_rows(self._targets, raw, impossible[:, self._targets])
        if impossible.any():
            rejected[Rejection.OUT_OF_LIMITS] += int(impossible.sum())
            self._note_impossible(raw, impossible)
            values = np.where(impossible, np.nan, values)
        for name, reason in self._unused_names[:MOST_NAMES]:
            self._refusals.add(name, reason, count=len(times_ms))
        newest = int(times_ms[-1]) if len(times_ms) else 0
        return RowBatch(self.site, newest, times_ms, values, rejected=+rejected, refused=self._refusals.take())

    def _note_impossible(self, raw: NDArray[np.float64], impossible: NDArray[np.bool_]) -> None:
        """Count, by point, the cells that the instrument cannot have read."""
        for number, column in enumerate(self._targets.tolist()):
            rows = np.flatnonzero(impossible[:, column])
            if len(rows):
                self._refusals.add(column, Rejection.OUT_OF_LIMITS, f"{raw[rows[-1], number]:g}", len(rows))
