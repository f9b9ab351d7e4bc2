import json

import numpy as np
import pytest
from click.testing import CliRunner

from graphghha.cli.import_lbnl import import_lbnl
from graphghha.cli.simulate import simulate
from graphghha.errors import DataError
from graphghha.plants.telemetry import MISSING, REPAIRED, TelemetryFile, read_labels

STUCK = "FCU_VLVStuck_Heating_100"
HIDDEN = "FCU_Fouling_Cooling_Waterside_Minor"


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A folder like the public one: the same days, fault-free and with two faults from the first minute on."""
    folder = tmp_path_factory.mktemp("lbnl")
    for case in (None, STUCK, HIDDEN):
        chosen = [] if case is None else ["--case", f"{case}@1,start=2018-01-15T00:00"]
        common = ["--start", "2018-01-15", "--days", "2", "--format", "lbnl", "--out", str(folder)]
        assert CliRunner().invoke(simulate, common + chosen, catch_exceptions=False).exit_code == 0
    return folder


def run(*arguments):
    outcome = CliRunner().invoke(import_lbnl, [str(each) for each in arguments], catch_exceptions=False)
    assert outcome.exit_code == 0
    return outcome


def test_every_case_becomes_telemetry_with_labels(published, tmp_path):
    summary = json.loads(run(published, "--out", tmp_path, "--json").stdout)
    assert summary["altered"] == []
    assert summary["repairs"] == {}
    assert len(summary["files"]) == 2 * 3
    file = TelemetryFile(tmp_path / f"{STUCK}.parquet")
    assert file.meta.cases == (STUCK,)
    assert [chunk.values.shape for chunk in file.chunks()] == [(1, 1440, 29)] * 2
    labels = read_labels(tmp_path / f"{STUCK}.parquet")
    assert len(labels) == 2 * 1440
    assert all(labels["active"].to_pylist())
    assert np.mean(labels["observable"].to_pylist()) > 0.95
    assert len(read_labels(tmp_path / "FCU_FaultFree.parquet")) == 0


def test_the_fault_free_file_decides_what_is_observable(published, tmp_path):
    run(published, "--out", tmp_path, "--case", HIDDEN)
    assert not any(read_labels(tmp_path / f"{HIDDEN}.parquet")["observable"].to_pylist())


def test_without_a_fault_free_file_every_minute_counts(published, tmp_path):
    alone = tmp_path / "alone"
    alone.mkdir()
    for name in (f"{HIDDEN}.csv", "simulated.json"):
        (alone / name).write_bytes((published / name).read_bytes())
    run(alone, "--out", tmp_path)
    assert all(read_labels(tmp_path / f"{HIDDEN}.parquet")["observable"].to_pylist())
    assert "not judged" in TelemetryFile(tmp_path / f"{HIDDEN}.parquet").meta.notes["observable"]


def test_damage_stops_the_import_unless_repair_is_asked_for(published, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "simulated.json").write_bytes((published / "simulated.json").read_bytes())
    lines = (published / f"{STUCK}.csv").read_text().splitlines()
    kept = [*lines[:500], *lines[510:1000], *lines[1200:2500]]
    (broken / f"{STUCK}.csv").write_text("\n".join(kept) + "\n")
    outcome = CliRunner().invoke(import_lbnl, [str(broken), "--out", str(tmp_path / "out")])
    assert isinstance(outcome.exception, DataError)
    assert f"{STUCK}.csv:501: a gap of 10 minutes" in str(outcome.exception)
    assert list((tmp_path / "out").iterdir()) == []

    outcome = run(broken, "--out", tmp_path / "out", "--repair")
    assert f"repaired: {STUCK}: 210 x missing minute filled, 381 x row missing at the end" in outcome.stderr
    quality = np.concatenate([c.quality[0] for c in TelemetryFile(tmp_path / "out" / f"{STUCK}.parquet").chunks()])
    assert (quality[499:509] == REPAIRED).all()
    assert (quality[999:1199] == MISSING).all()
    labels = read_labels(tmp_path / "out" / f"{STUCK}.parquet")
    assert len(labels) == len(quality) == 2499


def test_an_altered_original_is_named(published, tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    lines = (published / "FCU_FaultFree.csv").read_text()
    (real / "FCU_FaultFree.csv").write_text(lines)
    outcome = run(real, "--out", tmp_path, "--repair")
    assert "altered: " in outcome.stderr
    assert "522720 x row missing at the end" in outcome.stderr
