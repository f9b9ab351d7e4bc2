"""What the other zones of a building read: the median over the other zones, for every zone.

Zones of a building share weather, water and schedules, so the others show what is usual at the moment.

r rows, Z zones, S signals.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


def median_of_others(values: Floats, known: Bools) -> tuple[Floats, Bools]:
    """Return for every zone the median [r Z S] over the other zones with a known value, and where there are any.

    Where no other zone is known the median is 0. All medians come from one sort: leaving out one value moves the
    middle of the sorted others by at most one place.
    """
    zones = values.shape[1]
    if zones == 1:
        return np.zeros_like(values), np.zeros(values.shape, np.bool_)
    order = np.argsort(np.where(known, values, np.inf), axis=1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=1)
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(zones)[:, None], axis=1)
    others = known.sum(axis=1, keepdims=True) - known  # [r Z S] known zones apart from this one
    rank = np.where(known, rank, zones)  # an unknown zone leaves nothing out

    def without_own(place: NDArray[np.int64]) -> Floats:
        """Return the value at a place of the sorted others."""
        shifted = np.where(place >= rank, place + 1, place)
        return np.take_along_axis(ascending, np.clip(shifted, 0, zones - 1), axis=1)

    middle = np.float32(0.5) * (without_own((others - 1) // 2) + without_own(others // 2))
    has_others: Bools = others > 0
    return np.where(has_others, middle, np.float32(0.0)), has_others
