"""One zone through one day, minute by minute: control on readings, equipment, zone, telemetry."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphghha.plants.fcu.attacks.hooks import CENTRES, HOLD
from graphghha.plants.fcu.physics.columns import (
    H_AIRFLOW,
    H_COOL_FLOW,
    H_COOL_LEAK,
    H_COOL_WATER,
    H_DAMPER_LEAK,
    H_HEAT_FLOW,
    H_HEAT_LEAK,
    H_HEAT_WATER,
    H_OUTDOOR,
    H_OUTLET,
    S_AIR,
    S_COIL,
    S_COOL_POS,
    S_CORE,
    S_DAMPER,
    S_DEEP,
    S_DISCHARGE,
    S_HEAT_POS,
    S_HOT,
    S_MASS,
    S_MIXED,
    S_RATIO,
    S_SPEED,
    S_STORED,
    T_AIR_FLOW,
    T_COOL_FLOW,
    T_COOL_IN,
    T_COOL_OUT,
    T_COOL_POS,
    T_DAMPER,
    T_DISCHARGE,
    T_DISCHARGE_RH,
    T_HEAT_FLOW,
    T_HEAT_IN,
    T_HEAT_OUT,
    T_HEAT_POS,
    T_MIXED,
    T_MIXED_RH,
    T_OUTDOOR,
    T_OUTDOOR_FLOW,
    T_OUTDOOR_RH,
    T_POWER,
    T_RETURN,
    T_RETURN_RH,
    T_ROOM,
    T_SPEED,
)
from graphghha.plants.fcu.physics.components import (
    COOLING_CURVE,
    HEATING_CURVE,
    damper_opening,
    dry_coil,
    fan_power,
    moisture_step,
    outdoor_flow,
    outlet_share,
    still_coils,
    valve_flow,
    water_side,
    wet_coil,
    zone_step,
)
from graphghha.plants.fcu.physics.control import control_minute, move_drives
from graphghha.plants.fcu.physics.jit import compiled, inlined
from graphghha.plants.fcu.physics.noise import SLOTS
from graphghha.plants.fcu.physics.parameters import Parameters
from graphghha.plants.fcu.physics.psychro import AIR_DENSITY, AIR_HEAT, WATER_HEAT, relative_humidity
from graphghha.plants.fcu.signals import HIGH, LOW, NUM_SIGNALS
from graphghha.plants.units import GPM

STEP_S = 60.0


class Surroundings(NamedTuple):
    """What acts on a zone through a day, minute by minute; water and windows may have one value for the whole day."""

    outdoor: NDArray[np.float64]  # degC
    outdoor_percent: NDArray[np.float64]  # %RH
    outdoor_ratio: NDArray[np.float64]  # kg/kg
    chilled: NDArray[np.float64]  # degC, supply water
    hot: NDArray[np.float64]
    heat: NDArray[np.float64]  # W to the air
    mass_heat: NDArray[np.float64]  # W to the mass
    moisture: NDArray[np.float64]  # kg/s
    window_ua: NDArray[np.float64]  # W/K through open windows


class HookRows(NamedTuple):
    """The hooks of a zone (`ZoneHooks`), a row per minute or one row for the whole day."""

    fields: NDArray[np.float64]
    offsets: NDArray[np.float64]
    overrides: NDArray[np.float64]
    scales: NDArray[np.float64]


class Instruments(NamedTuple):
    """The sensors of a zone: noise levels [minutes, noisy signals] that index `quantiles`, in `sigmas` [signals].

    `slopes` [signals] multiply readings; an empty array means no slope error.
    """

    noise: NDArray[np.uint16]
    quantiles: NDArray[np.float32]
    sigmas: NDArray[np.float64]
    slopes: NDArray[np.float64]


@compiled
def reading(true: float, signal: int, at: int, hooks: HookRows, noise: float, before: float) -> float:
    """Return what an instrument reports: noise, then tampering, within its range; `before` is a minute older."""
    override = hooks.overrides[at, signal]
    scale = hooks.scales[min(at, hooks.scales.shape[0] - 1), signal]
    if override == HOLD:
        value = true if math.isnan(before) else before
    elif math.isnan(override):
        value = true + noise + hooks.offsets[at, signal]
        if scale != 1.0:
            value = CENTRES[signal] + scale * (value - CENTRES[signal])
    else:
        value = override
    return float(min(max(value, LOW[signal]), HIGH[signal]))


@inlined
def blown_coils(
    state: NDArray[np.float64],
    h: NDArray[np.float64],
    mixed: float,
    mixed_ratio: float,
    air_flow: float,
    cooling_flow: float,
    heating_flow: float,
    chilled: float,
    hot: float,
    settle: float,
    p: Parameters,
) -> float:
    """Advance both coils with the fan on; return the condensate in kg/s. `chilled`, `hot`: supply water in degC."""
    air_mass = air_flow * 1e-3 * AIR_DENSITY
    relative_flow = air_flow / p.air_flow_low
    leaving, leaving_ratio, coil_return = mixed, mixed_ratio, mixed
    if cooling_flow > 1e-5:
        ua_air = p.cooling_ua_air * relative_flow**p.cooling_air_exponent
        ua_water = h[H_COOL_WATER] * water_side(cooling_flow, p.cooling_ua_still, p.cooling_ua_water)
        undershoot = min(p.wet_undershoot * relative_flow**-p.wet_exponent, 1.0)
        taken, leaving, leaving_ratio = wet_coil(
            mixed, mixed_ratio, air_mass, chilled, cooling_flow, ua_air, ua_water, undershoot, p
        )
        coil_return = chilled + taken / (cooling_flow * WATER_HEAT)
    discharge = hot_return = leaving
    if heating_flow > 1e-5:
        ua_air = p.heating_ua_air * relative_flow**p.heating_air_exponent
        ua_water = h[H_HEAT_WATER] * water_side(heating_flow, p.heating_ua_still, p.heating_ua_water)
        given = -dry_coil(leaving, air_mass, hot, heating_flow, ua_air, ua_water)
        discharge = leaving + given / (air_mass * AIR_HEAT)
        hot_return = hot - given / (heating_flow * WATER_HEAT)
    state[S_COIL] += settle * (coil_return - state[S_COIL])
    state[S_DISCHARGE] += settle * (discharge - state[S_DISCHARGE])
    state[S_HOT] += settle * (hot_return - state[S_HOT])
    # what the coils keep when the fan stops: cold water in the one, hot metal in the other
    state[S_CORE] = chilled if cooling_flow > p.core_flow else state[S_COIL]
    state[S_STORED] = p.stored_heat * max(state[S_DISCHARGE] - leaving, 0.0) if heating_flow > 0.0 else 0.0
    return air_mass * (mixed_ratio - leaving_ratio)


@inlined
def equipment_minute(
    state: NDArray[np.float64],
    h: NDArray[np.float64],
    row: NDArray[np.float64],
    outside: float,
    outside_ratio: float,
    chilled: float,
    hot: float,
    settle: float,
    p: Parameters,
) -> float:
    """Write flows, mixing and coils of a minute into `state` and `row`; return the condensate in kg/s."""
    speed = state[S_SPEED]
    cooling_flow = (h[H_COOL_FLOW] * p.cooling_flow_scale) * valve_flow(
        COOLING_CURVE, state[S_COOL_POS], h[H_COOL_LEAK] * p.cooling_full_flow
    )
    heating_flow = (h[H_HEAT_FLOW] * p.heating_flow_scale) * valve_flow(
        HEATING_CURVE, state[S_HEAT_POS], h[H_HEAT_LEAK] * p.heating_full_flow
    )
    flow_share = h[H_AIRFLOW] * outlet_share(speed, h[H_OUTLET], p)
    air_flow = p.flow_per_speed * speed * flow_share
    outdoor_air = p.outdoor_floor
    if air_flow > 0.0:
        opening = damper_opening(state[S_DAMPER], p) + p.leak_opening * h[H_DAMPER_LEAK]
        outdoor_air = max(h[H_OUTDOOR] * outdoor_flow(air_flow, opening, p), p.outdoor_floor)
    share = min(outdoor_air / air_flow, 1.0) if air_flow > 0.0 else 0.5
    mixed = state[S_AIR] + share * (outside - state[S_AIR])
    mixed_ratio = state[S_RATIO] + share * (outside_ratio - state[S_RATIO])
    condensate = 0.0
    if air_flow > 0.0:
        condensate = blown_coils(
            state, h, mixed, mixed_ratio, air_flow, cooling_flow, heating_flow, chilled, hot, settle, p
        )
    else:
        state[S_CORE], state[S_COIL], state[S_DISCHARGE] = still_coils(
            state[S_CORE],
            state[S_COIL],
            state[S_DISCHARGE] + state[S_STORED],
            mixed,
            mixed_ratio,
            chilled,
            cooling_flow / GPM,
            hot,
            heating_flow / GPM,
            p,
        )
        state[S_STORED] = 0.0
        state[S_HOT] = state[S_DISCHARGE]
    state[S_MIXED] = mixed
    row[T_MIXED] = mixed
    row[T_MIXED_RH] = relative_humidity(mixed, mixed_ratio)
    row[T_COOL_FLOW] = cooling_flow
    row[T_HEAT_FLOW] = heating_flow
    row[T_AIR_FLOW] = air_flow
    row[T_OUTDOOR_FLOW] = outdoor_air
    row[T_SPEED] = speed
    row[T_POWER] = fan_power(speed, flow_share, p)
    return condensate


@inlined
def zone_minute(
    state: NDArray[np.float64],
    row: NDArray[np.float64],
    outside: float,
    outside_ratio: float,
    condensate: float,
    heat: float,
    mass_heat: float,
    moisture: float,
    p: Parameters,
) -> None:
    """Advance room, mass and humidity by one minute; `row` holds the air flows in L/s."""
    air_mass = row[T_AIR_FLOW] * 1e-3 * AIR_DENSITY
    outdoor_mass = row[T_OUTDOOR_FLOW] * 1e-3 * AIR_DENSITY
    # with the fan on the outdoor air comes through the unit, otherwise it seeps into the room
    seeping = outdoor_mass if air_mass <= 0.0 else 0.0
    state[S_AIR], state[S_MASS], state[S_DEEP] = zone_step(
        state[S_AIR],
        state[S_MASS],
        state[S_DEEP],
        outside,
        state[S_DISCHARGE],
        air_mass,
        seeping,
        heat,
        mass_heat,
        STEP_S,
        p,
    )
    source = moisture - p.latent_share * condensate
    state[S_RATIO] = moisture_step(state[S_RATIO], outside_ratio, outdoor_mass, source, STEP_S, p)


@inlined
def report_state(
    state: NDArray[np.float64],
    row: NDArray[np.float64],
    outside: float,
    outside_percent: float,
    chilled: float,
    hot: float,
    p: Parameters,
) -> None:
    """Write the part of a minute's telemetry that control and equipment have not written."""
    row[T_ROOM] = state[S_AIR]
    row[T_RETURN] = state[S_AIR]
    row[T_RETURN_RH] = relative_humidity(state[S_AIR], state[S_RATIO])
    row[T_DISCHARGE] = state[S_DISCHARGE]
    row[T_DISCHARGE_RH] = relative_humidity(state[S_DISCHARGE], p.discharge_ratio)
    row[T_OUTDOOR] = outside
    row[T_OUTDOOR_RH] = outside_percent
    row[T_COOL_POS] = state[S_COOL_POS]
    row[T_COOL_IN] = chilled
    row[T_COOL_OUT] = state[S_COIL]
    row[T_HEAT_POS] = state[S_HEAT_POS]
    row[T_HEAT_IN] = hot
    row[T_HEAT_OUT] = state[S_HOT]
    row[T_DAMPER] = state[S_DAMPER]


