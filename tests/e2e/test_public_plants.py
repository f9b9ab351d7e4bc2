"""Public data of plants that nobody here built, trained and replayed through the monitor without code of their own."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.exports.recordings import read_recordings
from graphghha.lab.bench.plants.trials import propose
from graphghha.lab.training.own_train import OwnRecipe, train_own_plant
from graphghha.plants import parse_plant

SMALL = {"synthetic": 120, "epochs": 1}  # the network only ranks nodes; what is found does not depend on it

pytestmark = pytest.mark.slow


def part(data_dir: Path, name: str) -> Path:
    if not (data_dir / name).is_dir():
        pytest.skip(f"needs {name}/ in the folder of GRAPHGHHA_DATA")
    return data_dir / name


def replay(source: str, model: Path, state: Path) -> list[dict]:
    """Return the events of the monitor on a file."""
    arguments = ["watch", "--source", source, "--model", str(model), "--state", str(state), "--json"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def laboratory(data_dir, tmp_path_factory):
    """Some recordings of EDS as files of their own: normal beginnings of trial 2, and attacked ones of trial 1."""
    folder = part(data_dir, "eds")
    work = tmp_path_factory.mktemp("eds")
    table = pq.read_table(folder / "train.parquet")
    signals = [row["name"] for row in csv.DictReader((folder / "signals.csv").read_text(encoding="utf-8").splitlines())]
    names, trial = np.array(table["file"].to_pylist()), table["trial"].to_numpy()
    is_attack = np.array(table["class"].to_pylist()) == "Attack"
    (work / "normal").mkdir()
    for name in dict.fromkeys(names[trial == 2].tolist()):
        rows = np.flatnonzero((names == name) & ~is_attack)
        pq.write_table(table.take(pa.array(rows)).select(["time", *signals]), work / "normal" / f"{name[:-4]}.parquet")
    for name in ("db1002toHigh_1.csv", "iw110toHigh_1.csv"):
        rows = np.flatnonzero(names == name)
        pq.write_table(table.take(pa.array(rows)).select(["time", *signals]), work / f"{name[:-4]}.parquet")
    return work


def test_the_laboratory_plant_is_replayed_through_the_monitor(laboratory, tmp_path):
    plant = propose("plant", [laboratory / "normal"])
    recipe = OwnRecipe(budget_per_day=24.0, **SMALL)
    train_own_plant(plant, [laboratory / "normal"], tmp_path / "model", recipe=recipe)
    events = replay(f"parquet:{laboratory / 'db1002toHigh_1.parquet'}", tmp_path / "model", tmp_path / "state")
    roots = [event["body"]["root"] for event in events if event["kind"] == "incident.annunciated"]
    assert "flowRateSetting" in roots, "a set-point that never moved was overwritten"


def test_the_water_network_is_replayed_through_the_monitor(data_dir, tmp_path):
    folder = part(data_dir, "batadal")
    for name in ("normal", "attacks"):
        table = pq.read_table(folder / f"train_{name}.parquet")
        columns = {each: table[each] for each in table.column_names if each != "ATT_FLAG"}
        rounded = {k: v if k == "DATETIME" else np.round(v.to_numpy(), 2) for k, v in columns.items()}
        pq.write_table(pa.table(rounded).slice(0, 2000 if name == "attacks" else None), tmp_path / f"{name}.parquet")
    plant = propose("plant", [tmp_path / "normal.parquet"])
    recipe = OwnRecipe(budget_per_day=1 / 14, **SMALL)
    train_own_plant(plant, [tmp_path / "normal.parquet"], tmp_path / "model", recipe=recipe)
    events = replay(f"parquet:{tmp_path / 'attacks.parquet'}", tmp_path / "model", tmp_path / "state")
    since = [event["body"]["since"] for event in events if event["kind"] == "incident.annunciated"]
    assert any("2016-09-13T23" <= each <= "2016-09-16T01" for each in since), "the first attack began on 13 September"


def test_limits_are_those_of_the_instrument_and_never_learned(laboratory):
    """With the least and greatest normal readings as limits, attacks would be unknown readings instead of alarms."""
    plant = propose("plant", [laboratory / "normal"])
    attacked = laboratory / "iw110toHigh_1.parquet"
    judged = read_recordings([attacked], plant)
    assert not [note for note in judged.notes if "beyond the limits" in note]
    column = plant.template.points.index("towerLiqLev")
    normal = np.concatenate(
        [each.values[:, column] for each in read_recordings([laboratory / "normal"], plant).recordings]
    )
    (recording,) = judged.recordings
    forged = recording.values[-200:, column]
    assert np.isfinite(forged).all()
    outside = (forged < np.nanmin(normal)) | (forged > np.nanmax(normal))
    assert outside.all(), "the attack writes what normal operation never shows"
    learned = plant.text.replace(
        'columns = { "plant" = "towerLiqLev" }',
        f'columns = {{ "plant" = "towerLiqLev" }}\nlimits = [{np.nanmin(normal)}, {np.nanmax(normal)}]',
    )
    assert learned != plant.text
    (wrong,) = read_recordings([attacked], parse_plant(learned)).recordings
    assert np.isnan(wrong.values[-200:, column]).all(), "this is what learned limits would do"
