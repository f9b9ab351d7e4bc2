"""A model that judges zones as ONNX: the same alarms as the scorer, in silence and in a building of any size."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from checks import unchecked_shapes
from graphghha.alarms import AlarmRule
from graphghha.engine import Engine, ZoneScorer
from graphghha.engine.onnx import export
from graphghha.engine.zone_front_end import median_of_others as torch_median
from graphghha.errors import EngineError
from graphghha.models import Thresholds, load_model, save_model
from graphghha.nn.graph_tensors import graph_tensors
from graphghha.windows.peers import median_of_others
from model_builders import small_zone_model

pytestmark = pytest.mark.slow

onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extras [onnx] and [edge]")
ROWS = 130  # more than the longest average but one, and than two hours of silence in the middle


def commissioned(zones, seed=3):
    """A model in which no stage is the identity, with levels of its own for every zone and a point never heard."""
    model, rng = small_zone_model(), np.random.default_rng(seed)
    usual = model.zone_preprocessing.levels
    shape = (zones, *usual.width.shape[1:])
    heard = np.ones(shape, bool)
    heard[0, 2] = False
    low, middle, high = (np.full(shape, at) + rng.normal(0, 0.3, shape) for at in (-4, -2, 0))
    levels = replace(
        usual,
        slopes=rng.normal(0, 0.2, (zones, *usual.slopes.shape[1:])).astype(np.float32),
        bounds=np.stack([np.full(shape, -0.8), np.full(shape, 0.6)], axis=-1).astype(np.float32),
        width=rng.uniform(0.5, 2, shape).astype(np.float32),
        spans=rng.uniform(0.5, 3, (*shape, 5)).astype(np.float32),
        sizes=rng.uniform(0.5, 3, (*shape, 2)).astype(np.float32),
        restlessness=np.stack([low, middle, high], axis=-1).astype(np.float32),
        gap=np.stack([rng.normal(0, 0.2, shape), rng.uniform(0.3, 2, shape)], axis=-1).astype(np.float32),
        heard=heard,
    )
    calibration = replace(model.calibration, inverse_temperature=1.4, bias=(0.0, -1.5))
    return replace(
        model,
        preprocessing=model.zone_preprocessing.with_levels(levels),
        calibration=calibration,
        thresholds=Thresholds(rule=AlarmRule(raise_at=0.5, clear_at=0.3)),
    )


def readings(rows, zones, seed=0):
    """Readings with missing points, a silent zone, a silent building and a value that is no number."""
    rng = np.random.default_rng(seed)
    values = 20 + rng.normal(0, 2, (zones, 7)) + np.cumsum(rng.normal(0, 0.1, (rows, zones, 7)), axis=0)
    fresh = rng.random(values.shape) > 0.1
    fresh[20:85, 0] = False
    fresh[100:104] = False
    fresh[:, -1, 2] = False
    values[50:60, -1, 3] = np.nan
    return values, fresh


def scored(model, values, fresh):
    rows, zones = values.shape[:2]
    scorer = ZoneScorer(model, model.template.replicate(zones))
    return scorer.push(values.reshape(rows, -1), fresh.reshape(rows, -1), np.ones(rows, bool)).probs


def fed(session, values, fresh):
    """As a gateway would: an empty memory of the declared shapes, then what the last call returned."""
    types = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(bool)": np.bool_}
    zones = values.shape[1]
    memory = {
        given.name: np.zeros([size if isinstance(size, int) else zones for size in given.shape], types[given.type])
        for given in session.get_inputs()[2:]
    }
    for row, arrived in zip(values, fresh, strict=True):
        probs, alarm, *kept = session.run(None, {"readings": row, "fresh": arrived, **memory})
        memory = dict(zip(memory, kept, strict=True))
        yield probs, alarm


@pytest.fixture(scope="module")
def model():
    return commissioned(1)


@pytest.fixture(scope="module")
def exported(model, tmp_path_factory):
    graph_tensors.cache_clear()  # as in a process that has not scored anything
    with unchecked_shapes():
        return export.export_detector(model, tmp_path_factory.mktemp("export") / "loop.onnx")


@pytest.fixture(scope="module")
def session(exported):
    return onnxruntime.InferenceSession(exported.path, providers=["CPUExecutionProvider"])


def test_a_full_day_agrees_with_the_scorer_before_the_file_is_kept(exported):
    assert exported.zones == (1, 2, 5) and exported.windows == 180
    assert 0 < exported.max_difference < 1e-5


def test_onnxruntime_alone_gives_the_scores_of_the_scorer_through_silence(model, session):
    values, fresh = readings(ROWS, 4)
    expected = scored(model, values, fresh)
    found = list(fed(session, values, fresh))
    np.testing.assert_allclose([probs.reshape(32, 4) for probs, _ in found], expected, atol=1e-5, equal_nan=True)
    unknown = np.isnan(expected[..., 0])
    assert unknown[100:104].all() and unknown[30, :8].all() and not unknown[:20].all()
    flags = np.stack([alarm.reshape(32) for _, alarm in found])
    assert ((flags == -1) == unknown).all() and set(flags.ravel().tolist()) == {-1, 0, 1}


def test_the_file_says_how_it_is_fed_and_read(model, session):
    def about(key):
        return json.loads(session.get_modelmeta().custom_metadata_map[f"graphghha.{key}"])

    assert about("judges") == "zones" and about("classes") == ["normal", "actuator", "sensor", "controller"]
    assert about("features") == list(model.feature_names) and about("commissioning") is None
    sizes = {given.name: given.shape[0] for given in session.get_inputs()[2:]}
    assert sizes == {name: rows for name, (rows,) in about("memory").items()}
    assert sizes["residuals"] == sizes["known"] == 1440 and sizes["odds"] == 14


def test_a_file_of_another_site_is_refused(model, exported):
    usual = model.zone_preprocessing.levels
    other = model.zone_preprocessing.with_levels(replace(usual, spans=usual.spans * 2))
    with pytest.raises(EngineError, match="probabilities differ from the model's"):
        export.check_detector(replace(model, preprocessing=other), exported.path, [(2, 5)])


def test_a_commissioned_model_serves_the_zones_of_its_site(tmp_path, unchecked):
    model = commissioned(3)
    [(zones, rows)] = export.buildings_to_check(model)
    assert zones == 3 and rows > 1440
    found = export.export_detector(model, tmp_path / "site.onnx", checked=[(3, 70)])
    assert found.max_difference < 1e-5
    session = onnxruntime.InferenceSession(found.path, providers=["CPUExecutionProvider"])
    values, fresh = readings(ROWS, 3, seed=4)
    probs = [probs.reshape(24, 4) for probs, _ in fed(session, values, fresh)]
    np.testing.assert_allclose(probs, scored(model, values, fresh), atol=1e-5, equal_nan=True)


def test_the_network_in_a_model_directory_serves_the_onnx_backend(model, tmp_path, unchecked):
    directory = tmp_path / "model"
    save_model(model, directory)
    assert export.export_network(directory).max_difference < 1e-5
    loaded = load_model(directory)
    engine = Engine(loaded, loaded.template, backend="onnx")
    assert engine.backend == "onnx"
    x = model.known_answer["features"]
    np.testing.assert_allclose(engine.score(x), model.known_answer["probabilities"], atol=1e-5)


@pytest.mark.parametrize("zones", [1, 2, 3, 6, 7])
def test_the_median_of_the_other_zones_is_that_of_the_windows(zones):
    rng = np.random.default_rng(zones)
    values = rng.integers(-3, 4, (200, zones, 5)).astype(np.float32)  # with many ties
    known = rng.random(values.shape) > 0.3
    expected = median_of_others(values, known)
    found = torch_median(torch.from_numpy(values), torch.from_numpy(known))
    for want, got in zip(expected, found, strict=True):
        np.testing.assert_array_equal(got.numpy(), want)
