"""Fitting learns, repeats, resumes, keeps the best weights and stops before it spoils them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score

from builders import loop_template
from graphghha.errors import DivergedError
from graphghha.lab.training.fit import FitConfig, best_f1, fit
from graphghha.lab.training.windows import IGNORED, VISIBLE, LabelledWindows
from graphghha.nn import ADU


def windows(count=64, zones=2, seed=0):
    """A task that the graph decides: a valve is attacked when its sensor's first feature is high."""
    rng = np.random.default_rng(seed)
    template = loop_template()
    features = rng.normal(0, 1, (count, zones, template.num_nodes, 3)).astype(np.float16)
    labels = np.zeros(features.shape[:3], np.uint8)
    labels[..., template.index("valve")] = features[..., template.index("temp"), 0] > 0.5
    return LabelledWindows(features, labels, np.full(labels.shape, VISIBLE, np.uint8))


def small_adu(seed=0):
    torch.manual_seed(seed)
    return ADU(loop_template(), in_features=3, width=16, heads=2, layers=2)


CONFIG = FitConfig(epochs=4, batch=8, save_every=5, learning_rate=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp16"])
def test_fitting_learns_what_a_neighbour_tells(dtype):
    losses = []
    fit(small_adu(), windows(256), replace(CONFIG, dtype=dtype), on_step=lambda p: losses.append(p.loss))
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:10])


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_and_a_killed_run_goes_on_to_them(tmp_path):
    whole = small_adu()
    fit(whole, windows(), CONFIG)

    class KilledError(Exception):
        pass

    def die_at_17(progress):
        if progress.step == 17:
            raise KilledError

    snapshot = tmp_path / "snapshot.pt"
    with pytest.raises(KilledError):
        fit(small_adu(), windows(), CONFIG, snapshot=snapshot, on_step=die_at_17)
    resumed = small_adu(seed=9)  # what it starts from does not matter: the snapshot does
    steps = []
    fit(resumed, windows(), CONFIG, snapshot=snapshot, on_step=lambda p: steps.append(p.step))
    assert steps[0] == 16, "the last snapshot was taken after step 15"
    for name, tensor in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], tensor), name


@pytest.mark.slow
def test_the_best_weights_on_validation_stay_and_fitting_stops_when_nothing_improves(tmp_path):
    adu, f1, steps = small_adu(), [], []

    def watch(progress):
        steps.append(progress.step)
        f1.append(progress.f1)

    hopeless = windows(64, seed=1)
    hopeless.labels[:] = np.random.default_rng(2).integers(0, 2, hopeless.labels.shape)
    config = replace(CONFIG, epochs=60, patience=3)
    fit(adu, windows(), config, validation=hopeless, snapshot=tmp_path / "s.pt", on_step=watch)
    assert steps[-1] < 60 * 8, "it stopped early"
    assert best_f1(adu, hopeless) == max(value for value in f1 if value == value)


def test_a_loss_that_is_no_number_stops_training_before_a_weight_is_spoilt():
    adu = small_adu()
    with torch.no_grad():
        next(adu.parameters()).fill_(float("nan"))
    others = {name: weight.clone() for name, weight in list(adu.named_parameters())[1:]}
    with pytest.raises(DivergedError, match="not finite at step 1"):
        fit(adu, windows(), CONFIG)
    assert all(torch.equal(weight, others[name]) for name, weight in adu.named_parameters() if name in others)


def test_the_best_f1_is_that_of_the_best_threshold():
    adu, data = small_adu(), windows(32)
    data.label_quality[:, 0] = IGNORED
    result = best_f1(adu, data, batch=5)
    with torch.no_grad():
        x = torch.as_tensor(data.features).flatten(1, 2).float()
        attack = 1 - adu(x, adu.template.replicate(2))[..., 0].reshape(data.labels.shape).numpy()
    truth, score = data.labels[:, 1].ravel() > 0, attack[:, 1].ravel()
    assert result == pytest.approx(max(f1_score(truth, score >= at) for at in np.unique(score)))
