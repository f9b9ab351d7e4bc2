"""Samples of zones: truth beside the highest probability, without what cannot be judged."""

from dataclasses import replace

import numpy as np

from evaluation_builders import EASY, HARD, two_attacks
from graphghha.alarms import AlarmRule, GroupRule
from graphghha.lab.metrics import evaluate_recording, expected_calibration_error, make_card, zone_samples

RULE, GROUP = AlarmRule(raise_at=0.5, clear_at=0.3, votes=1, window=1, clear_after=5), GroupRule(linger=5)
VISIBLE = (EASY.stop - EASY.observable_from) + (HARD.stop - HARD.observable_from)
INVISIBLE = EASY.observable_from - EASY.start


def test_a_zone_is_attacked_whichever_of_its_nodes_has_the_highest_probability():
    recording = two_attacks()
    attacked, probability = zone_samples(recording)
    assert len(attacked) == 2 * recording.num_steps - INVISIBLE and attacked.sum() == VISIBLE
    shown = np.round(probability, 2)
    assert (attacked & (shown == 0.6)).sum() == 70, "the attacked node and the one that is named differ"
    assert (attacked & (shown == 0.9)).sum() == 80
    assert sorted(shown[~attacked & (shown > 0.1)]) == [0.3, 0.7]


def test_recovering_and_unknown_zones_are_left_out():
    recording = two_attacks()
    probs, recovering = recording.probs.copy(), recording.recovering.copy()
    probs[:10, :4], recovering[500:520, 6] = np.nan, True
    attacked, probability = zone_samples(replace(recording, probs=probs, recovering=recovering))
    assert len(attacked) == 2 * recording.num_steps - INVISIBLE - 10 - 20
    assert np.isfinite(probability).all()
    probs[10:20, 1] = np.nan
    assert len(zone_samples(replace(recording, probs=probs, recovering=recovering))[0]) == len(attacked)


def test_every_so_many_minutes_gives_that_share_of_the_samples():
    recording = two_attacks()
    attacked, _ = zone_samples(recording, every=10)
    assert len(attacked) == 2 * recording.num_steps // 10 - INVISIBLE // 10 and attacked.sum() == VISIBLE // 10


def test_the_card_has_the_calibration_error_of_the_zones_beside_that_of_the_nodes():
    recording = two_attacks()
    card = make_card([evaluate_recording(recording, RULE, GROUP)])
    assert card.zone_ece == expected_calibration_error(*zone_samples(recording)) < card.ece
