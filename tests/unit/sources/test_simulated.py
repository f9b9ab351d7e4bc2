from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from graphghha.errors import ConflictError, GraphGHHAError
from graphghha.plants import CaseSpec
from graphghha.sources import open_source, parse_address, stated_zones
from source_builders import NINE, PLANT, POINTS, all_rows

SETTINGS = {"site": "site", "points": POINTS, "plant": PLANT}
CASE = "FCU_SensorBias_RMTemp_+2C@2,start=2018-07-02T12:00,for=2h"


def rows(source, stop=None):
    times, values = [], []
    for _ in range(100_000):
        if source.status.is_finished or (stop and sum(map(len, times)) >= stop):
            break
        if (batch := source.poll(0.05)) is not None:
            times.append(batch.times_ms)
            values.append(batch.values)
    return np.concatenate(times), np.concatenate(values)


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


def test_an_injected_attack_changes_nothing_before_its_onset():
    def opened():
        return open_source(parse_address("sim:fcu?zones=2&seed=3&days=2"), **SETTINGS)

    plain, source = rows(opened()), opened()
    with pytest.raises(ConflictError, match="no reading"):
        source.inject("FCU_OADMPRStuck_80", "zone-01", 5, None)
    first = rows(source, stop=1)
    with pytest.raises(GraphGHHAError):
        source.inject("no-such-case", "zone-01", 5, None)
    spec = source.inject("FCU_OADMPRStuck_80", "zone-01", 30, 120)
    with pytest.raises(ConflictError, match="being prepared"):
        source.inject("FCU_OADMPRStuck_80", "zone-01", 60, None)
    rest = rows(source)
    times, values = np.concatenate([first[0], rest[0]]), np.concatenate([first[1], rest[1]])
    onset_ms = int(np.datetime64(spec.start, "ms").astype(np.int64))
    np.testing.assert_array_equal(times, plain[0])
    before = times < onset_ms
    assert before.any() and values[before].tobytes() == plain[1][before].tobytes()
    assert (values[~before] != plain[1][~before]).any()


def test_an_attack_that_is_withdrawn_changes_nothing_before_it_and_ends_then():
    address = "sim:fcu?zones=2&seed=3&start=2018-07-02T09:00&days=1"
    _, calm = all_rows(open_source(parse_address(address), **SETTINGS))
    _, attacked = all_rows(open_source(parse_address(f"{address}&case={CASE}"), **SETTINGS))
    source = open_source(parse_address(f"{address}&case={CASE}&live_from=2018-07-02T12:30&speed=1e6"), **SETTINGS)
    spec = CaseSpec.parse(CASE)
    with pytest.raises(ConflictError, match="no reading"):
        source.withdraw(spec)
    first = source.poll(0.0)
    with pytest.raises(GraphGHHAError, match="has no attack"):
        source.withdraw(replace(spec, zone="1"))
    ended = source.withdraw(spec)
    assert ended.duration == timedelta(minutes=30)  # a minute after the newest reading
    _, rest = rows(source)
    values = np.concatenate([first.values, rest])
    assert values.shape == attacked.shape
    assert values[:210].tobytes() == attacked[:210].tobytes()
    assert (values[210:300] != attacked[210:300]).any(axis=1).all()
    assert (values[-60:] == calm[-60:]).mean() > 0.5


def test_an_attack_that_has_not_begun_is_taken_back():
    address = f"sim:fcu?zones=2&seed=3&start=2018-07-02T09:00&days=1&case={CASE}&live_from=2018-07-02T10:00&speed=0.001"
    source = open_source(parse_address(address), **SETTINGS)
    source.poll(0.0)
    assert source.withdraw(CaseSpec.parse(CASE)) is None


def test_readings_before_the_live_time_come_at_once_and_the_rest_at_its_speed():
    address = "sim:fcu?zones=2&seed=3&start=2018-07-02T09:00&days=1&speed=0.001&live_from=2018-07-02T10:00"
    source = open_source(parse_address(address), **SETTINGS)
    batches = [batch for _ in range(5) if (batch := source.poll(0.0)) is not None]
    times = np.concatenate([batch.times_ms for batch in batches])
    assert times[0] == NINE and times[-1] == NINE + 60 * 60_000  # the first live row is due at once
    assert source.poll(0.0) is None


def test_after_a_restart_the_rest_is_the_same_to_the_last_byte():
    config = parse_address("sim:fcu?zones=2&seed=3&days=2")
    times, values = all_rows(open_source(config, **SETTINGS))
    rest = all_rows(open_source(replace(config, after=datetime(2018, 7, 3, 7, 30)), **SETTINGS))
    at = int(np.searchsorted(times, int(np.datetime64("2018-07-03T07:31", "ms").astype(np.int64))))
    np.testing.assert_array_equal(rest[0], times[at:])
    assert rest[1].tobytes() == values[at:].tobytes()
