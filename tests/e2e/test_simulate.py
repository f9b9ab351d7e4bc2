import json

import numpy as np
import pytest
from click.testing import CliRunner

from graphghha.cli.cases import cases
from graphghha.cli.simulate import simulate
from graphghha.errors import ConfigError, NotFoundError
from graphghha.plants.fcu.catalog import CASES
from graphghha.plants.fcu.lbnl import open_lbnl
from graphghha.plants.fcu.signals import NAMES, SIGNALS
from graphghha.plants.fcu.topology import TEMPLATE
from graphghha.plants.telemetry import TelemetryFile, read_labels

ATTACK = "FCU_VLVStuck_Heating_100@2,start=2018-07-03T09:00,for=6h"
SUMMER = ["--start", "2018-07-02", "--seed", "5"]


def run(*arguments):
    outcome = CliRunner().invoke(simulate, [*SUMMER, *map(str, arguments)], catch_exceptions=False)
    assert outcome.exit_code == 0
    return outcome


def test_a_run_is_telemetry_with_labels_beside_it_and_a_summary(tmp_path):
    out = tmp_path / "new" / "run.parquet"
    outcome = run("--zones", 3, "--days", 3, "--case", ATTACK, "--out", out, "--json")
    summary = json.loads(outcome.stdout)
    assert summary["files"] == [str(out), str(out.with_name("run.labels.parquet"))]
    assert summary["readings"] == 3 * 3 * 1440 * 29

    file = TelemetryFile(out)
    assert file.meta.zones == ("zone-01", "zone-02", "zone-03")
    assert file.meta.template_hash == summary["template_hash"] == TEMPLATE.content_hash
    assert file.meta.units == tuple(signal.unit for signal in SIGNALS)
    assert (file.meta.seed, file.meta.step_s, file.meta.cases) == (5, 60.0, (ATTACK,))
    days = list(file.chunks())
    assert [chunk.values.shape for chunk in days] == [(3, 1440, 29)] * 3
    assert (days[1].values[1, 540:900, NAMES.index("FCU_HVLV")] > 0.9).all()

    labels = read_labels(out).to_pylist()
    active = [row for row in labels if row["active"]]
    assert len(active) == 360 == summary["cases"][0]["active_min"]
    assert {(row["zone"], row["node"], row["case"], row["class"]) for row in labels} == {
        ("zone-02", "FCU_HVLV", "FCU_VLVStuck_Heating_100", "actuator")
    }
    assert active[0]["time"].isoformat() == "2018-07-03T09:00:00+00:00"
    late = [row for row in labels if not row["active"]]
    assert late
    assert all(row["recovering"] and row["observable"] for row in late)
    assert len(late) == summary["cases"][0]["recovering_min"]


@pytest.mark.parametrize("layout", ["long", "wide"])
def test_the_same_seed_is_the_same_bytes_and_another_seed_is_not(tmp_path, layout):
    paths = [tmp_path / f"{name}.parquet" for name in "abc"]
    for path, seed in zip(paths, (5, 5, 6), strict=True):
        run("--zones", 2, "--days", 2, "--case", ATTACK, "--layout", layout, "--seed", seed, "--out", path)
    first, same, other = (path.read_bytes() for path in paths)
    assert first == same
    assert first != other
    labels = [path.with_name(f"{path.stem}.labels.parquet").read_bytes() for path in paths]
    assert labels[0] == labels[1]


def test_both_layouts_hold_the_same_readings(tmp_path):
    for layout in ("long", "wide"):
        run("--zones", 2, "--days", 1, "--layout", layout, "--out", tmp_path / f"{layout}.parquet")
    (long,) = TelemetryFile(tmp_path / "long.parquet").chunks()
    (wide,) = TelemetryFile(tmp_path / "wide.parquet").chunks()
    assert (long.values == wide.values).all()
    assert (long.times == wide.times).all()


def test_a_run_without_attacks_has_no_label_rows(tmp_path):
    run("--days", 1, "--out", tmp_path / "run.parquet")
    assert len(read_labels(tmp_path / "run.parquet")) == 0


