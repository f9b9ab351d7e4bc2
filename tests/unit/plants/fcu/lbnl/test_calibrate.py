import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from graphghha.cli.testbed import testbed as command
from graphghha.errors import DataError, SchemaError
from graphghha.plants.fcu.lbnl.calibrate import (
    Calibration,
    Comparison,
    Statistics,
    compare,
    hourly_fit,
    read_hourly,
    read_statistics,
    std_ratio,
    year_statistics,
)
from graphghha.plants.fcu.lbnl.calibrate import calibrate as run_calibration
from graphghha.plants.fcu.lbnl.cases import FAULT_FREE
from graphghha.plants.fcu.physics.weather import HOURS, synthetic
from graphghha.plants.fcu.signals import INDEX, NAMES, NUM_SIGNALS


def statistics(mean: float, std: float) -> Statistics:
    return Statistics(np.full(NUM_SIGNALS, mean), np.full(NUM_SIGNALS, std))


def write_table(path: Path, rows: dict[str, float]) -> Path:
    lines = [",".join(["case", *NAMES])] + [
        ",".join([case, *[str(value)] * NUM_SIGNALS]) for case, value in rows.items()
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_weather(path: Path) -> Path:
    year = synthetic(0)
    lines = ["FCU_OAT,FCU_OA_HUMD"]
    lines += [f"{1.8 * t + 32},{h}" for t, h in zip(year.temperature, year.humidity, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("ours", "theirs", "ratio"), [(0.0, 0.0, 1.0), (2.0, 1.0, 2.0), (0.0, 1.0, 0.0), (1.0, 0.0, 1e6)]
)
def test_ratio_of_standard_deviations(ours, theirs, ratio):
    assert std_ratio(ours, theirs) == ratio


def test_deviation_counts_fault_free_standard_deviations():
    row = compare("case", statistics(11.0, 2.0), statistics(10.0, 2.0), statistics(10.0, 4.0))[0]
    assert row.deviation == 0.25 and row.mean_within and row.std_within
    assert row.moved  # half the fault-free standard deviation


def test_a_zero_standard_deviation_is_replaced_by_the_floor_of_its_unit():
    rows = compare("case", statistics(11.0, 0.0), statistics(10.0, 0.0), statistics(10.0, 0.0))
    assert rows[INDEX["FCU_CLG_EWT"]].deviation == 1.0
    assert rows[INDEX["FAN_CTRL"]].deviation == pytest.approx(20.0)
    assert all(row.std_ratio == 1.0 and not row.moved for row in rows)


@pytest.mark.parametrize(
    ("mean", "std", "moved"), [(10.0, 1.0, False), (10.3, 1.0, True), (10.0, 1.6, True), (10.0, 0.6, True)]
)
def test_moved_means_a_shift_or_another_spread(mean, std, moved):
    published = statistics(mean, std)
    assert compare("case", published, published, statistics(10.0, 1.0))[0].moved is moved


def test_the_saturated_case_stands_apart_in_the_summary():
    rows = (
        Comparison(FAULT_FREE, "RM_TEMP", 0.0, 1.0, False, False),
        Comparison("FCU_OABlockage", "RM_TEMP", 0.5, 1.0, True, False),
        Comparison("FCU_OADMPRStuck_100", "RM_TEMP", 9.0, 9.0, True, True),
    )
    summary = Calibration(rows).summary()
    assert summary["pairs"] == 2 and summary["share_mean_within"] == 0.5 and summary["moved_pairs"] == 1
    assert summary["fault_free_mean_within"] == 1.0 and summary["moved_mean_within"] == 0.0
    assert summary["apart"]["FCU_OADMPRStuck_100"]["pairs"] == 1 and summary["with_apart"]["pairs"] == 3


def test_constants_of_a_simulated_year_have_no_spread():
    simulated, hourly = year_statistics(FAULT_FREE, synthetic(0))
    assert simulated.std[INDEX["FCU_HTG_EWT"]] == 0.0 and simulated.mean[INDEX["FCU_HTG_EWT"]] == pytest.approx(120.0)
    assert simulated.mean[INDEX["FCU_CTRL"]] == pytest.approx(2 - 261 * 720 / 525600)
    assert hourly.shape == (HOURS, NUM_SIGNALS)
    np.testing.assert_allclose(hourly.mean(axis=0), simulated.mean, rtol=1e-6, atol=1e-9)


def test_a_perfect_copy_has_no_hourly_error():
    hours = np.random.default_rng(0).normal(70.0, 5.0, (HOURS, NUM_SIGNALS))
    fit = hourly_fit(hours, hours)
    assert fit.rmse_operate["RM_TEMP"] == 0.0 and fit.cooling_hours[0] == fit.cooling_hours[1] == 2871


def test_tables_that_do_not_fit_are_refused(tmp_path):
    good = write_table(tmp_path / "mean.csv", {FAULT_FREE: 1.0})
    with pytest.raises(DataError, match="cases differ"):
        read_statistics(good, write_table(tmp_path / "std.csv", {FAULT_FREE: 1.0, "FCU_OABlockage": 1.0}))
    with pytest.raises(DataError, match="FCU_Melted"):
        both = {FAULT_FREE: 1.0, "FCU_Melted": 1.0}
        read_statistics(write_table(tmp_path / "a.csv", both), write_table(tmp_path / "b.csv", both))
    with pytest.raises(DataError, match=FAULT_FREE):
        none = write_table(tmp_path / "c.csv", {"FCU_OABlockage": 1.0})
        read_statistics(none, none)
    (tmp_path / "bad.csv").write_text("case,RM_TEMP\n")
    with pytest.raises(SchemaError, match="FCU_CTRL"):
        read_statistics(tmp_path / "bad.csv", good)
    with pytest.raises(DataError, match="not a readable"):
        read_statistics(tmp_path / "none.csv", good)


def test_an_hourly_year_with_too_many_rows_or_a_gap_is_refused(tmp_path):
    header, line = ",".join(NAMES) + "\n", ",".join(["1.0"] * NUM_SIGNALS) + "\n"
    path = tmp_path / "hourly.csv"
    path.write_text(header + line * (HOURS + 1))
    with pytest.raises(DataError, match="8761 rows"):
        read_hourly(path)
    path.write_text(header + line * 9 + "," * (NUM_SIGNALS - 1) + "\n" + line * (HOURS - 10))
    with pytest.raises(DataError, match="row 10: FCU_CTRL is missing"):
        read_hourly(path)


def test_the_command_prints_json_and_writes_a_page(tmp_path):
    pytest.importorskip("matplotlib")
    table = write_table(tmp_path / "table.csv", {FAULT_FREE: 1.0})
    weather = write_weather(tmp_path / "weather.csv")
    arguments = ["calibrate", "--mean", str(table), "--std", str(table), "--weather", str(weather), "--json"]
    outcome = CliRunner().invoke(command, [*arguments, "--report", str(tmp_path / "page")])
    assert outcome.exit_code == 0, outcome.stderr
    printed = json.loads(outcome.stdout)
    assert printed["summary"]["pairs"] == NUM_SIGNALS == len(printed["rows"])
    assert printed["rows"][0].keys() >= {"case", "signal", "deviation", "std_ratio", "moved"}
    assert "testbed-shares.png" in (tmp_path / "page" / "testbed-calibration.md").read_text()
    assert (tmp_path / "page" / "testbed-shares.png").stat().st_size > 1000


@pytest.mark.slow
def test_the_simulator_is_true_to_the_published_statistics(data_dir):
    folder = data_dir / "lbnl_fcu"
    hourly = folder / "hourly_fault_free.parquet"
    result = run_calibration(folder / "calibration_mean.csv", folder / "calibration_std.csv", hourly, hourly)
    summary = result.summary()
    assert summary["share_mean_within"] >= 0.97 and summary["share_std_within"] >= 0.97
    assert summary["moved_mean_within"] >= 0.90 and summary["moved_std_within"] >= 0.90
    assert summary["fault_free_mean_within"] == 1.0 and summary["fault_free_std_within"] == 1.0
    fit = result.hourly
    assert fit is not None and 1.8 * fit.rmse_operate["RM_TEMP"] <= 1.0
    for simulated, published in (fit.heating_hours, fit.cooling_hours):
        assert simulated == pytest.approx(published, rel=0.15)
