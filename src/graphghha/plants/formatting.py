"""Readings as an operator would say them: no finer than the instrument, modes by their names."""

import math

from graphghha.plants.base import Signal

STEPS_OF_RANGE = 500  # how finely a signal without noise is read
_SYMBOLS = {"degC": "°C"}


def decimals(signal: Signal) -> int:
    """Digits after the point that mean something: the last one is no finer than the noise."""
    resolution = signal.noise or (signal.high - signal.low) / STEPS_OF_RANGE
    return max(0, math.floor(-math.log10(resolution) + 1e-9))


def spoken(signal: Signal, value: float) -> str:
    """`44%`, `22.5 °C`, `setback`."""
    if signal.states:
        at = min(max(round(value - signal.low), 0), len(signal.states) - 1)
        return signal.states[at]
    digits = decimals(signal)
    value = round(value, digits) + 0.0  # never minus zero
    if signal.unit == "fraction":
        return f"{value:.{max(0, digits - 2)}%}"
    return f"{value:.{digits}f} {_SYMBOLS.get(signal.unit, signal.unit)}"
