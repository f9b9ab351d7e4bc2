"""Physical parameters of the reference unit in SI, shared by every case, and the seeded variation from zone to zone."""

from collections import namedtuple
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from graphghha.plants.units import GPM


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameters:
    """One zone with its fan-coil unit. "Data" is read from the public tables, "fit" is fitted to them."""

    # zone, fit: the stuck valves and the sensor biases pin these, the fault-free year alone does not
    air_capacity: float = 3e5  # J/K, air and what follows it within minutes
    mass_capacity: float = 8.739e6  # J/K, furniture and inner walls
    air_mass_ua: float = 225.3  # W/K
    air_outdoor_ua: float = 27.55  # W/K
    mass_outdoor_ua: float = 3.48  # W/K
    deep_ua: float = 18.57  # W/K, mass to the structure of the building
    deep_capacity: float = 1.121e8  # J/K, the structure
    room_volume: float = 55.15  # m3
    latent_share: float = 0.4289  # share of the coil's condensate that the room air loses
    # loads, fit
    radiant_share: float = 0.2641  # of the gains, to the mass
    solar_aperture: float = 1.469  # m2
    sky_share: float = 0.05717  # diffuse light on the facade against the clear sky's beam
    solar_to_mass: float = 0.268
    facade_azimuth: float = 163.4  # degrees from north, clockwise
    gain_scale: float = 1.0
    schedule_shift_min: float = 0.0
    # fan, data
    fan_low: float = 9.75  # rev/s
    fan_medium: float = 13.08
    fan_high: float = 18.08
    flow_per_speed: float = 19.263  # L/s per rev/s
    air_flow_low: float = 187.8  # L/s at low speed
    outlet_exponent: float = 0.22  # a blocked outlet passes relatively more air at higher speed
    fan_power_low: float = 2.63  # W
    # fit to the fan power of the published runs with less air: clogged filters, dirty coils, blocked outlet
    throttle_1: float = 0.65
    throttle_2: float = 0.55
    throttle_3: float = -1.27
    # outdoor air, data
    damper_minimum: float = 0.30
    damper_exponent: float = 2.32
    outdoor_share: float = 0.1054
    outdoor_exponent: float = 0.79
    wide_opening: float = 4.66  # from this opening on the share no longer depends on the air flow
    outdoor_floor: float = 0.4153  # L/s
    leak_opening: float = 0.9  # opening a fully leaking damper adds, relative to the minimum position
    # water, data
    chilled_water: float = 65.0 / 9.0  # degC
    hot_water: float = 440.0 / 9.0
    cooling_full_flow: float = 5.7 * GPM  # L/s, base of the leak percentages
    heating_full_flow: float = 1.05 * GPM
    cooling_flow_scale: float = 1.0  # on the curve from valve position to water flow
    heating_flow_scale: float = 1.0
    # coils; cooling: steady hours of the data at low speed, exponents of the air flow fit; heating: fit
    cooling_ua_air: float = 567.0  # W/K
    cooling_air_exponent: float = 0.2
    cooling_ua_still: float = 172.0  # W/K, water side without flow
    cooling_ua_water: float = 408.0  # W/K more per gal/min
    wet_offset: float = 0.753  # K
    wet_undershoot: float = 0.336
    wet_exponent: float = 0.9  # slow air follows the coil further
    wet_factor: float = 2.2  # a wet coil's conductance against a dry one's
    wet_slope: float = 2600.0  # J/kg K, saturation enthalpy per kelvin at coil temperatures
    heating_ua_air: float = 254.2
    heating_air_exponent: float = 0.2103
    heating_ua_still: float = 30.0
    heating_ua_water: float = 933.6
    discharge_ratio: float = 0.00733  # kg/kg, data: the discharge humidity sensor carries a constant humidity ratio
    # coils with the fan off, per hour; the first three are regressions (data)
    coil_dry_rate: float = 0.155  # return water towards mixed air
    coil_wet_rate: float = 0.24  # the same while the mixed air condenses on the coil
    discharge_rate: float = 0.512  # discharge air towards the cooling coil, or the dew point if that is higher
    core_rate: float = 2.0  # return water towards the water left in the coil
    core_flow: float = 0.0019  # L/s: with less flow no cold water is left
    stored_heat: float = 1.9  # the heating coil warms the still air by this much of its last temperature rise
    still_water_rate: float = 26.47  # water through a coil without air flow
    coil_settle_min: float = 1.5
    # control; setpoints and thresholds data, gains fit
    operate_cooling: float = 200.0 / 9.0
    operate_heating: float = 20.0
    setback_cooling: float = 265.0 / 9.0
    setback_heating: float = 115.0 / 9.0
    deadband: float = 5.0 / 9.0  # how far beyond its setpoint a call starts
    release: float = 5.0 / 9.0  # how far on the other side of its setpoint a call ends
    operate_first_min: float = 361.0  # minutes of an operating day, both included: 06:01 to 18:00
    operate_last_min: float = 1080.0
    cooling_gain: float = 0.06462  # 1/K
    cooling_integral: float = 0.008866  # 1/K min
    heating_gain: float = 0.0485
    heating_integral: float = 0.005975
    start_share: float = 1.0  # 1: a new call starts with the valve shut whatever the error (bumpless)
    integral_floor: float = -1.0
    medium_threshold: float = 0.4
    high_threshold: float = 0.8
    actuator_min: float = 0.7  # time constant of the valve and damper drives
    low_limit: float = 15.0 / 9.0  # mixed air, degC