def test_lbnl_files_are_named_after_their_case_and_read_like_the_real_ones(tmp_path):
    run("--zones", 2, "--days", 2, "--case", ATTACK, "--format", "lbnl", "--out", tmp_path / "sim")
    run("--zones", 2, "--days", 2, "--case", ATTACK, "--out", tmp_path / "run.parquet")
    (normal,) = open_lbnl(tmp_path / "sim" / "zone-01").values()
    (attacked,) = open_lbnl(tmp_path / "sim" / "zone-02").values()
    assert normal.is_normal
    assert attacked.case == CASES["FCU_VLVStuck_Heating_100"]
    read = np.concatenate([chunk.values[0] for chunk in attacked.chunks()])
    truth = np.concatenate([chunk.values[1] for chunk in TelemetryFile(tmp_path / "run.parquet").chunks()])
    assert np.abs(read - truth).max() < 0.01
    assert len(read_labels(tmp_path / "sim" / "run.parquet")) == len(read_labels(tmp_path / "run.parquet"))


def test_one_zone_lies_in_the_folder_itself_so_that_cases_can_be_collected(tmp_path):
    run("--days", 2, "--format", "lbnl", "--out", tmp_path)
    run("--days", 1, "--case", "InterlockOff@1,start=2018-07-02T09:00", "--format", "lbnl", "--out", tmp_path)
    files = open_lbnl(tmp_path)
    assert list(files) == ["FCU_FaultFree", "FCU_InterlockOff"]
    assert [sum(len(chunk.times) for chunk in file.chunks()) for file in files.values()] == [2880, 1440]
    assert len(read_labels(tmp_path / "FCU_InterlockOff.csv".removesuffix(".csv"))) == 15 * 60


def test_weather_comes_from_a_file(tmp_path):
    rows = "\n".join("50.0,40.0" for _ in range(8760))
    (tmp_path / "hours.csv").write_text(f"FCU_OAT,FCU_OA_HUMD\n{rows}\n")
    run("--days", 1, "--weather", tmp_path / "hours.csv", "--out", tmp_path / "run.parquet")
    (day,) = TelemetryFile(tmp_path / "run.parquet").chunks()
    assert np.abs(day.values[0, :, NAMES.index("FCU_OAT")] - 10.0).max() < 1.0


def test_people_read_stderr_and_results_go_to_stdout(tmp_path):
    outcome = run("--zones", 2, "--days", 2, "--case", ATTACK, "--out", tmp_path / "run.parquet")
    assert outcome.stdout.splitlines() == [str(tmp_path / "run.parquet"), str(tmp_path / "run.labels.parquet")]
    assert "observable from 2018-07-03T09:0" in outcome.stderr


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["--out", "run.csv"], ConfigError, "must end in .parquet"),
        (["--days", "0", "--out", "run.parquet"], ConfigError, "at least one"),
        (["--plant", "reactor", "--out", "run.parquet"], NotFoundError, "no plant is named 'reactor'"),
        (["--case", "FCU_OABlockag@1,start=2018-07-02", "--out", "r.parquet"], NotFoundError, "did you mean"),
        (["--case", "FCU_OABlockage@1,start=2019-07-02", "--out", "r.parquet"], ConfigError, "outside the run"),
        (["--zones", "0", "--out", "run.parquet"], ConfigError, "zones"),
        (["--zones", "1001", "--out", "run.parquet"], ConfigError, "zones"),
    ],
)
def test_an_impossible_wish_is_refused_before_anything_is_written(arguments, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = CliRunner().invoke(simulate, [*SUMMER, *arguments])
    assert isinstance(outcome.exception, error)
    assert message in str(outcome.exception)
    assert list(tmp_path.iterdir()) == []


def test_the_catalogue_is_listed_for_people_and_machines():
    table = CliRunner().invoke(cases, []).stdout.splitlines()
    assert len(table) == len(CASES) + 1
    assert table[0].split() == ["case", "family", "class", "nodes", "severity", "meaning"]
    lines = CliRunner().invoke(cases, ["--json", "--class", "controller"]).stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    assert {row["class"] for row in rows} == {"controller"}
    assert {"name", "family", "class", "targets", "severity", "equivalent", "meaning"} == set(rows[0])
    assert len(CliRunner().invoke(cases, ["--family", "damper"]).stdout.splitlines()) == 9
