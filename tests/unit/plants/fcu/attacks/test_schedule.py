from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.errors import ConfigError, NotFoundError
from graphghha.plants import CaseSpec
from graphghha.plants.fcu.attacks.catalog import REPLAYABLE, ROWS, node_class
from graphghha.plants.fcu.attacks.hooks import Day
from graphghha.plants.fcu.attacks.schedule import (
    Event,
    ScheduledAttack,
    check_events,
    check_run,
    plan,
    schedule_attacks,
)
from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.signals import INDEX

MONDAY = datetime(2018, 7, 2)
WEEK = MONDAY + timedelta(days=7)
ZONES = ("zone-01", "zone-02", "zone-03")


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


def test_a_replay_plays_back_exactly_what_was_read_on_the_clean_day():
    event = plan("Replay_Room", 1, MONDAY + timedelta(days=1, hours=8), duration=timedelta(hours=30))
    building = Building(zones=2, seed=3, start=MONDAY, attacks=[ScheduledAttack(event)])
    monday, tuesday, wednesday = (chunk.telemetry[1, :, INDEX["FCU_RAT"]] for chunk in building.days(3))
    assert (tuesday[480:] == monday[480:]).all()
    assert (wednesday[: 14 * 60] == monday[: 14 * 60]).all()
    assert not (tuesday[:480] == monday[:480]).all()
    assert not (wednesday[14 * 60 :] == monday[14 * 60 :]).all()


def test_two_attacks_on_one_zone_and_one_on_another_act_at_once():
    start = MONDAY + timedelta(hours=9)
    cases = (("FCU_OADMPRStuck_50", 0), ("FCU_SensorBias_RMTemp_+2C", 0), ("FCU_VLVStuck_Cooling_20", 2))
    building = Building(
        zones=3, seed=3, start=MONDAY, attacks=[ScheduledAttack(plan(name, z, start)) for name, z in cases]
    )
    twin = building.twin()
    attacked, clean = building.step().telemetry, twin.step().telemetry
    assert attacked[0, 700, INDEX["FCU_DMPR"]] == pytest.approx(0.5, abs=0.02)
    assert attacked[0, 700, INDEX["RM_TEMP"]] - attacked[0, 700, INDEX["FCU_RAT"]] == pytest.approx(2.0, abs=0.6)
    assert attacked[2, 700, INDEX["FCU_CVLV"]] == pytest.approx(0.2, abs=0.02)
    assert (attacked[1] == clean[1]).all()


@given(ramp=st.integers(0, 600), start=st.integers(-2000, 2000), length=st.integers(1, 4000))
def test_an_event_cut_into_days_is_whole(ramp, start, length):
    event = Event(
        case="FCU_OABlockage",
        zone=0,
        start=MONDAY + timedelta(minutes=start),
        duration=timedelta(minutes=length),
        ramp=timedelta(minutes=ramp),
    )
    spans = [event.span(Day(n, MONDAY + timedelta(days=n))) for n in range(-3, 6)]
    elapsed = np.concatenate([s.elapsed_min for s in spans if s is not None])
    strength = np.concatenate([s.strength for s in spans if s is not None])
    assert elapsed.tolist() == list(range(length))
    assert (np.diff(strength) >= 0).all()
    assert strength[0] > 0
    assert strength[-1] == pytest.approx(min(1.0, length / ramp) if ramp else 1.0)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("FCU_FilterRestriction_10%@2,start=2018-07-02T09:00,for=6h", id="percent"),
        pytest.param("FCU_SensorBias_RMTemp_+2C@1,start=2018-07-02T09:00,for=1d2h3m,ramp=30m", id="plus-and-ramp"),
        pytest.param("FCU_OABlockage@3,start=2018-07-02T09:00", id="sustained"),
        pytest.param("Temporary_OADMPRStuck_80@3,start=2018-07-02T09:00", id="own-duration"),
        pytest.param("Temporary_OADMPRStuck_80@3,start=2018-07-02T09:00,for=sustained", id="own-duration-waived"),
        pytest.param("Stealthy_DA_CFM_Bias@3,start=2018-07-02T09:00,ramp=0m", id="own-ramp-waived"),
    ],
)
def test_the_notation_of_an_event_reads_back(text):
    assert str(read_event(text)) == text


def test_zones_go_by_number_or_name_and_a_case_brings_its_own_duration():
    event = read_event("Temporary_OADMPRStuck_80@zone-02,start=2018-07-02 09:00")
    assert event.zone == 1
    assert event.duration == ROWS[event.case].duration == timedelta(hours=2)
    assert event.end == datetime(2018, 7, 2, 11)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("FCU_OABlockag@1,start=2018-07-02", NotFoundError, "did you mean 'FCU_OABlockage'"),
        ("FCU_OABlockage,start=2018-07-02", ConfigError, "no zone"),
        ("FCU_OABlockage@4,start=2018-07-02", NotFoundError, "use zone-01 to zone-03, or 1 to 3"),
        ("FCU_OABlockage@0,start=2018-07-02", NotFoundError, "no zone '0'"),
        ("FCU_OABlockage@1", ConfigError, "no start"),
        ("FCU_OABlockage@1,start=noon", ConfigError, "not a time like"),
        ("FCU_OABlockage@1,start=2018-07-02T09:00:30", ConfigError, "whole minute"),
        ("FCU_OABlockage@1,start=2018-07-02T09:00+02:00", ConfigError, "time zone"),
        ("FCU_OABlockage@1,start=2018-07-02,for=6", ConfigError, "not a duration like"),
        ("FCU_OABlockage@1,start=2018-07-02,for=", ConfigError, "not a duration like"),
        ("FCU_OABlockage@1,start=2018-07-02,for=0h", ConfigError, "is too short"),
        ("FCU_OABlockage@1,start=2018-07-02,until=3h", ConfigError, "cannot read 'until=3h'"),
        ("FCU_OABlockage@1,start=2018-07-02,for=1h,for=2h", ConfigError, "given twice"),
    ],
)
def test_a_wrong_event_is_refused_with_a_way_out(text, error, message):
    with pytest.raises(error, match=message):
        read_event(text)


def test_events_outside_the_run_and_replays_without_a_clean_day_are_refused():
    end = MONDAY + timedelta(days=2)
    good = plan("Replay_Room", 0, MONDAY + timedelta(days=1))
    check_events([good], MONDAY, end, 1)
    with pytest.raises(ConfigError, match="outside the run"):
        check_events([replace(good, start=end)], MONDAY, end, 1)
    with pytest.raises(ConfigError, match="needs a clean day first"):
        check_events([replace(good, start=MONDAY)], MONDAY, end, 1)
    with pytest.raises(NotFoundError, match="zones 1 to 1"):
        check_events([replace(good, zone=1)], MONDAY, end, 1)
    with pytest.raises(ConfigError, match="negative"):
        replace(good, ramp=timedelta(minutes=-1))
