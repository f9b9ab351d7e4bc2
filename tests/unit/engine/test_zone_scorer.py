"""A zone is judged first, then its nodes: the leading node carries the probability of its zone."""

from dataclasses import replace

import numpy as np
import pytest

from graphghha.engine import EngineConfig, Scorer, ZoneScorer, open_scorer, rebuild_rows
from graphghha.engine.zone_scorer import SMOOTH_ROWS, TYPICAL_MARGIN, at_least, attack_probabilities, zone_odds
from graphghha.errors import CheckpointError
from graphghha.models import Calibration
from graphghha.windows import Fingerprint
from graphghha.windows.typical import TypicalZone
from model_builders import small_model, small_zone_model

IDENTITY = Calibration(1.0, (0.0, 0.0), Fingerprint((), ""))


@pytest.fixture(scope="module")
def model():
    return small_zone_model()


def readings(rows, points, seed=0):
    values = np.random.default_rng(seed).normal(20, 2, (rows, points))
    return values, np.random.default_rng(seed + 1).random(values.shape) > 0.03


@pytest.mark.parametrize("backend", ["native", "torch"])
def test_batch_and_live_scores_are_the_same(model, backend):
    graph = model.template.replicate(2)
    whole, live = (ZoneScorer(model, graph, EngineConfig(backend=backend)) for _ in range(2))
    values, fresh = readings(70, len(whole.points))
    batch = whole.push(values, fresh, np.ones(70, bool)).probs
    rows = [live.push(values[i : i + 1], fresh[i : i + 1], np.ones(1, bool)).probs[0] for i in range(70)]
    np.testing.assert_allclose(np.stack(rows), batch, atol=1e-6, equal_nan=True)
    known = ~np.isnan(batch[..., 0])
    assert known.any() and not known.all()
    np.testing.assert_allclose(batch[known].sum(-1), 1, atol=1e-5)


def test_rows_that_only_fill_the_windows_change_no_score(model):
    """A monitor that was restarted scores as one that was not: the averaged rows are scored again."""
    values, fresh = readings(80, len(model.template.points))
    whole, restarted = (ZoneScorer(model, model.template) for _ in range(2))
    expected = whole.push(values, fresh, np.ones(80, bool)).probs[60:]
    for part in (slice(0, 33), slice(33, 58), slice(58, 60)):
        none = np.zeros(len(values[part]), bool)
        assert restarted.push(values[part], fresh[part], none).probs.shape[0] == 0
    found = restarted.push(values[60:], fresh[60:], np.ones(20, bool)).probs
    assert found.tobytes() == expected.tobytes()


def test_single_wanted_rows_are_averaged_with_the_rows_before_them(model):
    values, fresh = readings(60, len(model.template.points))
    every, some = (ZoneScorer(model, model.template) for _ in range(2))
    wanted = np.zeros(60, bool)
    wanted[[20, 21, 45]] = True
    expected = every.push(values, fresh, np.ones(60, bool)).probs[wanted]
    scored = some.push(values, fresh, wanted)
    assert scored.probs.tobytes() == expected.tobytes() and scored.rows.tolist() == [20, 21, 45]
    assert len(scored.windows.features) == 3


def test_the_leading_node_carries_the_probability_of_its_zone():
    odds = np.array([[1.0, 3.0, -2.0, np.nan]])
    zone = np.log(np.exp(1) + np.exp(3) + np.exp(-2))
    assert zone_odds(odds)[0] == pytest.approx(zone)
    certain = 1 / (1 + np.exp(-zone))
    attack = attack_probabilities(odds, IDENTITY)[0]
    assert attack[1] == pytest.approx(certain)
    assert attack[0] == pytest.approx(certain * np.exp(1 - zone)) and attack[2] < attack[0]
    assert np.isnan(attack[3]) and np.isnan(zone_odds(np.full((1, 3), np.nan)))[0]


