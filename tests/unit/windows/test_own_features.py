"""Statistics of a plant of the user's own: they depend on rows alone, not on how rows are divided into portions."""

from dataclasses import replace

import numpy as np
import pytest

from graphghha.engine.own_judge import OwnJudge
from graphghha.graph import CpsGraph, Node
from graphghha.lab.training.own_attacks import NormalPart
from graphghha.lab.training.own_train import deal_parts, fit_normal
from graphghha.models.own import RAISE_AT, JudgeRule
from graphghha.plants import parse_plant
from graphghha.windows.own_features import OwnFeaturizer
from graphghha.windows.own_plan import OwnPlan, moving_unit_s
from graphghha.windows.own_statistics import STATISTICS

NEIGHBOURS = STATISTICS.index("neighbours")
PLANT = """
[plant]
step_s = 300
[[template]]
name = "loop"
signal = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "setting", kind = "controller" }]
"""


def normal_rows(count, seed=0):
    rng = np.random.default_rng(seed)
    day = np.sin(2 * np.pi * np.arange(count) / 288)
    a = day + rng.normal(0, 0.05, count)
    b = 2 * a + rng.normal(0, 0.05, count)
    return np.stack([a, b, -b + rng.normal(0, 0.05, count), np.full(count, 5.0)], axis=1)


@pytest.fixture(scope="module")
def preprocessing():
    rows = normal_rows(12 * 288)
    return fit_normal(parse_plant(PLANT), deal_parts([rows]), rows)[0]


def test_portions_do_not_matter(preprocessing):
    rows = normal_rows(500, seed=1)
    fresh = np.isfinite(rows)
    whole = OwnFeaturizer(preprocessing).push(rows, fresh).statistics
    featurizer = OwnFeaturizer(preprocessing)
    parts = [featurizer.push(rows[at : at + 37], fresh[at : at + 37]).statistics for at in range(0, 500, 37)]
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-9)


def test_a_forged_reading_is_most_unusual_itself(preprocessing):
    rows = normal_rows(500, seed=2)
    rows[400:, 1] += 1.5
    judged = OwnFeaturizer(preprocessing).push(rows, np.isfinite(rows))
    unusual = (judged.statistics / preprocessing.levels).max(axis=-1)
    assert unusual[405:].mean(axis=0).argmax() == 1
    assert unusual[405:, 1].min() > 1.0 > np.median(unusual[100:400].max(axis=1))


def test_what_never_moved_is_unusual_as_soon_as_it_moves(preprocessing):
    rows = normal_rows(300, seed=3)
    rows[200:, 3] = 5.01
    judged = OwnFeaturizer(preprocessing).push(rows, np.isfinite(rows))
    unusual = (judged.statistics / preprocessing.levels).max(axis=-1)
    assert unusual[200:, 3].min() > 3 and not unusual[:200, 3].any()


def test_a_missing_neighbour_makes_an_expectation_less_sure_and_not_wrong(preprocessing):
    rows = normal_rows(400, seed=4)
    gone = rows.copy()
    gone[:, 1] = np.nan
    judged = OwnFeaturizer(preprocessing).push(gone, np.isfinite(gone))
    unusual = (judged.statistics / preprocessing.levels).max(axis=-1)
    assert not judged.known[:, 1].any() and np.median(unusual[100:, [0, 2]]) < 1


def test_a_node_that_stands_in_alarm_is_muted_until_it_was_quiet():
    judge = OwnJudge(
        np.zeros(2, np.bool_), smooth=1, day=20, rule=JudgeRule(threshold=1.0, tail=((0.0, 1.0), (1.0, 0.01)))
    )
    standing = np.tile([2.0, 0.1], (30, 1))
    verdict = judge.push(standing)
    assert verdict.score[0] == 2.0 and verdict.score[-1] == 0.1 and verdict.muted[-1].tolist() == [True, False]
    quiet = judge.push(np.full((45, 2), 0.1))
    assert not quiet.muted[-1].any()


