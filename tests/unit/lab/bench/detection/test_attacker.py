"""The attacker who knows the network."""

import numpy as np
import pytest

from graphghha.lab.bench.detection.attacker import AttackerConfig, Defender, attacked_zones, evade
from graphghha.plants import load_plant
from graphghha.windows import FEATURE_RANGE

pytestmark = pytest.mark.slow


def test_the_attacker_changes_the_compromised_nodes_only_and_never_raises_the_score(model):
    config = AttackerConfig(steps=4, restarts=2, zones=12, days=4)
    features, compromised = attacked_zones(load_plant("fcu"), model, 1, config)
    defender = Defender(model)
    after = evade(defender, features, compromised, config, seed=0)
    assert (after[~compromised] == features[~compromised]).all()
    assert after[compromised].abs().max() <= FEATURE_RANGE + 1e-6
    before_score, after_score = (defender.log_odds(x).amax(dim=1).detach().numpy() for x in (features, after))
    assert (after_score <= before_score + 1e-5).all() and np.mean(after_score < before_score - 1e-3) > 0.3
