from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.plants.fcu.attacks.hooks import NEUTRAL
from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.physics.columns import (
    NUM_STATE,
    S_AIR,
    S_COIL,
    S_COOL_POS,
    S_CORE,
    S_DEEP,
    S_DISCHARGE,
    S_HOT,
    S_MASS,
    S_RATIO,
    S_SPEED,
    T_AIR_FLOW,
    T_COOL_FLOW,
    T_COOL_OUT,
    T_OUTDOOR_FLOW,
)
from graphghha.plants.fcu.physics.design import Design
from graphghha.plants.fcu.physics.kernel import equipment_minute, zone_minute
from graphghha.plants.fcu.physics.parameters import REFERENCE, flat
from graphghha.plants.fcu.physics.psychro import AIR_DENSITY, AIR_HEAT
from graphghha.plants.fcu.physics.weather import HOURS, Weather
from graphghha.plants.fcu.signals import INDEX, NUM_SIGNALS

P = flat(REFERENCE)
ROOM_AIR = P.room_volume * AIR_DENSITY  # kg


def zone_state(**values: float) -> np.ndarray:
    state = np.zeros(NUM_STATE)
    state[[S_AIR, S_MASS, S_DEEP, S_DISCHARGE, S_COIL, S_CORE, S_HOT]] = 22.0
    state[S_RATIO] = 0.010
    for name, value in values.items():
        state[{"discharge": S_DISCHARGE, "speed": S_SPEED, "cooling": S_COOL_POS}[name]] = value
    return state


def flows(air: float, outdoor: float) -> np.ndarray:
    row = np.zeros(NUM_SIGNALS)
    row[T_AIR_FLOW], row[T_OUTDOOR_FLOW] = air, outdoor
    return row


def zone_after(state, row, *, outside=22.0, outside_ratio=0.010, condensate=0.0):
    zone_minute(state, row, outside, outside_ratio, condensate, 0.0, 0.0, 0.0, P)
    return state


def gained_heat(before, after) -> float:
    """Heat that room, mass and structure took up in the minute, W."""
    capacities = ((S_AIR, P.air_capacity), (S_MASS, P.mass_capacity), (S_DEEP, P.deep_capacity))
    return sum(capacity * (after[place] - before[place]) for place, capacity in capacities) / 60.0


@given(st.floats(1e-6, 3e-4))
def test_the_room_loses_its_share_of_what_condenses_on_the_coil(condensate):
    state = zone_after(zone_state(), flows(200.0, 20.0), condensate=condensate)
    # outdoors is as humid as the room: the new deficit is fed by outdoor air and drained by the coil
    lost = ROOM_AIR * (0.010 - state[S_RATIO]) / 60.0
    brought = 20e-3 * AIR_DENSITY * (0.010 - state[S_RATIO])
    assert lost + brought == pytest.approx(P.latent_share * condensate, rel=1e-6)
    assert lost > 0


def test_with_the_fan_off_outdoor_air_seeps_into_the_room_with_its_cold():
    before = zone_state()
    tight, open_window = (zone_after(zone_state(), flows(0.0, flow), outside=-10.0) for flow in (0.0, 30.0))
    assert open_window[S_AIR] < tight[S_AIR] - 0.01
    lost = 30e-3 * AIR_DENSITY * AIR_HEAT * (-10.0 - open_window[S_AIR])
    lost += P.air_outdoor_ua * (-10.0 - open_window[S_AIR]) + P.mass_outdoor_ua * (-10.0 - open_window[S_MASS])
    assert gained_heat(before, open_window) == pytest.approx(lost, rel=1e-6)


@pytest.mark.parametrize("air_flow", [0.0, 200.0])
def test_outdoor_air_brings_its_moisture_with_the_fan_on_or_off(air_flow):
    state = zone_after(zone_state(), flows(air_flow, 30.0), outside_ratio=0.020)
    gained = ROOM_AIR * (state[S_RATIO] - 0.010) / 60.0
    assert gained == pytest.approx(30e-3 * AIR_DENSITY * (0.020 - state[S_RATIO]), rel=1e-6)
    assert state[S_RATIO] > 0.010


def test_with_the_fan_on_outdoor_heat_comes_with_the_discharge_air_alone():
    few, much = (zone_after(zone_state(), flows(200.0, flow), outside=-10.0) for flow in (0.0, 30.0))
    assert few[S_AIR] == much[S_AIR]


def test_a_cold_coil_under_humid_air_gives_condensate_and_a_dry_one_none():
    def condensate(ratio: float) -> float:
        state = zone_state(speed=9.75, cooling=1.0)
        state[S_RATIO] = ratio
        return float(
            equipment_minute(
                state, NEUTRAL.copy(), np.zeros(NUM_SIGNALS), 22.0, ratio, P.chilled_water, P.hot_water, 0.5, P
            )
        )

    assert condensate(0.014) > 1e-4 > condensate(0.004) == 0.0


def test_equipment_reports_the_flows_of_its_valves_and_leaves_the_rest_of_the_row():
    state, row = zone_state(speed=9.75, cooling=1.0), np.full(NUM_SIGNALS, np.nan)
    equipment_minute(state, NEUTRAL.copy(), row, 22.0, 0.004, P.chilled_water, P.hot_water, 0.5, P)
    assert row[T_COOL_FLOW] == pytest.approx(0.361, abs=1e-3) and row[T_AIR_FLOW] == pytest.approx(187.8, abs=0.1)
    assert np.isnan(row[T_COOL_OUT])


def afternoon_humidity(**changes: float) -> float:
    muggy = Weather(np.full(HOURS, 30.0), np.full(HOURS, 70.0))
    parameters = replace(REFERENCE, **changes)
    building = Building(
        start=datetime(2018, 7, 9), weather=muggy, noise=False, nominal=True, design=Design(parameters=parameters)
    )
    return float(building.step().telemetry[0, 900, INDEX["FCU_RA_HUMD"]])


def test_through_a_muggy_day_the_coil_dries_the_room():
    assert afternoon_humidity(latent_share=0.0) > afternoon_humidity() + 5 > afternoon_humidity(latent_share=0.6)


def test_through_a_muggy_night_the_room_takes_up_what_seeps_in():
    muggy = Weather(np.full(HOURS, 25.0), np.full(HOURS, 90.0))

    def night(floor: float) -> np.ndarray:
        building = Building(
            start=datetime(2018, 7, 8),  # a Sunday: no people, no call
            weather=muggy,
            noise=False,
            nominal=True,
            design=Design(parameters=replace(REFERENCE, outdoor_floor=floor)),
            spin_up_days=0,
        )
        return building.step().telemetry[0]

    tight, leaky = night(0.4153), night(8.0)
    assert leaky[-1, INDEX["FCU_RA_HUMD"]] > tight[-1, INDEX["FCU_RA_HUMD"]] + 5
    assert abs(leaky[-1, INDEX["RM_TEMP"]] - 25.0) < abs(tight[-1, INDEX["RM_TEMP"]] - 25.0)
