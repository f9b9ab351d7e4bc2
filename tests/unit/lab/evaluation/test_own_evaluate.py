"""Figures of the detector of a plant of the user's own."""

import numpy as np

from graphghha.exports.attack_labels import AttackEvent
from graphghha.exports.recordings import Recording
from graphghha.lab.evaluation.own_evaluate import Outcome, plant_figures
from graphghha.plants import parse_plant

PLANT = """
[plant]
step_s = 600
[[template]]
name = "tank"
signal = [{ name = "level" }, { name = "flow" }]
"""
ROWS = 1440  # ten days


def figures(alarm, events=()):
    plant = parse_plant(PLANT)
    recording = Recording("one", ("one.csv",), np.arange(ROWS) * 600_000, np.zeros((ROWS, 2)))
    places = np.zeros((ROWS, 2), np.float32)
    outcome = Outcome(alarm.astype(float), alarm, places)
    return plant_figures(plant, outcome, (recording,), tuple(events), gap=2)


def test_an_alarm_that_stands_for_days_is_one_false_alarm_and_much_time():
    alarm = np.zeros(ROWS, np.bool_)
    alarm[:720] = True
    report = figures(alarm)
    assert report["false_alarms_per_day"] == 0.1 and report["quiet_time_in_alarm"] == 0.5


def test_time_in_alarm_during_an_attack_is_not_quiet():
    alarm = np.zeros(ROWS, np.bool_)
    alarm[:720] = True
    report = figures(alarm, [AttackEvent(0, 0, 720, ("level",), "sensor", "")])
    assert report["quiet_time_in_alarm"] == 0.0 and report["event_recall"] == 1.0