def test_the_calibration_is_of_zones(model):
    values, fresh = readings(5, len(model.template.points))
    sure = replace(model, calibration=Calibration(1.0, (0.0, 30.0), Fingerprint((), "")))
    fresh[:] = True
    probs = ZoneScorer(sure, model.template).push(values, fresh, np.ones(5, bool)).probs
    assert (np.nanmax(1 - probs[..., 0], axis=1) > 0.999).all()


def test_the_class_of_a_node_is_its_kind_and_a_node_can_be_explained(model):
    graph = model.template.replicate(2)
    scorer = ZoneScorer(model, graph)
    values, fresh = readings(3, len(scorer.points))
    fresh[:] = True
    scored = scorer.push(values, fresh, np.ones(3, bool))
    sensor = graph.index("zone-02/temp")
    assert scored.probs[0, sensor, 2] == pytest.approx(1 - scored.probs[0, sensor, 0])
    evidence = scorer.explain(scored, 2, sensor)
    assert evidence[0]["kind"] == "gate" and evidence[0]["node"] == "temp"


def test_the_scorer_that_a_model_needs_is_opened(model):
    assert isinstance(open_scorer(model, model.template), ZoneScorer)
    nodes = small_model()
    assert isinstance(open_scorer(nodes, nodes.template), Scorer)
    assert rebuild_rows(model) == 1440 + 60 + SMOOTH_ROWS - 1 < rebuild_rows(nodes)
    with pytest.raises(CheckpointError, match="judges zones"):
        Scorer(model, model.template)
    with pytest.raises(CheckpointError, match="judges single nodes"):
        _ = nodes.zone_preprocessing


def test_zones_that_look_less_abnormal_take_the_log_odds_of_the_typical_zone():
    odds = np.array([[-2.0, -3.0, 5.0, 1.0, np.nan, -4.0]])  # three zones of two nodes
    found = at_least(odds, np.array([[0.0, 3.0]]))
    np.testing.assert_array_equal(found, [[0.0, 3.0, 5.0, 1.0, np.nan, 3.0]])
    unknown = at_least(odds, np.array([[np.nan, np.nan]]))
    np.testing.assert_array_equal(unknown, odds)


@pytest.mark.parametrize("margin", [0.0, TYPICAL_MARGIN])
def test_the_typical_zone_is_judged_alone_and_raises_every_zone(model, margin, monkeypatch):
    monkeypatch.setattr("graphghha.engine.zone_scorer.TYPICAL_MARGIN", margin)
    graph, preprocessing = model.template.replicate(4), model.preprocessing
    site = replace(model, preprocessing=preprocessing.with_levels(preprocessing.levels, preprocessing.levels))
    values, fresh = readings(40, len(graph.points))
    zones = ZoneScorer(model, graph).recent_odds(values, fresh, np.ones(40, bool))[1]
    alone = ZoneScorer(model, model.template).recent_odds(
        *TypicalZone(graph, model.template)(values, fresh), np.ones(40, bool)
    )[1]
    expected = ZoneScorer(model, graph).probabilities(at_least(zones, alone - margin))
    whole, live = ZoneScorer(site, graph), ZoneScorer(site, graph)
    found = whole.push(values, fresh, np.ones(40, bool)).probs
    np.testing.assert_array_equal(found, expected)
    rows = [live.push(values[i : i + 1], fresh[i : i + 1], np.ones(1, bool)).probs[0] for i in range(40)]
    np.testing.assert_allclose(np.stack(rows), found, atol=1e-6, equal_nan=True)
    assert live.push(values[:0], fresh[:0], np.ones(0, bool)).probs.shape[0] == 0
    assert live.push(values[:2], fresh[:2], np.zeros(2, bool)).probs.shape[0] == 0
    plain = ZoneScorer(model, graph).push(values, fresh, np.ones(40, bool)).probs
    known = np.isfinite(plain[..., 0])
    assert (np.isfinite(found[..., 0]) == known).all()
    assert (found != plain)[known].any() == (margin == 0.0), "this network is never sure enough for the margin"
