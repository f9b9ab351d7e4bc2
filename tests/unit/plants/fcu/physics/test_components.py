from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphghha.plants.fcu.physics.components import (
    COOLING_CURVE,
    HEATING_CURVE,
    damper_opening,
    dry_coil,
    fan_power,
    moisture_step,
    outdoor_flow,
    outlet_share,
    saturated_at,
    still_coils,
    valve_flow,
    wet_coil,
    zone_step,
)
from graphghha.plants.fcu.physics.parameters import REFERENCE, flat
from graphghha.plants.fcu.physics.psychro import (
    AIR_DENSITY,
    AIR_HEAT,
    WATER_HEAT,
    enthalpy,
    humidity_ratio,
    saturation_ratio,
)
from graphghha.plants.units import CFM, GPM

P = flat(REFERENCE)
air_temperatures = st.floats(-30, 45)
air_masses = st.floats(0.01, 0.6)
water_flows = st.floats(0.0005, 0.4)
conductances = st.floats(5.0, 5000.0)


@pytest.mark.parametrize(("position", "gpm"), [(0.2, 0.72), (0.8, 5.63), (1.0, 5.72), (0.0, 0.0), (0.05, 0.0)])
def test_cooling_valve_passes_the_published_flows(position, gpm):
    assert valve_flow(COOLING_CURVE, position, 0.0) / GPM == pytest.approx(gpm, abs=1e-9)


@pytest.mark.parametrize(("position", "gpm"), [(0.5, 0.73), (0.8, 1.03), (1.0, 1.05), (0.0, 0.0)])
def test_heating_valve_passes_the_published_flows(position, gpm):
    assert valve_flow(HEATING_CURVE, position, 0.0) / GPM == pytest.approx(gpm, abs=1e-9)


@pytest.mark.parametrize("curve", [COOLING_CURVE, HEATING_CURVE], ids=["cooling", "heating"])
@given(low=st.floats(0, 1), high=st.floats(0, 1))
def test_opening_a_valve_never_lowers_its_flow(curve, low, high):
    assume(low <= high)
    assert valve_flow(curve, low, 0.0) <= valve_flow(curve, high, 0.0) + 1e-12


def test_a_leak_is_the_least_flow_and_an_open_valve_hides_it():
    assert valve_flow(COOLING_CURVE, 0.0, 0.1) == 0.1
    assert valve_flow(COOLING_CURVE, 1.0, 0.1) == pytest.approx(5.72 * GPM)


@pytest.mark.parametrize(("speed", "watt"), [(0.0, 0.0), (9.75, 2.63), (13.08, 6.35), (18.08, 16.77)])
def test_fan_power_is_cubic_in_speed(speed, watt):
    assert fan_power(speed, 1.0, P) == pytest.approx(watt, abs=0.01)


@pytest.mark.parametrize(("share", "factor"), [(0.965, 1.024), (0.923, 1.05), (0.643, 1.236), (0.568, 1.288)])
def test_a_throttled_fan_draws_the_power_seen_in_the_data(share, factor):
    assert fan_power(9.75, share, P) / 2.63 == pytest.approx(factor, rel=0.02)


@pytest.mark.parametrize(("speed", "cfm"), [(9.75, 41.96), (13.08, 71.03)])
def test_outdoor_air_at_minimum_damper_matches_both_speeds(speed, cfm):
    air_flow = P.flow_per_speed * speed
    assert outdoor_flow(air_flow, damper_opening(0.3, P), P) / CFM == pytest.approx(cfm, rel=0.01)


def test_a_shut_damper_and_a_still_fan_leave_the_floor():
    assert outdoor_flow(188.0, damper_opening(0.0, P), P) / CFM == pytest.approx(0.88, rel=1e-3)
    assert outdoor_flow(0.0, damper_opening(1.0, P), P) / CFM == pytest.approx(0.88, rel=1e-3)


@given(st.floats(0, 400), st.floats(0, 1))
def test_outdoor_air_is_part_of_the_air(air_flow, position):
    assert 0 < outdoor_flow(air_flow, damper_opening(position, P), P) <= max(air_flow, P.outdoor_floor)


def test_a_blocked_outlet_leaves_little_and_an_open_one_all():
    assert outlet_share(9.75, 0.0, P) == 1.0
    assert outlet_share(9.75, 0.785, P) < outlet_share(18.08, 0.785, P) < 0.25


@given(air_temperatures, air_masses, st.floats(3, 60), water_flows, conductances, conductances)
def test_dry_coil_stays_between_air_and_water(air_in, air_mass, water_in, water, ua_air, ua_water):
    heat = dry_coil(air_in, air_mass, water_in, water, ua_air, ua_water)
    air_out = air_in - heat / (air_mass * AIR_HEAT)
    water_out = water_in + heat / (water * WATER_HEAT)
    low, high = sorted((air_in, water_in))
    assert low - 1e-6 <= air_out <= high + 1e-6
    assert low - 1e-6 <= water_out <= high + 1e-6


