"""From testbed to report card in small: every stage real, the figures too small to mean anything."""

import shutil
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest
from click.testing import CliRunner

from graphghha.cli.main import main
from graphghha.engine import Scorer
from graphghha.errors import ConfigError, DataError, DivergedError, LeakError
from graphghha.lab.bench.detection.deploy import Comparison, TrainingSetup, mean
from graphghha.lab.bench.detection.variants import METHODS
from graphghha.lab.bench.pages.detection import detection_page
from graphghha.lab.evaluation import DeployConfig
from graphghha.lab.metrics import report_card
from graphghha.lab.runs import Run, Schedule, record, simulated_run
from graphghha.lab.training import (
    CalibrationConfig,
    FitConfig,
    Recipe,
    Validation,
    calibrate_and_threshold,
    train_network,
)
from graphghha.models import load_model, save_model
from graphghha.plants import CaseSpec

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
CALIBRATION = CalibrationConfig(
    validation=Validation(
        attacked_runs=1,
        attacked_days=5,
        normal_runs=1,
        normal_days=4,
        schedule=Schedule(mean_gap_days=0.2, rest_min=60, lasting_share=0.0),
    ),
    budget_per_day=5.0,
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    messages = []
    work = tmp_path_factory.mktemp("work")
    result = train_network(RECIPE, work, progress=messages.append, on_step=lambda progress: None)
    assert len(messages) == 5
    return result, work


@pytest.fixture(scope="module")
def model_directory(trained, tmp_path_factory):
    directory = tmp_path_factory.mktemp("models") / "small"
    save_model(calibrate_and_threshold(trained[0], RECIPE, CALIBRATION, progress=lambda line: None), directory)
    return directory


def test_a_second_run_takes_up_the_stages_of_the_first(trained):
    first, work = trained
    again = train_network(RECIPE, work, progress=lambda line: None, on_step=lambda progress: None)
    for name, tensor in first.adu.state_dict().items():
        assert (again.adu.state_dict()[name] == tensor).all()


@pytest.mark.parametrize("kind", ["recipe.json", "snapshot.pt", "scaler.json", "expectation.safetensors", "windows-*"])
@pytest.mark.parametrize("left", [0, 100])
def test_a_stage_that_the_disk_has_damaged_is_named(trained, kind, left, tmp_path):
    shutil.copytree(trained[1], tmp_path / "work")
    file = next((tmp_path / "work").glob(kind))
    file.write_bytes(file.read_bytes()[:left])
    with pytest.raises(DataError, match=f"{file.name}: is damaged .*delete it, and it will be computed again"):
        train_network(RECIPE, tmp_path / "work", progress=lambda line: None, on_step=lambda progress: None)


@pytest.mark.parametrize("changed", [{"seed": 1}, {"stride_min": 20}, {"adu": {**RECIPE.adu, "layers": 3}}])
def test_stages_of_other_settings_are_refused(trained, changed):
    with pytest.raises(ConfigError, match=f"other settings .*{next(iter(changed))}.*another work directory"):
        train_network(replace(RECIPE, **changed), trained[1], progress=lambda line: None, on_step=lambda progress: None)


def test_a_model_survives_the_disk_and_makes_a_whole_report_card(trained, model_directory):
    model, plant = load_model(model_directory), trained[0].plant
    assert set(model.provenance["cases_seen"]).isdisjoint(model.provenance["unseen_severities"])
    cases = (CaseSpec.parse("FCU_VLVStuck_Cooling_100@1,start=2018-07-05T09:00,for=2h"),)
    run = Run(seed=99, start=datetime(2018, 7, 2), days=4, zones=2, cases=cases)
    recording = record(plant, simulated_run(plant, run), Scorer(model, plant.template.replicate(2)))
    assert recording.probs.shape == (1440, 64, 4) and np.isfinite(recording.probs).all()
    (attack,) = recording.attacks
    assert plant.template.replicate(2).names[attack.targets[0]] == "zone-01/FCU_CVLV"
    assert attack.stop - attack.start == 120 and attack.observable_from >= attack.start
    card = report_card([recording], model.thresholds.rule, model.thresholds.group)
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
    assert "false alarms a day in a building of 2 zones" in card
    assert "graphghha evaluate MODEL --runs 1 --days 1 --zones 2 --unseen-runs 0 --seed 0" in card


def test_methods_are_compared_alike_under_the_deploy_protocol_and_what_is_done_is_kept(tmp_path, monkeypatch):
    setup = TrainingSetup(recipe=RECIPE, calibration=CALIBRATION, baselines=())
    small = [replace(variant, adu={**variant.adu, **RECIPE.adu}) for variant in METHODS[-2:]]
    comparison = Comparison(tmp_path / "work", DeployConfig(runs=1, days=1, unseen_runs=0), setup, methods=small)
    table = comparison.run([64], [0])
    assert [row["method"] for row in table["rows"]] == ["quantized_gat", "graphghha"]
    assert all(row["seeds"] == 1 and row["f1_std"] is None and 0 <= row["f1"] <= 1 for row in table["rows"])
    assert all(row["equal_false_alarms_per_day"] == 0.5 for row in table["rows"]), "the rate is the same for all"
    learnt = [load_model(tmp_path / "work/seed-0" / name).provenance for name in ("vanilla_gat", "graphghha")]
    assert learnt[0]["runs_seen"] == learnt[1]["runs_seen"]
    page = detection_page({}, tmp_path, table).read_text()
    assert "1 attacked and 1 normal ones" in page and "| 64 | quantized_gat |" in page
    monkeypatch.setattr(
        "graphghha.lab.bench.detection.deploy.train_network", lambda *_, **__: pytest.fail("trained again")
    )
    assert comparison.run([64], [0])["rows"] == table["rows"]


def test_seeds_are_pooled_where_a_figure_is_known():
    rows = [{"method": "a", "f1": 0.8, "median_ttd_min": None}, {"method": "a", "f1": 0.9, "median_ttd_min": 4.0}]
    pooled = mean(rows)
    assert pooled["f1"] == pytest.approx(0.85) and pooled["f1_std"] == pytest.approx(0.1 / 2**0.5)
    assert pooled["median_ttd_min"] == 4.0 and pooled["seeds"] == 2
    failed = mean([rows[0], {"method": "a", "f1": None, "failed": "does not train"}])
    assert failed["f1"] is None and failed["failed"] == "does not train"


def test_a_method_that_does_not_train_is_a_row_that_says_so_and_the_others_go_on(tmp_path, monkeypatch):
    def diverge(*_, **__):
        raise DivergedError(7)

    monkeypatch.setattr("graphghha.lab.bench.detection.deploy.train_network", diverge)
    config = DeployConfig(runs=1, days=1, unseen_runs=0)
    table = Comparison(tmp_path / "work", config, TrainingSetup(recipe=RECIPE, calibration=CALIBRATION)).run([64], [0])
    assert [row["f1"] for row in table["rows"]] == [None] * 4 and "step 7" in table["rows"][0]["failed"]
    assert "not finite at step 7" in detection_page({}, tmp_path, table).read_text()

    def leak(*_, **__):
        raise LeakError("seen before")

    monkeypatch.setattr("graphghha.lab.bench.detection.deploy.train_network", leak)
    with pytest.raises(LeakError):
        Comparison(tmp_path / "leaky", config, TrainingSetup(recipe=RECIPE, calibration=CALIBRATION)).run([64], [0])
    with pytest.raises(ConfigError, match="other settings"):
        Comparison(tmp_path / "work", replace(config, days=2), TrainingSetup(recipe=RECIPE, calibration=CALIBRATION))
