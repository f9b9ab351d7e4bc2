"""The deploy protocol judges on data the model has not seen, or not at all."""

import json
from dataclasses import replace

import numpy as np
import pytest

from graphghha.errors import ConfigError, LeakError
from graphghha.lab.evaluation.plain import without_nan
from graphghha.lab.evaluation.protocols import (
    SEED_BASE,
    DeployConfig,
    deploy_trial,
    judge_trial,
    scorer_of,
    watch_trial,
)
from graphghha.models import load_model, save_model
from graphghha.models.shipped import shipped_model
from graphghha.windows.features import HISTORY_ROWS
from graphghha.windows.provenance import Fingerprint, Span

SMALL = DeployConfig(runs=1, days=1, zones=2)


def test_the_shipped_model_gets_a_card_that_json_can_carry():
    trial = deploy_trial(shipped_model("fcu"), SMALL)
    found = without_nan(judge_trial(trial, watch_trial(trial, trial.runs), []))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["protocol"] == "deploy" and found["card"]["days"] == 1


def test_a_model_that_saw_the_test_building_fails_the_run(tmp_path):
    model = load_model(shipped_model("fcu"))
    source = f"seed {SEED_BASE}, 2 zones, from 2018-01-21"
    peeked = replace(model.scaler, seen=Fingerprint((Span(source, 0, 10),), "0"))
    save_model(replace(model, preprocessing=replace(model.preprocessing, scaler=peeked)), tmp_path / "model")
    with pytest.raises(LeakError, match="scaler was fitted on test data"):
        deploy_trial(tmp_path / "model", SMALL)


def test_a_model_that_was_trained_on_the_test_building_fails_the_run(tmp_path):
    model = load_model(shipped_model("fcu"))
    other_days = f"seed {SEED_BASE}, 5 zones, from 2018-06-21"
    save_model(replace(model, provenance={**model.provenance, "runs_seen": [other_days]}), tmp_path / "model")
    with pytest.raises(LeakError, match="learnt from a building of this seed"):
        deploy_trial(tmp_path / "model", SMALL)


def test_a_held_out_case_in_training_fails_the_run(tmp_path):
    model = load_model(shipped_model("fcu"))
    seen = [*model.provenance["cases_seen"], model.provenance["unseen_cases"][0]]
    save_model(replace(model, provenance={**model.provenance, "cases_seen": seen}), tmp_path / "model")
    with pytest.raises(LeakError, match="held-out cases in training"):
        deploy_trial(tmp_path / "model", SMALL)


def test_impossible_settings_are_refused():
    with pytest.raises(ConfigError, match="at least 1"):
        DeployConfig(runs=0)
    with pytest.raises(ConfigError, match="within 0 to 72"):
        DeployConfig(history_hours=73)


def test_a_detector_just_connected_knows_only_what_came_since():
    trial = deploy_trial(shipped_model("fcu"), replace(SMALL, unseen_runs=0, history_hours=6))
    labelled = trial.runs[0]
    [seen] = watch_trial(trial, trial.runs)
    rows = np.concatenate([day.values.reshape(len(day.times), -1) for day in labelled.days()])[HISTORY_ROWS - 360 :]
    fresh = scorer_of(trial, labelled).push(rows, np.isfinite(rows), np.arange(len(rows)) >= 360).probs
    np.testing.assert_array_equal(seen.probs, fresh.astype(seen.probs.dtype))
    whole = deploy_trial(shipped_model("fcu"), replace(SMALL, unseen_runs=0))
    [known] = watch_trial(whole, whole.runs)
    assert known.truth.tobytes() == seen.truth.tobytes() and not np.array_equal(known.probs, seen.probs)
    assert whole.runs[0].identity != labelled.identity


def test_what_is_not_defined_is_null():
    assert without_nan({"a": [float("nan"), 1.0], "b": float("inf")}) == {"a": [None, 1.0], "b": None}
