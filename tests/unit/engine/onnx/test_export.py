"""A model as ONNX: what onnxruntime says alone is what the model says, and nothing else leaves the house."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from checks import unchecked_shapes
from graphghha.alarms import AlarmRule
from graphghha.engine import Engine, Scorer
from graphghha.engine.onnx import export
from graphghha.errors import ConfigError, EngineError
from graphghha.graph import NeighborRule, graph_from_dict
from graphghha.models import Calibration, Thresholds, load_model, save_model
from graphghha.windows import FeatureNorm, Scaler
from model_builders import small_model

pytestmark = pytest.mark.slow

onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extras [onnx] and [edge]")


@pytest.fixture(scope="module")
def model():
    """No stage is the identity: one that was forgotten would show."""
    plain, rng = small_model(), np.random.default_rng(5)
    norm = FeatureNorm(rng.normal(0, 0.5, plain.norm.center.shape), rng.uniform(0.3, 3, plain.norm.scale.shape))
    calibration = replace(plain.calibration, inverse_temperature=1.7, bias=(0.0, -0.3, 0.2, -0.1))
    attack = (
        1 - Scorer(plain, plain.template).push(np.full((1, 7), 20.0), np.ones((1, 7), bool), np.ones(1, bool)).probs
    )
    raise_at = float(np.median(attack[..., 0]))
    thresholds = Thresholds(rule=AlarmRule(raise_at=raise_at, clear_at=raise_at / 2))
    return replace(
        plain, preprocessing=replace(plain.preprocessing, norm=norm), calibration=calibration, thresholds=thresholds
    )


@pytest.fixture(scope="module")
def exported(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "loop.onnx"
    with unchecked_shapes():
        found = export.export_detector(model, path)
    assert path.stat().st_size == found.bytes and [file.name for file in path.parent.iterdir()] == ["loop.onnx"]
    return found


@pytest.fixture(scope="module")
def session(exported):
    return onnxruntime.InferenceSession(exported.path, providers=["CPUExecutionProvider"])


def fed(session, values, fresh):
    """As a gateway would: rows in, the memory handed on, nothing of ours."""
    zones, signals = values.shape[1:]
    sizes = {key: size for key, (size,) in about(session, "memory").items()}
    memory = {
        "values": np.zeros((sizes["values"], zones, signals), np.float32),
        "residuals": np.zeros((sizes["residuals"], zones, signals), np.float32),
        "known": np.zeros((sizes["known"], zones, signals), bool),
    }
    for row, arrived in zip(values, fresh, strict=True):
        probs, alarm, *kept = session.run(None, {"readings": row, "fresh": arrived, **memory})
        memory = dict(zip(memory, kept, strict=True))
        yield probs, alarm


def about(session, key):
    return json.loads(session.get_modelmeta().custom_metadata_map[f"graphghha.{key}"])


def test_windows_of_every_length_agree_with_the_model_before_the_file_is_kept(exported):
    assert exported.zones == (1, 2, 5) and exported.windows == 180
    assert 0 < exported.max_difference < 1e-5


def test_features_far_beyond_their_spread_are_clipped_as_the_model_clips_them(model):
    shape = (3, *model.norm.center.shape)
    points = np.random.default_rng(3).normal(0, 1, shape).astype(np.float32) * 10.0 ** np.arange(6)[:, None, None, None]
    gateway, fresh = export.DetectorModule(model), torch.ones(shape[:2], dtype=torch.bool)
    for part in points:
        x, _ = gateway.windows(torch.from_numpy(part), fresh)
        measured = model.template.signal_nodes.tolist()
        np.testing.assert_allclose(x[:, measured].numpy(), model.norm(part), atol=1e-6)


def test_onnxruntime_alone_gives_the_scores_of_the_scorer_on_a_building_of_another_size(model, session):
    rng = np.random.default_rng(1)
    values = rng.normal(20, 3, (30, 4, 7))
    fresh = rng.random(values.shape) > 0.1
    fresh[20, 2] = False
    scorer = Scorer(model, model.template.replicate(4))
    expected = scorer.push(values.reshape(30, -1), fresh.reshape(30, -1), np.ones(30, bool)).probs
    found = list(fed(session, values, fresh))
    np.testing.assert_allclose([probs.reshape(32, 4) for probs, _ in found], expected, atol=1e-5, equal_nan=True)


def test_alarms_are_raised_at_the_shipped_threshold_and_never_for_an_unknown_node(model, session):
    values = np.random.default_rng(2).normal(20, 3, (5, 3, 7))
    fresh = np.ones(values.shape, bool)
    fresh[:, 1] = False
    values[:, 2, 0] = np.nan  # a reading that is no number is not fresh, whatever its flag says
    raise_at = about(session, "thresholds")["rule"]["raise_at"]
    seen = set()
    for probs, alarm in fed(session, values, fresh):
        unknown = np.isnan(probs[..., 0])
        assert (unknown == (alarm == -1)).all() and unknown[1].all() and unknown[2, 0] and not unknown[0].any()
        assert ((1.0 - probs[..., 0].astype(float) >= raise_at) == (alarm == 1)).all()
        seen |= set(alarm[~unknown].tolist())
    assert seen == {0, 1}


def test_the_file_says_how_it_is_fed_and_read(model, session):
    assert about(session, "format") == "graphghha-gateway/1"
    assert Scaler.from_dict(about(session, "scaler")) == model.scaler
    assert graph_from_dict(about(session, "template")) == model.template
    assert about(session, "nodes") == list(model.template.names) and "pump" not in about(session, "signals")
    assert about(session, "classes") == ["normal", "actuator", "sensor", "controller"]
    assert Calibration.from_dict(about(session, "calibration")) == model.calibration
    assert Thresholds.from_dict(about(session, "thresholds")) == model.thresholds
    assert [given.name for given in session.get_inputs()] == ["readings", "fresh", "values", "residuals", "known"]


def test_a_file_that_is_not_this_model_is_refused(model, exported):
    path, few = Path(exported.path), [(2, 5)]
    assert export.check_detector(model, path, few) < 1e-5
    bias = tuple(value + 0.01 * number for number, value in enumerate(model.calibration.bias))
    with pytest.raises(EngineError, match="probabilities differ from the model's"):
        export.check_detector(replace(model, calibration=replace(model.calibration, bias=bias)), path, few)
    with pytest.raises(EngineError, match="alarm flags"):
        export.check_detector(replace(model, thresholds=Thresholds(rule=AlarmRule(raise_at=1.0))), path, few)


def test_a_cap_that_follows_the_graph_cannot_be_exported(model, tmp_path):
    rule = NeighborRule(max_neighbors=None, neighbor_divisor=2)
    config = {**model.adu_config, "neighbors": {name: getattr(rule, name) for name in model.adu_config["neighbors"]}}
    with pytest.raises(ConfigError, match="depends on the size of the graph"):
        export.export_detector(replace(model, adu_config=config), tmp_path / "loop.onnx")


def test_the_network_in_a_model_directory_serves_the_onnx_backend(model, tmp_path, unchecked):
    directory = tmp_path / "model"
    save_model(model, directory)
    assert export.export_network(directory).max_difference < 1e-5
    graph = model.template.replicate(3)
    loaded = load_model(directory)  # the manifest lists the new file
    engine = Engine(loaded, graph)
    assert engine.describe()["considered"]["onnx"].endswith(" ms")
    x = np.random.default_rng(0).normal(0, 1, (graph.num_nodes, engine.in_features)).astype(np.float32)
    chosen = Engine(directory, graph, backend="onnx")
    assert chosen.backend == "onnx"
    np.testing.assert_allclose(chosen.score(x), Engine(model, graph, backend="torch").score(x), atol=1e-5)
