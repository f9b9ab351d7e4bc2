"""What arrived for each point, in the unit of the sender: for the check of a mapping, not for the monitor."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

SAMPLE = 4_000  # readings kept for each point


@dataclass(slots=True)
class PointStatistics:
    """The readings of one point as they came, before the conversion."""

    count: int = 0
    out_of_limits: int = 0
    low: float = float("inf")
    high: float = float("-inf")
    samples: list[NDArray[np.float64]] = field(default_factory=list)

    @property
    def values(self) -> NDArray[np.float64]:
        """Some of the readings."""
        return np.concatenate(self.samples) if self.samples else np.empty(0)


class SourceStatistics:
    """Statistics by column of the site."""

    def __init__(self) -> None:
        self.by_column: dict[int, PointStatistics] = {}

    def add_rows(self, columns: NDArray[np.int64], raw: NDArray[np.float64], impossible: NDArray[np.bool_]) -> None:
        """Add rows [r u] of readings of these columns [u], and which of them the instrument cannot read."""
        for number, column in enumerate(columns.tolist()):
            self._add(column, raw[:, number], impossible[:, number])

    def add_readings(self, columns: NDArray[np.int32], raw: NDArray[np.float64], impossible: NDArray[np.bool_]) -> None:
        """Add single readings [n]."""
        for column in np.unique(columns).tolist():
            chosen = columns == column
            self._add(column, raw[chosen], impossible[chosen])

    def _add(self, column: int, raw: NDArray[np.float64], impossible: NDArray[np.bool_]) -> None:
        finite = raw[np.isfinite(raw)]
        if not len(finite):
            return
        own = self.by_column.setdefault(column, PointStatistics())
        own.count += len(finite)
        own.out_of_limits += int(impossible.sum())
        own.low, own.high = min(own.low, float(finite.min())), max(own.high, float(finite.max()))
        if (left := SAMPLE - sum(map(len, own.samples))) > 0:
            own.samples.append(finite[:: max(1, len(finite) // left)][:left].copy())
