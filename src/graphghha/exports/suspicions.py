"""Units that readings suggest: a room of 72 degC is one of 72 degF, a valve at 0.4 % stands at 40 %."""

import re

import numpy as np
from numpy.typing import NDArray

from graphghha.exports.naming import Kind, words_of
from graphghha.plants.units import canonical

# names of air and rooms, whose temperature is known roughly: water and processes may have any
_AIR = re.compile(
    r"\b(?:ZN|ZNT|RM|ROOM|ZONE|SPACE|SA|DA|RA|MA|OA|EA|OAT|MAT|DAT|SAT|RAT|ZAT|AIR|OUTDOOR|OUTSIDE|DISCHARGE|SUPPLY|"
    r"RETURN|MIXED|ACTCLG|ACTHTG|RMCLG|RMHTG|\w*CLGSP\w*|\w*HTGSP\w*)\b"
)
_INDOORS = re.compile(r"\b(?:ZN|ZNT|RM|ROOM|ZONE|SPACE|ZAT|\w*CLGSP\w*|\w*HTGSP\w*)\b")
_DUCT = re.compile(r"\b(?:DUCT|STATIC|BLDG|BUILDING|DA|SA|FILTER)\b")
MOST_LOOKED_AT = 20_000

FEWEST_RISES = 50  # of a meter
MOST_RESETS = 0.02  # of a meter's steps
MOST_FALLEN = 0.05  # of what it has risen
NEAR_BEGINNING = 0.1  # of its range, to which a meter returns when it overflows or is reset


def reads_like(name: str, kind: Kind, unit: str | None, values: NDArray[np.float64], label: str = "") -> str | None:
    """Return the unit that the readings suggest, given in the unit as stated, if it differs from the stated one."""
    if not len(values):
        return None
    some = values[:: max(1, len(values) // MOST_LOOKED_AT)]
    unit = canonical(unit) if unit else None
    words = f"{words_of(name)} {words_of(label)}"
    if kind.quantity == "temperature" or unit in ("degC", "degF", "K"):
        found = _temperature(words, unit, some)
    elif kind.quantity == "humidity" or unit == "%RH":
        found = _humidity(unit, some)
    elif kind.purpose == "position" or unit in ("%", "fraction"):
        found = _share(unit, some)
    elif kind.quantity == "pressure" and unit is None:
        found = "inH2O" if _DUCT.search(words) and float(np.abs(some).max()) <= 6 else None
    else:
        found = None
    return None if found == unit else found


def _temperature(words: str, unit: str | None, values: NDArray[np.float64]) -> str | None:
    middle = float(np.median(values))
    is_air, is_indoors = bool(_AIR.search(words)), bool(_INDOORS.search(words))
    if unit in (None, "degC") and is_air and 45 < middle < 115:
        return "degF"
    if unit in (None, "degC", "degF") and 260 < middle < 330 and is_air:
        return "K"
    if unit == "degF" and is_indoors and 12 < middle < 35:
        return "degC"
    if unit is None:
        return "degC" if is_indoors and 12 < middle < 35 else None
    return unit


def _humidity(unit: str | None, values: NDArray[np.float64]) -> str | None:
    highest = float(values.max())
    if highest <= 1.0 and len(np.unique(values)) > 5:
        return "fraction"
    if unit in (None, "fraction") and 1.5 < highest <= 105:
        return "%RH"
    return unit


def _share(unit: str | None, values: NDArray[np.float64]) -> str | None:
    lowest, highest = float(values.min()), float(values.max())
    if lowest < -5:
        return unit
    if unit in (None, "%") and 0.5 <= highest <= 1.0 and len(np.unique(values)) > 3 and (values > 0.2).mean() > 0.05:
        return "fraction"
    if unit in (None, "fraction") and 1.5 < highest <= 105:
        return "%"
    return unit


def encoded_as(values: NDArray[np.float64]) -> str | None:
    """Return how whole numbers seem to be encoded, if they are not plain numbers."""
    some = values[:: max(1, len(values) // MOST_LOOKED_AT)]
    if not len(some) or (some != np.round(some)).any() or some.min() < 0 or some.max() >= 2**32:
        return None
    filled = some[some > 0]
    if len(filled) and filled.min() > 1 << 28:
        numbers = filled.astype(np.uint32).view(np.float32)
        size = np.abs(numbers)
        if (np.isfinite(numbers) & (size > 1e-4) & (size < 1e5)).all():
            return f"the bits of a 32-bit number, {numbers.min():.4g} to {numbers.max():.4g}"
    is_low, is_high = some < 1 << 14, some > (1 << 16) - (1 << 14)
    if some.max() < 1 << 16 and is_high.any() and is_low.any() and (is_low | is_high).all():
        signed = np.where(some >= 1 << 15, some - (1 << 16), some)
        return f"signed 16-bit numbers stored without their sign, {signed.min():.4g} to {signed.max():.4g}"
    return None


def counts_up(values: NDArray[np.float64]) -> bool:
    """Return whether readings only ever grow, as those of a meter, apart from returns to the beginning.

    Small falls are forgiven: noise, or a clock that jumped and put rows in the wrong place.
    """
    steps = np.diff(values)
    is_rise = steps > 0
    if is_rise.sum() < FEWEST_RISES:
        return False
    low, span = float(values.min()), float(values.max() - values.min())
    is_return = (values[1:] - low <= NEAR_BEGINNING * span) & (-steps > span / 2)
    fallen = -float(steps[~is_rise & ~is_return].sum())
    return int(is_return.sum()) <= MOST_RESETS * is_rise.sum() and fallen <= MOST_FALLEN * float(steps[is_rise].sum())
