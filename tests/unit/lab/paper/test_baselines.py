"""Baselines without a network under the paper's protocol."""

import numpy as np
import pytest

from graphghha.lab.paper.baselines import largest, random_scores, value_pca
from graphghha.lab.paper.protocol import NORMAL, Year
from graphghha.windows import FEATURE_NAMES


@pytest.mark.parametrize("fit", [largest("value_"), value_pca, largest("residual_", "abs_residual_")])
def test_a_baseline_suspects_the_node_whose_features_lie_farthest_out(fit):
    rng = np.random.default_rng(5)
    # correlated readings: all nodes follow one variable, with a little noise of their own
    normal = rng.normal(size=(400, 2, 1, 1)) + 0.05 * rng.normal(size=(400, 2, 32, len(FEATURE_NAMES)))
    score = fit([Year((NORMAL, NORMAL), normal.astype(np.float16), np.zeros((400, 2), np.bool_))])
    features = np.zeros((2, 3, 32, len(FEATURE_NAMES)), np.float32)
    features[1, 2, 7] = -3.0
    attack = 1.0 - score(features)[..., 0]
    assert np.unravel_index(attack.argmax(), attack.shape) == (1, 2, 7) and attack[1, 2, 7] >= 0.7
    assert attack[0].max() < 0.1


def test_random_scores_are_uniform():
    attack = random_scores([])(np.zeros((50, 3, 32, len(FEATURE_NAMES)), np.float32))[..., 1]
    assert 0.49 < attack.mean() < 0.51 and attack.std() == pytest.approx(12**-0.5, rel=0.02)
