"""Commands on a model that judges zones: they work, or say in one sentence what they need."""

from dataclasses import replace
from pathlib import Path

import pytest

from graphghha.engine.per_zone import ZoneEngine, engine_for
from graphghha.errors import ConfigError
from graphghha.lab.baselines import BaselineConfig, BaselineSuite
from graphghha.lab.bench.harness import Effort
from graphghha.lab.bench.speed import incremental, precision
from graphghha.lab.bench.speed.methods import Setup
from graphghha.lab.evaluation import DeployConfig, deploy_task, evaluate_task
from graphghha.lab.evaluation.model_card import model_card
from graphghha.lab.runs import Schedule
from graphghha.models import CommissioningRecord, save_model
from graphghha.plants import load_plant
from model_builders import small_zone_model, untrained_zone_model

PROVENANCE = {"cases_seen": [], "unseen_severities": [], "unseen_cases": ["FCU_OABlockage"], "windows": 1234}
SETUP = Setup(effort=Effort(budget_s=0.0, min_rounds=1, slice_s=0.0))
QUICK = DeployConfig(
    runs=1, days=1, zones=2, unseen_runs=0, schedule=Schedule(mean_gap_days=0.1, rest_min=60, lasting_share=0.0)
)


@pytest.fixture(scope="module")
def model():
    return replace(untrained_zone_model(load_plant("fcu")), provenance=PROVENANCE)


@pytest.fixture(scope="module")
def directory(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("zones") / "model"
    save_model(model, path)
    return path


def test_baselines_are_refused_before_anything_is_scored(model):
    with pytest.raises(ConfigError, match="baselines: .* this one judges zones; run graphghha bench whether-where"):
        evaluate_task(deploy_task(model, QUICK), baselines=BaselineConfig(), progress=pytest.fail)
    with pytest.raises(ConfigError, match="judges zones"):
        BaselineSuite(model, BaselineConfig(), Path("never-written"))


def test_event_driven_scoring_is_refused(directory):
    with pytest.raises(ConfigError, match="bench events: give a model that judges single nodes"):
        incremental.run(SETUP, directory, (2,), 12)


def test_a_model_of_a_site_is_not_evaluated_in_other_buildings(model):
    record = CommissioningRecord(
        base="",
        data="",
        first="",
        last="",
        days=14,
        zones=("zone-01",),
        threshold=4.0,
        own_threshold=4.0,
        expected_false_per_day=(0.1, 0.2),
    )
    with pytest.raises(ConfigError, match="commissioned at a site"):
        deploy_task(replace(model, commissioning=record), QUICK)


def test_the_engine_of_such_a_model_scores_zone_by_zone():
    model = small_zone_model()
    engine = engine_for(model, model.template.replicate(3))
    assert isinstance(engine, ZoneEngine) and engine.describe()["zone_by_zone"]


@pytest.mark.slow
def test_it_is_evaluated_and_its_card_says_what_it_was_taught(model):
    report = evaluate_task(deploy_task(model, QUICK))
    card = model_card(model, report)
    assert "no case of the catalogue seen" in card and "none of their cases was taught" in card
    assert "95 % intervals" in card and "are in quiet zones" in card and "compared with the paper" in card


@pytest.mark.slow
def test_every_dtype_scores_it(directory):
    result = precision.run(SETUP, directory, 64, test=QUICK)
    exact, *others = result["rows"]
    assert [row["dtype"] for row in result["rows"]] == ["fp32", "fp16", "bf16"] and exact["max_difference"] == 0
    assert all(row["max_difference"] > 0 and row["threshold_flipped"] < 0.1 for row in others)
