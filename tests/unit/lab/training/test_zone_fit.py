"""The network of zones: the loss is of the zone, unknown nodes take no share, and a plain pattern is learned."""

import numpy as np
import pytest
import torch

from builders import loop_template
from graphghha.errors import DivergedError
from graphghha.lab.training.zone_expectation import fit_zone_expectation
from graphghha.lab.training.zone_fit import MOST_HELD, ZoneFitConfig, adu_odds, falsify, fit_zones, zone_loss
from graphghha.lab.training.zone_windows import ZoneWindows
from graphghha.nn import ADU
from graphghha.windows.evidence import FEATURES
from graphghha.windows.zone_expectation import CHANNELS, OWN_CHANNELS

TEMPLATE = loop_template()
NODES = TEMPLATE.num_nodes


def test_the_loss_is_minus_the_log_of_the_probability_of_the_truth():
    odds = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0.0, 9.0, 0.0]])
    known = torch.tensor([[True, True, True], [True, True, True], [True, False, True]])
    targets = torch.tensor([[False, False, False], [True, True, False], [True, False, False]])
    total = 1 + np.exp([1, 2, 3]).sum()
    expected = [-np.log(1 / total), -np.log(np.exp([1, 2]).sum() / total), -np.log(1 / 3)]
    assert float(zone_loss(odds, known, targets)) == pytest.approx(np.mean(expected), rel=1e-5)


def test_an_attack_on_unknown_nodes_alone_teaches_nothing():
    odds = torch.zeros(2, 2, requires_grad=True)
    known = torch.tensor([[True, False], [True, True]])
    targets = torch.tensor([[False, True], [False, False]])
    loss = zone_loss(odds, known, targets)
    loss.backward()
    assert torch.isfinite(loss) and not odds.grad[0].any() and odds.grad[1].any()


def windows(count=2000, seed=0):
    """The attacked node has a large first feature; in a normal zone no node has."""
    rng = np.random.default_rng(seed)
    features = rng.normal(0, 0.3, (count, NODES, len(FEATURES))).astype(np.float16)
    targets = np.zeros((count, NODES), bool)
    attacked = np.flatnonzero(rng.random(count) < 0.5)
    measured = TEMPLATE.signal_nodes
    nodes = rng.choice(measured, len(attacked))
    targets[attacked, nodes] = True
    features[attacked, nodes, 0] += 3
    return ZoneWindows(features, np.ones((count, NODES), bool), targets)


@pytest.mark.slow
def test_a_plain_pattern_is_learned_and_a_fit_can_be_repeated():
    data, test = windows(), windows(400, seed=1)
    results = []
    for _ in range(2):
        torch.manual_seed(3)
        adu = ADU(TEMPLATE, in_features=len(FEATURES), head="binary", width=16, heads=2, layers=1)
        config = ZoneFitConfig(epochs=4, batch=50, learning_rate=1e-2, hide_share=0.1)
        fit_zones(adu, adu_odds(adu), data, config)
        with torch.no_grad():
            odds = adu_odds(adu)(torch.as_tensor(test.features).float(), torch.as_tensor(test.known)).numpy()
        results.append(odds)
    attacked = test.targets.any(axis=1)
    found = np.logaddexp.reduce(odds, axis=1) > 0
    assert (found == attacked).mean() > 0.95
    assert test.targets[np.arange(400), odds.argmax(axis=1)][attacked].mean() > 0.95
    assert results[0].tobytes() == results[1].tobytes()


def test_falsified_windows_read_as_normal_at_one_to_three_nodes_of_attacked_ones():
    data = windows(400)
    features, known, targets = (
        torch.as_tensor(each) for each in (data.features.astype(np.float32), data.known, data.targets)
    )
    known[:, 0] = False
    torch.manual_seed(0)
    read = falsify(features, known, targets, 0.5)
    changed = (read != features).any(dim=-1)  # [windows nodes]
    attacked = (targets & known).any(dim=-1)
    count = changed.sum(dim=-1)
    assert not count[~attacked].any() and not changed[:, 0].any()
    assert set(count[attacked].tolist()) == set(range(MOST_HELD + 1))
    assert 0.4 < (count[attacked] > 0).float().mean() < 0.6
    normal = features[~targets.any(dim=-1)]
    window, node = (int(each) for each in torch.nonzero(changed)[0])
    assert (normal[:, node] == read[window, node]).all(dim=-1).any()
    assert (changed & targets).sum() > 0.6 * (count > 0).sum(), "attacked nodes are the likelier ones"


def test_without_a_normal_window_nothing_can_be_falsified():
    data = windows(50)
    features, known = torch.as_tensor(data.features), torch.as_tensor(data.known)
    assert falsify(features, known, torch.ones_like(known), 1.0) is features


def test_a_loss_that_is_no_number_stops_the_fit():
    data = windows(100)
    data.features[:] = np.nan
    net = torch.nn.Linear(len(FEATURES), 1)
    with pytest.raises(DivergedError):
        fit_zones(net, lambda x, known: net(x)[..., 0], data, ZoneFitConfig(epochs=1, batch=50))


@pytest.mark.slow
def test_the_expectation_learns_from_neighbors_and_from_the_other_zones():
    """A signal that equals its neighbor is predicted from it; one that only equals the other zones, from those."""
    rng = np.random.default_rng(0)
    count, signals = 4096, len(TEMPLATE.points)
    x = np.zeros((count, signals, CHANNELS), np.float32)
    values = rng.normal(0, 1, (count, signals)).astype(np.float32)
    names = list(TEMPLATE.points)
    values[:, names.index("valve")] = values[:, names.index("temp")]
    x[..., 0] = values
    x[..., OWN_CHANNELS] = values + rng.normal(0, 0.05, values.shape)  # the other zones read nearly the same
    x[..., OWN_CHANNELS + 1] = 1
    x[:, names.index("valve"), OWN_CHANNELS:] = 0  # of this signal nothing is known of the others
    values[::7, names.index("flow")] = np.nan
    flat = x.reshape(count, -1)
    fitted = fit_zone_expectation(flat, values, TEMPLATE, np.full(signals, 0.01, np.float32), seed=0, epochs=40)
    mean, spread = fitted.predict(flat)
    error = np.nanstd(values - mean, axis=0)
    assert error[names.index("valve")] < 0.3 and error[names.index("outdoor")] < 0.3
    assert np.isfinite(spread).all() and (spread > 0).all()
    own = fitted.weights["W1"].reshape(signals, signals, CHANNELS, -1)
    for signal in range(signals):
        assert not own[signal, signal, :OWN_CHANNELS].any(), "a signal never reads itself"
