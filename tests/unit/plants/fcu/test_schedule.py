from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from graphghha.errors import ConfigError, NotFoundError
from graphghha.plants import CaseSpec
from graphghha.plants.fcu.attacks.catalog import REPLAYABLE, node_class
from graphghha.plants.fcu.attacks.schedule import Event, check_events, check_run, plan, schedule_attacks
from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.signals import INDEX

MONDAY = datetime(2018, 7, 2)
WEEK = MONDAY + timedelta(days=7)
ZONES = ("zone-01", "zone-02")


def read_event(text):
    return Event.from_spec(CaseSpec.parse(text), ZONES)


def on_day(day, case, *, zone=0, hours=6, **more):
    return plan(case, zone, MONDAY + timedelta(days=day, hours=9), duration=timedelta(hours=hours), **more)


def test_a_replay_does_not_play_back_an_attacked_day():
    biased, replay = on_day(1, "FCU_SensorBias_RMTemp_+4C"), on_day(2, "Replay_Room")
    check_events([biased, replay], MONDAY, WEEK, 1)
    building = Building(zones=1, seed=3, start=MONDAY, attacks=schedule_attacks([biased, replay]))
    monday, tuesday, wednesday = (chunk.telemetry[0, 540:900, INDEX["RM_TEMP"]] for chunk in building.days(3))
    assert (wednesday == monday).all()
    assert not (wednesday == tuesday).any()


def test_a_day_that_is_attacked_in_another_zone_only_is_clean():
    events = [on_day(0, "FCU_OABlockage", zone=1), on_day(1, "Replay_Room")]
    check_events(events, MONDAY, WEEK, 2)
    building = Building(zones=2, seed=3, start=MONDAY, attacks=schedule_attacks(events))
    monday, tuesday = (chunk.telemetry[0, 540:900, INDEX["RM_TEMP"]] for chunk in building.days(2))
    assert (tuesday == monday).all()


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(on_day(0, "FCU_OABlockage"), id="the-only-day-is-attacked"),
        pytest.param(on_day(0, "FCU_OABlockage", hours=100), id="the-attack-lasts"),
        pytest.param(replace(on_day(0, "FCU_OABlockage"), duration=None), id="the-attack-never-ends"),
    ],
)
def test_a_replay_without_a_clean_day_is_refused(first):
    with pytest.raises(ConfigError, match="Replay_Room@1.*needs a clean day first"):
        check_events([first, on_day(1, "Replay_Room")], MONDAY, WEEK, 1)


@pytest.mark.parametrize(
    ("case", "other"),
    [
        ("FCU_VLVStuck_Cooling_100", "FCU_VLVStuck_Cooling_0"),
        ("FCU_OADMPRStuck_80", "Coordinated_FreezeCoil"),
        ("SensorSaturated_RM_TEMP_High", "SensorSaturated_RM_TEMP_Low"),
        ("SensorSaturated_RM_TEMP_High", "Replay_Room"),
        ("Coordinated_HiddenValve", "Replay_Air"),
    ],
)
def test_two_attacks_that_hold_one_thing_apart_are_refused_by_both_names(case, other):
    one, two = on_day(3, case), on_day(3, other)
    for pair in ((one, two), (two, one)):
        with pytest.raises(ConfigError, match="both hold") as caught:
            check_events(pair, MONDAY, WEEK, 1)
        assert f"{case}@1" in str(caught.value)
        assert f"{other}@1" in str(caught.value)
    later = replace(two, start=one.end)
    check_events([one, later], MONDAY, WEEK, 1)
    check_events([one, replace(two, zone=1)], MONDAY, WEEK, 2)
    with pytest.raises(ConfigError, match="both hold"):
        check_events([replace(one, duration=None), later], MONDAY, WEEK, 1)


def test_two_attacks_that_hold_one_thing_alike_compose():
    check_events([on_day(3, "FCU_OADMPRStuck_100"), on_day(3, "Coordinated_FreezeCoil")], MONDAY, WEEK, 1)


