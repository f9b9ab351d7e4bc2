"""Equipment and zone, one function per component: degC, kg/s of air, L/s of water, W, kg of water per kg of air."""

import math

import numpy as np
from numpy.typing import NDArray

from graphghha.plants.fcu.physics.jit import compiled
from graphghha.plants.fcu.physics.parameters import Parameters
from graphghha.plants.fcu.physics.psychro import (
    AIR_DENSITY,
    AIR_HEAT,
    WATER_HEAT,
    dew_point,
    enthalpy,
    ratio_from_enthalpy,
    saturation_ratio,
    temperature_from_enthalpy,
)
from graphghha.plants.units import GPM

# (position, water flow in gal/min) as read from the data: hourly medians, and constant flows of stuck-valve runs
_COOLING_PAIRS = (
    (0.00, 0),
    (0.10, 0),
    (0.11, 0.008),
    (0.12, 0.035),
    (0.14, 0.11),
    (0.16, 0.255),
    (0.18, 0.45),
    (0.20, 0.72),
    (0.22, 0.985),
    (0.24, 1.157),
    (0.26, 1.322),
    (0.28, 1.477),
    (0.30, 1.647),
    (0.34, 1.97),
    (0.40, 2.47),
    (0.46, 2.95),
    (0.50, 3.27),
    (0.78, 5.53),
    (0.80, 5.63),
    (0.90, 5.7),
    (1.00, 5.72),
)
_HEATING_PAIRS = (
    (0.00, 0),
    (0.10, 0),
    (0.12, 0.002),
    (0.14, 0.011),
    (0.16, 0.0264),
    (0.18, 0.0478),
    (0.20, 0.0725),
    (0.22, 0.103),
    (0.24, 0.138),
    (0.26, 0.174),
    (0.28, 0.214),
    (0.30, 0.257),
    (0.32, 0.3),
    (0.34, 0.345),
    (0.40, 0.49),
    (0.50, 0.73),
    (0.60, 0.92),
    (0.65, 0.97),
    (0.70, 1),
    (0.80, 1.03),
    (1.00, 1.05),
)
STILL_HALF_GPM = 0.05  # a trickle this small heats or cools a still coil at half the full rate
CURVE_STEPS = 100
_GRID = np.linspace(0.0, 1.0, CURVE_STEPS + 1)
COOLING_CURVE: NDArray[np.float64] = GPM * np.interp(_GRID, *np.transpose(_COOLING_PAIRS))
HEATING_CURVE: NDArray[np.float64] = GPM * np.interp(_GRID, *np.transpose(_HEATING_PAIRS))


@compiled
def valve_flow(curve: NDArray[np.float64], position: float, leak: float) -> float:
    """Return the water flow at a valve position, never below the leaking share of the full flow."""
    place = min(max(position, 0.0), 1.0) * CURVE_STEPS
    index = min(int(place), CURVE_STEPS - 1)
    flow = float(curve[index] + (place - index) * (curve[index + 1] - curve[index]))
    return max(flow, leak)


@compiled
def fan_power(speed: float, flow_share: float, p: Parameters) -> float:
    """Return the fan power in W: cubic in speed, and more for a throttled fan until the flow nearly stops."""
    missing = 1.0 - flow_share
    throttled = 1.0 + missing * (p.throttle_1 + missing * (p.throttle_2 + missing * p.throttle_3))
    return p.fan_power_low * (speed / p.fan_low) ** 3 * throttled


@compiled
def outlet_share(speed: float, blocked: float, p: Parameters) -> float:
    """Return the share of the air flow that a blocked outlet lets through."""
    if blocked <= 0.0 or speed <= 0.0:
        return 1.0
    return min((1.0 - blocked) * math.pow(speed / p.fan_low, p.outlet_exponent * blocked), 1.0)


@compiled
def damper_opening(position: float, p: Parameters) -> float:
    """Return the opening of the outdoor-air path relative to the minimum position: a power law, zero when shut."""
    return math.pow(max(position, 0.0) / p.damper_minimum, p.damper_exponent)


