"""A model on small buildings: recorded as a monitor would score them, reported as JSON can hold it."""

import json
from dataclasses import replace

import numpy as np
import pytest

from graphghha.lab.evaluation import DeployConfig, deploy_task, evaluate_task, record_model
from graphghha.models import load_model, shipped_model
from graphghha.windows import HISTORY_ROWS

SMALL = DeployConfig(runs=1, days=1, zones=2, unseen_runs=0)


@pytest.fixture(scope="module")
def model():
    return load_model(shipped_model("fcu"))


@pytest.mark.slow
def test_the_report_of_the_shipped_model_can_be_held_by_json(model):
    report = evaluate_task(deploy_task(model, SMALL))
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert report["model"] == model.fingerprint
    assert report["protocol"] == "deploy" and report["card"]["days"] == 1


@pytest.mark.slow
def test_a_detector_just_connected_reads_only_what_came_since(model):
    task = deploy_task(model, replace(SMALL, history_hours=6))
    (labelled,) = task.runs
    (short,) = record_model(task, task.runs)
    rows = np.concatenate([day.values.reshape(len(day.times), -1) for day in labelled.days()])[HISTORY_ROWS - 360 :]
    expected = task.open_scorer(labelled).push(rows, np.isfinite(rows), np.arange(len(rows)) >= 360).probs
    np.testing.assert_array_equal(short.probs, expected.astype(short.probs.dtype))
    (full,) = record_model(task, deploy_task(model, SMALL).runs)
    assert full.truth.tobytes() == short.truth.tobytes() and not np.array_equal(full.probs, short.probs)
