"""Points that report changes only: their silence means "unchanged" for as long as their zone is heard.

r rows, p points.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphghha.windows.grid import Rows

HEARD_WITHIN_ROWS = 60  # a zone without any reading for longer is silent, and so are its points
SPARSE = 0.5  # readings per row and point, below which a site is taken to report changes or coarse samples


class Unchanged:
    """Keeps the last value of every point while its zone is heard. Portions of any size give the same rows."""

    def __init__(self, points: Sequence[str]) -> None:
        zones = [point.rpartition("/")[0] for point in points]
        names = list(dict.fromkeys(zones))
        self._zone = np.array([names.index(zone) for zone in zones])
        self._last = np.full(len(points), np.nan)
        self._silent = np.full(len(names), HEARD_WITHIN_ROWS + 1)  # rows since a zone was last heard

    def push(self, rows: Rows) -> Rows:
        """Return the rows with values that are not fresh replaced by the last ones, where they still hold."""
        values, fresh = rows.values.astype(np.float64), rows.fresh.copy()
        for row in range(len(values)):
            now = fresh[row]
            self._last[now] = values[row, now]
            heard = np.zeros(len(self._silent), np.bool_)
            np.logical_or.at(heard, self._zone, now)
            self._silent = np.where(heard, 0, self._silent + 1)
            held = ~now & np.isfinite(self._last) & (self._silent <= HEARD_WITHIN_ROWS)[self._zone]
            values[row, held] = self._last[held]
            fresh[row, held] = True
        return Rows(rows.times_ms, values.astype(rows.values.dtype), fresh, rows.heard)


def is_sparse(present: NDArray[np.bool_]) -> bool:
    """Return whether points [.. p] of a site have far fewer readings than rows; points it lacks do not count."""
    shares = present.reshape(-1, present.shape[-1]).mean(axis=0)
    heard = shares[shares > 0]
    return bool(len(heard)) and float(np.median(heard)) < SPARSE