@compiled
def outdoor_flow(air_flow: float, opening: float, p: Parameters) -> float:
    """Return the outdoor air flow in L/s: its share of the discharge air grows with that flow, above a floor."""
    if air_flow <= 0.0:
        return p.outdoor_floor
    # a narrow inlet depends on the suction of the fan, a wide one splits the air in a fixed proportion
    exponent = p.outdoor_exponent * min(max((p.wide_opening - opening) / (p.wide_opening - 1.0), 0.0), 1.0)
    share = p.outdoor_share * opening * math.pow(air_flow / p.air_flow_low, exponent)
    # a saturating share: two parallel paths, of which the outdoor one cannot carry more than all the air
    share = share / math.sqrt(math.sqrt(1.0 + share * share * share * share))
    return min(max(share * air_flow, p.outdoor_floor), max(air_flow, p.outdoor_floor))


@compiled
def effectiveness(ntu: float, ratio: float) -> float:
    """Return the effectiveness of a counter-flow heat exchanger; `ratio` is smaller over larger capacity flow."""
    if ratio > 0.999:
        return ntu / (1.0 + ntu)
    decay = math.exp(-ntu * (1.0 - ratio))
    return (1.0 - decay) / (1.0 - ratio * decay)


@compiled
def dry_coil(air_in: float, air_mass: float, water_in: float, water: float, ua_air: float, ua_water: float) -> float:
    """Return the heat from air to water in W (negative: the coil heats)."""
    air_capacity = air_mass * AIR_HEAT
    water_capacity = water * WATER_HEAT
    if air_capacity < 1e-9 or water_capacity < 1e-9:
        return 0.0
    ua = ua_air * ua_water / (ua_air + ua_water + 1e-12)
    smaller = min(air_capacity, water_capacity)
    ratio = smaller / max(air_capacity, water_capacity)
    return effectiveness(ua / smaller, ratio) * smaller * (air_in - water_in)


@compiled
def water_side(flow: float, still: float, per_gpm: float) -> float:
    """Return the conductance of the water side in W/K: a laminar base and a part that grows with the flow (L/s)."""
    return still + per_gpm * flow / GPM


@compiled
def saturated_at(enthalpy_target: float, start: float) -> float:
    """Return the temperature of saturated air with this enthalpy; `start` must be above it."""
    air = start
    for _ in range(30):
        # the saturation curve bends upwards, so Newton's steps come down to the root and never pass it
        excess = enthalpy(air, saturation_ratio(air)) - enthalpy_target
        slope = (enthalpy(air + 0.01, saturation_ratio(air + 0.01)) - enthalpy_target - excess) / 0.01
        air -= excess / slope
        if excess < 1e-3:
            break
    return air


@compiled
def wet_coil(
    air_in: float,
    ratio_in: float,
    air_mass: float,
    water_in: float,
    water: float,
    ua_air: float,
    ua_water: float,
    undershoot: float,
    p: Parameters,
) -> tuple[float, float, float]:
    """Return, for the cooling coil, heat to the water, leaving air temperature and humidity ratio.

    The heat follows the enthalpy difference, and no split of it into sensible and latent changes it. Condensation holds
    the leaving air near the dew point of the entering air: above it by `wet_offset`, less a share (`undershoot`) of
    what a dry coil would reach below it; the latent part is the rest.
    """
    if air_mass * AIR_HEAT < 1e-9 or water * WATER_HEAT < 1e-9:
        return 0.0, air_in, ratio_in
    dry = dry_coil(air_in, air_mass, water_in, water, ua_air, ua_water)
    dry_out = air_in - dry / (air_mass * AIR_HEAT)
    dew = dew_point(ratio_in)
    wet_out = dew + p.wet_offset - undershoot * (dew - dry_out)
    if wet_out <= dry_out or dew <= water_in or air_in <= water_in:
        return dry, dry_out, ratio_in
    enthalpy_in = enthalpy(air_in, ratio_in)
    driest = saturation_ratio(water_in)
    difference = enthalpy_in - enthalpy(water_in, driest)
    # the steeper slope keeps the water that takes up all of the difference no warmer than the entering air
    slope = max(p.wet_slope, difference / (air_in - water_in))
    conductance = p.wet_factor / (AIR_HEAT / ua_air + slope / ua_water)  # kg/s
    water_equivalent = water * WATER_HEAT / slope
    smaller = min(air_mass, water_equivalent)
    ratio = smaller / max(air_mass, water_equivalent)
    # a wet coil takes no less than a dry one
    heat = max(effectiveness(conductance / smaller, ratio) * smaller * difference, dry)
    enthalpy_out = enthalpy_in - heat / air_mass
    air_out = min(wet_out, air_in)
    ratio_out = ratio_from_enthalpy(enthalpy_out, air_out)
    if ratio_out < driest:
        # condensation ends where the air is as dry as at the water's temperature: the rest is sensible
        return heat, temperature_from_enthalpy(enthalpy_out, driest), driest
    if ratio_out > min(ratio_in, saturation_ratio(air_out)):
        # nothing evaporates into the leaving air, nor is it fog: it leaves warmer
        air_out = temperature_from_enthalpy(enthalpy_out, ratio_in)
        if air_out >= dew:
            return heat, air_out, ratio_in
        air_out = saturated_at(enthalpy_out, dew)
        ratio_out = ratio_from_enthalpy(enthalpy_out, air_out)
    return heat, air_out, ratio_out


