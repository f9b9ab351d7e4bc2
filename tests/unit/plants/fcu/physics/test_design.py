"""A random building is drawn whole from its seed, stays within its ranges, and runs without leaving physics."""

from dataclasses import fields, replace
from datetime import date, datetime, timedelta

import numpy as np
import pytest

from graphghha.errors import ConfigError
from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.physics.design import (
    ALWAYS_PRESENT,
    FAMILIES,
    REFERENCE_DESIGN,
    Calendar,
    Design,
    WaterSupply,
    random_design,
)
from graphghha.plants.fcu.physics.parameters import REFERENCE, Parameters
from graphghha.plants.fcu.signals import HIGH, INDEX, LOW

SEEDS = range(40)


def test_the_same_seed_gives_the_same_building_and_another_seed_another():
    assert random_design(3) == random_design(3) != random_design(4)


def test_leaving_a_family_out_changes_nothing_else():
    whole, part = random_design(5), random_design(5, without=["climate"])
    assert part == replace(whole, climate=REFERENCE_DESIGN.climate)
    assert random_design(5, without=FAMILIES) == REFERENCE_DESIGN


@pytest.mark.parametrize("seed", SEEDS)
def test_setpoints_keep_their_order(seed):
    p = random_design(seed).parameters
    assert p.setback_heating < p.operate_heating < p.operate_cooling < p.setback_cooling
    assert p.operate_first_min < p.operate_last_min and p.medium_threshold < p.high_threshold
    assert p.fan_low < p.fan_medium < p.fan_high and p.chilled_water < p.hot_water


def test_every_family_really_varies():
    designs = [random_design(seed) for seed in SEEDS]
    assert {d.calendar.weekdays for d in designs} == {5, 6, 7}
    assert {d.reporting.mode for d in designs} == {"minute", "cov", "sampled"}
    assert len({d.sensors.temperature_offset for d in designs}) == len(SEEDS)
    assert any(d.climate != REFERENCE_DESIGN.climate for d in designs) and any(d.window_share for d in designs)
    moved = {f.name for f in fields(Parameters) if len({getattr(d.parameters, f.name) for d in designs}) > 1}
    assert {"mass_capacity", "cooling_gain", "damper_minimum", "hot_water", "deadband", "fan_high"} <= moved


def test_sites_have_8_to_29_points_and_never_lack_the_essential_ones():
    counts = {len(random_design(seed).reporting.points) for seed in range(300)}
    assert min(counts) == 8 and max(counts) == 29
    assert all(set(ALWAYS_PRESENT) <= set(random_design(seed).reporting.points) for seed in range(300))


@pytest.mark.parametrize("seed", range(12))
def test_a_random_building_runs_and_keeps_its_rooms_habitable(seed):
    building = Building(zones=2, seed=seed, start=datetime(2018, 7, 2), design=random_design(seed))
    telemetry = np.concatenate([chunk.telemetry for chunk in building.days(3)], axis=1)
    assert np.isfinite(telemetry).all() and (telemetry >= LOW).all() and (telemetry <= HIGH).all()
    room = telemetry[..., INDEX["RM_TEMP"]]
    assert 5.0 < np.median(room) < 38.0


def test_an_unknown_family_and_a_negative_seed_are_refused():
    with pytest.raises(ConfigError, match="families are setpoints"):
        random_design(1, without=["colour"])
    with pytest.raises(ConfigError, match="must not be negative"):
        random_design(-1)


def test_holidays_are_operating_days_on_which_the_building_rests():
    calendar = Calendar(weekdays=5, holiday_share=0.2)
    days = [date(2018, 1, 1) + timedelta(days=n) for n in range(365)]
    open_days = [day for day in days if calendar.is_operating(day, seed=1)]
    weekdays = sum(day.weekday() < 5 for day in days)
    assert all(day.weekday() < 5 for day in open_days) and 0.7 < len(open_days) / weekdays < 0.9
    assert open_days == [day for day in days if calendar.is_operating(day, seed=1)]


def test_a_holiday_is_spent_in_setback():
    design = Design(calendar=Calendar(holiday_share=0.99))
    telemetry = Building(seed=1, start=datetime(2018, 7, 2), design=design).step().telemetry[0]
    assert (telemetry[:, INDEX["FCU_CTRL"]] == 2).all()


def test_operating_hours_of_the_design_reach_the_controller():
    design = Design(parameters=replace(REFERENCE, operate_first_min=600.0, operate_last_min=700.0))
    mode = Building(seed=1, start=datetime(2018, 7, 2), design=design).step().telemetry[0, :, INDEX["FCU_CTRL"]]
    assert np.flatnonzero(mode == 1).tolist() == list(range(600, 701))


def test_supply_water_follows_the_weather_and_is_continuous_over_midnight():
    water = WaterSupply(hot_reset=0.5, chilled_wander=0.3, hot_wander=1.0)
    cold, warm = (np.full(1440, degrees) for degrees in (-10.0, 15.0))
    monday, tuesday = (water.day(REFERENCE, date(2018, 1, day), cold, 3) for day in (1, 2))
    assert abs(monday[0][-1] - tuesday[0][0]) < 0.02 and abs(monday[1][-1] - tuesday[1][0]) < 0.05
    assert monday[1].mean() > water.day(REFERENCE, date(2018, 1, 1), warm, 3)[1].mean() + 5


def test_the_water_that_flows_is_the_water_that_is_reported():
    design = Design(parameters=replace(REFERENCE, chilled_water=10.0))
    telemetry = Building(seed=1, start=datetime(2018, 7, 9), noise=False, design=design).step().telemetry[0]
    assert telemetry[:, INDEX["FCU_CLG_EWT"]] == pytest.approx(10.0)
    assert telemetry[:, INDEX["FCU_CLG_RWT"]].min() >= 10.0 - 1e-9


def test_an_open_window_in_winter_costs_heat():
    def heating(share: float) -> float:
        design = Design(window_share=share)
        telemetry = Building(zones=3, seed=2, start=datetime(2018, 1, 8), noise=False, design=design).step().telemetry
        return float(telemetry[..., INDEX["FCU_HVLV_DM"]].mean())

    assert heating(1.0) > 1.05 * heating(0.0)
