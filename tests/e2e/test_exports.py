"""Exports of other systems through the commands: scored and evaluated like the telemetry they were made of."""

import csv
from datetime import datetime

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.plants import CaseSpec, load_plant, load_simulator


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Four simulated days of two zones, and the same as a table with semicolons, decimal commas and degF."""
    folder = tmp_path_factory.mktemp("export")
    case = CaseSpec.parse("FCU_VLVStuck_Cooling_100@1,start=2018-07-05T08:00,for=6h")
    settings = {"zones": 2, "days": 4, "start": datetime(2018, 7, 2), "seed": 3, "cases": [case], "layout": "wide"}
    load_simulator("fcu")(**settings, out=folder / "run.parquet")
    table = pq.read_table(folder / "run.parquet")
    units = {signal.name: signal.unit for signal in load_plant("fcu").signals}
    names = table.column_names[1:]
    is_warm = np.array([units[name.rpartition("/")[2]] == "degC" for name in names])
    values = np.stack([table[name].to_numpy() for name in names], axis=1).astype(float)
    values = np.where(is_warm, values * 1.8 + 32, values)
    headers = [
        f"{name} [{'degF' if units[name.rpartition('/')[2]] == 'degC' else units[name.rpartition('/')[2]]}]"
        for name in names
    ]
    with (folder / "bms.csv").open("w", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["Zeit", *headers])
        for time, row in zip(table["time"].to_pylist(), values.tolist(), strict=True):
            writer.writerow([time.strftime("%d.%m.%Y %H:%M"), *(f"{value:.6f}".replace(".", ",") for value in row)])
    (folder / "bms.labels.parquet").write_bytes((folder / "run.labels.parquet").read_bytes())
    return folder


def test_an_export_is_scored_like_the_telemetry_it_was_made_of(run, tmp_path):
    scores = {}
    for name, more in (("run.parquet", []), ("bms.csv", ["--zones", "2"])):
        out = tmp_path / f"{name}.scores.parquet"
        result = CliRunner().invoke(main, ["score", "fcu", str(run / name), "--out", str(out), *more])
        assert result.exit_code == 0, result.output
        scores[name] = pq.read_table(out)
    assert scores["bms.csv"]["node"].equals(scores["run.parquet"]["node"])
    ours, theirs = (scores[name]["attack"].to_numpy() for name in ("run.parquet", "bms.csv"))
    np.testing.assert_allclose(theirs, ours, atol=0.02)


def test_an_export_with_labels_is_evaluated(run):
    result = CliRunner().invoke(main, ["evaluate", "fcu", str(run / "bms.csv"), "--zones", "2"])
    assert result.exit_code == 0, result.output
    assert "100%  of 1 visible attacks found" in result.stdout


def test_what_does_not_fit_an_export_is_one_sentence(run, tmp_path):
    out = ["--out", str(tmp_path / "s.parquet")]
    needless = CliRunner().invoke(main, ["score", "fcu", str(run / "run.parquet"), "--time-zone", "UTC", *out])
    assert needless.exit_code == 2 and "needs neither --mapping nor --time-zone" in needless.output
    (tmp_path / "foreign.csv").write_text("time,x\n2018-07-02T09:00Z,1\n")
    foreign = CliRunner().invoke(main, ["score", "fcu", str(tmp_path / "foreign.csv"), *out])
    assert foreign.exit_code == 3 and "has no reading for a point of plant 'fcu'" in foreign.output
    (tmp_path / "two.csv").write_text("time,zone-01/RM_TEMP,zone-02/RM_TEMP\n2018-07-02T09:00Z,21,22\n")
    two = CliRunner().invoke(main, ["score", "fcu", str(tmp_path / "two.csv"), *out])
    assert two.exit_code == 0 and "1 readings not used: unmapped; --zones states how many zones" in two.output


def test_a_folder_of_parquet_is_read_as_what_its_files_are(run, tmp_path):
    out = ["--out", str(tmp_path / "s.parquet")]
    foreign, ours = tmp_path / "foreign", tmp_path / "ours"
    foreign.mkdir()
    pq.write_table(pq.read_table(run / "run.parquet").replace_schema_metadata(None), foreign / "a.parquet")
    result = CliRunner().invoke(main, ["score", "fcu", str(foreign), "--zones", "2", *out])
    assert result.exit_code == 0, result.output

    ours.mkdir()
    for name in ("run.parquet", "run.labels.parquet"):
        (ours / name).write_bytes((run / name).read_bytes())
    result = CliRunner().invoke(main, ["score", "fcu", str(ours), *out])
    assert result.exit_code == 0, result.output
    labels = CliRunner().invoke(main, ["score", "fcu", str(ours / "run.labels.parquet"), *out])
    assert labels.exit_code == 3 and "holds labels and no readings; give" in labels.output
    assert labels.output.strip().endswith(str(ours / "run.parquet"))
    (ours / "notes.csv").write_text("time,x\n")
    mixed = CliRunner().invoke(main, ["score", "fcu", str(ours), *out])
    assert mixed.exit_code == 3 and "holds telemetry and other tables, such as notes.csv; give" in mixed.output
    (ours / "again.parquet").write_bytes((run / "run.parquet").read_bytes())
    two = CliRunner().invoke(main, ["score", "fcu", str(ours), *out])
    assert two.exit_code == 3 and f"holds 2 files of telemetry; give one of them, such as {ours}" in two.output
    (tmp_path / "none").mkdir()
    empty = CliRunner().invoke(main, ["score", "fcu", str(tmp_path / "none"), *out])
    assert empty.exit_code == 3 and "holds neither telemetry nor a table" in empty.output
