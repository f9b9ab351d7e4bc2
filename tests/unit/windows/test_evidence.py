"""Features of the evidence kind: the same bytes live and in batch, and nothing absolute in them."""

from dataclasses import replace

import numpy as np
import pytest

from builders import loop_template
from graphghha.errors import CheckpointError, GraphError, SchemaError
from graphghha.windows import EvidenceFeaturizer, EvidencePreprocessing
from graphghha.windows.evidence import FEATURES
from model_builders import small_zone_preprocessing

TEMPLATE = loop_template()
SIGNALS = len(TEMPLATE.points)


def readings(rows, zones, seed=0):
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(0, 0.1, (rows, zones * SIGNALS)), axis=0) + 20


def featurizer(zones, preprocessing=None):
    return EvidenceFeaturizer(TEMPLATE.replicate(zones), TEMPLATE, preprocessing or small_zone_preprocessing())


def push(made, values, fresh=None, wanted=None):
    fresh = np.ones(values.shape, bool) if fresh is None else fresh
    return made.push(values, fresh, np.ones(len(values), bool) if wanted is None else wanted)


@pytest.mark.parametrize("zones", [1, 3])
def test_live_and_batch_give_the_same_bytes(zones):
    values = readings(200, zones)
    fresh = np.random.default_rng(2).random(values.shape) > 0.05
    slopes = np.random.default_rng(3).normal(0, 0.1, (1, SIGNALS, 1 + SIGNALS + 1)).astype(np.float32)
    preprocessing = small_zone_preprocessing()
    bounds = np.tile(np.array([-1.0, 1.0], np.float32), (1, SIGNALS, 1))
    preprocessing = preprocessing.with_levels(replace(preprocessing.levels, slopes=slopes, bounds=bounds))
    whole = push(featurizer(zones, preprocessing), values, fresh)
    live, parts = featurizer(zones, preprocessing), []
    for row in range(200):
        parts.append(push(live, values[row : row + 1], fresh[row : row + 1]))
    assert np.concatenate([p.features for p in parts]).tobytes() == whole.features.tobytes()
    assert np.concatenate([p.known for p in parts]).tobytes() == whole.known.tobytes()
    assert np.concatenate([p.rows for p in parts]).tolist() == list(range(200))
    assert np.isfinite(whole.features).all() and np.abs(whole.features).max() > 0.5


def test_only_wanted_rows_are_returned_and_none_is_possible():
    made, values = featurizer(2), readings(30, 2)
    wanted = np.zeros(30, bool)
    assert push(made, values[:10], wanted=wanted[:10]).features.shape == (0, 2 * TEMPLATE.num_nodes, len(FEATURES))
    wanted[12] = True
    assert push(made, values[10:], wanted=wanted[10:]).rows.tolist() == [12]


def test_a_move_of_all_zones_together_is_no_gap_and_a_move_of_one_is():
    values = np.full((120, 3 * SIGNALS), 20.0)
    gap = FEATURES.index("gap_1h")
    temp = TEMPLATE.replicate(3).index("zone-01/temp")
    together, alone = values.copy(), values.copy()
    together[60:] += 3
    alone[60:, TEMPLATE.points.index("temp")] += 3
    assert push(featurizer(3), together).features[-1, temp, gap] == 0
    assert push(featurizer(3), alone).features[-1, temp, gap] > 0.3
    assert push(featurizer(1), alone[:, :SIGNALS]).features[-1, TEMPLATE.index("temp"), gap] == 0, "nobody to compare"


def test_silent_points_are_unknown_and_points_a_site_lacks_are_judged_by_their_neighbors():
    values = readings(20, 1)
    values[:, TEMPLATE.points.index("valve")] = np.nan
    valve, pump = TEMPLATE.index("valve"), TEMPLATE.index("pump")
    windows = push(featurizer(1), values, np.isfinite(values))
    assert not windows.known[-1, valve] and windows.known[-1, pump]
    assert (windows.features[:, valve] == 0).all()
    preprocessing = small_zone_preprocessing()
    heard = preprocessing.levels.heard.copy()
    heard[0, TEMPLATE.points.index("valve")] = False
    lacks = preprocessing.with_levels(replace(preprocessing.levels, heard=heard))
    assert push(featurizer(1, lacks), values, np.isfinite(values)).known[-1, valve]
    silent = np.zeros(values.shape, bool)
    assert not push(featurizer(1, lacks), values, silent).known.any(), "without any reading nothing is known"


def test_what_does_not_fit_is_refused():
    preprocessing = small_zone_preprocessing()
    with pytest.raises(SchemaError, match="do not fit"):
        push(featurizer(1), readings(3, 2))
    two = {name: np.repeat(array, 2, axis=0) for name, array in preprocessing.levels.to_arrays().items()}
    with pytest.raises(GraphError, match="commissioned for 2 zones, but the site has 3"):
        featurizer(3, preprocessing.with_levels(type(preprocessing.levels).from_arrays(two)))
    parts = preprocessing.scaler, preprocessing.expectation, preprocessing.levels
    for change, message in (
        ({"features": ["a"]}, "other features"),
        ({"switches": [99]}, "switches must be numbers"),
        ({"ranges": [[0, 1]]}, "ranges must be"),
    ):
        with pytest.raises(CheckpointError, match=message):
            EvidencePreprocessing.from_parts(*parts, {**preprocessing.to_dict(), **change})
    broken = {**preprocessing.levels.to_arrays(), "width": np.zeros((1, SIGNALS), np.float32)}
    with pytest.raises(CheckpointError, match="width must be above 0"):
        type(preprocessing.levels).from_arrays(broken)
    with pytest.raises(CheckpointError, match="'gap' is missing"):
        type(preprocessing.levels).from_arrays({k: v for k, v in broken.items() if k != "gap"})