@compiled
def run_day(
    p: Parameters,
    state: NDArray[np.float64],
    last: NDArray[np.float64],
    is_operating_day: bool,
    around: Surroundings,
    hooks: HookRows,
    instruments: Instruments,
    out: NDArray[np.float64],
) -> None:
    """Advance `state` by one day and write the telemetry [minutes, signals] into `out`.

    `last` [signals] is the telemetry of the minute before the day, and after it that of its last minute.
    """
    hook_rows = hooks.fields.shape[0]
    noise, quantiles = instruments.noise, instruments.quantiles
    noise_rows = noise.shape[0]
    water_rows = around.chilled.shape[0]
    window_rows = around.window_ua.shape[0]
    follow = 1.0 - math.exp(-1.0 / p.actuator_min)
    settle = 1.0 - math.exp(-1.0 / p.coil_settle_min)
    for minute in range(out.shape[0]):
        at = min(minute, hook_rows - 1)
        noisy = min(minute, noise_rows - 1)
        h = hooks.fields[at]
        row = out[minute]
        before = out[minute - 1] if minute > 0 else last
        chilled = around.chilled[min(minute, water_rows - 1)]
        hot = around.hot[min(minute, water_rows - 1)]
        outside = around.outdoor[minute]
        outside_ratio = around.outdoor_ratio[minute]
        standard = quantiles[noise[noisy, SLOTS[T_ROOM]]]
        room = reading(state[S_AIR], T_ROOM, at, hooks, instruments.sigmas[T_ROOM] * standard, before[T_ROOM])
        standard = quantiles[noise[noisy, SLOTS[T_MIXED]]]
        mixed = reading(state[S_MIXED], T_MIXED, at, hooks, instruments.sigmas[T_MIXED] * standard, before[T_MIXED])
        control_minute(state, h, row, minute, is_operating_day, room, mixed, p)
        move_drives(state, h, row, follow)
        condensate = equipment_minute(state, h, row, outside, outside_ratio, chilled, hot, settle, p)
        # telemetry is of this minute, before the zone moves on
        report_state(state, row, outside, around.outdoor_percent[minute], chilled, hot, p)
        heat = around.heat[minute]
        if window_rows > 1:
            heat += around.window_ua[minute] * (outside - state[S_AIR])
        zone_minute(
            state,
            row,
            outside,
            outside_ratio,
            condensate,
            heat,
            around.mass_heat[minute],
            around.moisture[minute],
            p,
        )
        if instruments.slopes.shape[0] > 0:
            for signal in range(NUM_SIGNALS):
                row[signal] *= instruments.slopes[signal]
        if noise_rows > 1:
            for signal in range(NUM_SIGNALS):
                if SLOTS[signal] >= 0:
                    row[signal] += instruments.sigmas[signal] * quantiles[noise[noisy, SLOTS[signal]]]
        for signal in range(NUM_SIGNALS):
            row[signal] = reading(row[signal], signal, at, hooks, 0.0, before[signal])
    last[:] = out[-1]
