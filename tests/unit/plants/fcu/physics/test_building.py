from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphghha.errors import ConfigError, NotFoundError
from graphghha.plants.fcu.attacks.hooks import HOOKS, Day, DayHooks
from graphghha.plants.fcu.lbnl.cases import SETTINGS, WholeRun
from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.physics.psychro import (
    AIR_DENSITY,
    AIR_HEAT,
    EVAPORATION_HEAT,
    VAPOUR_HEAT,
    WATER_HEAT,
    humidity_ratios,
)
from graphghha.plants.fcu.physics.weather import HOURS, Weather
from graphghha.plants.fcu.signals import HIGH, INDEX, LOW, NAMES, SOURCE_OFFSET, SOURCE_SCALE

MONDAY = datetime(2018, 7, 9)
WINTER = datetime(2018, 1, 15)


@dataclass
class Hold:
    """Hooks and reading offsets held from a moment on, for tests."""

    hooks: dict[str, float] = field(default_factory=dict)
    offsets: dict[str, float] = field(default_factory=dict)
    overrides: dict[str, float] = field(default_factory=dict)
    onset: datetime = MONDAY
    zone: int = 0
    seen: list[int] = field(default_factory=list)

    def apply(self, hooks: DayHooks, day: Day) -> None:
        minutes = day.minutes(self.onset, None)
        zone = hooks.zone(self.zone)
        for name, value in self.hooks.items():
            zone.hook(name)[minutes] = value
        for name, value in self.offsets.items():
            zone.offset(name)[minutes] += value
        for name, value in self.overrides.items():
            zone.override(name)[minutes] = value

    def observe(self, day: Day, telemetry: np.ndarray) -> None:
        self.seen.append(day.number)


def in_si(name: str, value: float) -> float:
    return float((value - SOURCE_OFFSET[INDEX[name]]) * SOURCE_SCALE[INDEX[name]])


def run(days: int = 1, **options) -> np.ndarray:
    options.setdefault("start", MONDAY)
    return np.concatenate([chunk.telemetry for chunk in Building(**options).days(days)], axis=1)


def column(telemetry: np.ndarray, name: str, zone: int = 0) -> np.ndarray:
    return telemetry[zone, :, INDEX[name]]


def constant_weather(temperature: float, humidity: float) -> Weather:
    return Weather(np.full(HOURS, temperature), np.full(HOURS, humidity))


def test_same_seed_same_bytes_and_another_seed_differs():
    first = run(2, zones=2, seed=5)
    assert first.tobytes() == run(2, zones=2, seed=5).tobytes()
    assert not np.array_equal(first, run(2, zones=2, seed=6))


def test_a_zone_is_the_same_in_a_building_of_any_size():
    np.testing.assert_array_equal(run(1, zones=1, seed=5)[0], run(1, zones=3, seed=5)[0])


def test_zones_differ_from_each_other_but_share_weather_and_water():
    quiet = run(1, zones=3, seed=1, noise=False)
    for name in ("FCU_OAT", "FCU_OA_HUMD", "FCU_CLG_EWT", "FCU_HTG_EWT"):
        np.testing.assert_array_equal(column(quiet, name, 0), column(quiet, name, 2))
    assert np.abs(column(quiet, "RM_TEMP", 0) - column(quiet, "RM_TEMP", 1)).max() > 0.2


def test_chunks_carry_their_clock():
    chunks = list(Building(start=MONDAY).days(2))
    assert [chunk.day.number for chunk in chunks] == [0, 1]
    assert chunks[1].times[0] == np.datetime64("2018-07-10T00:00") and chunks[1].times.size == 1440


def test_noise_has_the_size_of_the_signal_table():
    quiet, noisy = run(1, seed=2, noise=False, nominal=True), run(1, seed=2, nominal=True)
    night = slice(60, 300)
    for name, sigma in (("FCU_RAT", 0.1), ("FCU_OAT", 0.1), ("FCU_RA_HUMD", 1.0)):
        error = (column(noisy, name) - column(quiet, name))[night]
        assert error.std() == pytest.approx(sigma, rel=0.2)
    for name in ("FCU_CTRL", "RMCLGSPT", "FCU_DMPR_DM"):
        np.testing.assert_array_equal(column(noisy, name)[night], column(quiet, name)[night])


