"""Readings that mean "no sensor": the numbers that controllers write when an input is open, shorted or absent."""

import numpy as np
from numpy.typing import NDArray

from graphghha.plants.units import canonical

# Written for any quantity: ends of number ranges, and numbers that people use for "none".
_ANY = (
    *(32767.0, -32768.0, 3276.7, -3276.8, 327.67, -327.68, 65535.0, 6553.5, 655.35, 2147483647.0, -2147483648.0),
    *(-9999.0, -9999.9, -999.0, -999.9, -999.99, 9999.0, 9999.9, 99999.0, -99999.0, 1e30, -1e30),
)
# Written for a temperature only: open or shorted thermistors, resistance sensors and one-wire sensors.
_TEMPERATURE = (-250.0, -200.0, -127.0, 850.0, -459.67, -273.15, -99.0, -99.9, 999.0, 999.9, 250.0, 400.0)
# A point that reads one of these all the time has no sensor; the others may be a set-point or a full scale.
_SURE = (
    *(-250.0, -127.0, 850.0, 3276.7, -3276.8, 327.67, -327.68, 32767.0, -32768.0, 6553.5, 655.35, 65535.0),
    *(-999.0, -999.9, -999.99, -9999.0, -9999.9, -99999.0),
)
_ABSOLUTE_ZERO = {"degC": -273.15, "degF": -459.67, "K": 0.0}
_HUGE = 1e30
_AIR_LIMITS = {"degC": (-90.0, 500.0), "degF": (-130.0, 932.0), "K": (183.0, 773.0)}  # no plant sensor reads beyond
MOST_VALUES = 3  # different numbers for "no sensor" in one point


def find_sentinels(values: NDArray[np.float64], *, quantity: str | None, unit: str | None) -> dict[float, str]:
    """Return the values of a point that stand for "no sensor", each with the reason."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return {}
    unit = canonical(unit) if unit else None
    is_temperature = quantity == "temperature" or unit in _ABSOLUTE_ZERO
    known = _ANY + (_TEMPERATURE if is_temperature else ())
    distinct, counts = np.unique(finite, return_counts=True)
    ends = np.concatenate([distinct[:MOST_VALUES], distinct[-MOST_VALUES:]])  # they lie outside of the real readings
    found: dict[float, str] = {}
    for value in dict.fromkeys(ends.tolist()):
        if abs(value) >= _HUGE:
            found[value] = "no instrument reads so much"
        elif is_temperature and value < _ABSOLUTE_ZERO.get(unit or "", -np.inf):
            found[value] = "it is below absolute zero"
        elif any(abs(value - each) <= 1e-4 * abs(each) for each in known):
            others = finite[~np.isin(finite, [*found, value])]
            if reason := _stands_apart(value, others, unit if unit in _AIR_LIMITS else None):
                found[value] = reason
    return found


def _stands_apart(value: float, others: NDArray[np.float64], temperature_unit: str | None) -> str | None:
    """Return why a suspicious value is not a reading, or None if it may be one."""
    if temperature_unit:
        low, high = _AIR_LIMITS[temperature_unit]
        if not low < value < high:
            return f"no sensor of a plant reads {value:g} {temperature_unit}"
    if not len(others):
        is_sure = any(abs(value - each) <= 1e-4 * abs(each) for each in _SURE)
        return "controllers write it for an input without a sensor, and nothing else was read" if is_sure else None
    low, high = np.quantile(others, [0.01, 0.99])
    spread = max(high - low, 0.02 * max(abs(low), abs(high)), 1e-9)
    distance = min(abs(value - others.min()), abs(value - others.max()))
    if distance > 3 * spread and not others.min() <= value <= others.max():
        return f"all other readings lie between {others.min():g} and {others.max():g}"
    return None
