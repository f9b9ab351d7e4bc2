"""Inputs of the expectations of a plant of the user's own: present, lagged and averaged readings of every signal.

r rows, e judged rows, p signals, l looks back (the present, lags, means over the past that end one row ago).
"""

import numpy as np
from numpy.typing import NDArray

from graphghha.windows.own_plan import OwnPlan

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
_GRAIN = 65_536.0  # sums of whole numbers are exact: they do not depend on how rows are divided into portions


def fill_forward(scaled: Floats, fresh: Bools, last: Floats) -> Floats:
    """Return readings [r p] without holes: the last known one, at first `last` [p], 0 where nothing is known."""
    known = fresh & np.isfinite(scaled)
    rows = np.arange(1, len(scaled) + 1)[:, None]
    latest = np.maximum.accumulate(np.where(known, rows, 0), axis=0)
    stacked = np.concatenate([np.nan_to_num(last)[None], np.where(known, scaled, 0.0)])
    filled: Floats = np.take_along_axis(stacked, latest, axis=0)
    return filled


def look_back(filled: Floats, plan: OwnPlan, rows: NDArray[np.int64]) -> Floats:
    """Return the inputs [e p l] at some rows of filled readings [r p].

    Rows before the first are taken to be like it.
    """
    before = np.repeat(filled[:1], plan.history, axis=0)
    long = np.concatenate([before, filled])
    at = rows + plan.history
    total = np.cumsum(np.rint(long * _GRAIN).astype(np.int64), axis=0)
    looks = [long[at], *(long[at - lag] for lag in plan.lags)]
    looks += [(total[at - 1] - total[at - 1 - mean]) / (_GRAIN * mean) for mean in plan.means]
    return np.stack(looks, axis=-1)
