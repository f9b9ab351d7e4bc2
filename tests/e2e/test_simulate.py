import json
import subprocess
import sys

import numpy as np
import pyarrow.csv as pacsv
import pytest
from click.testing import CliRunner

from graphghha.cli.cases import cases
from graphghha.cli.simulate import simulate
from graphghha.errors import ConfigError, DataError, EngineError, NotFoundError
from graphghha.plants.fcu.attacks.catalog import CASES
from graphghha.plants.fcu.lbnl.files import open_lbnl
from graphghha.plants.fcu.physics.building import Building
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
        (["--seed", "-1", "--out", "run.parquet"], ConfigError, "seed -1 is negative"),
        (["--days", "10000000", "--out", "run.parquet"], ConfigError, "do not lie between"),
        (["--start", "0001-01-01", "--out", "run.parquet"], ConfigError, "do not lie between"),
        (["--start", "9999-12-30", "--out", "run.parquet"], ConfigError, "do not lie between"),
        (["--case", "FCU_OABlockage@²,start=2018-07-02", "--out", "r.parquet"], NotFoundError, "no zone"),
        (["--case", "FCU_OABlockage@1,start=2018-07-02,for=99999999d", "--out", "r.parquet"], ConfigError, "century"),
        (["--out", "n" * 300 + ".parquet"], DataError, "cannot be written"),
        (["--format", "lbnl", "--out", "n" * 300], DataError, "cannot be written"),
    ],
)
def test_an_impossible_wish_is_refused_before_anything_is_written(arguments, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = CliRunner().invoke(simulate, [*SUMMER, *arguments])
    assert isinstance(outcome.exception, error)
    assert message in str(outcome.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["--out", "dir.parquet"], ConfigError, "dir.parquet is a folder"),
        (["--out", "file.parquet/run.parquet"], DataError, "file.parquet: cannot be written"),
        (["--out", "labelled.parquet"], DataError, "labelled.labels.parquet: cannot be written: it is a folder"),
        (["--format", "lbnl", "--out", "file.parquet/x"], DataError, "cannot be written"),
        (["--format", "lbnl", "--out", "file.parquet"], ConfigError, "is a file"),
    ],
)
def test_a_place_that_cannot_hold_the_result_is_refused_before_the_run(
    arguments, error, message, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Building, "step", lambda self: pytest.fail("it ran"))
    (tmp_path / "dir.parquet").mkdir()
    (tmp_path / "labelled.labels.parquet").mkdir()
    (tmp_path / "file.parquet").write_text("")
    before = sorted(tmp_path.rglob("*"))
    outcome = CliRunner().invoke(simulate, [*SUMMER, *arguments])
    assert isinstance(outcome.exception, error)
    assert message in str(outcome.exception)
    assert sorted(tmp_path.rglob("*")) == before


def test_lbnl_files_are_written_over_only_when_a_simulation_wrote_them(tmp_path):
    lbnl = ["--days", 1, "--format", "lbnl", "--out", tmp_path]
    run(*lbnl)
    first = (tmp_path / "FCU_FaultFree.csv").read_bytes()
    run(*lbnl, "--seed", 6)
    assert (tmp_path / "FCU_FaultFree.csv").read_bytes() != first
    original = tmp_path / "FCU_OABlockage.csv"
    original.write_text("a real original")
    labels = tmp_path / "FCU_InterlockOff.labels.parquet"
    labels.write_text("labels of something else")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for case in ("FCU_OABlockage", "InterlockOff"):
        arguments = [*SUMMER, *map(str, lbnl), "--case", f"{case}@1,start=2018-07-02T09:00"]
        outcome = CliRunner().invoke(simulate, arguments)
        assert isinstance(outcome.exception, ConfigError)
        assert "simulated.json does not list it" in str(outcome.exception)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_building_may_be_simulated_into_its_folder_again_with_other_cases(tmp_path):
    lbnl = ["--zones", 2, "--days", 1, "--format", "lbnl", "--out", tmp_path]
    run(*lbnl)
    run(*lbnl, "--case", "FCU_OABlockage@2,start=2018-07-02T09:00")
    assert {path.name for path in (tmp_path / "zone-02").iterdir()} == {
        "FCU_FaultFree.csv",
        "FCU_OABlockage.csv",
        "simulated.json",
    }


def test_a_failed_lbnl_run_leaves_no_part_and_no_entry_in_the_manifest(tmp_path, monkeypatch):
    run("--days", 1, "--format", "lbnl", "--out", tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = []

    def full(*arguments, **options):
        done.append(True)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pacsv, "write_csv", full)
    outcome = CliRunner().invoke(simulate, [*SUMMER, "--days", "2", "--format", "lbnl", "--out", str(tmp_path)])
    assert isinstance(outcome.exception, DataError)
    assert "cannot be written: No space left on device" in str(outcome.exception)
    assert done
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("command", ["simulate", "testbed import"])
def test_without_pyarrow_the_way_to_get_it_is_named(command, tmp_path):
    code = "import sys; sys.modules['pyarrow'] = None; from graphghha.cli import main; main()"
    words = [*command.split(), *([str(tmp_path)] if "import" in command else []), "--out", str(tmp_path / "o.parquet")]
    outcome = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert outcome.returncode == EngineError.exit_code
    assert outcome.stderr.strip().endswith("need pyarrow: pip install 'graphghha[data]'")


def test_the_catalogue_is_listed_for_people_and_machines():
    table = CliRunner().invoke(cases, []).stdout.splitlines()
    assert len(table) == len(CASES) + 1
    assert table[0].split() == ["case", "family", "class", "nodes", "severity", "meaning"]
    lines = CliRunner().invoke(cases, ["--json", "--class", "controller"]).stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    assert {row["class"] for row in rows} == {"controller"}
    assert {"name", "family", "class", "targets", "severity", "equivalent", "alike", "same_as", "meaning"} == set(
        rows[0]
    )
    assert len(CliRunner().invoke(cases, ["--family", "damper"]).stdout.splitlines()) == 9
