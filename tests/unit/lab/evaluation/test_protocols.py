"""The deploy protocol evaluates a model on data that it has not seen, or not at all."""

from dataclasses import replace

import pytest

from graphghha.errors import ConfigError, LeakError
from graphghha.lab.evaluation.protocols import SEED_BASE, DeployConfig, deploy_task
from graphghha.models import load_model, shipped_model
from graphghha.windows import Fingerprint, Span

SMALL = DeployConfig(runs=1, days=1, zones=2)


@pytest.fixture(scope="module")
def model():
    return load_model(shipped_model("fcu"))


def test_a_model_whose_scaler_saw_the_test_building_is_refused(model):
    source = f"seed {SEED_BASE}, 2 zones, from 2018-01-21"
    leaky = replace(model.scaler, seen=Fingerprint((Span(source, 0, 10),), "0"))
    with pytest.raises(LeakError, match="scaler was fitted on test data"):
        deploy_task(replace(model, preprocessing=replace(model.preprocessing, scaler=leaky)), SMALL)


def test_a_model_that_was_trained_on_the_test_building_is_refused(model):
    other_days = f"seed {SEED_BASE}, 5 zones, from 2018-06-21"
    with pytest.raises(LeakError, match="trained on a building of this seed"):
        deploy_task(replace(model, provenance={**model.provenance, "runs_seen": [other_days]}), SMALL)


def test_a_model_that_was_trained_on_a_held_out_case_is_refused(model):
    seen = [*model.provenance["cases_seen"], model.provenance["unseen_cases"][0]]
    with pytest.raises(LeakError, match="held-out cases in training"):
        deploy_task(replace(model, provenance={**model.provenance, "cases_seen": seen}), SMALL)


def test_shorter_history_is_another_run_of_the_same_building(model):
    full, short = (deploy_task(model, replace(SMALL, history_hours=hours)).runs[0] for hours in (72, 6))
    assert full.run == short.run and full.identity != short.identity
    assert short.history_rows == 360


def test_impossible_settings_are_refused():
    with pytest.raises(ConfigError, match="at least 1"):
        DeployConfig(runs=0)
    with pytest.raises(ConfigError, match="give 0 to 72"):
        DeployConfig(history_hours=73)
