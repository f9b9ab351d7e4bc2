"""A plant of the user's own, from exported files to incidents: the page "Your plant in an hour" in an empty folder."""

import json
import re
import runpy
import shlex
import shutil
from pathlib import Path

import pyarrow.csv as pacsv
import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.errors import DataError
from graphghha.exports.recordings import read_recordings
from graphghha.models.own import load_own_model

DOCS = Path(__file__).parents[2] / "docs"


def graphghha(*arguments):
    return CliRunner().invoke(main, [str(each) for each in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An empty folder in which the page was carried out, line by line."""
    folder = tmp_path_factory.mktemp("plant")
    page = (DOCS / "your-plant.md").read_text(encoding="utf-8")
    lines = [
        line.removeprefix("$ ")
        for block in re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    outputs = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        shutil.copy(DOCS / "examples" / "tank.py", folder)
        for line in lines:
            program, *arguments = shlex.split(line)
            if program == "python":
                runpy.run_path(arguments[0], run_name="__main__")
                continue
            result = graphghha(*arguments)
            assert result.exit_code == 0, f"{line}\n{result.output}"
            outputs[arguments[0]] = result.stdout
    (folder / "outputs.json").write_text(json.dumps(outputs))
    return folder


def test_the_attack_is_found_and_named(folder):
    report = json.loads(
        graphghha(
            "evaluate", folder / "model", folder / "later.csv", "--labels", folder / "attacks.csv", "--json"
        ).stdout
    )
    (event,) = report["events"]
    assert event["found"] and event["named"] == "LIT101" and event["hit_at_1"] and event["delay_s"] <= 1800
    keys = ("range_f1", "etapr_f1", "affiliation_f1", "vus_pr", "batadal_s", "onset_balanced_accuracy")
    assert all(0 <= report[key] <= 1 for key in keys)
    assert report["false_alarms_per_hour"] <= 3 / 24, "the budget was one a day"


def test_scores_have_a_row_for_each_time_and_node(folder):
    table = pacsv.read_csv(folder / "scores.csv")
    assert table.column_names == ["time", "node", "p", "class"]
    assert len(table) == 3 * 288 * 5
    assert table["p"].null_count, "before the windows are filled, nodes are unknown"


def test_the_monitor_reports_the_attack_without_further_settings(folder):
    lines = json.loads((folder / "outputs.json").read_text())["watch"].splitlines()
    assert any(
        line.startswith("2026-03-21 01:") and "LIT101 is anomalous (sensor, by its kind), p" in line for line in lines
    )


def test_the_model_carries_the_whole_plant(folder, tmp_path):
    shutil.copytree(folder / "model", tmp_path / "model")
    plant = load_own_model(tmp_path / "model").plant
    assert plant.text == (folder / "plant.toml").read_text()
    (tmp_path / "model" / "plant.toml").write_text(plant.text + "\n# another plant\n")
    result = graphghha("score", tmp_path / "model", folder / "later.csv", "--out", tmp_path / "scores.csv")
    assert result.exit_code and "plant.toml: does not match its SHA-256" in result.output


def test_a_renamed_column_is_named_with_the_one_that_resembles_it(folder, tmp_path):
    text = (folder / "later.csv").read_text().replace("LIT101", "LIT-101x", 1)
    (tmp_path / "renamed.csv").write_text(text)
    result = graphghha("score", folder / "model", tmp_path / "renamed.csv", "--out", tmp_path / "scores.csv")
    assert result.exit_code and "no column 'LIT101'" in result.output and "LIT-101x" in result.output


def test_labels_of_another_file_and_unknown_nodes_are_refused(folder, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("start,end,nodes,class\n2025-01-01 00:00,2025-01-01 01:00,LIT101,sensor\n")
    result = graphghha("evaluate", folder / "model", folder / "later.csv", "--labels", labels)
    assert result.exit_code and "labels of another file" in result.output
    labels.write_text("start,end,nodes,class\n2026-03-21 01:00,2026-03-21 02:00,LIT102,sensor\n")
    result = graphghha("evaluate", folder / "model", folder / "later.csv", "--labels", labels)
    assert result.exit_code and "no node 'LIT102'; did you mean 'LIT101'?" in result.output


def test_too_few_normal_days_for_the_budget_are_refused(folder, tmp_path):
    arguments = ["--plant", folder / "plant.toml", "--data", folder / "normal.csv", "--out", tmp_path / "model"]
    result = graphghha("train", *arguments, "--alert-budget", "0.01/day")
    assert result.exit_code and "14.00 normal days are too few" in result.output and "--alert-budget" in result.output


def test_a_unit_that_does_not_fit_and_a_column_without_readings_are_refused(folder, tmp_path):
    lines = (folder / "normal.csv").read_text().splitlines()
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("\n".join([lines[0].replace("[m]", "[degC]"), *lines[1:]]))
    arguments = ["train", "--plant", folder / "plant.toml", "--out", tmp_path / "model", "--data"]
    result = graphghha(*arguments, wrong)
    assert result.exit_code and "LIT101: unit 'degC' does not fit" in result.output
    cells = [line.split(",") for line in lines]
    wrong.write_text(
        "\n".join(",".join([row[0], "" if number else row[1], *row[2:]]) for number, row in enumerate(cells))
    )
    result = graphghha(*arguments, wrong)
    assert result.exit_code and "LIT101: has no usable reading in the normal data" in result.output


def test_incidents_say_where_their_class_and_probability_come_from(folder, tmp_path):
    """Without labels the class is the kind of the node; a class of the labels is marked as such."""
    found = {}
    for name in ("model", "taught"):
        state = tmp_path / name
        arguments = ["--source", f"csv:{folder / 'later.csv'}", "--model", folder / name, "--state", state]
        printed = graphghha("watch", *arguments, "--json").stdout
        bodies = [json.loads(line)["body"] for line in printed.splitlines() if "incident.annunciated" in line]
        found[name] = {(body["class_is"], body["p_is"]) for body in bodies if body["root"] == "LIT101"}
        (body, *_) = [body for body in bodies if body["root"] == "LIT101"]
        shown = graphghha("alarms", "show", "--journal", state / "journal.sqlite", body["id"])
        assert "p comes from the tail of the scores of normal operation" in shown.output
    assert found == {"model": {("by_kind", "tail")}, "taught": {("by_label", "tail")}}


def test_evidence_names_the_points_of_the_plant(folder, tmp_path):
    source = f"csv:{folder / 'later.csv'}"
    printed = graphghha("watch", "--source", source, "--model", folder / "model", "--state", tmp_path, "--json").stdout
    events = [json.loads(line) for line in printed.splitlines()]
    nodes = {item["node"] for event in events for item in event["body"].get("evidence", ()) if item["kind"] == "signal"}
    assert nodes and nodes <= set(load_own_model(folder / "model").plant.template.names)


def test_the_python_example_finds_the_same_attack(folder, monkeypatch, capsys):
    page = (DOCS / "your-plant.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(folder)
    shutil.rmtree(folder / "model-2", ignore_errors=True)
    names = {}
    exec(compile(block, "your-plant.md", "exec"), names)
    assert "points at LIT101" in capsys.readouterr().out
    scores, alarms = names["scores"], names["alarms"]
    assert len(scores) == len(names["suspects"]) == 3 * 288 and (alarms == (scores <= -1)).all()
    assert alarms[300:350].sum() >= 20 and alarms[:300].sum() <= 30
    values = read_recordings([Path("later.csv")], names["again"].plant).recordings[0].values
    assert (names["again"].score_samples(values) == scores).all()
    with pytest.raises(DataError, match=r"give \[rows, 5\]"):
        names["again"].predict(values[:, 1:])


def test_short_data_get_a_budget_that_they_can_tell_and_constants_are_listed(folder, tmp_path, monkeypatch):
    lines = (folder / "normal.csv").read_text().splitlines()[:240]
    rows = [f"{line},{'SPARE [bar]' if number == 0 else 7}" for number, line in enumerate(lines)]
    monkeypatch.chdir(tmp_path)
    Path("short.csv").write_text("\n".join(rows))
    assert graphghha("plant", "new", "--data", "short.csv", "--out", "plant.toml").exit_code == 0
    result = graphghha("train", "--plant", "plant.toml", "--data", "short.csv", "--out", "model")
    assert result.exit_code == 0 and "alert budget is 2.5/day" in result.stderr
    assert "their first move is an alarm: SPARE" in Path("model/README.md").read_text()
