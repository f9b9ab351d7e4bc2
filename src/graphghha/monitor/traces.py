"""What the recent readings of single points show: held, repeated, moved. Pure.

n rows of one step each, oldest first, of points that are NaN where there is no fresh reading.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]

REPEATED_ROWS = 20  # a stretch this long does not come back by chance ...
LEAST_CHANGES, LEAST_LEVELS = 12, 4  # ... if it changes this often, between this many values
HELD_ROWS = 30
HELD_TIMES = 3  # a hold is unusual if it is this many times as long as any before
LEAST_BEFORE = 720  # rows before it that show what is usual


def is_repeated(values: Floats) -> bool:
    """Return whether the newest readings [n] are, to the last digit, a stretch that was read before."""
    newest = values[-REPEATED_ROWS:]
    if len(values) < 2 * REPEATED_ROWS or not np.isfinite(newest).all():
        return False
    if np.count_nonzero(np.diff(newest)) < LEAST_CHANGES or len(np.unique(newest)) < LEAST_LEVELS:
        return False  # coarse or slow readings repeat by themselves
    earlier = np.lib.stride_tricks.sliding_window_view(values[:-REPEATED_ROWS], REPEATED_ROWS)
    return bool((earlier == newest).all(axis=1).any())


def is_held(values: Floats) -> bool:
    """Return whether the newest readings [n] have stopped to vary, which they never did for nearly as long before."""
    known = values[np.isfinite(values)]
    changes = np.flatnonzero(np.diff(known)) + 1
    if not len(changes) or np.isnan(values[-1]):
        return False
    held = len(known) - int(changes[-1])
    longest = int(np.diff(changes, prepend=0).max())
    return held >= max(HELD_ROWS, HELD_TIMES * longest) and changes[-1] >= LEAST_BEFORE


def moves(values: Floats, least: float) -> NDArray[np.int64]:
    """Return the rows at which a point [n] differs by more than `least` from its last reading before."""
    known = np.flatnonzero(np.isfinite(values))
    return known[1:][np.abs(np.diff(values[known])) > least]


def moved_alone(own: Floats, others: Floats, least: float, recent: int, near: int, day: int) -> int | None:
    """Return the row at which a setting [n] moved at an unusual time of day; None if it did not, or nobody can say.

    The usual times are those at which it moved before the last `recent` rows and at which the same settings of other
    zones [n k] moved at all, `near` rows around them; `day` is the number of rows of a day. One day of readings and two
    other zones are needed.
    """
    if len(own) < day or others.shape[1] < 2:
        return None
    mine = moves(own, least)
    new = mine[mine >= len(own) - recent]
    if not len(new):
        return None
    usual = np.concatenate([mine[mine < len(own) - recent], *(moves(each, least) for each in others.T)])
    apart = np.abs(usual - new[0]) % day
    return int(new[0]) if not (np.minimum(apart, day - apart) <= near).any() else None


def has_moved(settings: Floats, least: Floats, rows: int) -> bool:
    """Return whether any of some settings [n m] moved by more than `least` [m] in the last rows."""
    recent = settings[-rows:]
    if not recent.size:
        return False
    ranges = np.fmax.reduce(recent) - np.fmin.reduce(recent)  # [m]; NaN, of an unknown setting, is not more than any
    return bool((ranges > least).any())
