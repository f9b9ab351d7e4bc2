"""What is said of a look-alike counts for the attacked node, for as long as it is attacked."""

import numpy as np
import pytest

from graphghha.classes import UNKNOWN
from graphghha.lab.metrics.equivalence import NodeVerdicts, as_sets
from graphghha.lab.runs.recording import AttackEvent

ATTACK = AttackEvent(case="reverse", targets=(1,), equivalent=(2,), start=2, stop=6)
KINDS = np.array([1, 3, 1, 2])


def verdicts(says: dict[int, float], label: int = 1) -> NodeVerdicts:
    """Every node listed gives the probability of one class all the time and is in alarm from a half on."""
    probs = np.zeros((8, 4, 4), np.float32)
    probs[..., 0] = 1.0
    for node, prob in says.items():
        probs[:, node, [0, label]] = 1 - prob, prob
    return NodeVerdicts.of(1 - probs[..., 0] >= 0.5, probs)


def truth() -> np.ndarray:
    found = np.zeros((8, 4), np.uint8)
    found[2:6, 1] = 3
    return found


def test_a_hit_on_a_look_alike_is_a_hit_on_the_target_while_it_is_attacked():
    found = as_sets(verdicts({2: 0.9}), truth(), [ATTACK], KINDS)
    assert found.alarmed[:, 1].tolist() == [False] * 2 + [True] * 4 + [False] * 2
    assert found.shown[2:6, 1].tolist() == [3] * 4, "nobody can tell the classes apart, so the class is right too"
    assert found.alarmed[:, 2].tolist() == [True] * 2 + [False] * 4 + [True] * 2, "outside it is a false alarm"
    assert found.attack[3, 1] == pytest.approx(0.9) and not found.own[3, 2] and found.own[0, 2]


def test_a_look_alike_shown_under_a_class_that_is_not_its_own_is_a_hit_of_the_wrong_class():
    found = as_sets(verdicts({2: 0.9}, label=2), truth(), [ATTACK], KINDS)
    assert found.alarmed[3, 1] and found.shown[2:6, 1].tolist() == [2] * 4


def test_what_the_target_says_itself_stands():
    found = as_sets(verdicts({1: 0.8, 2: 0.9}), truth(), [ATTACK], KINDS)
    assert found.shown[3, 1] == 1, "its own class was wrong and stays wrong"
    assert found.attack[3, 1] == pytest.approx(0.9)


def test_a_look_alike_under_attack_speaks_for_itself():
    labels = truth()
    labels[2:6, 2] = 1
    found = as_sets(verdicts({2: 0.9}), labels, [ATTACK], KINDS)
    assert found.alarmed[3].tolist() == [False, False, True, False] and found.own[3].all()
    assert found.attack[3, 1] == 0.0


def test_a_node_that_nothing_is_known_of_shows_no_class_and_above_all_not_normal():
    probs = np.full((8, 4, 4), np.nan, np.float32)
    probs[:, 0] = (0.9, 0.1, 0.0, 0.0)
    said = NodeVerdicts.of(np.zeros((8, 4), np.bool_), probs)
    for found in (said, as_sets(said, truth(), [ATTACK], KINDS)):
        assert (found.shown[:, 0] == 0).all() and (found.shown[:, 1:] == UNKNOWN).all()


def test_nothing_is_changed_in_place():
    said = verdicts({2: 0.9})
    as_sets(said, truth(), [ATTACK], KINDS)
    assert said.alarmed[:, 2].all() and said.own.all()
