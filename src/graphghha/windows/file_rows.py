"""Telemetry files as closed rows, made portion by portion by the grid that live readings pass through.

r rows, p points.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import DataError, SchemaError
from graphghha.graph import CpsGraph
from graphghha.plants import Points, known_plants, load_plant
from graphghha.plants.telemetry import MISSING, Chunk, TelemetryFile
from graphghha.windows.grid import Counters, Grid, GridConfig, Rows
from graphghha.windows.multiscale import DAY, STEP_S
from graphghha.windows.unchanged import Unchanged, is_sparse

JUDGED_ROWS = 6 * 3600 // STEP_S  # from which the way a site reports is recognised
LONGEST_SILENCE_MS = 400 * DAY * 1000  # longer than any season without readings


class FileRows:
    """The rows of one telemetry file, with columns in the order of a model's template.

    At most a chunk of the file (a day) and a portion of rows are in memory at once.
    """

    def __init__(
        self,
        file: TelemetryFile,
        template: CpsGraph,
        *,
        portion_rows: int | None = None,
        any_reporting: bool = False,
    ) -> None:
        """Close rows in portions of `portion_rows`, by default a day.

        With `any_reporting` the file may lack points, which are then unknown at all times, and may hold changes or
        coarse samples: if its first hours are sparse, a point keeps its last value while its zone is heard.
        """
        meta = file.meta
        if meta.template_hash != template.content_hash:
            raise SchemaError(
                f"{file.path}: has telemetry of plant {meta.plant!r} with another template than the model's; "
                "use a model that was trained for this plant"
            )
        signals = template.point_signals
        missing = [name for name in signals if name not in meta.points]
        if missing and (not any_reporting or len(missing) == len(signals)):
            raise SchemaError(f"{file.path}: the point {missing[0]!r} is missing; the model reads {', '.join(signals)}")
        if meta.step_s != STEP_S:
            raise SchemaError(f"{file.path}: its step is {meta.step_s!r} s; models read one row every {STEP_S} s")
        _check_units(file)
        self.file, self.zones = file, meta.zones
        self.points = tuple(f"{zone}/{name}" for zone in meta.zones for name in signals)
        # the column after the last one, which is added to the values, is that of points the file lacks
        self._columns = [meta.points.index(name) if name in meta.points else len(meta.points) for name in signals]
        self._portion = portion_rows or DAY // STEP_S
        step_ms = round(meta.step_s * 1000)
        self._config = GridConfig(step_ms=step_ms, stale_after_ms=5 * step_ms, horizon_rows=self._portion)
        self._grid: Grid | None = None
        self._any_reporting = any_reporting
        self.is_sparse = False  # whether points report changes or coarse samples; known with the first row
        self._limits = Points.from_names(load_plant(meta.plant), self.points) if meta.plant in known_plants() else None
        # [p] readings outside instrument limits, which count as unknown, as in the monitor
        self.impossible = np.zeros(len(self.points), np.int64)

    @property
    def step_ms(self) -> int:
        """The time between two rows."""
        return self._config.step_ms

    @property
    def counters(self) -> Counters:
        """How the readings so far were handled."""
        return self._grid.counters if self._grid else Counters()

    @property
    def out_of_limits(self) -> int:
        """How many readings were outside instrument limits so far."""
        return int(self.impossible.sum())

    def __iter__(self) -> Iterator[Rows]:
        self._grid, self.impossible[:] = None, 0
        unchanged: Unchanged | None = None
        for rows in self._rows():
            if self.is_sparse and unchanged is None:
                unchanged = Unchanged(self.points)
            yield rows if unchanged is None else unchanged.push(rows)

    def _rows(self) -> Iterator[Rows]:
        for chunk in self.file.chunks():
            times_ms = chunk.times.astype("datetime64[ms]").astype(np.int64)
            if self._grid is None:
                self._grid = Grid(self.points, self._config, start_ms=int(times_ms.min()))
                self.is_sparse = self._any_reporting and starts_sparse(self.file)
            order = np.argsort(times_ms, kind="stable")
            yield from self._closed(self._grid, times_ms[order], self._values(chunk)[order])
        if self._grid is None:
            raise DataError(f"{self.file.path}: contains no readings")
        yield from self._last(self._grid, int(times_ms.max()))

    def _values(self, chunk: Chunk) -> NDArray[np.float64]:
        """Return the values [r p] of a chunk, NaN where there is no reading."""
        values = np.where(chunk.quality == MISSING, np.nan, chunk.values.astype(np.float64))
        values = np.concatenate([values, np.full((*values.shape[:-1], 1), np.nan)], axis=-1)[..., self._columns]
        values = values.transpose(1, 0, 2).reshape(len(chunk.times), -1)
        if self._limits is not None:
            impossible = self._limits.impossible(slice(None), values)
            self.impossible += impossible.sum(axis=0)
            values[impossible] = np.nan
        return values

    def _closed(self, grid: Grid, times_ms: NDArray[np.int64], values: NDArray[np.float64]) -> Iterator[Rows]:
        """Yield the rows up to the newest time, in portions, since the grid keeps only a portion open."""
        step_ms = self._config.step_ms
        at = 0
        while at < len(times_ms):
            begin = int(times_ms[at])
            if begin - grid.next_time_ms > LONGEST_SILENCE_MS:
                before, after = (np.datetime64(ms, "ms").astype("datetime64[m]") for ms in (grid.next_time_ms, begin))
                raise DataError(
                    f"{self.file.path}: no readings from {before} to {after}, which suggests a wrong clock; "
                    "correct or remove the times before or after the gap"
                )
            while begin >= grid.next_time_ms + self._portion * step_ms:
                yield grid.advance(grid.next_time_ms + (self._portion - 1) * step_ms)
            until = grid.next_time_ms + (self._portion - 1) * step_ms
            stop = max(at + 1, int(np.searchsorted(times_ms, until, side="right")))
            grid.push_block(times_ms[at:stop], values[at:stop])
            at = stop
            yield from _some(grid.advance(int(times_ms[stop - 1])))

    def _last(self, grid: Grid, newest_ms: int) -> Iterator[Rows]:
        """Yield the last row: a reading between two steps belongs to the later one, which is still open."""
        yield from _some(grid.advance(newest_ms + self._config.step_ms - 1))


def starts_sparse(file: TelemetryFile) -> bool:
    """Return whether the points of a file report changes or coarse samples, as its first hours show."""
    counts, first, rows = np.zeros(len(file.meta.points), np.int64), None, 0
    for chunk in file.chunks():
        times_ms = chunk.times.astype("datetime64[ms]").astype(np.int64)
        first = int(times_ms.min()) if first is None else first
        rows = (int(times_ms.max()) - first) // round(file.meta.step_s * 1000) + 1  # more than the times of its chunks
        counts += (chunk.quality != MISSING).sum(axis=(0, 1))
        if rows >= JUDGED_ROWS:
            break
    return is_sparse(counts, rows * len(file.meta.zones))


def _check_units(file: TelemetryFile) -> None:
    """Raise SchemaError if a point has another unit than the plant's signal."""
    if file.meta.plant not in known_plants():
        return
    units = {signal.name: signal.unit for signal in load_plant(file.meta.plant).signals}
    for point, unit in zip(file.meta.points, file.meta.units, strict=True):
        if unit != units.get(point, unit):
            raise SchemaError(f"{file.path}: {point} is in {unit!r}; convert it to {units[point]!r}")


def _some(rows: Rows) -> Iterator[Rows]:
    if len(rows):
        yield rows