def test_nothing_changes_before_the_onset_of_an_attack():
    onset = MONDAY + timedelta(days=1, hours=9)
    attack = Hold({"cooling_stuck": 0.0}, onset=onset)
    plain, attacked = run(2, zones=2, seed=3), run(2, zones=2, seed=3, attacks=(attack,))
    before = 1440 + 9 * 60
    np.testing.assert_array_equal(plain[:, :before], attacked[:, :before])
    np.testing.assert_array_equal(plain[1], attacked[1])
    assert column(attacked, "FCU_CLG_GPM")[before:].max() < 0.01 < column(plain, "FCU_CLG_GPM")[before:].max()


def test_noise_of_untouched_signals_is_the_same_with_and_without_attack():
    plain, attacked = run(1, seed=3), run(1, seed=3, attacks=(Hold({"damper_stuck": 1.0}),))
    np.testing.assert_array_equal(column(plain, "FCU_OAT"), column(attacked, "FCU_OAT"))


def test_a_twin_steps_on_from_the_same_moment():
    building = Building(seed=4, start=MONDAY)
    building.step()
    twin = building.twin()
    np.testing.assert_array_equal(building.step().telemetry, twin.step().telemetry)
    twin = building.twin(attacks=(Hold({"heating_stuck": 1.0}),))
    assert not np.array_equal(building.step().telemetry, twin.step().telemetry)


def test_an_observer_sees_every_day():
    attack = Hold()
    run(3, attacks=(attack,))
    assert attack.seen == [0, 1, 2]


def test_exact_facts_of_an_operate_day():
    day = run(1, nominal=True, noise=False)
    operate = slice(361, 1081)
    assert set(column(day, "FCU_CTRL")[operate]) == {1.0} and column(day, "FCU_CTRL")[360] == 2.0
    assert column(day, "RMCLGSPT")[operate] == pytest.approx(in_si("RMCLGSPT", 72.0))
    assert column(day, "RMHTGSPT")[operate] == pytest.approx(in_si("RMHTGSPT", 68.0))
    assert column(day, "RMCLGSPT")[0] == pytest.approx(in_si("RMCLGSPT", 85.0))
    assert column(day, "RMHTGSPT")[0] == pytest.approx(in_si("RMHTGSPT", 55.0))
    assert column(day, "FCU_CLG_EWT") == pytest.approx(in_si("FCU_CLG_EWT", 45.0))
    assert column(day, "FCU_HTG_EWT") == pytest.approx(in_si("FCU_HTG_EWT", 120.0))
    assert column(day, "FCU_DMPR_DM")[operate] == pytest.approx(0.3)
    assert column(day, "FCU_DMPR")[370:1081] == pytest.approx(0.3, abs=1e-3)
    speed, power = column(day, "FCU_SPD"), column(day, "FCU_WAT")
    assert power == pytest.approx(2.63 * (speed / 9.75) ** 3)
    assert column(day, "FCU_DA_CFM") == pytest.approx(speed * in_si("FCU_DA_CFM", 40.82), rel=0.001)


@pytest.mark.parametrize(
    ("case", "signal", "value"),
    [
        ("FCU_VLVStuck_Cooling_20", "FCU_CLG_GPM", 0.72),
        ("FCU_VLVStuck_Cooling_80", "FCU_CLG_GPM", 5.63),
        ("FCU_VLVStuck_Heating_50", "FCU_HTG_GPM", 0.73),
        ("FCU_VLVLeak_Cooling_80", "FCU_CLG_GPM", 4.56),
        ("FCU_VLVLeak_Heating_80", "FCU_HTG_GPM", 0.84),
        ("FCU_OADMPRStuck_50", "FCU_DMPR", 0.5),
        ("FCU_OADMPRStuck_0", "FCU_OA_CFM", 0.88),
    ],
)
def test_stuck_and_leaking_parts_hold_the_published_values_all_day(case, signal, value):
    day = run(1, nominal=True, noise=False, attacks=(WholeRun(case),))
    assert column(day, signal) == pytest.approx(in_si(signal, value), rel=1e-3)


