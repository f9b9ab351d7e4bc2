"""Event-driven scoring is compared with full passes on the same stream."""

import numpy as np
import pytest

from graphghha.engine import Engine
from graphghha.lab.bench.speed import incremental
from graphghha.models import load_model, shipped_model

pytestmark = pytest.mark.slow


def test_normal_operation_is_consecutive_and_at_the_engines_scale():
    model = load_model(shipped_model("fcu"))
    longer, shorter = (incremental.normal_windows(model, 2, minutes, 5) for minutes in (6, 4))
    assert longer.shape == (6, 64, 18)
    np.testing.assert_array_equal(longer[:4], shorter)
    assert 0 < np.abs(np.diff(longer, axis=0)).max() < 10


def test_without_tolerance_the_scores_are_equal_and_with_it_fewer_rows_are_recomputed(events):
    plant = [row for row in events["rows"] if row["stream"] == "normal operation"]
    assert plant[0]["tolerance"] == 0.0 and plant[0]["max_difference"] == 0.0 and plant[0]["flipped"] == 0.0
    assert plant[-1]["rows_share"] < plant[0]["rows_share"] == 1.0
    assert [row["bound"] for row in events["bounds"]] == list(incremental.BOUNDS)


def test_only_a_setting_that_keeps_every_score_and_saves_time_is_best():
    good = {"stream": "a", "nodes": 1, "tolerance": 0.1, "max_difference": 1e-3, "flipped": 0.0}
    good |= {"rows_share": 0.5, "ratio": 0.6}
    assert incremental.best_setting([good, {**good, "ratio": 0.5, "tolerance": 0.2}], "a", 1)["tolerance"] == 0.2
    spoilt = {"max_difference": 2e-3, "flipped": 1e-6, "rows_share": 1.0, "ratio": 1.1, "nodes": 2, "stream": "b"}
    for worse in ({name: value} for name, value in spoilt.items()):
        assert incremental.best_setting([{**good, **worse}], "a", 1)["tolerance"] is None


def test_foresight_recomputes_the_zones_that_move_and_no_others(setup):
    task = setup.task(128, "fp32")
    engine = Engine(task.adu("graphghha", "fp32"), task.graph, backend="native")
    still = np.repeat(task.windows(), 5, axis=0)
    assert [row["zones_share"] for row in incremental.foresight(engine, still, 4)] == [0.0] * 3
    moving = still.copy()
    moving[1::2, :32] += 3.0  # one zone of four alternates; the others change by less than the last bound
    assert incremental.foresight(engine, moving, 4)[-1]["zones_share"] == 0.25


def test_calm_streams_save_rows_and_streams_without_tolerance_do_not(setup):
    task = setup.task(320, "fp32")
    stream = incremental.calm_stream(task, 6)
    exact, calm = incremental.sweep("calm", task.adu("graphghha", "fp32"), task, stream, ((0.0, 0.05), (0.05, 0.05)))
    assert exact["rows_share"] > 0.95 and exact["flipped"] == 0.0 and exact["max_difference"] < 1e-6
    assert calm["rows_share"] < 0.6 and calm["max_difference"] < 0.05
