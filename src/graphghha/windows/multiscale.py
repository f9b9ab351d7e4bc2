"""Summaries of each point over minutes, hours and days, so that one score uses the last minute and the last three days.

Scaled values are held as whole multiples of QUANTUM, so that running sums are exact integers. A window is the
difference of two sums, and the result has the same bytes whether rows arrive one at a time or a year at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError, SchemaError

QUANTUM = 2.0**-16  # of a scaler's unit: far below any signal's noise
LIMIT = 32.0  # largest scaled value; squares of 2^21 summed over 2^20 rows fit in 63 bits, and wrapping cancels
BLOCK_ROWS = 256  # rows processed at once; any number gives the same bytes, this one fits in the cache

MINUTE, HOUR, DAY = 60, 3600, 86_400

STEP_S = MINUTE  # between two rows of the window plan, which is that of the fan-coil plant


@dataclass(frozen=True, kw_only=True, slots=True)
class MultiScaleConfig:
    """Windows in seconds, each a multiple of the step; `windows.features` has those that models use.

    Means, standard deviations and shares of missing rows are taken over windows that end with the current row. A lag
    is the value that long ago.
    """

    step_s: int = STEP_S
    lags_s: tuple[int, ...] = (0,)
    means_s: tuple[int, ...] = ()
    stds_s: tuple[int, ...] = ()
    missings_s: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.step_s < 1:
            raise ConfigError(f"multiscale.step_s {self.step_s} must be at least 1")
        for name, least_s in (("lags_s", 0), ("means_s", 1), ("stds_s", 1), ("missings_s", 1)):
            for window_s in getattr(self, name):
                if window_s < least_s or window_s % self.step_s:
                    raise ConfigError(
                        f"multiscale.{name}: {window_s} s must be a multiple of {self.step_s} s from {least_s} up"
                    )
        if not self.feature_names:
            raise ConfigError("multiscale: give at least one lag or window")
        if self.history_rows > 2**20:
            raise ConfigError(f"multiscale: a window has {self.history_rows} rows; at most 2^20 are possible")

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features of one point, in order."""
        kinds = ("lag", "mean", "std", "missing")
        return tuple(f"{kind}_{window_s}s" for kind in kinds for window_s in getattr(self, f"{kind}s_s"))

    @property
    def history_rows(self) -> int:
        """The number of rows that the longest window spans, the current one included."""
        lags = [lag_s + self.step_s for lag_s in self.lags_s]
        return max([*lags, *self.means_s, *self.stds_s, *self.missings_s]) // self.step_s


class Summarizer:
    """Turns scaled rows into features, for training, batch scoring and live scoring alike.

    It keeps running sums of the last `history_rows` rows. Rows before the first one count as missing.
    """

    def __init__(self, num_points: int, config: MultiScaleConfig) -> None:
        self.config = config
        self.num_points = num_points
        self._capacity = config.history_rows + 1 + BLOCK_ROWS
        square_rows = max((s // config.step_s for s in config.stds_s), default=0) + 1 + BLOCK_ROWS
        # running sums after each row, row n at slot n % length; slots not yet written are the sum of no rows
        self._sum = np.zeros((self._capacity, num_points), np.int64)
        self._count = np.zeros((self._capacity, num_points), np.int32)
        self._square = np.zeros((square_rows, num_points), np.int64)
        self._rows = 0

    def push(self, values: NDArray[Any], fresh: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Take rows [r p] in time order; return features [w p f] after each row where `wanted` [r] is True."""
        if values.shape != fresh.shape or values.shape != (len(wanted), self.num_points):
            raise SchemaError(
                f"multiscale: values {values.shape}, mask {fresh.shape} and {len(wanted)} wanted flags do not fit "
                f"{self.num_points} points"
            )
        out = np.empty((int(wanted.sum()), self.num_points, len(self.config.feature_names)), np.float32)
        done = 0
        for start in range(0, len(values), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            ends = self._accumulate(values[block], fresh[block])[wanted[block]]
            for number, column in enumerate(self._features(ends)):
                out[done : done + len(ends), :, number] = column
            done += len(ends)
        return out

    def _accumulate(self, values: NDArray[Any], fresh: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Extend the running sums by a block and return its row numbers."""
        known = fresh & np.isfinite(values)
        whole = np.where(known, np.clip(values, -LIMIT, LIMIT), 0.0).astype(np.float64, copy=False) / QUANTUM
        quanta = np.rint(whole).astype(np.int64)
        rows = np.arange(self._rows, self._rows + len(values))
        for sums, terms in ((self._sum, quanta), (self._count, known), (self._square, quanta * quanta)):
            before = sums[(self._rows - 1) % len(sums)]
            sums[rows % len(sums)] = np.cumsum(terms, axis=0, dtype=sums.dtype) + before
        self._rows += len(values)
        return rows

    def _features(self, ends: NDArray[np.int64]) -> Iterator[NDArray[np.float64]]:
        """Yield the features [w p] one by one, of windows that end with rows `ends`."""
        config, window = self.config, _Windows(self._sum, self._count, self._square, ends)
        for lag_s in config.lags_s:
            yield window.mean(lag_s // config.step_s, 1)
        for mean_s in config.means_s:
            yield window.mean(0, mean_s // config.step_s)
        for std_s in config.stds_s:
            yield window.std(std_s // config.step_s)
        for missing_s in config.missings_s:
            yield 1.0 - window.count(0, missing_s // config.step_s) / (missing_s // config.step_s)


class _Windows:
    """Statistics of windows of `width` rows that end `back` rows before each end; without data the mean is 0."""

    def __init__(
        self,
        sums: NDArray[np.int64],
        counts: NDArray[np.int32],
        squares: NDArray[np.int64],
        ends: NDArray[np.int64],
    ) -> None:
        self._sums, self._counts, self._squares = sums, counts, squares
        self._ends = ends
        self._at: dict[tuple[int, int], NDArray[Any]] = {}

    def _running(self, running: NDArray[Any], back: int) -> NDArray[Any]:
        key = id(running), back
        if key not in self._at:
            self._at[key] = running[(self._ends - back) % len(running)]
        return self._at[key]

    def _total(self, running: NDArray[Any], back: int, width: int) -> NDArray[Any]:
        total: NDArray[Any] = self._running(running, back) - self._running(running, back + width)
        return total

    def count(self, back: int, width: int) -> NDArray[np.int32]:
        return self._total(self._counts, back, width)

    def mean(self, back: int, width: int) -> NDArray[np.float64]:
        count = np.maximum(self.count(back, width), 1)
        mean: NDArray[np.float64] = self._total(self._sums, back, width) / count * QUANTUM
        return mean

    def std(self, width: int) -> NDArray[np.float64]:
        count = np.maximum(self.count(0, width), 1)
        mean = self._total(self._sums, 0, width) / count
        variance = self._total(self._squares, 0, width) / count - mean * mean
        std: NDArray[np.float64] = np.sqrt(np.maximum(variance, 0.0)) * QUANTUM
        return std


def summarize(
    values: NDArray[Any], fresh: NDArray[np.bool_], config: MultiScaleConfig, *, stride: int = 1, first: int = 0
) -> NDArray[np.float32]:
    """Return features [w p f] of the windows that end with rows first, first + stride, ... of an array [n p]."""
    wanted = np.zeros(len(values), np.bool_)
    wanted[first::stride] = True
    return Summarizer(values.shape[1], config).push(values, fresh, wanted)
