"""An alarm at an equivalent node counts for the attacked node, for as long as it is attacked."""

import numpy as np
import pytest

from graphghha.classes import UNKNOWN
from graphghha.lab.metrics.equivalence import NodePredictions, merge_equivalent
from graphghha.lab.runs import AttackEvent

ATTACK = AttackEvent(case="reverse", targets=(1,), equivalent=(2,), start=2, stop=6)
KINDS = np.array([1, 3, 1, 2])


def predictions(probabilities: dict[int, float], label: int = 1) -> NodePredictions:
    """Every node listed gives the probability of one class all the time and is in alarm from a half on."""
    probs = np.zeros((8, 4, 4), np.float32)
    probs[..., 0] = 1.0
    for node, prob in probabilities.items():
        probs[:, node, [0, label]] = 1 - prob, prob
    return NodePredictions.from_alarms(1 - probs[..., 0] >= 0.5, probs)


def truth() -> np.ndarray:
    labels = np.zeros((8, 4), np.uint8)
    labels[2:6, 1] = 3
    return labels


def test_a_hit_on_an_equivalent_node_is_a_hit_on_the_target_while_it_is_attacked():
    merged = merge_equivalent(predictions({2: 0.9}), truth(), [ATTACK], KINDS)
    assert merged.alarmed[:, 1].tolist() == [False] * 2 + [True] * 4 + [False] * 2
    assert merged.attack_class[2:6, 1].tolist() == [3] * 4, "classes cannot be told apart, so the class is right too"
    assert merged.alarmed[:, 2].tolist() == [True] * 2 + [False] * 4 + [True] * 2, "outside it is a false alarm"
    assert merged.attack[3, 1] == pytest.approx(0.9) and not merged.own[3, 2] and merged.own[0, 2]


def test_an_equivalent_node_shown_under_a_class_that_is_not_its_own_is_a_hit_of_the_wrong_class():
    merged = merge_equivalent(predictions({2: 0.9}, label=2), truth(), [ATTACK], KINDS)
    assert merged.alarmed[3, 1] and merged.attack_class[2:6, 1].tolist() == [2] * 4


def test_an_alarm_of_the_target_itself_keeps_its_class():
    merged = merge_equivalent(predictions({1: 0.8, 2: 0.9}), truth(), [ATTACK], KINDS)
    assert merged.attack_class[3, 1] == 1, "its own class was wrong and stays wrong"
    assert merged.attack[3, 1] == pytest.approx(0.9)


def test_an_equivalent_node_under_attack_keeps_its_own_prediction():
    labels = truth()
    labels[2:6, 2] = 1
    merged = merge_equivalent(predictions({2: 0.9}), labels, [ATTACK], KINDS)
    assert merged.alarmed[3].tolist() == [False, False, True, False] and merged.own[3].all()
    assert merged.attack[3, 1] == 0.0


def test_an_unknown_node_has_no_class():
    probs = np.full((8, 4, 4), np.nan, np.float32)
    probs[:, 0] = (0.9, 0.1, 0.0, 0.0)
    original = NodePredictions.from_alarms(np.zeros((8, 4), np.bool_), probs)
    for merged in (original, merge_equivalent(original, truth(), [ATTACK], KINDS)):
        assert (merged.attack_class[:, 0] == 0).all() and (merged.attack_class[:, 1:] == UNKNOWN).all()


def test_nothing_is_changed_in_place():
    original = predictions({2: 0.9})
    merge_equivalent(original, truth(), [ATTACK], KINDS)
    assert original.alarmed[:, 2].all() and original.own.all()
