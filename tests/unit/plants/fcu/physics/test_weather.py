import sys
from datetime import date, datetime, timedelta

import numpy as np
import pytest

from graphghha.errors import ConfigError, DataError, EngineError, SchemaError
from graphghha.plants.fcu.lbnl.calibrate import read_hourly
from graphghha.plants.fcu.physics.weather import HOURS, LEAP_HOURS, Weather, clearness, read_weather, synthetic


def constant(temperature: float, humidity: float = 50.0) -> Weather:
    return Weather(np.full(HOURS, temperature), np.full(HOURS, humidity))


def test_same_seed_gives_the_same_year_and_another_seed_another():
    np.testing.assert_array_equal(synthetic(3).temperature, synthetic(3).temperature)
    assert not np.array_equal(synthetic(3).temperature, synthetic(4).temperature)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_generated_year_is_continental(seed):
    year = synthetic(seed)
    by_month = year.temperature[: 360 * 24].reshape(12, -1).mean(axis=1)
    assert by_month[0] < 0 < 20 < by_month[6] < 30
    assert -35 < year.temperature.min() < -12 and 29 < year.temperature.max() < 43
    assert year.humidity.min() > 0 and year.humidity.max() <= 100 and 55 < year.humidity.mean() < 80


def test_generated_afternoons_are_warmer_and_drier_than_mornings():
    year = synthetic(0)
    by_hour = year.temperature.reshape(365, 24).mean(axis=0)
    assert by_hour[15] > by_hour[5] + 5
    by_hour = year.humidity.reshape(365, 24).mean(axis=0)
    assert by_hour[15] < by_hour[5] - 10


def test_minutes_run_through_the_hourly_means_across_midnight():
    year = synthetic(0)
    day, following = year.day(date(2018, 3, 5)), year.day(date(2018, 3, 6))
    assert abs(day.temperature[-1] - following.temperature[0]) < 0.2
    assert day.temperature.reshape(24, 60).mean(axis=1) == pytest.approx(year.temperature[63 * 24 : 64 * 24], abs=1.0)


def test_the_last_day_of_february_serves_a_leap_year():
    year = synthetic(0)
    np.testing.assert_array_equal(year.day(date(2020, 2, 29)).temperature, year.day(date(2018, 2, 28)).temperature)


def test_a_swinging_day_is_clear_and_a_flat_one_overcast():
    assert clearness(0.0) < 0.1 < clearness(8.0) < clearness(16.0) == 1.0


def test_a_negative_seed_is_refused():
    with pytest.raises(ConfigError, match="seed -1 is negative"):
        synthetic(-1)


def hourly_rows(rows=HOURS, *, year=2018, humidity="40", fahrenheit="50", time_format="%m/%d/%Y %H:%M"):
    """Lines of an hourly file as [time, temperature, humidity]."""
    first = datetime(year, 1, 1)
    return [[format(first + timedelta(hours=n), time_format), fahrenheit, humidity] for n in range(rows)]


def write_csv(path, rows, header="Datetime,FCU_OAT,FCU_OA_HUMD"):
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n")
    return path


