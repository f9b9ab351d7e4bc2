"""Points that report changes only: their silence means "unchanged" for as long as their zone is heard.

r rows, p points.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.windows.grid import Rows

HEARD_WITHIN_ROWS = 60  # a zone without any reading for longer is silent, and so are its points
SPARSE = 0.5  # readings per row, below which a point does not report at every row
SILENT_POINTS, SILENT_SHARE = 2, 0.1  # of the points: so many are needed to say that the site reports that way


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


def is_sparse(counts: NDArray[np.integer[Any]], rows: int) -> bool:
    """Return whether a site reports changes or coarse samples, from the readings of its points [p] in some rows.

    Noise keeps measured points talking at every row where only changes are sent; setpoints, modes and commands, which
    have none, fall silent. One silent point may be broken. Points that the site lacks do not count.
    """
    heard = counts[counts > 0]
    silent = int((heard < SPARSE * rows).sum())
    return silent >= max(SILENT_POINTS, SILENT_SHARE * len(heard))
