"""Methods without a graph learn which node of a zone is attacked, from the windows of a model that judges zones."""

from dataclasses import replace

import numpy as np
import pytest

from graphghha.lab.baselines.zone_networks import MLP_FIT, fit_zone_boosting, fit_zone_mlp, torch_locator
from graphghha.lab.training.zone_windows import ZoneWindows

NODES, FEATURES = 4, 3


@pytest.fixture(scope="module")
def windows():
    """Half of the windows are normal; in the others one node has large features."""
    rng = np.random.default_rng(0)
    features = rng.normal(0, 0.3, (4000, NODES, FEATURES))
    targets = np.zeros((4000, NODES), bool)
    attacked = np.arange(2000)
    targets[attacked, attacked % NODES] = True
    features[targets] += 2.0
    return ZoneWindows(features.astype(np.float16), np.ones((4000, NODES), bool), targets)


def locators(windows):
    mlp = fit_zone_mlp(windows, replace(MLP_FIT, epochs=4, batch=64))
    return {"mlp": torch_locator(mlp), "boosting": fit_zone_boosting(windows, seed=0, most_rows=3000)}


def test_the_attacked_node_is_named_and_normal_windows_stay_below(windows):
    attacked = windows.targets.any(axis=1)
    for name, locate in locators(windows).items():
        odds = locate(windows.features, windows.known)
        named = windows.targets[np.arange(4000), odds.argmax(axis=1)]
        assert named[attacked].mean() > 0.95, name
        highest = odds.max(axis=1)
        assert (highest[attacked] > 0).mean() > 0.95 and (highest[~attacked] < 0).mean() > 0.95, name


def test_an_unknown_node_takes_no_share(windows):
    known = windows.known[:100].copy()
    known[:, 1] = False
    for name, locate in locators(windows).items():
        odds = locate(windows.features[:100], known)
        assert (odds[:, 1] < -1000).all() and (odds[:, [0, 2, 3]] > -1000).all(), name
        assert locate(windows.features[:0], known[:0]).shape == (0, NODES)