def test_a_replay_takes_chosen_sensors_and_only_those_are_played_back():
    text = "Replay@2,start=2018-07-03T08:00,for=2h,on=FCU_RAT+FCU_OA_CFM"
    event = read_event(text)
    assert str(event) == text
    assert event.row.info.targets == ("FCU_RAT", "FCU_OA_CFM")
    building = Building(zones=2, seed=3, start=MONDAY, attacks=schedule_attacks([event]))
    monday, tuesday = (chunk.telemetry[1, 480:600] for chunk in building.days(2))
    same = {name for name, column in INDEX.items() if (monday[:, column] == tuesday[:, column]).all()}
    noisy = {name for name in REPLAYABLE if name in same}
    assert noisy == {"FCU_RAT", "FCU_OA_CFM"}


def test_every_sensor_and_nothing_else_can_be_replayed():
    assert len(REPLAYABLE) == 18
    assert {node_class(name) for name in REPLAYABLE} == {"sensor"}


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("Replay@1,start=2018-07-03", ConfigError, r"name the sensors, each only once: on=RM_TEMP\+FCU_RAT"),
        ("Replay@1,start=2018-07-03,on=RM_TEMP+RM_TEMP", ConfigError, "each only once"),
        ("Replay@1,start=2018-07-03,on=", ConfigError, "'' is not a sensor"),
        (
            "Replay@1,start=2018-07-03,on=FCU_CVLV",
            ConfigError,
            "'FCU_CVLV' is not a sensor that can be replayed; use RM_TEMP",
        ),
        ("Replay_Room@1,start=2018-07-03,on=RM_TEMP", ConfigError, "on= chooses the sensors of a Replay only"),
        ("Repla@1,start=2018-07-03", NotFoundError, "did you mean 'Replay'"),
        ("FCU_OABlockage@1,start=2018-07-02,for=99999999d", ConfigError, "longer than a century"),
        ("FCU_OABlockage@1,start=2018-07-02,ramp=99999999999999d", ConfigError, "longer than a century"),
        (f"FCU_OABlockage@1,start=2018-07-02,for={'9' * 5000}m", ConfigError, "longer than a century"),
        ("FCU_OABlockage@²,start=2018-07-02", NotFoundError, "no zone '²'"),
        (f"FCU_OABlockage@{'1' * 5000},start=2018-07-02", NotFoundError, "no zone"),
    ],
)
def test_an_impossible_event_is_refused_with_our_error(text, error, message):
    with pytest.raises(error, match=message):
        read_event(text)


@pytest.mark.parametrize(
    ("start", "days", "seed", "message"),
    [
        (MONDAY, 0, 0, "at least one"),
        (MONDAY, 1, -1, "seed -1 is negative"),
        (MONDAY, 10_000_000, 0, "do not lie between"),
        (datetime(1, 1, 1), 1, 0, "do not lie between"),
        (datetime(9999, 12, 30), 3, 0, "do not lie between"),
        (datetime(2199, 12, 31), 2, 0, "do not lie between"),
    ],
)
def test_a_run_off_the_calendar_or_without_a_seed_is_refused(start, days, seed, message):
    with pytest.raises(ConfigError, match=message):
        check_run(start, days, seed)


def test_an_event_overlaps_what_it_shares_a_minute_with():
    event = Event(case="FCU_OABlockage", zone=0, start=MONDAY, duration=timedelta(hours=1))
    end = MONDAY + timedelta(hours=1)
    assert event.overlaps(MONDAY, None)
    assert event.overlaps(end - timedelta(minutes=1), end)
    assert not event.overlaps(end, None)
    assert not event.overlaps(MONDAY - timedelta(hours=1), MONDAY)
    assert np.all([replace(event, duration=None).overlaps(end, last) for last in (None, WEEK)])
