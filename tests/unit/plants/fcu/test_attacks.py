from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.errors import ConfigError, NotFoundError
from graphghha.plants import CaseSpec
from graphghha.plants.fcu.attacks.catalog import ROWS
from graphghha.plants.fcu.attacks.effects import (
    Bias,
    Drift,
    FalseCommand,
    Oscillate,
    Replay,
    Saturate,
    SetHooks,
    Span,
    Together,
)
from graphghha.plants.fcu.attacks.hooks import MINUTES, Day, ZoneHooks
from graphghha.plants.fcu.attacks.schedule import Event, ScheduledAttack, check_events, plan
from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.signals import INDEX, NUM_SIGNALS

MONDAY = datetime(2018, 7, 2)
ZONES = ("zone-01", "zone-02", "zone-03")


def read_event(text):
    return Event.from_spec(CaseSpec.parse(text), ZONES)


def span(begin=0, end=MINUTES, strength=1.0):
    minutes = np.arange(end - begin, dtype=float)
    return Span(Day(0, MONDAY), slice(begin, end), minutes, np.full(end - begin, strength))


def edited(attack, **where):
    hooks = ZoneHooks.neutral()
    attack.edit(hooks, span(**where))
    return hooks


def test_a_stuck_valve_is_held_from_the_first_minute_however_slow_the_ramp():
    hooks = edited(SetHooks({"cooling_stuck": 0.5}), begin=600, strength=0.1)
    assert np.isnan(hooks.hook("cooling_stuck")[:600]).all()
    assert (hooks.hook("cooling_stuck")[600:] == 0.5).all()


def test_factors_multiply_offsets_add_and_leaks_take_the_larger():
    twice = Together((SetHooks({"airflow_factor": 0.5, "cooling_leak": 0.2, "heating_setpoint_offset": 1.0}),) * 2)
    hooks = edited(twice)
    assert hooks.hook("airflow_factor")[0] == 0.25
    assert hooks.hook("cooling_leak")[0] == 0.2
    assert hooks.hook("heating_setpoint_offset")[0] == 2.0


def test_half_strength_is_half_way_from_neutral():
    hooks = edited(SetHooks({"airflow_factor": 0.6, "heating_leak": 0.4, "damper_command_offset": 0.2}), strength=0.5)
    values = [hooks.hook(name)[0] for name in ("airflow_factor", "heating_leak", "damper_command_offset")]
    assert values == pytest.approx([0.8, 0.2, 0.1])


def test_a_drift_grows_from_the_onset_and_stops_at_its_limit():
    offset = edited(Drift("FCU_DA_CFM", -6.0, 10.0)).offset("FCU_DA_CFM")
    assert offset[0] == pytest.approx(-0.1)
    assert offset[59] == pytest.approx(-6.0)
    assert offset[-1] == -10.0
    assert (np.diff(offset) <= 0).all()


def test_a_saturated_reading_is_replaced_and_a_bias_is_added():
    hooks = edited(Together((Saturate("FCU_MAT", -50.0), Bias("RM_TEMP", 2.0))), begin=100, end=200)
    assert (hooks.override("FCU_MAT")[100:200] == -50.0).all()
    assert np.isnan(hooks.override("FCU_MAT")[[99, 200]]).all()
    assert hooks.offset("RM_TEMP")[[99, 100, 199, 200]].tolist() == [0, 2, 2, 0]


def test_an_oscillating_setpoint_swings_both_ways_with_its_period():
    swing = edited(Oscillate(("cooling_setpoint_offset",), 2.0, 60.0)).hook("cooling_setpoint_offset")
    assert swing.max() == pytest.approx(2.0, abs=0.01)
    assert swing.min() == pytest.approx(-2.0, abs=0.01)
    assert swing[:-60] == pytest.approx(swing[60:])


def test_a_replay_prefers_a_day_of_the_same_kind_and_refuses_to_start_without_a_recording():
    replay = Replay(("RM_TEMP",), zone=0)
    with pytest.raises(ConfigError, match="no earlier day"):
        edited(replay)
    for days, value in ((-3, 1.0), (-2, 2.0), (-1, 3.0)):  # Friday, Saturday, Sunday
        replay.observe(Day(days, MONDAY + timedelta(days=days)), np.full((1, MINUTES, NUM_SIGNALS), value))
    assert (edited(replay).override("RM_TEMP") == 1.0).all()


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


@dataclass(frozen=True)
class Always:
    """Hooks held all day in zone 0, attacked or not."""

    settings: dict[str, float]

    def apply(self, hooks, day):
        SetHooks(self.settings).edit(hooks.zone(0), span())


@pytest.mark.parametrize(
    ("held", "commanded"),
    [
        pytest.param({}, None, id="as-it-comes"),
        pytest.param({"cooling_setpoint_offset": -12.0}, {"FCU_CVLV_DM": 1.0}, id="cooling-saturated"),
        pytest.param(
            {"heating_setpoint_offset": 40.0, "cooling_setpoint_offset": 50.0},
            {"FCU_HVLV_DM": 1.0},
            id="heating-saturated",
        ),
    ],
)
@pytest.mark.parametrize(
    ("hook", "position", "command"),
    [
        pytest.param("cooling_command_offset", "FCU_CVLV", "FCU_CVLV_DM", id="cooling"),
        pytest.param("heating_command_offset", "FCU_HVLV", "FCU_HVLV_DM", id="heating"),
        pytest.param("damper_command_offset", "FCU_DMPR", "FCU_DMPR_DM", id="damper"),
    ],
)
@pytest.mark.parametrize("amount", [0.3, 0.9, -0.5])
def test_a_false_command_moves_the_drive_and_leaves_the_reported_command_as_it_was(
    hook, position, command, held, commanded, amount
):
    onset = 14 * 60
    building = Building(seed=3, start=MONDAY, noise=False, attacks=(Always(held),))
    event = plan("CommandOffset_Cooling_+30", 0, MONDAY + timedelta(minutes=onset))
    false = ScheduledAttack(event)
    false.attack = FalseCommand(hook, command, amount)
    twin = building.twin(attacks=(Always(held), false))
    plain, attacked = (each.step().telemetry[0] for each in (building, twin))
    for name, value in (commanded or {}).items():
        assert plain[onset, INDEX[name]] == value
    names = (command, "FCU_CVLV_DM", "FCU_HVLV_DM", "FCU_DMPR_DM")
    for name in names:
        np.testing.assert_array_equal(attacked[: onset + 1, INDEX[name]], plain[: onset + 1, INDEX[name]])
    np.testing.assert_array_equal(attacked[:onset], plain[:onset])
    # from then on the drive follows what it is told, within its range
    told = np.clip(attacked[onset:, INDEX[command]] + amount, 0.0, 1.0)
    before = np.concatenate([attacked[onset - 1 : onset, INDEX[position]], attacked[onset:-1, INDEX[position]]])
    follow = 1.0 - np.exp(-1.0 / building.parameters[0].actuator_min)
    assert attacked[onset:, INDEX[position]] == pytest.approx(before + follow * (told - before), abs=1e-9)


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
        ("FCU_OABlockage@1,start=2018-07-02,for=0h", ConfigError, "lasts no time"),
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
