"""Methods are compared at equal false alarms, and statistics of the evidence do what their names say."""

import numpy as np
import pytest

from builders import loop_template
from graphghha.alarms import Proximity
from graphghha.lab.bench.detection.zone_statistics import (
    conformal_tail,
    evidence_cusum,
    first_cause,
    gumbel_tail,
    largest_evidence,
    largest_relative_evidence,
    odds_cusum,
    with_witness,
)
from graphghha.lab.bench.detection.zone_trials import Trial, at_equal_alarms, find_building, match_zones, recent_mean
from graphghha.lab.runs import AttackEvent
from graphghha.plants import load_plant, load_testbed
from graphghha.windows.evidence import FEATURES

ROWS, ZONES = 600, 3
NODES = loop_template().num_nodes
ATTACK = AttackEvent(case="x", targets=(NODES + 2,), start=300, stop=400, observable_from=300)


@pytest.fixture
def trial():
    """Zone 2 is attacked at node 2, where evidence rises; node 4 follows half an hour later and rises higher."""
    rng = np.random.default_rng(0)
    features = rng.normal(0, 0.2, (ROWS, ZONES, NODES, len(FEATURES))).astype(np.float16)
    features[300:400, 1, 2, :8] = 2.5
    features[306:400, 1, 4, :8] = 3.5
    return Trial(
        near=Proximity(loop_template().replicate(ZONES)),
        features=features,
        known=np.ones((ROWS, ZONES, NODES), bool),
        own_evidence=np.abs(rng.normal(0, 0.3, (288 * 5, ZONES))).astype(np.float32),
        attacks=(ATTACK,),
        recovering=np.zeros((ROWS, ZONES * NODES), bool),
        step_s=300.0,
    )


STATISTICS = (largest_evidence, largest_relative_evidence, gumbel_tail, conformal_tail, evidence_cusum)


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda statistic: statistic.__name__)
def test_every_statistic_finds_plain_evidence_at_the_price_of_no_false_alarm(trial, statistic):
    scores = statistic(trial)
    assert scores.shape == (ROWS, ZONES) and scores[320:400, 1].min() > np.delete(scores, 1, axis=1).max()
    result = at_equal_alarms([trial], [scores], 0.1)
    assert (result.found, result.visible, result.quiet) == (1, 1, 0)


def test_the_sum_of_log_odds_forgets(trial):
    odds = np.full((ROWS, ZONES), -3.0)
    odds[300:310] = 4.0
    total = odds_cusum(odds)
    assert total[299].max() == 0 and total[309].min() == 40 and total[330].max() == 0


def test_a_witness_raises_a_zone_with_plain_evidence_and_leaves_the_others(trial):
    odds = np.full((ROWS, ZONES), -3.0)
    witnessed = with_witness(odds, trial)
    assert witnessed[320:400, 1].min() > 0 and np.array_equal(witnessed[:300], odds[:300])
    assert np.array_equal(with_witness(odds + 50.0, trial), odds + 50.0)


def test_the_first_cause_is_the_node_that_rose_first_and_not_the_highest(trial):
    assert first_cause(trial, 310, 1).argmax() == 2
    assert trial.features[310, 1, :, 0].argmax() == 4


def test_a_threshold_is_not_lowered_until_standing_alarms_are_few(trial):
    """Hundreds of short rises must not be joined into one alarm by a threshold below all of them."""
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 1, (ROWS, ZONES))
    scores[20::70, 0], scores[21::70, 0] = 5.0, 5.0
    scores[310:330, 1] = 4.0
    result = at_equal_alarms([trial], [scores], 1.0)
    assert result.threshold > 4.9 and result.found == 0 and result.quiet <= trial.building_days
    scores[310:330, 1] = 6.0
    assert at_equal_alarms([trial], [scores], 1.0).found == 1


def test_an_alarm_in_a_quiet_zone_is_false_and_one_in_an_attacked_zone_is_not(trial):
    scores = np.zeros((ROWS, ZONES))
    scores[310:320, 1], scores[100:110, 2] = 3.0, 3.0
    matches = match_zones(trial, scores, 2.0)
    assert len(matches.false_alarms) - len(matches.misplaced) == 1 and matches.outcomes[0].is_detected
    assert not trial.is_quiet[350, 1] and trial.is_quiet[350, 0] and trial.is_quiet[450, 1]


def test_scores_are_averaged_over_a_quarter_of_an_hour():
    np.testing.assert_allclose(recent_mean(np.array([3.0, 0.0, 0.0, 6.0])), [3.0, 2.0, 1.0, 2.0])


def test_a_building_has_the_wanted_number_of_points():
    plant = load_plant("fcu")
    assert 8 <= len(load_testbed("fcu").points_of(find_building(plant, 5, (8, 14)))) <= 14
