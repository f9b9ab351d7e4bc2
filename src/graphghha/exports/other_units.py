"""Data in another unit than a model was taught in, where no header says so: a room of 72 that was one of 22."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import SchemaError
from graphghha.exports.recordings import Recording
from graphghha.plants import Plant
from graphghha.plants.units import QUANTITIES, canonical, conversion

Floats = NDArray[np.float64]
MOST = 0.95  # of the readings
FAR, NEAR = 0.5, 0.15  # of the normal range


def refuse_other_units(plant: Plant, recordings: Sequence[Recording], low: Floats, high: Floats) -> None:
    """Raise if nearly all readings of a point are far outside of the normal range [p], and inside it in another unit.

    A sensor that reads wrong may be outside as well; that all of its readings fit in another unit is no accident.
    """
    for at, node in enumerate(plant.template.points):
        unit = canonical(plant.signal(node).unit)
        values = np.concatenate([each.values[:, at] for each in recordings])
        values = values[np.isfinite(values)]
        span = high[at] - low[at]
        if not unit or not len(values) or span <= 0 or _inside(values, low[at], high[at], FAR * span) > 1 - MOST:
            continue
        for other in (each for units in QUANTITIES.values() if unit in units for each in units if each != unit):
            shift, scale = conversion(other, unit)
            if _inside((values - shift) * scale, low[at], high[at], NEAR * span) >= MOST:
                raise SchemaError(
                    f"{node}: its readings, about {np.median(values):.4g}, are far outside of the normal "
                    f"{low[at]:.4g} to {high[at]:.4g} {unit}, and inside of it if they are in {other}; state the unit "
                    f"in the header of the column, such as `{plant.reporting[node].column} [{other}]`"
                )


def _inside(values: Floats, low: float, high: float, margin: float) -> float:
    return float(((values >= low - margin) & (values <= high + margin)).mean())
