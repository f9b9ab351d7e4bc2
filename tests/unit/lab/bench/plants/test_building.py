"""Attacks that are written onto the readings of a building."""

import numpy as np

from graphghha.exports.recordings import Recording
from graphghha.lab.bench.plants.building import MECHANISMS, VISIBLE, _draw
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
