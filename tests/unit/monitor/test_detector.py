"""A restart fills the windows from the journal's rows: the scores are those of a run that never stopped."""

import numpy as np
import pytest

from graphghha.engine import EngineConfig, Scorer
from graphghha.windows import REBUILD_ROWS
from model_builders import small_model

EARLIER, AFTER = 90, 8


@pytest.fixture(scope="module")
def readings():
    model = small_model()
    graph = model.template.replicate(2)
    points = len(graph.points)
    rng = np.random.default_rng(5)
    values = rng.normal(20, 2, (EARLIER + REBUILD_ROWS + AFTER, points)).astype(np.float32)
    fresh = rng.random(values.shape) > 0.1
    values[~fresh] = np.nan
    return model, graph, values, fresh


def scores(model, graph, values, fresh):
    wanted = np.zeros(len(values), bool)
    wanted[-AFTER:] = True
    scored = Scorer(model, graph, EngineConfig(backend="native")).push(values, fresh, wanted)
    return scored.windows.features.tobytes(), scored.probs.tobytes()


def test_the_rows_a_rebuild_takes_give_the_bytes_of_an_uninterrupted_run(readings):
    model, graph, values, fresh = readings
    assert scores(model, graph, values, fresh) == scores(model, graph, values[EARLIER:], fresh[EARLIER:])


def test_fewer_rows_would_not_do(readings):
    model, graph, values, fresh = readings
    short = EARLIER + 70
    assert scores(model, graph, values, fresh) != scores(model, graph, values[short:], fresh[short:])