def test_reads_csv_and_parquet_alike(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv
    from pyarrow import parquet as pq

    table = pa.table({"FCU_OAT": np.linspace(32.0, 122.0, HOURS), "FCU_OA_HUMD": np.full(HOURS, 40.0)})
    csv.write_csv(table, tmp_path / "year.csv")
    pq.write_table(table, tmp_path / "year.parquet")
    for name in ("year.csv", "year.parquet"):
        year = read_weather(tmp_path / name)
        assert year.temperature[[0, -1]] == pytest.approx([0.0, 50.0])
        assert year.humidity[0] == 40.0


@pytest.mark.parametrize("time_format", ["%m/%d/%Y %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M"])
def test_times_of_the_data_set_and_iso_times_are_read(tmp_path, time_format):
    assert read_weather(write_csv(tmp_path / "year.csv", hourly_rows(time_format=time_format))).humidity[7] == 40.0


def test_the_months_of_a_typical_year_may_come_from_different_years(tmp_path):
    rows = hourly_rows()[: 31 * 24] + hourly_rows(year=2011)[31 * 24 :]
    assert read_weather(write_csv(tmp_path / "year.csv", rows)).temperature.size == HOURS


def test_a_leap_year_keeps_its_own_29_february_and_shifts_no_other_day(tmp_path):
    rows = hourly_rows(LEAP_HOURS, year=2020)
    for number, row in enumerate(rows):
        row[1] = str(32.0 + 1.8 * (number // 24) / 10.0)  # a tenth of a kelvin a day
    year = read_weather(write_csv(tmp_path / "year.csv", rows))
    for day, of_year in (
        (date(2020, 2, 29), 59),
        (date(2018, 2, 28), 58),
        (date(2018, 3, 1), 60),
        (date(2021, 12, 31), 365),
    ):
        assert year.day(day).temperature[720] == pytest.approx(of_year / 10.0)


def at(rows, number, **changes):
    """The rows with one of them (counted from 1) changed."""
    columns = {"time": 0, "fahrenheit": 1, "humidity": 2}
    for name, value in changes.items():
        rows[number - 1][columns[name]] = value
    return rows


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        pytest.param(lambda: hourly_rows(HOURS * 2), "17520 rows.*hourly means", id="half-hourly"),
        pytest.param(lambda: hourly_rows(HOURS - 1), "8759 rows.*8760", id="short"),
        pytest.param(
            lambda: at(hourly_rows(), 18, fahrenheit="-9999"), "row 18: temperature -5572.78 degC", id="-9999"
        ),
        pytest.param(lambda: at(hourly_rows(), 19, humidity="-9999"), "row 19: humidity -9999 %RH", id="no-humidity"),
        pytest.param(lambda: at(hourly_rows(), 20, humidity="101"), "row 20: humidity 101 %RH", id="over-100"),
        pytest.param(lambda: at(hourly_rows(), 21, fahrenheit=""), "row 21: temperature is missing", id="gap"),
        pytest.param(lambda: at(hourly_rows(), 22, fahrenheit="warm"), "FCU_OAT does not hold numbers", id="words"),
        pytest.param(lambda: at(hourly_rows(), 23, time="noon"), "row 23: Datetime noon", id="no-time"),
        pytest.param(lambda: hourly_rows(year=2020), "row 1417: .*02/29/2020.*01 March 00:00 belongs", id="leap-shift"),
        pytest.param(lambda: hourly_rows()[24:] + hourly_rows()[:24], "row 1: .*01 January 00:00", id="starts-late"),
        pytest.param(
            lambda: [*hourly_rows()[:500], *hourly_rows()[501:], ["01/01/2019 00:00", "50", "40"]],
            "row 501: .*where 21 January 20:00 belongs",
            id="hour-left-out",
        ),
    ],
)
def test_a_file_that_is_no_hourly_year_is_refused_with_file_row_and_way_out(tmp_path, rows, message):
    path = write_csv(tmp_path / "year.csv", rows())
    with pytest.raises(DataError, match=message) as raised:
        read_weather(path)
    assert str(path) in str(raised.value)


def test_a_minute_file_is_not_taken_for_an_hourly_one(tmp_path):
    path = tmp_path / "minutes.csv"
    path.write_text("FCU_OAT,FCU_OA_HUMD\n" + "50,50\n" * 525_600)
    with pytest.raises(DataError, match="525600 rows of temperature; a year has 8760 hourly rows"):
        read_weather(path)


def test_a_file_without_the_outdoor_columns_is_refused_by_name(tmp_path):
    (tmp_path / "year.csv").write_text("time,temperature\n0,1\n")
    with pytest.raises(SchemaError, match="FCU_OAT"):
        read_weather(tmp_path / "year.csv")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_weather(tmp_path / "none.csv")


def test_without_pyarrow_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "graphghha.plants.arrow", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for read in (read_weather, read_hourly):
        with pytest.raises(EngineError, match=r"pip install 'graphghha\[data\]'"):
            read(write_csv(tmp_path / "year.csv", hourly_rows()))


def test_a_year_with_a_hole_is_refused_with_its_row():
    holed = np.full(HOURS, 10.0)
    holed[17] = np.nan
    with pytest.raises(DataError, match="row 18: temperature is missing"):
        Weather(holed, np.full(HOURS, 50.0))
    with pytest.raises(DataError, match="as many of both"):
        Weather(np.full(HOURS, 10.0), np.full(LEAP_HOURS, 50.0))
