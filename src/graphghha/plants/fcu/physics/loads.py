"""Heat and moisture a zone receives through a day: people and equipment by the clock, sun by geometry and clearness."""

from dataclasses import dataclass
from datetime import date
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graphghha.plants.fcu.attacks.hooks import MINUTES
from graphghha.plants.fcu.physics.parameters import Parameters

LATITUDE = np.radians(41.6)  # Des Moines
# W/m2 at normal incidence before air mass and clearness: a round number, because only its product with the fitted
# aperture counts
CLEAR_SKY = 1000.0
# a workday by the hour, six hours a line; all fit
WEEKDAY_HEAT: NDArray[np.float64] = np.array(  # W
    (
        (0, 139, 62, 100, 199, 150),  # night
        (414, 55, 760, 1349, 1243, 1239),  # morning
        (1200, 1070, 1164, 1223, 1359, 882),  # afternoon
        (790, 431, 434, 348, 124, 251),  # evening
    ),
    dtype=np.float64,
).ravel()
WEEKEND_HEAT = 103.2  # W
WEEKDAY_MOISTURE: NDArray[np.float64] = (  # kg/s, from g/h
    np.array(
        (
            (0, 0, 0, 0, 0, 0),  # night
            (0, 0, 104, 154, 154, 154),  # morning
            (113, 113, 145, 145, 145, 109),  # afternoon
            (68, 68, 45, 0, 0, 0),  # evening
        ),
        dtype=np.float64,
    ).ravel()
    / 3.6e6
)

_MINUTE = np.arange(MINUTES)
_HALF_HOURS = np.arange(-0.5, 25.0)  # an hourly mean is the value at the middle of its hour


@dataclass(frozen=True, slots=True)
class Loads:
    """Heat to the air, heat to the mass (W) and moisture (kg/s), minute by minute."""

    air: NDArray[np.float64]
    mass: NDArray[np.float64]
    moisture: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sky:
    """The sun of one day: beam on a plane facing east and one facing south (signed), and the sky's light, W/m2."""

    east: NDArray[np.float64]
    south: NDArray[np.float64]
    diffuse: NDArray[np.float64]


@lru_cache(maxsize=8)
def sky(day: date, clearness: float) -> Sky:
    """Return solar geometry and a clear-sky beam scaled by the clearness (0 to 1)."""
    declination = np.radians(23.45) * np.sin(2 * np.pi * (284 + day.timetuple().tm_yday) / 365)
    # Des Moines lies a quarter of an hour west of its meridian
    hour_angle = np.radians(15.0) * (_MINUTE / 60.0 - 12.25)
    up = np.sin(LATITUDE) * np.sin(declination) + np.cos(LATITUDE) * np.cos(declination) * np.cos(hour_angle)
    up = np.maximum(up, 0.0)
    air_mass = 1.0 / np.maximum(up, 0.05)
    # direct beam through the air mass by Meinel's clear-sky law, 0.7 ** (air mass ** 0.678)
    beam = np.where(up > 0.0, CLEAR_SKY * clearness * 0.7 ** (air_mass**0.678), 0.0)
    east = -np.cos(declination) * np.sin(hour_angle)
    south = np.sin(LATITUDE) * np.cos(declination) * np.cos(hour_angle) - np.cos(LATITUDE) * np.sin(declination)
    # chosen: clouds turn beam into sky light, so an overcast sky gives more of it; its share on the facade is fit
    return Sky(beam * east, beam * south, CLEAR_SKY * up * (1.0 - 0.3 * clearness))


def facade_sun(p: Parameters, day: date, clearness: float) -> NDArray[np.float64]:
    """Return the sun through a zone's facade in W per m2 of its aperture: beam and sky."""
    above = sky(day, clearness)
    angle = np.radians(p.facade_azimuth)
    beam = np.maximum(np.sin(angle) * above.east - np.cos(angle) * above.south, 0.0)
    irradiance: NDArray[np.float64] = beam + p.sky_share * above.diffuse
    return irradiance


def hourly_to_minutes(hourly: NDArray[np.float64], shift_min: float = 0.0) -> NDArray[np.float64]:
    """Return a daily profile of 24 hourly means as minutes, running on from one day into the next."""
    wrapped = np.concatenate([hourly[-1:], hourly, hourly[:1]])
    minutes: NDArray[np.float64] = np.interp((_MINUTE + 0.5 - shift_min) / 60.0, _HALF_HOURS, wrapped)
    return minutes


@lru_cache(maxsize=2048)
def workday(shift_min: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return heat (W) and moisture (kg/s) of people and equipment on a workday that starts `shift_min` minutes late."""
    return hourly_to_minutes(WEEKDAY_HEAT, shift_min), hourly_to_minutes(WEEKDAY_MOISTURE, shift_min)


def zone_loads(
    p: Parameters, day: date, clearness: float, rng: np.random.Generator | None, *, is_workday: bool
) -> Loads:
    """Return the loads of one zone on one day; without a generator, the expected ones."""
    if is_workday:
        heat, moisture = workday(p.schedule_shift_min)
    else:
        heat, moisture = np.full(MINUTES, WEEKEND_HEAT), np.zeros(MINUTES)
    heat = p.gain_scale * heat
    if rng is not None:
        presence = occupancy_noise(rng)
        heat = heat * presence
        moisture = moisture * presence
    solar = p.solar_aperture * facade_sun(p, day, clearness)
    return Loads(
        (1.0 - p.radiant_share) * heat + (1.0 - p.solar_to_mass) * solar,
        p.radiant_share * heat + p.solar_to_mass * solar,
        moisture,
    )


def occupancy_noise(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return how busy a zone is against the plan: a factor for the day, and slow changes within it."""
    # chosen, not data (the data set repeats one workday): two days in three lie within 12 % of the plan, and so do the
    # hours around their day
    day_factor = np.exp(0.12 * rng.standard_normal())
    knots = np.exp(0.12 * rng.standard_normal(25))
    presence: NDArray[np.float64] = day_factor * np.interp(_MINUTE / 60.0, np.arange(25.0), knots)
    return presence
