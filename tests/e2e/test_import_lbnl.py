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
    assert file.meta.cases == (f"{STUCK}@1,start=2018-01-15T00:00",)
    assert summary["not_judged_min"] == {}
    assert [chunk.values.shape for chunk in file.chunks()] == [(1, 1440, 29)] * 2
    labels = read_labels(tmp_path / f"{STUCK}.parquet")
    assert len(labels) == 2 * 1440
    assert all(labels["active"].to_pylist())
    assert np.mean(labels["observable"].to_pylist()) > 0.95
    assert len(read_labels(tmp_path / "FCU_FaultFree.parquet")) == 0


def simulated(folder, *arguments, start="2018-01-15", days=2):
    common = ["--start", start, "--days", days, "--format", "lbnl", "--out", folder, *arguments]
    assert CliRunner().invoke(simulate, [str(each) for each in common], catch_exceptions=False).exit_code == 0


def labels_of(folder, name):
    """Label rows without the order of the dictionaries."""
    return read_labels(folder / f"{name}.parquet").to_pylist()


@pytest.mark.parametrize(
    ("cases", "name"),
    [
        pytest.param(["SensorRamp_DA_CFM@1,start=2018-01-16T12:00"], "FCU_SensorRamp_DA_CFM", id="own-case"),
        pytest.param(
            ["FCU_OABlockage@1,start=2018-01-15T08:00,for=6h", "FCU_OADMPRStuck_80@1,start=2018-01-16T12:00,for=2h"],
            "FCU_OABlockage+FCU_OADMPRStuck_80",
            id="two-cases",
        ),
        pytest.param([f"{STUCK}@1,start=2018-01-16T12:00"], STUCK, id="late-onset"),
        pytest.param(
            ["Replay@1,start=2018-01-16T08:00,for=3h,on=RM_TEMP+FCU_OA_CFM"], "FCU_Replay", id="chosen-replay"
        ),
    ],
)
def test_what_simulate_wrote_is_imported_with_the_labels_simulate_wrote(cases, name, published, tmp_path):
    source = tmp_path / "lbnl"
    simulated(source)
    simulated(source, *(word for case in cases for word in ("--case", case)))
    summary = json.loads(run(source, "--out", tmp_path / "out", "--case", name, "--json").stdout)
    assert summary["not_judged_min"] == {}
    assert TelemetryFile(tmp_path / "out" / f"{name}.parquet").meta.cases == tuple(cases)
    expected, found = (
        {(row["time"], row["node"], row["case"]): row for row in read_labels(place).to_pylist()}
        for place in (source / name, tmp_path / "out" / f"{name}.parquet")
    )
    active = [{key for key, row in rows.items() if row["active"]} for rows in (expected, found)]
    assert active[0] == active[1]
    assert len(active[0]) > 100
    # the files are rounded to two decimals, so that a few minutes may be judged otherwise
    assert len(expected.keys() ^ found.keys()) < 30
    shown = [{key for key, row in rows.items() if row["observable"]} for rows in (expected, found)]
    assert len(shown[0] ^ shown[1]) < 30


def test_a_zone_of_a_building_is_imported_from_its_own_folder(tmp_path):
    source, out = tmp_path / "lbnl", tmp_path / "out"
    simulated(source, "--zones", 2, "--case", f"{STUCK}@2,start=2018-01-16T12:00,for=2h")
    run(source / "zone-02", "--out", out)
    rows = labels_of(out, STUCK)
    active = [row["time"].strftime("%d %H:%M") for row in rows if row["active"]]
    assert (active[0], active[-1], len(active)) == ("16 12:00", "16 13:59", 120)
    assert {row["zone"] for row in rows} == {"zone-01"}