def test_a_biased_room_sensor_misleads_the_controller_by_exactly_its_bias():
    day = run(1, nominal=True, noise=False, attacks=(WholeRun("FCU_SensorBias_RMTemp_+2C"),))
    assert column(day, "RM_TEMP") - column(day, "FCU_RAT") == pytest.approx(2.0)
    plain = run(1, nominal=True, noise=False)
    afternoon = slice(800, 1080)
    assert column(plain, "FCU_RAT")[afternoon].mean() - column(day, "FCU_RAT")[afternoon].mean() > 1.0


def test_an_override_replaces_the_reading_that_the_controller_uses():
    frozen = Hold(overrides={"RM_TEMP": 21.5}, onset=MONDAY)
    day = run(1, nominal=True, noise=False, attacks=(frozen,))
    assert set(column(day, "RM_TEMP")) == {21.5}
    assert column(day, "FCU_SPD").max() == 0.0  # inside the band: no call all day


def test_cold_mixed_air_trips_the_unit_until_the_schedule_changes_and_the_interlock_can_be_taken_out():
    cold = constant_weather(-25.0, 70.0)
    tripping = Hold({"damper_stuck": 1.0}, onset=WINTER)
    day = run(1, start=WINTER, weather=cold, nominal=True, noise=False, attacks=(tripping,))
    noon = 720
    assert column(day, "FCU_CTRL")[noon] == 0 and column(day, "FAN_CTRL")[noon] == 2
    assert column(day, "FCU_SPD")[noon] == 0 and column(day, "FCU_DMPR_DM")[noon] == 0
    tripping.hooks["interlock_off"] = 1.0
    day = run(1, start=WINTER, weather=cold, nominal=True, noise=False, attacks=(tripping,))
    assert column(day, "FCU_CTRL")[noon] == 1 and column(day, "FCU_MAT")[noon] < in_si("FCU_MAT", 35.0)


def test_a_false_command_reaches_the_drive_and_not_the_telemetry_of_the_command():
    day = run(1, nominal=True, noise=False, attacks=(Hold({"damper_command_offset": 0.4}),))
    assert column(day, "FCU_DMPR_DM")[600] == pytest.approx(0.3)
    assert column(day, "FCU_DMPR")[600] == pytest.approx(0.7, abs=1e-3)


def test_a_reversed_valve_opens_when_told_to_shut():
    day = run(1, nominal=True, noise=False, attacks=(WholeRun("FCU_Control_HeatingReverse"),))
    assert column(day, "FCU_HVLV")[720] == pytest.approx(1.0, abs=0.01)
    assert column(day, "FCU_HVLV_DM")[720] == 0.0


def test_fan_on_energy_of_the_air_stream_closes_at_the_coils():
    day = run(1, nominal=True, noise=False)
    on = (column(day, "FCU_SPD") > 0) & (column(day, "FCU_HTG_GPM") == 0) & (column(day, "FCU_CLG_GPM") > 0.01)
    steady = on & (np.abs(np.diff(column(day, "FCU_DAT"), prepend=0)) < 0.02)
    assert steady.sum() > 100
    mixed, discharge, chilled, back = (
        column(day, name)[steady] for name in ("FCU_MAT", "FCU_DAT", "FCU_CLG_EWT", "FCU_CLG_RWT")
    )
    water = column(day, "FCU_CLG_GPM")[steady] * WATER_HEAT * (back - chilled)
    air_mass = column(day, "FCU_DA_CFM")[steady] * 1e-3 * AIR_DENSITY
    sensible = air_mass * AIR_HEAT * (mixed - discharge)
    # what the water gains beyond the air's cooling is latent, and the air cannot leave drier than at the water's chill
    ratio = humidity_ratios(mixed, column(day, "FCU_MA_HUMD")[steady])
    driest = humidity_ratios(chilled, np.full_like(chilled, 100.0))
    latent = air_mass * np.maximum(ratio - driest, 0.0) * (EVAPORATION_HEAT + VAPOUR_HEAT * mixed)
    assert (water > 0.98 * sensible).all() and (water < 1.02 * (sensible + latent)).all()


@pytest.mark.parametrize("seed", [0, 2])
def test_return_water_of_a_running_coil_is_no_warmer_than_the_air(seed):
    summer = run(14, zones=2, seed=seed, noise=False, start=datetime(2018, 7, 2))
    running = (summer[..., INDEX["FCU_SPD"]] > 0) & (summer[..., INDEX["FCU_CLG_GPM"]] > 1e-3)
    excess = (summer[..., INDEX["FCU_CLG_RWT"]] - summer[..., INDEX["FCU_MAT"]])[running]
    assert running.sum() > 1000
    # the coil settles within minutes: return water may lag behind cooling air by a tenth of a kelvin
    assert excess.max() < 0.1