REFERENCE = Parameters()
Flat = namedtuple("Flat", [entry.name for entry in fields(Parameters)])  # type: ignore[misc]


def flat(parameters: Parameters) -> Any:
    """Return the same values as a named tuple, which numba can read."""
    return Flat(**{name: float(value) for name, value in asdict(parameters).items()})


@dataclass(frozen=True, kw_only=True, slots=True)
class Variation:
    """How far zones differ from the reference unit: standard deviations of factors, unless named otherwise.

    Chosen, not data (the data set has one zone): rooms of one building differ in size and use by tens of percent, units
    of one type by a few.
    """

    envelope: float = 0.15
    capacity: float = 0.15
    gains: float = 0.15
    solar: float = 0.2
    coil: float = 0.04
    air_flow: float = 0.02
    control: float = 0.1
    schedule_min: float = 20.0  # minutes


def varied(base: Parameters, rng: np.random.Generator, spread: Variation | None = None) -> Parameters:
    """Return the parameters of one zone: the base with a seeded draw for envelope, loads, equipment and tuning."""
    spread = spread or Variation()

    def factor(sigma: float) -> float:
        return float(np.exp(sigma * np.clip(rng.standard_normal(), -2.5, 2.5)))

    envelope, air_flow = factor(spread.envelope), factor(spread.air_flow)
    return replace(
        base,
        air_capacity=base.air_capacity * factor(spread.capacity),
        mass_capacity=base.mass_capacity * factor(spread.capacity),
        air_mass_ua=base.air_mass_ua * factor(spread.capacity),
        air_outdoor_ua=base.air_outdoor_ua * envelope,
        mass_outdoor_ua=base.mass_outdoor_ua * envelope,
        room_volume=base.room_volume * factor(spread.capacity),
        solar_aperture=base.solar_aperture * factor(spread.solar),
        facade_azimuth=float(rng.uniform(0.0, 360.0)),
        gain_scale=base.gain_scale * factor(spread.gains),
        schedule_shift_min=float(spread.schedule_min * np.clip(rng.standard_normal(), -2.5, 2.5)),
        flow_per_speed=base.flow_per_speed * air_flow,
        air_flow_low=base.air_flow_low * air_flow,
        cooling_ua_air=base.cooling_ua_air * factor(spread.coil),
        cooling_ua_water=base.cooling_ua_water * factor(spread.coil),
        heating_ua_air=base.heating_ua_air * factor(spread.coil),
        heating_ua_water=base.heating_ua_water * factor(spread.coil),
        cooling_integral=base.cooling_integral * factor(spread.control),
        heating_integral=base.heating_integral * factor(spread.control),
    )
