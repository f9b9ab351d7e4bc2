"""One zone through one day, minute by minute: control on readings, equipment, zone, telemetry."""

import math

import numpy as np
from numpy.typing import NDArray

from graphghha.plants.fcu.control import FAN_AUTO, FAN_OFF, SHUTDOWN, control_minute, move_drives
from graphghha.plants.fcu.jit import compiled, inlined
from graphghha.plants.fcu.layout import (
    H_AIRFLOW,
    H_CHILLED,
    H_COOL_AIR,
    H_COOL_FLOW,
    H_COOL_LEAK,
    H_COOL_WATER,
    H_DAMPER_LEAK,
    H_HEAT_AIR,
    H_HEAT_FLOW,
    H_HEAT_LEAK,
    H_HEAT_WATER,
    H_HOT,
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
)
from graphghha.plants.fcu.noise import SLOTS
from graphghha.plants.fcu.parameters import Parameters
from graphghha.plants.fcu.physics import (
    COOLING_CURVE,
    GPM,
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
from graphghha.plants.fcu.psychro import AIR_DENSITY, AIR_HEAT, WATER_HEAT, relative_humidity
from graphghha.plants.fcu.signals import HIGH, INDEX, LOW, NOISE, NUM_SIGNALS

ROOM, MIXED = INDEX["RM_TEMP"], INDEX["FCU_MAT"]


@compiled
def reading(true: float, signal: int, offset: float, override: float, standard: float) -> float:
    """What an instrument reports: noise (in standard deviations), then tampering, within its range."""
    value = true + standard * NOISE[signal] + offset if math.isnan(override) else override
    return float(min(max(value, LOW[signal]), HIGH[signal]))


@inlined
def blown_coils(
    state: NDArray[np.float64],
    h: NDArray[np.float64],
    mixed: float,
    mixed_ratio: float,
    air_flow: float,
    chilled: float,
    cooling_flow: float,
    hot: float,
    heating_flow: float,
    settle: float,
    p: Parameters,
) -> float:
    """Both coils with the fan on; gives the condensate in kg/s."""
    air_mass = air_flow * 1e-3 * AIR_DENSITY
    relative_flow = air_flow / p.air_flow_low
    leaving, leaving_ratio, coil_return = mixed, mixed_ratio, mixed
    if cooling_flow > 1e-5:
        ua_air = h[H_COOL_AIR] * p.cooling_ua_air * relative_flow**p.cooling_air_exponent
        ua_water = h[H_COOL_WATER] * water_side(cooling_flow, p.cooling_ua_still, p.cooling_ua_water)
        undershoot = min(p.wet_undershoot * relative_flow**-p.wet_exponent, 1.0)
        taken, leaving, leaving_ratio = wet_coil(
            mixed, mixed_ratio, air_mass, chilled, cooling_flow, ua_air, ua_water, undershoot, p
        )
        coil_return = chilled + taken / (cooling_flow * WATER_HEAT)
    discharge = hot_return = leaving
    if heating_flow > 1e-5:
        ua_air = h[H_HEAT_AIR] * p.heating_ua_air * relative_flow**p.heating_air_exponent
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


@compiled
def run_day(
    p: Parameters,
    state: NDArray[np.float64],
    weekday: int,
    outdoor: NDArray[np.float64],
    outdoor_percent: NDArray[np.float64],
    outdoor_ratio: NDArray[np.float64],
    heat: NDArray[np.float64],
    mass_heat: NDArray[np.float64],
    moisture: NDArray[np.float64],
    hooks: NDArray[np.float64],
    offsets: NDArray[np.float64],
    overrides: NDArray[np.float64],
    noise: NDArray[np.uint16],
    quantiles: NDArray[np.float32],
    out: NDArray[np.float64],
) -> None:
    """Advance `state` by one day and write the telemetry [minutes, signals] into `out`.

    `hooks`, `offsets` and `overrides` have a row per minute, or one row for the whole day; so has `noise`, in which the
    noisy signals have a column each; its levels stand for `quantiles`, in standard deviations.
    """
    imposed_rows = hooks.shape[0]
    noise_rows = noise.shape[0]
    follow = 1.0 - math.exp(-1.0 / p.actuator_min)
    settle = 1.0 - math.exp(-1.0 / p.coil_settle_min)
    for minute in range(out.shape[0]):
        imposed = min(minute, imposed_rows - 1)
        noisy = min(minute, noise_rows - 1)
        h = hooks[imposed]
        room = reading(
            state[S_AIR], ROOM, offsets[imposed, ROOM], overrides[imposed, ROOM], quantiles[noise[noisy, SLOTS[ROOM]]]
        )
        mixed = reading(
            state[S_MIXED],
            MIXED,
            offsets[imposed, MIXED],
            overrides[imposed, MIXED],
            quantiles[noise[noisy, SLOTS[MIXED]]],
        )

        mode, cooling_setpoint, heating_setpoint, cooling_command, heating_command, damper_command, speed = (
            control_minute(state, h, minute, weekday, room, mixed, p)
        )
        move_drives(state, h, cooling_command, heating_command, damper_command, follow)
        state[S_SPEED] = speed

        # water and air flows
        cooling_flow = h[H_COOL_FLOW] * valve_flow(
            COOLING_CURVE, state[S_COOL_POS], h[H_COOL_LEAK] * p.cooling_full_flow
        )
        heating_flow = h[H_HEAT_FLOW] * valve_flow(
            HEATING_CURVE, state[S_HEAT_POS], h[H_HEAT_LEAK] * p.heating_full_flow
        )
        flow_share = h[H_AIRFLOW] * outlet_share(speed, h[H_OUTLET], p)
        air_flow = p.flow_per_speed * speed * flow_share
        outdoor_air = p.outdoor_floor
        if air_flow > 0.0:
            opening = damper_opening(state[S_DAMPER], p) + p.leak_opening * h[H_DAMPER_LEAK]
            outdoor_air = max(h[H_OUTDOOR] * outdoor_flow(air_flow, opening, p), p.outdoor_floor)
        air_mass = air_flow * 1e-3 * AIR_DENSITY
        outdoor_mass = outdoor_air * 1e-3 * AIR_DENSITY
        chilled = p.chilled_water + h[H_CHILLED]
        hot = p.hot_water + h[H_HOT]

        # mixing and coils
        air = state[S_AIR]
        outside = outdoor[minute]
        outside_ratio = outdoor_ratio[minute]
        share = min(outdoor_air / air_flow, 1.0) if air_flow > 0.0 else 0.5
        mixed_true = air + share * (outside - air)
        mixed_ratio = state[S_RATIO] + share * (outside_ratio - state[S_RATIO])
        condensate = 0.0
        if air_flow > 0.0:
            condensate = blown_coils(
                state, h, mixed_true, mixed_ratio, air_flow, chilled, cooling_flow, hot, heating_flow, settle, p
            )
        else:
            state[S_CORE], state[S_COIL], state[S_DISCHARGE] = still_coils(
                state[S_CORE],
                state[S_COIL],
                state[S_DISCHARGE] + state[S_STORED],
                mixed_true,
                mixed_ratio,
                chilled,
                cooling_flow / GPM,
                hot,
                heating_flow / GPM,
                p,
            )
            state[S_STORED] = 0.0
            state[S_HOT] = state[S_DISCHARGE]
        state[S_MIXED] = mixed_true

        # telemetry of this minute, before the zone moves on
        row = out[minute]
        row[0] = mode
        row[1] = FAN_OFF if mode == SHUTDOWN else FAN_AUTO
        row[2] = air
        row[3] = cooling_setpoint
        row[4] = heating_setpoint
        row[5] = mixed_true
        row[6] = state[S_DISCHARGE]
        row[7] = air
        row[8] = state[S_COOL_POS]
        row[9] = cooling_command
        row[10] = cooling_flow
        row[11] = chilled
        row[12] = state[S_COIL]
        row[13] = state[S_HEAT_POS]
        row[14] = heating_command
        row[15] = heating_flow
        row[16] = hot
        row[17] = state[S_HOT]
        row[18] = air_flow
        row[19] = outdoor_air
        row[20] = state[S_DAMPER]
        row[21] = damper_command
        row[22] = speed
        row[23] = outside
        row[24] = fan_power(speed, flow_share, p)
        row[25] = relative_humidity(mixed_true, mixed_ratio)
        row[26] = outdoor_percent[minute]
        row[27] = relative_humidity(state[S_DISCHARGE], p.discharge_ratio)
        row[28] = relative_humidity(air, state[S_RATIO])
        if noise_rows > 1:
            for signal in range(NUM_SIGNALS):
                if SLOTS[signal] >= 0:
                    row[signal] += NOISE[signal] * quantiles[noise[noisy, SLOTS[signal]]]
        for signal in range(NUM_SIGNALS):
            override = overrides[imposed, signal]
            value = row[signal] + offsets[imposed, signal] if math.isnan(override) else override
            row[signal] = min(max(value, LOW[signal]), HIGH[signal])

        # zone
        seeping = outdoor_mass if air_flow <= 0.0 else 0.0
        state[S_AIR], state[S_MASS], state[S_DEEP] = zone_step(
            air,
            state[S_MASS],
            state[S_DEEP],
            outside,
            state[S_DISCHARGE],
            air_mass,
            seeping,
            heat[minute],
            mass_heat[minute],
            60.0,
            p,
        )
        source = moisture[minute] - p.latent_share * condensate
        state[S_RATIO] = moisture_step(state[S_RATIO], outside_ratio, outdoor_mass, source, 60.0, p)
