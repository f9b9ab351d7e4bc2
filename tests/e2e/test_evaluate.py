"""The report card through the command line: files in, JSON, page and figures out; baselines beside the model."""

import json
import re
import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.errors import LeakError
from graphghha.lab.baselines import BaselineConfig, BaselineSuite
from graphghha.lab.evaluation import evaluate_task, files_task
from graphghha.lab.runs import Run, Schedule
from graphghha.lab.training import Recipe, Validation
from graphghha.models import load_model, save_model, shipped_model

ROOT = Path(__file__).parents[2]
ROW = {
    *("nodes", "method", "protocol", "p", "r", "f1", "f1_raw", "f1_ceiling", "f1_std", "seeds", "macro_f1", "auc_pr"),
    *("event_recall", "median_ttd_min", "p90_ttd_min", "false_alarms_per_day", "hit_at_1", "hit_at_1_strict"),
    *("hit_at_3", "mean_rank", "ece", "brier_skill"),
}
SMALL = BaselineConfig(
    names=("always", "never", "signal_range", "pca_residual", "node_mlp", "rules"),
    recipe=Recipe(
        zones=2,
        attacked_runs=1,
        attacked_days=4,
        normal_runs=1,
        normal_days=4,
        schedule=Schedule(mean_gap_days=0.1, rest_min=30, lasting_share=0.0, longest_min=300),
        workers=1,
    ),
    validation=Validation(attacked_runs=1, attacked_days=5, normal_runs=1, normal_days=4),
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The shipped weights with a budget that one validation day can keep."""
    directory = tmp_path_factory.mktemp("model") / "fcu"
    shipped = load_model(shipped_model("fcu"))
    search = replace(shipped.thresholds.search, budget_per_day=5.0)
    save_model(replace(shipped, thresholds=replace(shipped.thresholds, search=search)), directory)
    return directory


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "july.parquet"
    cases = [
        "FCU_VLVStuck_Cooling_100@1,start=2018-07-05T10:00,for=4h",
        "FCU_OABlockage@2,start=2018-07-05T09:00,for=5h",
    ]
    options = [part for case in cases for part in ("--case", case)]
    args = ["simulate", "--zones", "2", "--days", "4", "--start", "2018-07-02", "--seed", "77", *options, "--out", path]
    assert CliRunner().invoke(main, [str(arg) for arg in args]).exit_code == 0
    return path


def test_files_are_judged_and_the_page_is_written(model, data, tmp_path):
    result = CliRunner().invoke(main, ["evaluate", str(model), str(data), "--out", str(tmp_path / "card"), "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    (row,) = report["rows"]
    assert set(row) >= ROW and row["protocol"] == "files" and row["nodes"] == 64 and row["seeds"] == 1
    assert row["observable_events"] == 2 and row["event_recall"] == 1.0 and row["days"] == pytest.approx(1)
    assert set(report["classes"]) == {"actuator", "sensor", "controller"} and report["latency"]["p99_ms"] > 0
    assert set(report["cases"]) == {"FCU_VLVStuck_Cooling_100", "FCU_OABlockage"}
    low, high = row["event_recall_interval"]
    assert 0 < low < high == 1.0 and row["false_alarms_per_day_interval"][1] > row["false_alarms_per_day"]
    assert {(each["zone"], each["start"], each["end"]) for each in report["attacks"]} == {
        ("zone-01", "2018-07-05T10:00Z", "2018-07-05T14:00Z"),
        ("zone-02", "2018-07-05T09:00Z", "2018-07-05T14:00Z"),
    }
    kinds = [each["kind"] for each in report["alarms"]]
    (building,) = report["buildings"]
    assert len(kinds) - kinds.count("recovering") == building["false_alarms"]
    assert kinds.count("misplaced") == building["misplaced"]
    page = (tmp_path / "card" / "report.md").read_text()
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", page)
    assert len(pictures) == 7 and all("<svg" in (tmp_path / "card" / name).read_text() for name in pictures)
    assert json.loads((tmp_path / "card" / "report.json").read_text()) == report
    assert "nan" not in page.lower()


def test_baselines_score_the_same_minutes_and_a_second_report_fits_nothing_again(model, data, tmp_path, monkeypatch):
    task = files_task(load_model(model), data)
    first = evaluate_task(task, baselines=SMALL, work=tmp_path / "work", out=tmp_path / "card")
    rows = {row["method"]: row for row in first["rows"]}
    assert list(rows) == ["graphghha", *SMALL.names]
    assert {row["observable_events"] for row in first["rows"]} == {2}
    assert rows["never"]["event_recall"] == rows["never"]["event_recall_at_equal"] == 0
    assert rows["rules"]["event_recall_at_equal"] >= 0.5, "a stuck valve is what the rules were written for"
    assert first["baselines"]["keeps_budget"]["never"]
    page = (tmp_path / "card/report.md").read_text()
    assert "At equal false alarms" in page and "trained on 1 attacked and 1 normal buildings of their own" in page

    monkeypatch.setattr(BaselineSuite, "baselines", property(lambda self: pytest.fail("fitted again")))
    again = evaluate_task(task, baselines=SMALL, work=tmp_path / "work")
    assert again["rows"] == first["rows"]


def test_a_run_that_baselines_were_fitted_on_is_refused(model, tmp_path):
    suite = BaselineSuite(load_model(model), SMALL, tmp_path)
    learnt = suite.recipe.attacked(load_model(model).provenance["cases_seen"])[0]
    run = Run(seed=learnt.seed, start=datetime(2018, 6, 11), days=4, zones=3)  # the same building on other days
    with pytest.raises(LeakError, match="windows of baselines and test overlap"):
        suite.check_leaks([run])


def test_unlabelled_data_and_the_wrong_way_round_are_one_line(model, tmp_path):
    result = CliRunner().invoke(main, ["evaluate", str(model), str(tmp_path)])
    assert result.exit_code == 7 and "no telemetry" in result.stderr


def test_baselines_are_fitted_on_the_buildings_of_the_model(model, tmp_path):
    learnt = load_model(model).provenance
    suite = BaselineSuite(load_model(model), BaselineConfig(), tmp_path)
    sources = {run.source for run in (*suite.recipe.normal(), *suite.recipe.attacked(learnt["cases_seen"]))}
    assert sources < set(learnt["runs_seen"]) and len(sources) > 40
    assert suite.shares_validation and not BaselineSuite(load_model(model), SMALL, tmp_path).shares_validation


@pytest.mark.parametrize(
    ("column", "change", "reason"),
    [
        (
            "time",
            lambda old: pc.add(old, pa.scalar(365 * 86_400_000, pa.duration("ms"))),
            "the telemetry has no such minute",
        ),
        ("active", lambda old: pa.array([None, *old.to_pylist()[1:]]), "column 'active' has nulls"),
        ("class", lambda old: pa.array(["normal"] * len(old)), "active attack have class 'normal'"),
        ("active", lambda old: pa.array(["False"] * len(old)), "'active' holds string; it must hold true or false"),
        ("time", lambda old: pa.array(["noon"] * len(old)), "'time' holds string; it must hold timestamps"),
    ],
)
def test_labels_that_do_not_belong_are_refused_instead_of_lost(model, data, tmp_path, column, change, reason):
    shutil.copy(data, tmp_path / "july.parquet")
    labels = pq.read_table(data.with_suffix(".labels.parquet"))
    altered = labels.set_column(labels.schema.names.index(column), column, change(labels[column].combine_chunks()))
    pq.write_table(altered, tmp_path / "july.labels.parquet")
    result = CliRunner().invoke(main, ["evaluate", str(model), str(tmp_path / "july.parquet")])
    assert result.exit_code != 0 and reason in result.stderr and "Traceback" not in result.stderr


def test_a_quiet_day_of_a_monitor_just_connected_makes_a_page_without_figures_of_attacks(model, tmp_path):
    small = ["--runs", "1", "--days", "1", "--zones", "2", "--unseen-runs", "0", "--history-hours", "6"]
    result = CliRunner().invoke(main, ["evaluate", str(model), *small, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "report.md").read_text()
    assert (
        "Visible attacks: 0 of 0" in page and "Connected 6 hours before" in page and "contains no such attack" in page
    )
    assert (tmp_path / "confusion.svg").exists() and not (tmp_path / "budget.svg").exists()


def test_options_of_the_deploy_protocol_are_not_ignored_beside_data(model, data):
    result = CliRunner().invoke(main, ["evaluate", str(model), str(data), "--runs", "3"])
    assert result.exit_code == 2 and "--runs is for the deploy protocol" in result.stderr


def test_the_shipped_card_and_report_are_of_the_shipped_model():
    directory = shipped_model("fcu")
    report = json.loads((ROOT / "docs/results/deploy/report.json").read_text())
    assert report["model"] == load_model(directory).fingerprint
    card = load_model(directory).card
    assert f"| visible attacks that were detected | {report['card']['event_recall']:.3f} |" in card
    zones = json.loads((ROOT / "docs/results/zones/report.json").read_text())
    assert zones["model"] == load_model(shipped_model("fcu-zones")).fingerprint
