"""From a site's own days to a model of the site, with files alone, as somebody outside would do it."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.models import load_model, save_model, shipped_model

pytestmark = pytest.mark.slow


def call(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A random building whose system reports by change of value: nine quiet days, and later days with two attacks."""
    folder = tmp_path_factory.mktemp("site")
    building = ("--building", 4702, "--observe", "cov", "--zones", 3, "--seed", 5)
    call("simulate", *building, "--days", 9, "--start", "2018-06-01", "--out", folder / "quiet.parquet")
    cases = (
        "FCU_VLVStuck_Cooling_100@2,start=2018-06-14T09:00,for=8h",
        "SensorSaturated_FCU_MAT_Low@3,start=2018-06-14T12:00,for=8h",
    )
    call(
        *("simulate", *building, "--days", 5, "--start", "2018-06-10", "--out", folder / "attacked.parquet"),
        *(word for case in cases for word in ("--case", case)),
    )
    return folder


@pytest.fixture(scope="module")
def commissioned(site):
    result = call("commission", site / "quiet.parquet", "--days", 8, "--out", site / "model", "--json")
    return json.loads(result.stdout), result


def test_commissioning_says_what_it_found_and_what_to_expect(site, commissioned):
    record, result = commissioned
    base = load_model(shipped_model("fcu-zones"))
    assert record["days"] == 8 and record["base"] == base.fingerprint and len(record["zones"]) == 3
    assert base.limits.floor <= record["threshold"] <= base.limits.cap
    assert "other buildings of this size had" in result.stderr
    assert load_model(site / "model").commissioning.data == record["data"]
    assert "next: write model = " in result.stderr


def test_the_attacks_of_later_days_are_found(site, commissioned):
    report = json.loads(call("evaluate", site / "model", site / "attacked.parquet", "--json").stdout)
    assert report["card"]["event_recall"] == 1.0
    assert report["card"]["false_alarms_per_day"] <= 1.0


def test_a_commissioned_model_scores_files_and_refuses_other_buildings(site, commissioned):
    call("score", site / "model", site / "attacked.parquet", "--out", site / "scores.parquet")
    other = site / "other.parquet"
    call("simulate", "--building", 4702, "--zones", 2, "--days", 1, "--out", other)
    refused = call("score", site / "model", other, "--out", site / "x.parquet", code=4)
    assert "commissioned for 3 zones, but the site has 2;" in refused.output


def test_the_days_it_was_commissioned_on_are_no_test(site, commissioned):
    """Labels are empty, so the file could be evaluated; the model has seen it."""
    refused = call("evaluate", site / "model", site / "quiet.parquet", code=3)
    assert "commissioned on this file" in refused.output


def test_too_few_days_are_refused(site):
    refused = call("commission", site / "attacked.parquet", "--days", 7, "--out", site / "short", code=3)
    assert "has 5.0 days" in refused.output and not (site / "short").exists()


def test_a_model_of_single_nodes_cannot_be_commissioned(site):
    refused = call("commission", site / "quiet.parquet", "--model", "fcu", "--days", 8, "--out", site / "no", code=5)
    assert "judges zones" in refused.output


def test_a_commissioned_model_is_no_base_and_no_model_replaces_its_own(site, commissioned, tmp_path):
    quiet = site / "quiet.parquet"
    refused = call("commission", quiet, "--model", site / "model", "--out", tmp_path / "m", code=5)
    assert "is commissioned already" in refused.output and "--model fcu-zones" in refused.output
    other = load_model(site / "model")
    save_model(replace(other, commissioning=replace(other.commissioning, base="0123456789abcdefgh")), tmp_path / "old")
    refused = call("commission", quiet, "--model", tmp_path / "old", "--out", tmp_path / "m", code=5)
    assert "the fingerprint 0123456789abcdef (" in refused.output
    for out in (site / "model", site / "x" / ".." / "model"):
        refused = call("commission", quiet, "--model", site / "model", "--out", out, code=2)
        assert "is the model to start from" in refused.output


def test_a_file_of_our_own_form_states_its_zones(site, tmp_path):
    refused = call("commission", site / "quiet.parquet", "--zones", 5, "--out", tmp_path / "m", code=2)
    assert "5 zones are asked for" in refused.output and "has 3 zones" in refused.output


