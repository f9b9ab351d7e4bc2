"""Errors of real instruments: offset, slow drift, slope and noise of every sensor of a zone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphghha.plants.fcu.signals import NAMES, NOISE, NUM_SIGNALS, SIGNALS

Floats = NDArray[np.float64]

# Setpoints, commands and modes are numbers in a controller: they have no instrument and no noise.
IS_MEASURED = NOISE > 0
IS_TEMPERATURE = IS_MEASURED & np.array([signal.unit == "degC" for signal in SIGNALS])
IS_HUMIDITY = np.array([signal.unit == "%RH" for signal in SIGNALS])
IS_POSITION = IS_MEASURED & np.array([signal.unit == "fraction" for signal in SIGNALS])
HAS_SLOPE = np.array([name in ("FCU_CLG_GPM", "FCU_HTG_GPM", "FCU_DA_CFM", "FCU_OA_CFM", "FCU_WAT") for name in NAMES])
IS_SHARED = np.array([name in ("FCU_OAT", "FCU_OA_HUMD") for name in NAMES])  # one outdoor station serves all zones


@dataclass(frozen=True, kw_only=True, slots=True)
class SensorErrors:
    """How good the instruments of a building are. Standard deviations over its sensors, unless named otherwise."""

    temperature_offset: float = 0.0  # K
    temperature_drift: float = 0.0  # K a month
    single_offset: float = 0.0  # K by which one temperature sensor of every zone, chosen at random, reads too high
    humidity_offset: float = 0.0  # %RH
    position_bias: float = 0.0  # largest, as a fraction of the stroke
    slope: float = 0.0  # of flow and power meters, as a fraction of the reading
    noise: float = 1.0  # factor on the noise of every sensor
    noisy_share: float = 0.0  # share of sensors that are noisier still, by a factor of up to 2

    @property
    def is_ideal(self) -> bool:
        """Whether readings differ from the plant by the usual noise alone."""
        return self == SensorErrors()


@dataclass(frozen=True, slots=True)
class Sensors:
    """The instruments of one zone, signal by signal."""

    offsets: Floats  # [signals] added to readings
    drifts: Floats  # [signals] added a day
    sigmas: Floats  # [signals] standard deviation of the noise
    slopes: Floats  # [signals] factor on readings, or empty where there is no slope error


IDEAL_SENSORS = Sensors(np.zeros(NUM_SIGNALS), np.zeros(NUM_SIGNALS), NOISE, np.empty(0))


def draw_sensors(errors: SensorErrors, zone: np.random.Generator, building: np.random.Generator) -> Sensors:
    """Draw the instruments of one zone; outdoor sensors are the building's, so every zone draws them alike."""
    if errors.is_ideal:
        return IDEAL_SENSORS
    own, shared = _draw(errors, zone), _draw(errors, building)
    return Sensors(
        *(
            np.where(IS_SHARED, of_building, of_zone)
            for of_zone, of_building in zip(
                (own.offsets, own.drifts, own.sigmas, own.slopes),
                (shared.offsets, shared.drifts, shared.sigmas, shared.slopes),
                strict=True,
            )
        )
    )


def _draw(errors: SensorErrors, rng: np.random.Generator) -> Sensors:
    normal = np.clip(rng.standard_normal((3, NUM_SIGNALS)), -2.5, 2.5)
    offsets = (
        IS_TEMPERATURE * errors.temperature_offset * normal[0]
        + IS_HUMIDITY * errors.humidity_offset * normal[0]
        + IS_POSITION * errors.position_bias * rng.uniform(-1.0, 1.0, NUM_SIGNALS)
    )
    if errors.single_offset:
        offsets[rng.choice(np.flatnonzero(IS_TEMPERATURE & ~IS_SHARED))] += errors.single_offset
    drifts = IS_TEMPERATURE * errors.temperature_drift / 30.0 * normal[1]
    noisier = np.where(rng.random(NUM_SIGNALS) < errors.noisy_share, rng.uniform(1.0, 2.0, NUM_SIGNALS), 1.0)
    slopes = 1.0 + HAS_SLOPE * errors.slope * normal[2]
    return Sensors(offsets, drifts, NOISE * errors.noise * noisier, slopes)
