from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from graphghha.plants import NO_EVENT, CaseSpec
from graphghha.plants.fcu import testbed
from graphghha.plants.fcu.attacks.hooks import MINUTES, Day
from graphghha.plants.fcu.attacks.labels import VISIBLE, WINDOW_MIN, Labeller, labelled_days
from graphghha.plants.fcu.attacks.schedule import ScheduledAttack, plan
from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.signals import INDEX, NOISE, NUM_SIGNALS
from graphghha.plants.fcu.topology import TEMPLATE

MONDAY = datetime(2018, 7, 2)
RM_TEMP = INDEX["RM_TEMP"]
CLEAN = np.zeros((2, MINUTES, NUM_SIGNALS))


def bias_event(start_min, length_min, zone=1):
    start = MONDAY + timedelta(minutes=start_min)
    return plan("FCU_SensorBias_RMTemp_+2C", zone, start, duration=timedelta(minutes=length_min))


def shifted(begin, end, amount, zone=1):
    day = CLEAN.copy()
    day[zone, begin:end, RM_TEMP] = amount
    return day


def minutes_of(rows, flag):
    return ((rows.times[flag] - np.datetime64(MONDAY, "m")) / np.timedelta64(1, "m")).astype(int).tolist()


def test_active_rows_are_the_minutes_of_the_event_on_the_attacked_node():
    rows = Labeller([bias_event(100, 50)]).label(Day(0, MONDAY), CLEAN, CLEAN)
    assert minutes_of(rows, rows.active) == list(range(100, 150))
    assert set(rows.zones) == {1}
    assert {TEMPLATE.names[node] for node in rows.nodes} == {"RM_TEMP"}
    assert not rows.observable.any()
    assert not rows.recovering.any()


def test_observable_from_the_minute_the_half_hour_mean_leaves_three_times_the_noise():
    amount = 10 * NOISE[RM_TEMP]  # so that ten of thirty minutes are not yet more than three times the noise
    rows = Labeller([bias_event(100, 50)]).label(Day(0, MONDAY), shifted(100, 150, amount), CLEAN)
    first = 100 + int(np.floor(VISIBLE[RM_TEMP] * WINDOW_MIN / amount))
    assert minutes_of(rows, rows.active & rows.observable) == list(range(first, 150))


def test_recovering_after_the_end_while_the_window_still_shows_it():
    amount = 10 * NOISE[RM_TEMP]
    rows = Labeller([bias_event(100, 50)]).label(Day(0, MONDAY), shifted(100, 150, amount), CLEAN)
    recovering = minutes_of(rows, rows.recovering)
    assert recovering[0] == 150
    assert 15 < len(recovering) < WINDOW_MIN
    assert rows.observable[rows.recovering].all()
    assert not rows.active[rows.recovering].any()


def test_the_half_hour_reaches_over_midnight():
    event = bias_event(1430, 10)
    labeller = Labeller([event])
    labeller.label(Day(0, MONDAY), shifted(1430, 1440, 50.0), CLEAN)
    rows = labeller.label(Day(1, MONDAY + timedelta(days=1)), CLEAN, CLEAN)
    assert minutes_of(rows, rows.recovering) == list(range(1440, 1440 + 29))


def test_the_traces_of_an_attack_are_its_own_until_the_next_one_begins():
    events = [bias_event(100, 50), bias_event(160, 20)]
    rows = Labeller(events).label(Day(0, MONDAY), shifted(100, 180, 5.0), CLEAN)
    first = rows.events == 0
    assert minutes_of(rows, first & rows.recovering) == list(range(150, 160))
    assert minutes_of(rows, ~first & rows.active) == list(range(160, 180))


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        pytest.param([(100, 200), (300, 20)], [(300, 300), (320, 400)], id="apart"),
        pytest.param([(100, 200), (150, 50)], [(300, 400), (0, 0)], id="one-within-the-other"),
        pytest.param([(100, 100), (150, 150)], [(0, 0), (300, 400)], id="overlapping"),
        pytest.param([(100, 200), (150, 150)], [(300, 400), (300, 400)], id="ending-together"),
        pytest.param([(100, 50), (120, 1320)], [(0, 0), (0, 0)], id="the-second-lasts"),
    ],
)
def test_nothing_recovers_while_another_attack_acts_in_the_zone(spans, expected):
    events = [bias_event(*span) for span in spans]
    attacked = shifted(100, 400, 5.0)
    rows = Labeller(events).label(Day(0, MONDAY), attacked, CLEAN)
    active = {minute for start, length in spans for minute in range(start, start + length)}
    assert not active & set(minutes_of(rows, rows.recovering))
    for number, (begin, end) in enumerate(expected):
        mine = minutes_of(rows, (rows.events == number) & rows.recovering)
        # the half hour in which the last difference fades
        assert mine == list(range(begin, end + 28 if end > begin else end)), number


