from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pytest

from graphghha.errors import ConfigError
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
from graphghha.plants.fcu.attacks.schedule import ScheduledAttack, plan
from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.signals import INDEX, NUM_SIGNALS

MONDAY = datetime(2018, 7, 2)


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
