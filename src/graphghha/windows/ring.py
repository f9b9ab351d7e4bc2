"""A ring buffer of the last rows of a stream."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError
from graphghha.windows.grid import Rows


class Ring:
    """A preallocated buffer of the last `capacity` rows.

    Each row is written twice, `capacity` slots apart, so that the newest rows are always contiguous and a window is a
    view without a copy.
    """

    def __init__(self, capacity: int, num_points: int, dtype: Any = np.float32) -> None:
        if capacity < 1 or num_points < 1:
            raise ConfigError(f"ring: capacity {capacity} and num_points {num_points} must be at least 1")
        self.capacity = capacity
        self._times_ms = np.zeros(2 * capacity, np.int64)
        self._values = np.full((2 * capacity, num_points), np.nan, dtype)
        self._fresh = np.zeros((2 * capacity, num_points), np.bool_)
        self._stop = capacity  # one past the newest row, in the upper copy
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def is_full(self) -> bool:
        """Whether `capacity` rows were appended."""
        return self._length == self.capacity

    def append(self, time_ms: int, values: NDArray[Any], fresh: NDArray[np.bool_]) -> None:
        """Add one row, dropping the oldest if the buffer is full."""
        slot = self._stop % self.capacity
        for array, row in ((self._times_ms, time_ms), (self._values, values), (self._fresh, fresh)):
            array[slot] = row
            array[slot + self.capacity] = row
        self._stop = slot + 1 + self.capacity
        self._length = min(self._length + 1, self.capacity)

    def extend(self, rows: Rows) -> None:
        """Add rows; only the newest `capacity` are written."""
        newest = slice(max(0, len(rows) - self.capacity), None)
        for time_ms, values, fresh in zip(
            rows.times_ms[newest].tolist(), rows.values[newest], rows.fresh[newest], strict=True
        ):
            self.append(time_ms, values, fresh)

    def last(self, count: int | None = None) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.bool_]]:
        """Return times [n], values [n p] and freshness [n p] of the newest rows, oldest first, as read-only views."""
        length = self._length if count is None else min(count, self._length)
        window = slice(self._stop - length, self._stop)
        times_ms, values, fresh = self._times_ms[window], self._values[window], self._fresh[window]
        for view in (times_ms, values, fresh):
            view.flags.writeable = False
        return times_ms, values, fresh