def test_a_zone_of_the_testbed_never_recovers_while_it_is_attacked():
    cases = [
        "FCU_VLVStuck_Heating_100@1,start=2018-07-02T08:00,for=4h",
        "FCU_SensorBias_RMTemp_+4C@1,start=2018-07-02T09:00,for=1h",
        "FCU_OABlockage@1,start=2018-07-02T11:00,for=3h",
    ]
    (day,) = testbed.run(zones=2, days=1, start=MONDAY, seed=1, cases=[CaseSpec.parse(text) for text in cases])
    attacked = (day.event != NO_EVENT).any(axis=2)
    assert attacked[8 * 60 : 14 * 60, 0].all()
    assert attacked.sum() == 6 * 60
    assert not (day.recovering & attacked).any()
    assert day.recovering[14 * 60 :, 0].any()
    assert not day.recovering[:, 1].any()


def test_rows_are_sorted_by_time_zone_and_node():
    events = [plan("FCU_Control_Unstable", 1, MONDAY), plan("FCU_OABlockage", 0, MONDAY + timedelta(minutes=5))]
    rows = Labeller(events).label(Day(0, MONDAY), CLEAN, CLEAN)
    keys = list(zip(rows.times, rows.zones, rows.nodes, strict=True))
    assert keys == sorted(keys)
    assert len(rows) == 2 * MINUTES + MINUTES - 5


def test_a_difference_within_the_noise_is_never_observable():
    rng = np.random.default_rng(0)
    small = CLEAN + 0.9 * VISIBLE * rng.uniform(-1, 1, CLEAN.shape)
    rows = Labeller([bias_event(0, 1440)]).label(Day(0, MONDAY), small, CLEAN)
    assert not rows.observable.any()


def test_signals_without_noise_are_judged_by_the_rounding_of_the_data_set():
    command = INDEX["FCU_CVLV_DM"]
    assert NOISE[command] == 0
    assert VISIBLE[command] == pytest.approx(3 * 0.01 / np.sqrt(12))
    assert VISIBLE[RM_TEMP] == pytest.approx(3 * NOISE[RM_TEMP])


def test_a_building_is_labelled_from_the_day_of_the_first_onset_and_tallied():
    event = plan("FCU_VLVStuck_Heating_100", 1, MONDAY + timedelta(days=1, hours=10), duration=timedelta(hours=3))
    labeller = Labeller([event])
    building = Building(zones=2, seed=1, start=MONDAY, attacks=[ScheduledAttack(event)])
    labels = [rows for _, rows in labelled_days(building, labeller, 3)]
    assert labels[0] is None
    assert labels[1].active.sum() == 180
    assert labels[2] is not None
    tally = labeller.tallies[0]
    assert tally.active_min == 180
    assert 170 <= tally.observable_min <= 180
    assert tally.recovering_min > 0
    assert tally.first_observable >= np.datetime64(event.start, "m")


def test_an_attack_without_effect_is_active_but_never_observable():
    event = replace(plan("InterlockOff", 0, MONDAY + timedelta(hours=10)), duration=timedelta(hours=3))
    labeller = Labeller([event])
    building = Building(zones=1, seed=1, start=MONDAY, attacks=[ScheduledAttack(event)])
    ((_, rows),) = labelled_days(building, labeller, 1)
    assert rows.active.all()
    assert not rows.observable.any()
    assert labeller.tallies[0].first_observable is None
