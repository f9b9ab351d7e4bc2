"""Readings in, calibrated probabilities out, and nothing before the known answer is right."""

from dataclasses import replace

import numpy as np
import pytest

from graphghha.engine import Engine, EngineConfig, Scorer
from graphghha.engine.per_zone import LOCAL_LAYERS, ZoneEngine, engine_for
from graphghha.errors import CheckpointError, SchemaError
from graphghha.graph import CpsGraph
from model_builders import small_model


@pytest.fixture(scope="module")
def model():
    return small_model()


def readings(rows, points, seed=0):
    values = np.random.default_rng(seed).normal(20, 2, (rows, points))
    return values, np.ones(values.shape, bool)


@pytest.mark.parametrize("backend", ["native", "torch"])
def test_batch_and_live_scores_are_the_same(model, backend):
    graph = model.template.replicate(2)
    whole, live = (Scorer(model, graph, EngineConfig(backend=backend)) for _ in range(2))
    values, fresh = readings(70, len(whole.points))
    fresh[30:, 3] = False
    batch = whole.push(values, fresh, np.ones(70, bool)).probs
    rows = [live.push(values[i : i + 1], fresh[i : i + 1], np.ones(1, bool)).probs[0] for i in range(70)]
    np.testing.assert_allclose(np.stack(rows), batch, atol=1e-6, equal_nan=True)
    assert np.isnan(batch[40]).any() and not np.isnan(batch[20]).any()
    known = ~np.isnan(batch[..., 0])
    np.testing.assert_allclose(batch[known].sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("layer", LOCAL_LAYERS)
def test_a_rival_scores_zone_by_zone_what_it_would_score_in_the_whole_building(layer):
    model = small_model(layer=layer)
    graph = model.template.replicate(3)
    by_zone, whole = engine_for(model, graph), Engine(model, graph)
    assert isinstance(by_zone, ZoneEngine) and by_zone.dtype == whole.dtype
    rng = np.random.default_rng(1)
    windows = rng.normal(0, 1, (5, graph.num_nodes, by_zone.in_features)).astype(np.float32)
    mask = rng.random((5, graph.num_nodes)) > 0.2
    assert by_zone.num_nodes == by_zone.describe()["nodes"] == graph.num_nodes
    for window, known in (
        (windows, mask),
        (windows, None),
        (windows, mask[0]),
        (windows[0], mask[0]),
        (windows[:0], None),
    ):
        found, expected = by_zone.score(window, known), whole.score(window, known)
        np.testing.assert_allclose(found, expected, atol=1e-5, equal_nan=True)


def test_zones_that_differ_or_a_global_branch_keep_the_building_whole(model):
    local, nodes = small_model(layer="vanilla_gat"), model.template.nodes
    other = CpsGraph(nodes, model.template.edges[:-1])
    assert type(engine_for(model, model.template.replicate(2))) is Engine
    assert type(engine_for(local, other)) is Engine
    neighbors = {**local.adu_config["neighbors"], "neighbor_divisor": 8}  # a cap that follows the size of the graph
    grown = replace(local, adu_config={**local.adu_config, "neighbors": neighbors})
    assert type(engine_for(grown, model.template.replicate(2))) is Engine


def test_a_rival_refuses_the_windows_of_another_building():
    model = small_model(layer="vanilla_gat")
    engine = engine_for(model, model.template.replicate(3))
    with pytest.raises(SchemaError, match="24 nodes"):
        engine.score(np.zeros((2, 4 * 8, engine.in_features), np.float32))


def test_calibration_is_applied(model):
    bias = replace(model.calibration, bias=(0.0, 5.0, 0.0, 0.0))
    values, fresh = readings(5, 7)
    plain, pushed = (
        Scorer(m, model.template).push(values, fresh, np.ones(5, bool)).probs
        for m in (model, replace(model, calibration=bias))
    )
    assert (pushed[..., 1] > plain[..., 1]).all()


def test_no_wanted_row_gives_no_score(model):
    values, fresh = readings(5, 7)
    assert Scorer(model, model.template).push(values, fresh, np.zeros(5, bool)).probs.shape == (0, 8, 4)


def test_a_model_that_does_not_give_its_known_answer_is_refused(model):
    other = {**model.known_answer, "probabilities": np.roll(model.known_answer["probabilities"], 1, axis=-1)}
    with pytest.raises(CheckpointError, match="does not give its known answer"):
        Scorer(replace(model, known_answer=other), model.template)
