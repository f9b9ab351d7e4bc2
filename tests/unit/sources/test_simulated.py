import numpy as np

from graphghha.sources import open_source, parse_address, stated_zones
from source_builders import NINE, PLANT, POINTS, all_rows

SETTINGS = {"site": "site", "points": POINTS, "plant": PLANT}
CASE = "FCU_SensorBias_RMTemp_+2C@2,start=2018-07-02T12:00,for=2h"


def test_the_simulator_begins_at_the_wanted_minute_and_is_the_same_every_time():
    address = "sim:fcu?zones=2&seed=3&start=2018-07-02T09:00&days=1"
    (times, values), (_, again) = (all_rows(open_source(parse_address(address), **SETTINGS)) for _ in range(2))
    assert times[0] == NINE and values.shape == (15 * 60, len(POINTS))
    np.testing.assert_array_equal(values, again)
    assert stated_zones(parse_address(address)) == ("zone-01", "zone-02")


def test_the_simulated_building_is_attacked_from_the_onset_on():
    address = "sim:fcu?zones=2&seed=3&start=2018-07-02T09:00&days=1"
    _, calm = all_rows(open_source(parse_address(address), **SETTINGS))
    _, attacked = all_rows(open_source(parse_address(f"{address}&case={CASE}"), **SETTINGS))
    changed = (calm != attacked).any(axis=1)
    assert not changed[:180].any() and changed[180:300].all()
