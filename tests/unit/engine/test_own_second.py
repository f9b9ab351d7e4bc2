"""The network of a plant of the user's own, where labelled attacks taught it."""

import numpy as np
import pytest

from graphghha.classes import CLASS_NAMES, UNCLASSIFIED
from graphghha.engine.own_scorer import _probabilities
from graphghha.engine.own_second import RunningOdds, SecondOpinion
from graphghha.engine.scorer import leading_class
from graphghha.models.own import JudgeRule, Taught
from graphghha.plants import parse_plant

PLANT = """
[plant]
step_s = 60
[[template]]
name = "tank"
signal = [{ name = "level", kind = "sensor" }, { name = "pump", kind = "actuator" }, { name = "flow", kind = "sensor" }]
"""
TAIL = ((0.0, 1.0), (4.0, 1e-3))
LEVEL, PUMP, FLOW = range(3)


@pytest.fixture
def second():
    graph = parse_plant(PLANT).template
    taught = Taught(rule=JudgeRule(threshold=2.0, tail=TAIL), classes={"level": "controller", "pump": ""})
    return SecondOpinion(taught, graph, smooth=1)


def push(second, odds, first, in_alarm=True):
    """Return leading node and class of one row; `first` is the node that the statistics would name."""
    place = np.full((1, 3), -5.0)
    place[0, first] = 0.0
    opinion = second.push(np.array([odds]), place, np.array([in_alarm]), np.array([[2, 1, 2]]))
    node = int(opinion.place[0].argmax())
    return node, CLASS_NAMES[UNCLASSIFIED if opinion.classes[0, node] == 0 else opinion.classes[0, node]], opinion


def test_a_node_that_labels_taught_is_named_by_the_network_with_the_class_of_the_labels(second):
    assert push(second, [6.0, -3.0, -3.0], first=FLOW)[:2] == (LEVEL, "controller")


def test_without_a_stated_class_the_class_is_the_kind(second):
    assert push(second, [-3.0, 6.0, -3.0], first=FLOW)[:2] == (PUMP, "actuator")


def test_a_node_that_no_label_names_is_left_to_the_statistics(second):
    assert push(second, [-3.0, -3.0, 6.0], first=LEVEL)[:2] == (LEVEL, "sensor")


def test_an_alarm_of_the_statistics_alone_is_unclassified_if_the_network_would_name_another_node(second):
    assert push(second, [-1.0, -3.0, -3.0], first=FLOW)[:2] == (FLOW, "unclassified")
    assert push(second, [-3.0, -3.0, -1.0], first=FLOW)[:2] == (FLOW, "sensor"), "they agree"


def test_the_network_raises_an_alarm_by_itself(second):
    *_, opinion = push(second, [6.0, -3.0, -3.0], first=FLOW, in_alarm=False)
    assert opinion.chance[0] >= 0.9 and opinion.in_thresholds[0] >= 1
    *_, opinion = push(second, [0.0, -3.0, -3.0], first=FLOW, in_alarm=False)
    assert opinion.chance[0] < 0.9 and opinion.in_thresholds[0] < 1


def test_an_unclassified_score_prefers_no_class():
    probs = _probabilities(np.array([[0.96, 0.96, np.nan]]), np.array([[0, 3, 1]]))
    assert leading_class(probs)[0, :2].tolist() == [UNCLASSIFIED, 3]
    assert np.allclose(probs[0, :2].sum(axis=-1), 1.0) and np.isnan(probs[0, 2]).all()
    assert np.allclose(1 - probs[0, :2, 0], 0.96)


def test_portions_of_any_size_give_the_same_means():
    odds = np.random.default_rng(0).normal(0, 3, (40, 3))
    odds[10:14, 1] = np.nan
    whole = RunningOdds(3, 6).push(odds)
    running = RunningOdds(3, 6)
    parts = [running.push(odds[a:b]) for a, b in ((0, 1), (1, 9), (9, 9), (9, 40))]
    for at in range(2):
        assert np.array_equal(np.concatenate([part[at] for part in parts]), whole[at])
    assert np.allclose(whole[1][5:10], [odds[at - 5 : at + 1].mean(axis=0) for at in range(5, 10)])
