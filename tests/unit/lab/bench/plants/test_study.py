"""`bench plants` on invented data in the form of the public data sets."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.exports.attack_labels import AttackEvent
from graphghha.exports.recordings import Recording
from graphghha.lab.bench.pages.index import write_pages
from graphghha.lab.bench.pages.plants import plants_page
from graphghha.lab.bench.plants.columns import column_halves, judge_by_halves, on
from graphghha.lab.bench.plants.judged import budget_threshold
from graphghha.lab.bench.plants.trials import Draw
from graphghha.lab.evaluation.own_evaluate import Outcome

NORMAL, ROWS = 4000, 4300
NAMES = ("levelSetting", "feedVal", "towerLevel", "outletFlow", "boilerTemp")


def tank(rows, rng):
    """A level that a valve keeps, an outlet that follows the level, and a temperature that drifts."""
    level, valve = np.empty(rows), np.empty(rows)
    now = 50.0
    for at in range(rows):
        valve[at] = np.clip(40 + 4 * (50 - now) + 10 * np.sin(at / 17), 0, 100)
        now += 0.05 * (valve[at] - 0.8 * now) + rng.normal(0, 0.05)
        level[at] = now
    steam = 80 + 3 * np.sin(np.arange(rows) / 40) + rng.normal(0, 0.1, rows)
    columns = [np.full(rows, 50.0), valve, level, 0.8 * level + rng.normal(0, 0.1, rows), steam]
    return np.round(np.stack(columns, axis=1), 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A laboratory plant with two trials, a water network and nothing else."""
    rng, folder = np.random.default_rng(5), tmp_path_factory.mktemp("data")
    tables = []
    for number, (trial, attack, column) in enumerate((t, a, c) for t in (1, 2) for a, c in (("high", 2), ("shut", 1))):
        values = tank(ROWS, rng)
        values[NORMAL:, column] = 90.0 if attack == "high" else 0.0
        times = (
            np.datetime64("2026-03-01T00:00:00")
            + np.timedelta64(number * 3600, "s")
            + 500 * np.arange(ROWS).astype("timedelta64[ms]")
        )
        about = {"file": [f"{attack}_{trial}.csv"] * ROWS, "attack": [attack] * ROWS, "trial": [trial] * ROWS}
        about |= {"row": list(range(ROWS)), "time": pa.array(times.astype("datetime64[ms]"))}
        labels = ["Normal"] * NORMAL + ["Attack"] * (ROWS - NORMAL)
        tables.append(pa.table(about | dict(zip(NAMES, values.T, strict=True)) | {"class": labels}))
    (folder / "eds").mkdir()
    pq.write_table(pa.concat_tables(tables), folder / "eds" / "train.parquet")
    (folder / "eds" / "attack_map.csv").write_text(
        "attack,class,target_columns\nhigh,sensor,towerLevel\nshut,actuator,feedVal\n"
    )
    (folder / "batadal").mkdir()
    for name, year, rows in (("normal", 2024, 1500), ("attacks", 2026, 600)):
        values = tank(rows, rng)
        if name == "attacks":
            values[300:340, 2] += 60
        times = np.datetime64(f"{year}-01-01T00:00:00") + np.arange(rows).astype("timedelta64[h]")
        columns = {"DATETIME": pa.array(times.astype("datetime64[ms]"))} | dict(zip(NAMES, values.T, strict=True))
        columns["ATT_FLAG"] = np.zeros(rows)
        pq.write_table(pa.table(columns), folder / "batadal" / f"train_{name}.parquet")
    (folder / "batadal" / "attacks_train.csv").write_text(
        "start,end,target_columns,class\n2026-01-13 12:00,2026-01-15 03:00,towerLevel,sensor\n"
    )
    return folder