def test_a_commissioned_model_can_be_saved_again(site, commissioned, tmp_path):
    model = load_model(site / "model")
    save_model(model, tmp_path / "copy")
    assert load_model(tmp_path / "copy").fingerprint == model.fingerprint


def test_an_attack_in_the_days_of_commissioning_is_left_out_and_listed(tmp_path):
    case = "FCU_VLVStuck_Cooling_100@2,start=2018-07-05T08:00,for=20h"
    call(
        "simulate", "--zones", 3, "--days", 8, "--start", "2018-07-01", "--case", case, "--out", tmp_path / "a.parquet"
    )
    result = call("commission", tmp_path / "a.parquet", "--days", 8, "--out", tmp_path / "model", "--json")
    record = json.loads(result.stdout)
    assert [fault["zone"] for fault in record["left_out"] if fault["share_of_time"] > 0.05] == ["zone-02"]
    assert record["standing"] == [] and "was not learned from: zone-02 (FCU_CVLV" in result.stderr


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Eight quiet days of one zone as telemetry, as one table, as a folder with a file per point, and every 15 min."""
    folder = tmp_path_factory.mktemp("exported")
    call("simulate", "--days", 8, "--start", "2018-07-02", "--layout", "wide", "--out", folder / "run.parquet")
    table = pq.read_table(folder / "run.parquet")
    times = [time.strftime("%Y-%m-%dT%H:%M:%SZ") for time in table["time"].to_pylist()]
    columns = {name: table[name].to_pylist() for name in table.column_names[1:]}
    (folder / "points").mkdir()
    for name, values in columns.items():
        rows = (f"{time},{value:.6f}\n" for time, value in zip(times, values, strict=True))
        (folder / "points" / f"{name.rpartition('/')[2]}.csv").write_text("Timestamp,Value\n" + "".join(rows))
    rows = [
        ",".join((time, *(f"{value:.6f}" for value in row)))
        for time, *row in zip(times, *columns.values(), strict=True)
    ]
    header = ",".join(("time", *columns))
    (folder / "table.csv").write_text("\n".join((header, *rows)) + "\n")
    (folder / "slow.csv").write_text("\n".join((header, *rows[::15])) + "\n")
    return folder


def test_a_model_of_one_zone_refuses_two(exported, site, tmp_path):
    said = call("commission", exported / "run.parquet", "--days", 7, "--out", tmp_path / "m")
    assert said.stdout.strip() == str(tmp_path / "m") and f'next: write model = "{tmp_path / "m"}"' in said.stderr
    refused = call("score", tmp_path / "m", site / "quiet.parquet", "--out", tmp_path / "x.parquet", code=4)
    assert "commissioned for 1 zone, but the site has 3" in refused.output


def changed(path, name, change):
    """Write a copy of telemetry in the wide layout whose columns are changed, by the name of their point."""
    table = pq.read_table(path)
    for at, column in enumerate(table.column_names[1:], start=1):
        values = change(column.rpartition("/")[2], table[column].to_numpy().astype(np.float32))
        table = table.set_column(at, table.schema.field(at), pa.array(values))
    pq.write_table(table, path.with_name(name))
    return path.with_name(name)


def other_unit(name, values):
    return values * 1.8 + 32 if name.endswith(("TEMP", "SPT", "MAT", "OAT", "RAT", "DAT", "EWT", "RWT")) else values


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda name, values: values * np.nan, "has no usable reading"),
        (lambda name, values: -values, "beyond the limits of its instrument"),
        (other_unit, "reads like degF, not degC"),
        (lambda name, values: values if name == "RM_TEMP" else values * np.nan, "only 1 of the 29 points"),
        (lambda name, values: np.where(np.arange(len(values)) // 1440 % 3, np.nan, values), "only 3 of the 7 chosen"),
    ],
    ids=["nothing", "negated", "degF", "one point", "gaps"],
)
def test_a_file_that_cannot_be_right_is_refused_and_leaves_nothing_behind(exported, tmp_path, change, message):
    file = changed(exported / "run.parquet", "changed.parquet", change)
    refused = call("commission", file, "--days", 7, "--out", tmp_path / "new" / "deep" / "m", code=3)
    (sentence,) = refused.stderr.splitlines()
    assert message in sentence and "changed.parquet" in sentence and not (tmp_path / "new").exists()


@pytest.mark.parametrize("data", ["broken.parquet", "broken.csv"])
def test_readings_out_of_limits_are_counted_and_not_called_a_point_that_the_site_lacks(exported, tmp_path, data):
    file = changed(
        exported / "run.parquet",
        "broken.parquet",
        lambda name, values: values * 0 + 999 if name == "RM_TEMP" else values,
    )
    if data.endswith("csv"):
        table = pq.read_table(file)
        pc.write_csv(table, exported / data)
    arguments = ("commission", exported / data, "--days", 7, "--out", tmp_path / "m")
    assert "or commission with --force" in call(*arguments, code=3).stderr
    result = call(*arguments, "--force", "--json")
    record = json.loads(result.stdout)
    [(point, count)] = record["out_of_limits"].items()
    assert point.endswith("RM_TEMP") and record["missing_points"] == [point] and 7 * 1440 <= count <= 8 * 1440
    assert f"points that were never usable: {count:,} readings out of limits ({point})" in result.stderr
    assert "the site does not have" not in result.stderr


@pytest.mark.parametrize("data", ["table.csv", "points"])
def test_an_export_is_commissioned_like_the_telemetry_it_was_made_of(exported, tmp_path, data):
    records = [
        json.loads(call("commission", exported / name, "--days", 7, "--out", tmp_path / name, "--json").stdout)
        for name in ("run.parquet", data)
    ]
    assert records[1]["threshold"] == pytest.approx(records[0]["threshold"], abs=0.01)
    assert records[1]["days"] == 7 and records[1]["zones"] == records[0]["zones"]


@pytest.mark.parametrize(
    "command",
    [
        ("commission", "DATA", "--days", 7, "--out", "OUT"),
        ("score", "fcu", "DATA", "--out", "OUT.parquet"),
        ("evaluate", "fcu", "DATA"),
        ("watch", "--source", "csv:DATA", "--zones", 1),
    ],
    ids=lambda command: command[0],
)
def test_readings_every_quarter_of_an_hour_are_refused_in_one_sentence(exported, tmp_path, command):
    words = (
        str(word).replace("DATA", str(exported / "slow.csv")).replace("OUT", str(tmp_path / "o")) for word in command
    )
    (sentence,) = call(*words, code=3).stderr.splitlines()
    assert "every 15 min" in sentence and "need one every 1 min" in sentence and "--hold" in sentence


def test_or_each_is_held_until_the_next(exported, tmp_path):
    record = call("commission", exported / "slow.csv", "--days", 7, "--hold", "--out", tmp_path / "m", "--json").stdout
    assert json.loads(record)["days"] == 7
    scored = call("score", "fcu", exported / "slow.csv", "--hold", "--out", tmp_path / "s.parquet")
    assert "0.0% unknown" in scored.stderr


def test_an_attack_on_all_zones_at_once_is_found_by_the_typical_zone(tmp_path):
    """Without the typical zone at most half of the zones are in alarm: what all of them do looks like the weather."""
    building = ("--building", "reference", "--zones", 6, "--seed", 5)
    call("simulate", *building, "--days", 8, "--start", "2018-06-25", "--out", tmp_path / "quiet.parquet")
    cases = [f"FCU_VLVLeak_Cooling_80@{zone},start=2018-07-06T06:00,for=18h" for zone in range(1, 7)]
    call(
        *("simulate", *building, "--days", 5, "--start", "2018-07-03", "--out", tmp_path / "attacked.parquet"),
        *(word for case in cases for word in ("--case", case)),
    )
    call("commission", tmp_path / "quiet.parquet", "--days", 8, "--out", tmp_path / "model")
    site = load_model(tmp_path / "model")
    save_model(replace(site, preprocessing=replace(site.zone_preprocessing, typical=None)), tmp_path / "zones")

    def card(model):
        return json.loads(call("evaluate", model, tmp_path / "attacked.parquet", "--json").stdout)["card"]

    found = card(tmp_path / "model")
    assert found["event_recall"] == 1.0 and found["hit_at_1"] == 1.0 and found["false_alarms_per_day"] == 0.0
    assert card(tmp_path / "zones")["event_recall"] <= 0.5
