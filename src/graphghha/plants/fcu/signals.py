"""The 29 signals of the fan-coil unit in column order, in SI, and the conversion from the data set's own units."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.plants.base import Signal
from graphghha.plants.units import conversion, inner

TIME_COLUMN, TIME_FORMAT = "Datetime", "%m/%d/%Y %H:%M"  # of the data set's files

# name, meaning, unit in the data set, range and noise in SI. Noise is the instrument's: 0.1 K on temperatures,
# 1 %RH on humidity, about 1 % of a usual reading on flows, speed and power, 0.3 % on position feedback, none on
# modes, setpoints and commands.
_TABLE: tuple[tuple[str, str, str, float, float, float], ...] = (
    ("FCU_CTRL", "operating mode", "mode", 0, 2, 0),
    ("FAN_CTRL", "fan mode", "mode", 1, 2, 0),
    ("RM_TEMP", "room temperature", "degF", -40, 60, 0.1),
    ("RMCLGSPT", "room cooling setpoint", "degF", 5, 40, 0),
    ("RMHTGSPT", "room heating setpoint", "degF", 5, 40, 0),
    ("FCU_MAT", "mixed air temperature", "degF", -50, 80, 0.1),
    ("FCU_DAT", "discharge air temperature", "degF", -50, 80, 0.1),
    ("FCU_RAT", "return air temperature", "degF", -40, 60, 0.1),
    ("FCU_CVLV", "cooling valve position", "fraction", 0, 1, 0.003),
    ("FCU_CVLV_DM", "cooling valve command", "fraction", 0, 1, 0),
    ("FCU_CLG_GPM", "cooling water flow", "GPM", 0, 0.5, 0.002),
    ("FCU_CLG_EWT", "cooling coil entering water temperature", "degF", -10, 100, 0.1),
    ("FCU_CLG_RWT", "cooling coil return water temperature", "degF", -50, 100, 0.1),
    ("FCU_HVLV", "heating valve position", "fraction", 0, 1, 0.003),
    ("FCU_HVLV_DM", "heating valve command", "fraction", 0, 1, 0),
    ("FCU_HTG_GPM", "heating water flow", "GPM", 0, 0.1, 0.0005),
    ("FCU_HTG_EWT", "heating coil entering water temperature", "degF", -10, 100, 0.1),
    ("FCU_HTG_RWT", "heating coil return water temperature", "degF", -50, 100, 0.1),
    ("FCU_DA_CFM", "discharge air flow", "CFM", -1, 3000, 2.0),
    ("FCU_OA_CFM", "outdoor air flow", "CFM", -1, 3000, 0.4),
    ("FCU_DMPR", "outdoor-air damper position", "fraction", 0, 1, 0.003),
    ("FCU_DMPR_DM", "outdoor-air damper command", "fraction", 0, 1, 0),
    ("FCU_SPD", "fan speed", "rev/s", 0, 30, 0.05),
    ("FCU_OAT", "outdoor air temperature", "degF", -50, 60, 0.1),
    ("FCU_WAT", "fan power", "W", 0, 50, 0.03),
    ("FCU_MA_HUMD", "mixed air humidity", "%RH", 0, 100, 1.0),
    ("FCU_OA_HUMD", "outdoor air humidity", "%RH", 0, 100, 1.0),
    ("FCU_DA_HUMD", "discharge air humidity", "%RH", 0, 100, 1.0),
    ("FCU_RA_HUMD", "return air humidity", "%RH", 0, 100, 1.0),
)

_STATES = {"FCU_CTRL": ("shutdown", "operate", "setback"), "FAN_CTRL": ("auto", "off")}


def _signal(name: str, meaning: str, unit: str, low: float, high: float, noise: float) -> Signal:
    states = _STATES.get(name, ())
    names = ", ".join(f"{low + number:g} {state}" for number, state in enumerate(states))
    return Signal(
        name=name,
        meaning=f"{meaning}: {names}" if names else meaning,
        unit=inner(unit),
        low=low,
        high=high,
        noise=noise,
        states=states,
    )


SIGNALS: tuple[Signal, ...] = tuple(_signal(*row) for row in _TABLE)
NAMES: tuple[str, ...] = tuple(signal.name for signal in SIGNALS)
INDEX: dict[str, int] = {name: number for number, name in enumerate(NAMES)}
NUM_SIGNALS = len(SIGNALS)
SOURCE_UNITS: tuple[str, ...] = tuple(row[2] for row in _TABLE)  # the data set's own units, signal by signal

NOISE: NDArray[np.float64] = np.array([signal.noise for signal in SIGNALS])
LOW: NDArray[np.float64] = np.array([signal.low for signal in SIGNALS])
HIGH: NDArray[np.float64] = np.array([signal.high for signal in SIGNALS])
_TO_SI = tuple(conversion(unit, inner(unit)) for unit in SOURCE_UNITS)  # SI value = (value - offset) * scale
SOURCE_OFFSET: NDArray[np.float64] = np.array([offset for offset, _ in _TO_SI])
SOURCE_SCALE: NDArray[np.float64] = np.array([scale for _, scale in _TO_SI])


def to_si(values: NDArray[Any]) -> NDArray[np.float64]:
    """Convert values from the data set's units to SI; the last axis is the 29 signals in order."""
    converted: NDArray[np.float64] = (np.asarray(values, dtype=np.float64) - SOURCE_OFFSET) * SOURCE_SCALE
    return converted


def from_si(values: NDArray[Any]) -> NDArray[np.float64]:
    """Convert values from SI to the data set's units; the last axis is the 29 signals in order."""
    converted: NDArray[np.float64] = np.asarray(values, dtype=np.float64) / SOURCE_SCALE + SOURCE_OFFSET
    return converted