def test_every_method_is_judged_and_the_page_shows_it(folder, tmp_path):
    arguments = ["bench", "plants", "--data", str(folder), "--quick", "--json", "--out", str(tmp_path / "r.json")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    rows = {(row["dataset"], row["method"]): row for row in found["rows"]}
    assert found["config"]["datasets"] == ["eds", "batadal"]
    labelled = {"graphghha, labels", "graphghha, labels of other columns", "boosting, labels"}
    assert {method for dataset, method in rows if dataset == "EDS"} >= {"graphghha", "always"} | labelled
    assert not any("labels" in method for dataset, method in rows if dataset == "BATADAL"), "it has none to learn from"
    assert rows["EDS", "graphghha, labels"]["f1"] > 0.8 and rows["EDS", "graphghha, labels"]["hit_at_1"] == 1.0
    own, always = rows["EDS", "graphghha"], rows["EDS", "always"]
    assert own["f1"] > max(0.8, always["f1"]) and always["false_positive_rate"] == 1.0
    assert {event["nodes"][0] for event in own["events"]} == {"towerLevel", "feedVal"}
    assert rows["BATADAL", "graphghha"]["event_recall"] == 1.0
    (page, _) = write_pages([found], tmp_path / "pages")
    text = page.read_text()
    assert "smoke run" in text and "| graphghha |" in text and "## A water network" in text
    assert "| sensor | 1.00 / 1.00 |" in text, "attacks by class, the first column is graphghha"


def test_columns_attacked_together_are_in_the_same_half_and_judged_by_the_other():
    targets = (("b",), ("a", "d"), ("c",), ("d", "e"), ())
    events = [AttackEvent(number, 5, 9, nodes, "", "") for number, nodes in enumerate(targets)]
    halves = column_halves(events)
    assert halves == ({"a", "d", "e", "c"}, {"b"})
    recordings = tuple(Recording(f"r{n}", (), np.arange(9), np.zeros((9, 1))) for n in range(len(targets)))
    draw = Draw(recordings=recordings, events=tuple(events))
    judges = [
        lambda own, mark=mark: Outcome(np.full(9, mark), np.zeros(9, np.bool_), np.zeros((9, 1), np.float32))
        for mark in (0.0, 1.0)
    ]
    judged = judge_by_halves(draw, halves, judges)(recordings)
    assert judged.score.reshape(-1, 9)[:, 0].tolist() == [0.0, 1.0, 1.0, 1.0, 0.0], "who learned from the other half"
    assert [event.nodes for event in on(halves[0], events)] == [("a", "d"), ("c",), ("d", "e")]


def test_a_folder_without_the_data_sets_is_refused(tmp_path):
    result = CliRunner().invoke(main, ["bench", "plants", "--data", str(tmp_path)])
    assert result.exit_code and "eds/train.parquet" in result.output


def test_the_threshold_of_a_baseline_keeps_the_budget():
    scores = np.zeros(1000)
    scores[[100, 101, 400, 900]] = 3.0, 3.0, 2.0, 1.0
    for allowed in (1, 2, 3):
        threshold = budget_threshold([scores], 5, allowed)
        rows = np.flatnonzero(scores > threshold)
        assert 1 + (np.diff(rows) > 5).sum() <= allowed if len(rows) else True
    assert budget_threshold([scores], 5, 3) < 1.0


def test_the_page_shows_attacks_on_a_building_by_kind_and_by_size(tmp_path):
    figures = {"false_alarms_per_day": 0.5, "in_alarm": 0.01, "event_recall": 0.5, "hit_at_1": 0.5, "hit_at_3": 0.5}
    rows = [
        {"dataset": "building", "split": split, "method": "graphghha", "seed": 0, "attacks": 4}
        | figures
        | {
            "by_mechanism": {"hold": [1, 4]},
            "by_size": {"0.1 to 0.2": [0, 2], "below 0.1": [0, 1], "0.5 and more": [1, 1]},
        }
        for split in ("later days", "earlier days")
    ]
    config = {"datasets": ["real_site"], "seeds": 1, "quick": False}
    text = plants_page([{"config": config, "rows": rows}], tmp_path).read_text()
    lines = [line for line in text.splitlines() if line.count("|") == 3]
    assert "| hold | 2 of 8 |" in lines
    assert lines[-3:] == ["| below 0.1 | 0 of 2 |", "| 0.1 to 0.2 | 0 of 4 |", "| 0.5 and more | 2 of 2 |"]
