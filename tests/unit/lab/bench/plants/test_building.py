"""Attacks that are written onto the readings of a building."""

import numpy as np

from graphghha.exports.attack_labels import AttackEvent
from graphghha.exports.recordings import Recording
from graphghha.lab.bench.plants.building import MECHANISMS, VISIBLE, _draw, attack_size, size_class
from graphghha.lab.bench.plants.trials import Trial
from graphghha.plants import parse_plant

PLANT = """
[plant]
step_s = 300
[[template]]
name = "box"
signal = [{ name = "damper", limits = [0, 100] }, { name = "flow" }]
"""
DAY = 288


def readings(days, seed):
    """A damper that stands open by day, and a flow that is 0 by night."""
    rng = np.random.default_rng(seed)
    by_day = np.arange(days * DAY) % DAY > DAY // 2
    damper = np.where(by_day, 100.0, 20 + rng.normal(0, 2, len(by_day)))
    return np.stack([damper, np.where(by_day, 500 + rng.normal(0, 20, len(by_day)), 0.0)], axis=1)


def test_attacks_can_be_seen_and_stay_inside_the_limits_of_the_instrument():
    plant, normal, judged = parse_plant(PLANT), readings(10, 0), readings(20, 1)
    recording = Recording("days", ("days.csv",), np.arange(len(judged)) * 300_000, judged)
    draw = _draw(3, plant, (recording,), normal, [0, 1])
    (forged,) = draw.recordings
    assert len(draw.events) > 10 and {event.text for event in draw.events} <= set(MECHANISMS)
    assert forged.values[:, 0].max() <= 100 and forged.values[:, 0].min() >= 0
    low, high = np.quantile(normal, [0.005, 0.995], axis=0)
    touched = np.zeros(judged.shape, np.bool_)
    for event in draw.events:
        column = plant.template.points.index(event.nodes[0])
        rows = slice(event.start, event.stop)
        change = np.abs(forged.values - judged)[rows, column].max()
        assert change >= VISIBLE * (high - low)[column], f"{event.text} of {event.nodes[0]} changes nothing"
        touched[rows, column] = True
    assert (forged.values == judged)[~touched].all(), "nothing else was written"


def test_the_size_of_an_attack_is_its_lasting_change_in_spans_of_the_point():
    plant, normal = parse_plant(PLANT), np.stack([np.linspace(0, 100, 1001), np.linspace(0, 1000, 1001)], axis=1)
    times = np.arange(len(normal)) * 300_000
    untouched = Recording("days", ("days.csv",), times, normal)
    trial = Trial(
        dataset="", split="", plant=plant, normal=(untouched,), draws=(), budget_per_day=1.0, untouched=(untouched,)
    )
    forged = normal.copy()
    forged[100:160, 1] += 495  # half of the middle 99 %
    forged[300:360, 0] -= np.where(np.arange(60) == 30, 99.0, 0.0)  # a single reading, of six in half an hour
    recordings = (Recording("days", ("days.csv",), times, forged),)
    sizes = [
        attack_size(trial, recordings, AttackEvent(0, start, start + 60, (plant.template.points[column],), "", ""))
        for start, column in ((100, 1), (300, 0), (600, 0))
    ]
    assert np.allclose(sizes, [0.5, 1 / 6, 0.0], atol=1e-3)
    assert [size_class(each) for each in (0.5, 1 / 6, 0.0)] == ["0.5 and more", "0.1 to 0.2", "below 0.1"]
