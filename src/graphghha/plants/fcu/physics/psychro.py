"""Moist air by the standard formulas: degC, Pa, kg of water per kg of dry air, J per kg of dry air."""

import math

import numpy as np
from numpy.typing import NDArray

from graphghha.plants.fcu.physics.jit import compiled

PRESSURE_PA = 98_000.0  # about 290 m above the sea, the height of Des Moines
AIR_HEAT = 1006.0  # J/kg K, dry air
VAPOUR_HEAT = 1860.0  # J/kg K, water vapour
EVAPORATION_HEAT = 2.501e6  # J/kg at 0 degC
AIR_DENSITY = 1.2  # kg/m3: air flows are stated at this standard density
WATER_HEAT = 4186.0  # J/kg K, and a litre of water is a kilogram


@compiled
def saturation_pressure(temperature: float) -> float:
    """Return the vapour pressure over water (Magnus form, WMO coefficients), held at its ends outside -80..100 degC."""
    bounded = min(max(temperature, -80.0), 100.0)
    return 611.2 * math.exp(17.62 * bounded / (243.12 + bounded))


@compiled
def saturation_ratio(temperature: float) -> float:
    """Return the humidity ratio of saturated air."""
    vapour = min(saturation_pressure(temperature), 0.9 * PRESSURE_PA)
    return 0.621945 * vapour / (PRESSURE_PA - vapour)


@compiled
def humidity_ratio(temperature: float, relative_percent: float) -> float:
    """Return the humidity ratio of air at a temperature and relative humidity."""
    vapour = min(0.01 * relative_percent * saturation_pressure(temperature), 0.9 * PRESSURE_PA)
    return 0.621945 * vapour / (PRESSURE_PA - vapour)


@compiled
def relative_humidity(temperature: float, ratio: float) -> float:
    """Return the relative humidity in percent, at most 100: what is above saturation is fog or dew."""
    vapour = PRESSURE_PA * ratio / (0.621945 + ratio)
    return min(100.0, 100.0 * vapour / saturation_pressure(temperature))


@compiled
def dew_point(ratio: float) -> float:
    """Return the temperature at which air of this humidity ratio is saturated (the Magnus form, solved for it)."""
    level = math.log(PRESSURE_PA * max(ratio, 1e-6) / (0.621945 + ratio) / 611.2)
    return 243.12 * level / (17.62 - level)


@compiled
def enthalpy(temperature: float, ratio: float) -> float:
    """Return the enthalpy of moist air per kg of dry air, zero at 0 degC dry."""
    return AIR_HEAT * temperature + ratio * (EVAPORATION_HEAT + VAPOUR_HEAT * temperature)


@compiled
def ratio_from_enthalpy(enthalpy_value: float, temperature: float) -> float:
    """Return the humidity ratio of air with this enthalpy and temperature."""
    return (enthalpy_value - AIR_HEAT * temperature) / (EVAPORATION_HEAT + VAPOUR_HEAT * temperature)


@compiled
def temperature_from_enthalpy(enthalpy_value: float, ratio: float) -> float:
    """Return the temperature of air with this enthalpy and humidity ratio."""
    return (enthalpy_value - EVAPORATION_HEAT * ratio) / (AIR_HEAT + VAPOUR_HEAT * ratio)


def humidity_ratios(temperatures: NDArray[np.float64], relative_percents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `humidity_ratio` over arrays."""
    vapour = np.minimum(0.01 * relative_percents * _saturation_pressures(temperatures), 0.9 * PRESSURE_PA)
    ratios: NDArray[np.float64] = 0.621945 * vapour / (PRESSURE_PA - vapour)
    return ratios


def _saturation_pressures(temperatures: NDArray[np.float64]) -> NDArray[np.float64]:
    bounded = np.clip(temperatures, -80.0, 100.0)
    pressures: NDArray[np.float64] = 611.2 * np.exp(17.62 * bounded / (243.12 + bounded))
    return pressures