@given(air_temperatures, st.floats(5, 100), air_masses, water_flows, conductances, conductances, st.floats(0, 1))
def test_wet_coil_closes_energy_and_water_and_keeps_the_second_law(
    air_in, percent, air_mass, water, ua_air, ua_water, undershoot
):
    ratio_in = humidity_ratio(air_in, percent)
    heat, air_out, ratio_out = wet_coil(
        air_in, ratio_in, air_mass, P.chilled_water, water, ua_air, ua_water, undershoot, P
    )
    driest = saturation_ratio(P.chilled_water)
    assert min(driest, ratio_in) <= ratio_out <= ratio_in
    carried = air_mass * (enthalpy(air_in, ratio_in) - enthalpy(air_out, ratio_out))
    if ratio_out < ratio_in:
        assert ratio_out <= saturation_ratio(air_out) * (1 + 1e-9)
        assert heat == pytest.approx(carried, abs=1e-6 * max(heat, 1.0))
    else:  # a dry coil leaves out what the vapour carries
        sensible = air_mass * AIR_HEAT * (air_in - air_out)
        low, high = sorted((sensible, carried))
        assert low - 1e-6 <= heat <= high + 1e-6
    low, high = sorted((air_in, P.chilled_water))
    assert low - 1e-6 <= air_out <= high + 1e-6
    water_out = P.chilled_water + heat / (water * WATER_HEAT)
    assert low - 1e-6 <= water_out <= high + 1e-6
    if ratio_out < ratio_in:
        assert heat <= air_mass * (enthalpy(air_in, ratio_in) - enthalpy(P.chilled_water, driest)) * (1 + 1e-9)


@pytest.mark.parametrize("undershoot", [0.1, 0.336, 1.0])
def test_muggy_air_over_a_trickle_of_water_heats_it_no_further_than_itself(undershoot):
    """Hot, humid air against little water: leaving air would be fog if it followed the dew point."""
    for air_in, percent, water in product((26.0, 30.0, 34.0), (60.0, 80.0, 95.0), (0.002, 0.007, 0.02, 0.1)):
        heat, air_out, ratio_out = wet_coil(
            air_in, humidity_ratio(air_in, percent), 0.23, P.chilled_water, water, 567.0, 400.0, undershoot, P
        )
        assert P.chilled_water + heat / (water * WATER_HEAT) <= air_in
        assert ratio_out <= saturation_ratio(air_out) * (1 + 1e-9)


@given(st.floats(-10, 45), st.floats(0, 30))
def test_the_temperature_of_saturated_air_is_found_from_above(air, gap):
    target = enthalpy(air, saturation_ratio(air))
    assert saturated_at(target, air + gap) == pytest.approx(air, abs=1e-6)


def test_humid_air_gives_the_coil_more_heat_than_dry_air():
    dry, *_ = wet_coil(24.0, 0.004, 0.23, P.chilled_water, 0.1, 300.0, 3000.0, 0.336, P)
    wet, air_out, ratio_out = wet_coil(24.0, 0.014, 0.23, P.chilled_water, 0.1, 300.0, 3000.0, 0.336, P)
    assert wet > 1.2 * dry and ratio_out < 0.014 and air_out > P.chilled_water


@given(
    air=air_temperatures,
    mass=air_temperatures,
    deep=air_temperatures,
    outdoor=st.floats(-40, 50),
    supply=st.floats(-10, 60),
    supply_mass=st.floats(0, 0.6),
    seeping=st.floats(0, 0.1),
    heat=st.floats(0, 5000),
    mass_heat=st.floats(0, 5000),
    step_s=st.sampled_from([1.0, 60.0, 3600.0]),
)
def test_zone_energy_closes(air, mass, deep, outdoor, supply, supply_mass, seeping, heat, mass_heat, step_s):
    new_air, new_mass, new_deep = zone_step(
        air, mass, deep, outdoor, supply, supply_mass, seeping, heat, mass_heat, step_s, P
    )
    stored = (P.air_capacity * (new_air - air) + P.mass_capacity * (new_mass - mass)) / step_s
    stored += P.deep_capacity * (new_deep - deep) / step_s
    gained = heat + mass_heat
    gained += supply_mass * AIR_HEAT * (supply - new_air) + seeping * AIR_HEAT * (outdoor - new_air)
    gained += P.air_outdoor_ua * (outdoor - new_air) + P.mass_outdoor_ua * (outdoor - new_mass)
    assert stored == pytest.approx(gained, abs=1e-5 * (1.0 + abs(gained)) + 1e-3)


@given(st.floats(1e-4, 0.03), st.floats(1e-4, 0.03), st.floats(0, 0.3), st.floats(0, 1e-4))
def test_zone_water_closes(ratio, outdoor_ratio, outdoor_mass, source):
    new = moisture_step(ratio, outdoor_ratio, outdoor_mass, source, 60.0, P)
    stored = P.room_volume * AIR_DENSITY * (new - ratio) / 60.0
    assert stored == pytest.approx(outdoor_mass * (outdoor_ratio - new) + source, abs=1e-12)


def test_still_coils_drift_at_the_rates_of_the_data():
    dry = 1e-3
    core = coil = 20.0
    discharge = 25.0
    for _ in range(60):
        core, coil, discharge = still_coils(core, coil, discharge, 10.0, dry, 7.2, 0.0, 48.9, 0.0, P)
    assert 20.0 - coil == pytest.approx(10.0 * 0.144, rel=0.1)  # 1 - exp(-0.155) of the gap in an hour
    assert 25.0 > discharge > coil


def test_water_through_a_still_coil_takes_it_to_its_own_temperature():
    core = coil = discharge = 20.0
    for _ in range(120):
        core, coil, discharge = still_coils(core, coil, discharge, 20.0, 1e-3, 7.2, 1.0, 48.9, 1.0, P)
    assert coil == pytest.approx(7.2, abs=0.5) and discharge == pytest.approx(48.9, abs=1.0)


def test_more_envelope_loses_more_heat():
    leaky = flat(replace(REFERENCE, air_outdoor_ua=3 * REFERENCE.air_outdoor_ua))
    assert (
        zone_step(20, 20, 20, -10, 20, 0, 0, 0, 0, 60, leaky)[0] < zone_step(20, 20, 20, -10, 20, 0, 0, 0, 0, 60, P)[0]
    )