@compiled
def still_coils(
    core: float,
    coil: float,
    discharge: float,
    mixed: float,
    mixed_ratio: float,
    chilled: float,
    cooling_gpm: float,
    hot: float,
    heating_gpm: float,
    p: Parameters,
) -> tuple[float, float, float]:
    """Return core, return water and discharge air a minute later with the fan off: they drift unless water flows."""
    wet = mixed_ratio > saturation_ratio(coil)
    drift = (p.coil_wet_rate if wet else p.coil_dry_rate) / 60.0
    settle = p.core_rate / 60.0
    pull = p.still_water_rate / 60.0 * cooling_gpm / (cooling_gpm + STILL_HALF_GPM)
    core = (core + drift * mixed + pull * chilled) / (1.0 + drift + pull)
    coil = (coil + drift * mixed + settle * core + pull * chilled) / (1.0 + drift + settle + pull)
    surface = max(coil, dew_point(mixed_ratio)) if wet else coil
    follow = p.discharge_rate / 60.0
    pull = p.still_water_rate / 60.0 * heating_gpm / (heating_gpm + STILL_HALF_GPM)
    discharge = (discharge + follow * surface + pull * hot) / (1.0 + follow + pull)
    return core, coil, discharge


@compiled
def zone_step(
    air: float,
    mass: float,
    deep: float,
    outdoor: float,
    supply: float,
    supply_mass: float,
    outdoor_mass: float,
    heat: float,
    mass_heat: float,
    step_s: float,
    p: Parameters,
) -> tuple[float, float, float]:
    """Return air, mass and structure temperature after a backward Euler step: stable, balanced at the new values."""
    through_air = supply_mass * AIR_HEAT
    seeping = outdoor_mass * AIR_HEAT
    a11 = p.air_capacity / step_s + p.air_mass_ua + p.air_outdoor_ua + through_air + seeping
    # the structure's own backward step, solved in
    deep_ua = p.deep_ua * (p.deep_capacity / step_s) / (p.deep_capacity / step_s + p.deep_ua)
    a22 = p.mass_capacity / step_s + p.air_mass_ua + p.mass_outdoor_ua + deep_ua
    b1 = p.air_capacity / step_s * air + (p.air_outdoor_ua + seeping) * outdoor + through_air * supply + heat
    b2 = p.mass_capacity / step_s * mass + p.mass_outdoor_ua * outdoor + deep_ua * deep + mass_heat
    determinant = a11 * a22 - p.air_mass_ua * p.air_mass_ua
    air = (b1 * a22 + p.air_mass_ua * b2) / determinant
    mass = (a11 * b2 + p.air_mass_ua * b1) / determinant
    return air, mass, (p.deep_capacity / step_s * deep + p.deep_ua * mass) / (p.deep_capacity / step_s + p.deep_ua)


@compiled
def moisture_step(
    ratio: float, outdoor_ratio: float, outdoor_mass: float, source: float, step_s: float, p: Parameters
) -> float:
    """Return the room humidity ratio after a step of outdoor air, people and coil (`source` in kg/s)."""
    air = p.room_volume * AIR_DENSITY / step_s
    return max((air * ratio + outdoor_mass * outdoor_ratio + source) / (air + outdoor_mass), 1e-5)
