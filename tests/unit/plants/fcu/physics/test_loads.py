from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from graphghha.plants.fcu.physics.loads import facade_sun, hourly_to_minutes, occupancy_noise, zone_loads
from graphghha.plants.fcu.physics.parameters import REFERENCE, Parameters, flat, varied

MIDSUMMER, MIDWINTER = date(2018, 6, 21), date(2018, 12, 21)
MONDAY, SATURDAY = date(2018, 7, 9), date(2018, 7, 14)
P = flat(REFERENCE)


def facade(azimuth: float, sky_share: float = 0.0) -> Parameters:
    return flat(replace(REFERENCE, facade_azimuth=azimuth, sky_share=sky_share))


def test_the_sun_is_down_at_midnight_and_up_at_noon():
    sun = facade_sun(facade(180.0), MIDSUMMER, 1.0)
    assert sun[0] == 0.0 and sun[735] > 100.0


def test_east_has_the_morning_and_west_the_afternoon():
    east, west = facade_sun(facade(90.0), MIDSUMMER, 1.0), facade_sun(facade(270.0), MIDSUMMER, 1.0)
    assert east[8 * 60] > 300.0 and west[8 * 60] == 0.0
    assert west[17 * 60] > 300.0 and east[17 * 60] == 0.0


def test_a_south_facade_gets_more_at_noon_in_winter_than_in_summer():
    assert facade_sun(facade(180.0), MIDWINTER, 1.0)[735] > facade_sun(facade(180.0), MIDSUMMER, 1.0)[735]


def test_a_clear_day_brings_more_sun_and_a_north_facade_sees_only_the_sky():
    south, north = facade(180.0, sky_share=0.1), facade(0.0, sky_share=0.1)
    assert facade_sun(south, MIDWINTER, 1.0).sum() > 2 * facade_sun(south, MIDWINTER, 0.2).sum()
    assert 0 < facade_sun(north, MIDWINTER, 1.0).sum() < 0.3 * facade_sun(south, MIDWINTER, 1.0).sum()


def test_daily_profiles_keep_their_mean_and_close_over_midnight():
    hourly = np.arange(24.0)
    minutes = hourly_to_minutes(hourly)
    assert minutes.mean() == pytest.approx(hourly.mean(), rel=0.01)
    shifted = hourly_to_minutes(hourly, shift_min=60.0)
    assert shifted[600] == pytest.approx(minutes[540])


def test_workdays_bring_people_and_weekends_do_not():
    workday, weekend = (
        zone_loads(P, MONDAY, 0.5, None, is_workday=True),
        zone_loads(P, SATURDAY, 0.5, None, is_workday=False),
    )
    assert workday.air[660] > weekend.air[660] + 200.0
    assert workday.moisture[660] > 0.0 == weekend.moisture.max()


def test_occupancy_noise_is_seeded_positive_and_about_one():
    draws = np.stack([occupancy_noise(np.random.default_rng(seed)) for seed in range(200)])
    assert draws.min() > 0 and draws.mean() == pytest.approx(1.0, abs=0.05)
    np.testing.assert_array_equal(draws[0], occupancy_noise(np.random.default_rng(0)))


def test_zones_vary_within_reason():
    zones = [varied(REFERENCE, np.random.default_rng(seed)) for seed in range(300)]
    scales = np.array([zone.gain_scale for zone in zones])
    assert 0.5 < scales.min() < 0.85 and 1.15 < scales.max() < 2.0
    assert {zone.fan_low for zone in zones} == {REFERENCE.fan_low}
    assert np.ptp([zone.facade_azimuth for zone in zones]) > 300.0
