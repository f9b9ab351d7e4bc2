"""From testbed to report card in small: every stage real, the figures too small to mean anything."""

import shutil
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest
from click.testing import CliRunner

from graphghha.alarms import AlarmRule, GroupRule
from graphghha.cli.main import main
from graphghha.engine.scorer import Scorer
from graphghha.errors import ConfigError
from graphghha.evaluation.card import report_card
from graphghha.evaluation.recording import record
from graphghha.evaluation.scenario import Run, Schedule, attacked_run
from graphghha.models import load_model, save_model
from graphghha.training.finish import FinishConfig, finish
from graphghha.training.fit import FitConfig
from graphghha.training.recipe import Recipe, train

RECIPE = Recipe(
    zones=2,
    normal_runs=1,
    normal_days=5,
    attacked_runs=1,
    attacked_days=5,
    validation_runs=1,
    validation_days=5,
    stride_min=30,
    schedule=Schedule(mean_gap_days=0.2, rest_min=60, lasting_share=0.0),
    fit=FitConfig(epochs=15, batch=8, learning_rate=1e-2),
    adu={"width": 16, "heads": 2, "layers": 2},
    workers=1,
)
FINISH = FinishConfig(
    attacked_runs=1,
    attacked_days=5,
    normal_runs=1,
    normal_days=4,
    budget_per_day=5.0,
    schedule=Schedule(mean_gap_days=0.2, rest_min=60, lasting_share=0.0),
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    said = []
    work = tmp_path_factory.mktemp("work")
    result = train(RECIPE, work, say=said.append, on_step=lambda progress: None)
    assert len(said) == 5
    return result, work


@pytest.fixture(scope="module")
def model_directory(trained, tmp_path_factory):
    directory = tmp_path_factory.mktemp("models") / "small"
    save_model(finish(trained[0], RECIPE, FINISH, say=lambda text: None), directory)
    return directory


def test_a_second_run_takes_up_the_stages_of_the_first(trained):
    first, work = trained
    again = train(RECIPE, work, say=lambda text: None, on_step=lambda progress: None)
    for name, tensor in first.adu.state_dict().items():
        assert (again.adu.state_dict()[name] == tensor).all()


@pytest.mark.parametrize("changed", [{"seed": 1}, {"stride_min": 20}, {"adu": {**RECIPE.adu, "layers": 3}}])
def test_stages_of_other_settings_are_refused(trained, changed):
    with pytest.raises(ConfigError, match=f"other settings .*{next(iter(changed))}.*another work directory"):
        train(replace(RECIPE, **changed), trained[1], say=lambda text: None, on_step=lambda progress: None)


def test_a_model_survives_the_disk_and_makes_a_whole_report_card(trained, model_directory):
    model, plant = load_model(model_directory), trained[0].plant
    assert set(model.provenance["cases_seen"]).isdisjoint(model.provenance["unseen_severities"])
    run = attacked_run(
        Run(seed=99, start=datetime(2018, 7, 2), days=4, zones=2), model.provenance["cases_seen"], FINISH.schedule
    )
    run = replace(run, cases=("FCU_VLVStuck_Cooling_100@1,start=2018-07-05T09:00,for=2h",))
    recording = record(plant, run, Scorer(model, plant.template.replicate(2)))
    assert recording.probs.shape == (1440, 64, 4) and np.isfinite(recording.probs).all()
    (attack,) = recording.attacks
    assert plant.template.replicate(2).names[attack.targets[0]] == "zone-01/FCU_CVLV"
    assert attack.stop - attack.start == 120 and attack.observable_from >= attack.start
    card = report_card([recording], AlarmRule(**model.thresholds["rule"]), GroupRule(**model.thresholds["group"]))
    row = card.row()
    assert row["events"] == row["observable_events"] == 1 and 0 <= row["f1"] <= 1 and row["days"] == pytest.approx(1)
    assert card.confusion.sum() > 0


def test_the_report_card_goes_into_the_model_directory(model_directory, tmp_path):
    directory = tmp_path / "judged"
    shutil.copytree(model_directory, directory)
    small = ["--runs", "1", "--days", "1", "--zones", "2", "--unseen-runs", "0"]
    result = CliRunner().invoke(main, ["evaluate", str(directory), *small, "--write-card", "--json"])
    assert result.exit_code == 0, result.output
    card = load_model(directory).card
    assert "Report card, deploy protocol: 1 unseen buildings of 2 zones" in card
    assert "false alarms a day, building of 2 zones" in card
    assert "graphghha evaluate MODEL --runs 1 --days 1 --zones 2 --unseen-runs 0 --seed 0" in card