hook_values = {
    name: st.floats(0, 1) if np.isnan(neutral) or neutral == 0.0 else st.floats(0.01, 3.0)
    for name, neutral in HOOKS.items()
} | {
    "gain_factor": st.floats(0, 50),
    "cooling_setpoint_offset": st.floats(-20, 20),
    "heating_setpoint_offset": st.floats(-20, 20),
    "cooling_command_offset": st.floats(-1, 1),
    "heating_command_offset": st.floats(-1, 1),
    "fan_speed_offset": st.floats(-20, 20),
    "damper_command_offset": st.floats(-1, 1),
    "damper_leak": st.floats(0, 3),
}


@settings(max_examples=60, deadline=None)
@given(
    chosen=st.dictionaries(st.sampled_from(sorted(HOOKS)), st.none(), max_size=8),
    offsets=st.dictionaries(st.sampled_from(NAMES), st.floats(-1e3, 1e3), max_size=3),
    temperature=st.floats(-40, 50),
    humidity=st.floats(0, 100),
    data=st.data(),
)
def test_no_hook_and_no_weather_breaks_the_plant(chosen, offsets, temperature, humidity, data):
    hooks = {name: data.draw(hook_values[name], label=name) for name in chosen}
    attack = Hold(hooks, offsets, onset=MONDAY + timedelta(hours=7))
    weather = constant_weather(temperature, humidity)
    telemetry = run(2, seed=1, weather=weather, attacks=(attack,), spin_up_days=0)
    assert np.isfinite(telemetry).all()
    assert (telemetry >= LOW).all() and (telemetry <= HIGH).all()


@pytest.mark.parametrize("case", sorted(SETTINGS))
def test_every_case_of_the_data_set_runs(case):
    assert np.isfinite(run(1, attacks=(WholeRun(case),), spin_up_days=0)).all()


@pytest.mark.parametrize("zones", [0, 1001])
def test_a_building_has_one_to_a_thousand_zones(zones):
    with pytest.raises(ConfigError, match="1 to 1000"):
        Building(zones=zones)


def test_a_building_starts_at_midnight():
    with pytest.raises(ConfigError, match="midnight"):
        Building(start=MONDAY + timedelta(hours=1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed -1 is negative"),
        ({"start": datetime(1, 1, 1)}, "0001-01-01 do not lie between 1900"),
        ({"start": datetime(9999, 12, 30)}, "9999-12-30 do not lie"),
        ({"start": datetime(2018, 1, 1, tzinfo=UTC)}, "without a time zone"),
        ({"spin_up_days": -1}, "0 or more"),
    ],
)
def test_an_impossible_building_is_refused_with_a_way_out(options, message):
    with pytest.raises(ConfigError, match=message):
        Building(**options)


def test_a_run_ends_within_the_calendar():
    with pytest.raises(ConfigError, match="10000000 days"):
        next(Building(spin_up_days=0).days(10_000_000))
    building = Building(start=datetime(2199, 12, 31), spin_up_days=0)
    building.step()
    with pytest.raises(ConfigError, match="fewer days"):
        building.step()


def test_unknown_names_are_refused():
    hooks = DayHooks(2)
    with pytest.raises(NotFoundError, match="hook"):
        hooks.zone(0).hook("valve_glued")
    with pytest.raises(NotFoundError, match="signal"):
        hooks.zone(0).offset("FCU_XYZ")
    with pytest.raises(NotFoundError, match="zone 2"):
        hooks.zone(2)
    with pytest.raises(NotFoundError, match="NoSuchCase"):
        run(1, attacks=(WholeRun("NoSuchCase"),))


def test_days_tell_the_minutes_of_an_attack():
    day = Day(0, MONDAY)
    assert day.minutes(MONDAY + timedelta(hours=1), MONDAY + timedelta(hours=2)) == slice(60, 120)
    assert day.minutes(MONDAY - timedelta(days=1), None) == slice(0, 1440)
    assert day.minutes(MONDAY + timedelta(days=2), None) == slice(1440, 1440)
