"""Every baseline: fitted on the same data, given the same input, returning probabilities."""

import numpy as np
import pytest

from graphghha.classes import CLASSES
from graphghha.errors import NotFoundError
from graphghha.lab.baselines import BASELINES, BaselineInput, TrainingData, fit_baseline
from graphghha.lab.baselines import boosting as boosting_module
from graphghha.lab.baselines.base import attack_score
from graphghha.lab.metrics import kind_classes
from graphghha.plants import load_plant, load_rules
from graphghha.plants.rules import HISTORY_MIN

PLANT = load_plant("fcu")
TEMPLATE = PLANT.template
NODES, SIGNALS, FEATURES = TEMPLATE.num_nodes, 29, 6
VALVE, ROOM = TEMPLATE.index("FCU_CVLV"), TEMPLATE.index("RM_TEMP")
VIEW_MIN, ZONES = 30, 2


def normal_readings(rng, count):
    """Two hidden causes move all signals; each has its own noise."""
    mixing = np.random.default_rng(1).normal(0, 1, (2, SIGNALS))
    return 20 + rng.normal(0, 1, (*count, 2)) @ mixing + rng.normal(0, 0.1, (*count, SIGNALS))


def labelled(rng, count):
    """An attack on the valve lifts its first feature; one on the room sensor that of its neighbour only."""
    features = rng.normal(0, 1, (count, NODES, FEATURES)).astype(np.float32)
    labels = np.zeros((count, NODES), np.uint8)
    labels[: count // 4, VALVE] = CLASSES.index("actuator")
    labels[count // 4 : count // 2, ROOM] = CLASSES.index("sensor")
    features[labels[:, VALVE] > 0, VALVE, 0] += 8
    features[labels[:, ROOM] > 0, ROOM + 1, 0] += 8
    return features, labels


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    features, labels = labelled(rng, 400)
    readings = normal_readings(rng, (3000,))
    return TrainingData(readings, readings, features, labels, np.ones(labels.shape, bool), seed=0)


@pytest.fixture(scope="module", autouse=True)
def few_trees():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(boosting_module.TREES, "max_iter", 8)
        patch.setitem(boosting_module.TREES, "max_features", 1.0)
        yield


def inputs(features=None, readings=None):
    rng = np.random.default_rng(2)
    readings = normal_readings(rng, (HISTORY_MIN + VIEW_MIN, ZONES)) if readings is None else readings
    features = rng.normal(0, 1, (VIEW_MIN, ZONES, NODES, FEATURES)).astype(np.float32) if features is None else features
    return BaselineInput(readings, features, np.ones(features.shape[:-1], bool))


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_answers_in_probabilities(name, data):
    probs = fit_baseline(name, PLANT, data).score(inputs())
    assert probs.shape == (VIEW_MIN, ZONES, NODES, len(CLASSES))
    assert np.isfinite(probs).all() and (probs >= 0).all()
    np.testing.assert_allclose(probs.sum(axis=-1), 1.0, atol=1e-5)


@pytest.mark.parametrize("name", BASELINES)
def test_a_silent_plant_breaks_no_baseline(name, data):
    silent = inputs(
        np.zeros((VIEW_MIN, ZONES, NODES, FEATURES), np.float32),
        np.full((HISTORY_MIN + VIEW_MIN, ZONES, SIGNALS), np.nan),
    )
    dark = BaselineInput(silent.readings, silent.features, np.zeros_like(silent.known))
    assert np.isfinite(fit_baseline(name, PLANT, data).score(dark)).all()


def test_always_never_and_node_kind_do_what_their_names_say(data):
    always, never, kind = (fit_baseline(name, PLANT, data).score(inputs()) for name in ("always", "never", "node_kind"))
    assert (always[..., 0] == 0).all() and (never[..., 0] == 1).all()
    assert (kind.argmax(axis=-1) == kind_classes(TEMPLATE)).all()


def test_range_and_pca_name_the_sensor_that_leaves_what_is_normal(data):
    readings = normal_readings(np.random.default_rng(3), (HISTORY_MIN + VIEW_MIN, ZONES))
    far, apart = readings.copy(), readings.copy()
    far[:, 1, ROOM] += 30
    apart[:, 1, ROOM] += 1.5  # within its range, against what the others say
    for name, moved in (("signal_range", far), ("pca_residual", apart)):
        attack = 1 - fit_baseline(name, PLANT, data).score(inputs(readings=moved))[..., 0]
        assert attack[:, 1].mean(axis=0).argmax() == ROOM and attack[:, 1, ROOM].min() > 0.5
        assert attack[:, 0].mean() < 0.1


@pytest.mark.slow
def test_boosting_places_an_attack_that_only_a_neighbour_shows_and_the_perceptron_cannot(data):
    features, labels = labelled(np.random.default_rng(5), ZONES * 40)
    asked = inputs(
        features.reshape(40, ZONES, NODES, FEATURES), normal_readings(np.random.default_rng(6), (100, ZONES))
    )
    for name, sees_neighbours in (("boosting", True), ("node_mlp", False)):
        probs = fit_baseline(name, PLANT, data).score(asked).reshape(-1, NODES, len(CLASSES))
        valve, room = probs[labels[:, VALVE] > 0], probs[labels[:, ROOM] > 0]
        if sees_neighbours:
            assert (valve[:, :, 1:].sum(-1).argmax(-1) == VALVE).mean() > 0.9
            assert (valve[:, VALVE].argmax(-1) == CLASSES.index("actuator")).mean() > 0.9
            assert (room[:, :, 1:].sum(-1).argmax(-1) == ROOM).mean() > 0.9
        else:
            quiet = probs[(labels == 0).all(axis=1)]
            assert room[:, ROOM, 1:].sum(-1).mean() == pytest.approx(quiet[:, ROOM, 1:].sum(-1).mean(), abs=0.1)


def test_an_attack_score_is_one_half_at_the_limit_and_grows():
    result = attack_score(np.array([0.0, 0.5, 1.0, 2.0, 1e9]))
    assert result[2] == pytest.approx(0.5) and (np.diff(result) > 0).all() and result[-1] < 1


def test_an_unknown_baseline_names_the_known():
    with pytest.raises(NotFoundError, match="known: random, always"):
        fit_baseline("oracle", PLANT, None)


def test_rules_name_nodes_of_the_plant():
    assert {rule.node for rule in load_rules("fcu")} <= set(TEMPLATE.names)