def test_a_file_longer_than_the_fault_free_one_keeps_its_end_and_says_it_is_not_judged(tmp_path):
    source, out = tmp_path / "lbnl", tmp_path / "out"
    simulated(source, days=1)
    simulated(source, "--case", f"{HIDDEN}@1,start=2018-01-15T00:00", days=3)
    outcome = run(source, "--out", out, "--case", HIDDEN)
    assert f"not judged: {HIDDEN}: 2880 minutes" in outcome.stderr
    file = TelemetryFile(out / f"{HIDDEN}.parquet")
    assert sum(len(chunk.times) for chunk in file.chunks()) == 3 * 1440
    assert file.meta.notes["observable"].startswith("judged from 2018-01-15T00:00:00.000 to 2018-01-15T23:59:00.000")
    observable = [row["observable"] for row in labels_of(out, HIDDEN)]
    assert len(observable) == 3 * 1440
    assert not any(observable[:1440])
    assert all(observable[1440:])


def test_a_file_is_compared_with_the_fault_free_one_at_the_same_time(tmp_path):
    source, out = tmp_path / "lbnl", tmp_path / "out"
    simulated(source, days=3)
    simulated(source, "--case", f"{HIDDEN}@1,start=2018-01-15T00:00", days=3)
    entries = json.loads((source / "simulated.json").read_text())
    for name, first in (("FCU_FaultFree.csv", 700), (f"{HIDDEN}.csv", 100)):
        header, *rows = (source / name).read_text().splitlines()
        (source / name).write_text("\n".join([header, *rows[first:]]) + "\n")
        entries[name]["rows"] -= first
    (source / "simulated.json").write_text(json.dumps(entries))
    summary = json.loads(run(source, "--out", out, "--case", HIDDEN, "--json").stdout)
    assert summary["not_judged_min"] == {HIDDEN: 600}
    observable = [row["observable"] for row in labels_of(out, HIDDEN)]
    assert len(observable) == 3 * 1440 - 100
    assert all(observable[:600])
    assert not any(observable[630:])


@pytest.mark.parametrize("other", [["--seed", "1"], ["--start", "2018-01-14"]])
def test_a_fault_free_file_of_another_run_judges_nothing(other, tmp_path):
    source, out = tmp_path / "lbnl", tmp_path / "out"
    simulated(source, *other, days=1)
    simulated(source, "--case", f"{HIDDEN}@1,start=2018-01-15T00:00", days=1)
    summary = json.loads(run(source, "--out", out, "--case", HIDDEN, "--json").stdout)
    assert summary["not_judged_min"] == {HIDDEN: 1440}


def test_a_file_of_an_unknown_case_is_refused_and_never_taken_for_normal(published, tmp_path):
    source = tmp_path / "lbnl"
    source.mkdir()
    for name in ("FCU_FaultFree.csv", "simulated.json"):
        (source / name).write_bytes((published / name).read_bytes())
    (source / "FCU_Mine.csv").write_bytes((published / f"{STUCK}.csv").read_bytes())
    outcome = CliRunner().invoke(import_lbnl, [str(source), "--out", str(tmp_path / "out")])
    assert isinstance(outcome.exception, DataError)
    assert "FCU_Mine.csv: no case is named 'FCU_Mine'" in str(outcome.exception)
    assert not (tmp_path / "out").exists()
    run(source, "--out", tmp_path / "out", "--case", "FCU_FaultFree")


def test_a_manifest_with_unreadable_cases_is_an_error(published, tmp_path):
    entries = json.loads((published / "simulated.json").read_text())
    for cases in (["FCU_Nothing@1,start=2018-01-15"], ["noon"], [3], 3):
        source = tmp_path / "lbnl"
        source.mkdir(exist_ok=True)
        (source / f"{STUCK}.csv").write_bytes((published / f"{STUCK}.csv").read_bytes())
        changed = {f"{STUCK}.csv": entries[f"{STUCK}.csv"] | {"cases": cases}}
        (source / "simulated.json").write_text(json.dumps(changed))
        outcome = CliRunner().invoke(import_lbnl, [str(source), "--out", str(tmp_path / "out")])
        assert isinstance(outcome.exception, DataError)
        assert "simulated.json lists cases that cannot be read" in str(outcome.exception)


def test_a_place_that_cannot_be_written_is_our_error(published, tmp_path):
    (tmp_path / "file").write_text("")
    outcome = CliRunner().invoke(import_lbnl, [str(published), "--out", str(tmp_path / "file" / "z")])
    assert outcome.exit_code == 2 and "is a file, not a folder" in outcome.output


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