def test_a_node_that_alarms_again_and_again_takes_a_bounded_share_of_the_time():
    day = 288
    drifted = np.full((20 * day, 2), 0.1)
    drifted.reshape(20, day, 2)[:, : day // 2, 0] = 5.0  # half of every day
    verdict = OwnJudge(
        np.zeros(2, np.bool_), smooth=6, day=day, rule=JudgeRule(threshold=1.0, tail=((0.0, 1.0), (1.0, 0.01)))
    ).push(drifted)
    assert 0 < (verdict.score >= 1.0).mean() < 0.05


def test_the_threshold_has_the_probability_at_which_alarms_are_raised():
    rule = JudgeRule(threshold=1.0, tail=((0.2, 0.9), (0.6, 0.2), (1.0, 0.01)))
    chance = rule.probability(np.array([0.2, 0.99, 1.0, 2.0]))
    assert (np.diff(chance) > 0).all() and chance[1] < RAISE_AT <= chance[2]
    assert JudgeRule.from_dict(rule.to_dict()) == rule


def test_windows_are_spans_of_time():
    assert OwnPlan.for_unit(300, 300).means == (4, 16, 64)
    assert OwnPlan.for_unit(60, 300).means == (20, 80, 320)
    assert OwnPlan.for_unit(3600, 300).stride == 1
    slow = moving_unit_s([normal_rows(3000)[:, :3]], 300)
    assert slow > moving_unit_s([normal_rows(3000)[:, :3]], 1)
    plan = OwnPlan.for_unit(0.5, 2.0)
    assert OwnPlan.from_dict(plan.to_dict()) == plan
    with pytest.raises(ValueError, match="at least one row"):
        OwnPlan.from_dict(replace(plan, stride=0).to_dict())


def test_parts_are_contiguous_thirds():
    parts = deal_parts([np.zeros((90, 2))])
    assert [(part.member, len(part.values)) for part in parts] == [(0, 30), (1, 30), (2, 30)]
    many = deal_parts([np.zeros((10, 2))] * 9)
    assert [part.member for part in many] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert all(isinstance(part, NormalPart) for part in many)


def test_a_graph_without_edges_is_filled_up_with_what_moves_alike(preprocessing):
    graph = CpsGraph([Node(name, "sensor", signal=name) for name in "ab"])
    assert graph.num_edges == 0
    assert (preprocessing.expectation.neighbors[:, 0] == np.arange(4)).all()
    assert {1, 2} <= set(preprocessing.expectation.neighbors[0].tolist())


def switching_rows(count, seed=0):
    """A switch, a reading that follows it and misses by far for a row whenever that switches, and noise."""
    rng = np.random.default_rng(seed)
    switch = (np.arange(count) // 144 % 2).astype(float)
    follows = switch + rng.normal(0, 0.01, count)
    follows[np.flatnonzero(np.diff(switch)) + 1] += 0.5
    return np.stack([switch, follows, rng.normal(0, 1, count)], axis=1)


def test_a_signal_with_rare_large_misses_can_still_be_unusual():
    plant = parse_plant(PLANT.replace(', { name = "setting", kind = "controller" }', ""))
    rows = switching_rows(12 * 288)
    own = fit_normal(plant, deal_parts([rows]), rows)[0]
    assert own.levels[1, NEIGHBOURS] > 12, "or the example shows nothing"
    later = switching_rows(600, seed=1)
    later[450:550, 1] += 2.0
    judged = OwnFeaturizer(own).push(later, np.isfinite(later))
    levels = judged.statistics[450:550, 1] / own.levels[1]
    assert levels[:, NEIGHBOURS].min() > 1.5


def test_a_switch_is_less_unusual_where_the_members_disagree(preprocessing):
    own = replace(preprocessing.expectation, is_switch=np.ones(4, np.bool_), low=np.zeros(4), high=np.ones(4))
    off, center = np.zeros((1, 4)), np.full((1, 4, 2), 0.99)
    sure, unsure = (own._deviance(off, center, np.full((1, 4, 2), doubt)) for doubt in (0.0, 0.5))
    assert (np.abs(sure) > 3).all() and (np.abs(unsure) < 1.5).all()
    assert not own._deviance(off, center, np.full((1, 4, 2), 1.0)).any()


def judge(day=1000):
    rule = JudgeRule(threshold=1.0, tail=((0.0, 1.0), (1.0, 0.01)))
    return OwnJudge(np.zeros(2, np.bool_), smooth=1, day=day, rule=rule)


def test_the_node_that_was_most_unusual_since_the_alarm_began_is_named():
    rows = np.full((40, 2), 0.1)
    rows[5:, 0] = 4.0
    rows[20:, 1] = 500.0  # follows later, and a single row of it counts no more than the cap
    strength = judge().push(rows).strength
    assert strength[20:30].argmax(axis=1).tolist() == [0] * 10
    together = judge().push(np.tile([1.5, 3.0], (10, 1)))
    assert together.strength[-1].argmax() == 1


def test_a_short_silence_does_not_make_an_alarm_forget_its_place():
    rows = np.full((40, 2), 0.1)
    rows[5:15, 0] = 4.0
    rows[18:, 1] = 3.0  # the first node is silent by now
    assert judge().push(rows[:22]).strength[-1].argmax() == 0
    apart = np.concatenate([rows[:15], np.full((20, 2), 0.1), rows[18:22]])
    assert judge().push(apart).strength[-1].argmax() == 1


def test_a_node_that_comes_to_stand_in_an_alarm_remains_its_place():
    rows = np.tile([3.0, 1.5], (20, 1))
    verdict = judge(day=40).push(rows)
    assert verdict.muted[-1].all() and verdict.strength[-1].argmax() == 0
    stood = np.concatenate([rows, np.tile([0.1, 0.1], (12, 1)), np.tile([3.0, 0.1], (3, 1))])
    later = judge(day=40).push(stood)
    assert later.muted[-1, 0] and later.strength[-1, 0] == 0.0, "what stood before is no place"


def test_the_rule_of_an_older_model_directory_is_read():
    rule = JudgeRule(threshold=1.0, tail=((0.0, 1.0), (1.0, 0.01)))
    assert JudgeRule.from_dict(rule.to_dict() | {"early": 0.03}) == rule
    with pytest.raises(ValueError, match="late"):
        JudgeRule.from_dict(rule.to_dict() | {"late": 0.03})
