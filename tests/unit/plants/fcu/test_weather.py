from datetime import date

import numpy as np
import pytest

from graphghha.errors import DataError, SchemaError
from graphghha.plants.fcu.weather import HOURS, Weather, clearness, continental, read_weather


def constant(temperature: float, humidity: float = 50.0) -> Weather:
    return Weather(np.full(HOURS, temperature), np.full(HOURS, humidity))


def test_same_seed_gives_the_same_year_and_another_seed_another():
    np.testing.assert_array_equal(continental(3).temperature, continental(3).temperature)
    assert not np.array_equal(continental(3).temperature, continental(4).temperature)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_generated_year_is_continental(seed):
    year = continental(seed)
    by_month = year.temperature[: 360 * 24].reshape(12, -1).mean(axis=1)
    assert by_month[0] < 0 < 20 < by_month[6] < 30
    assert -35 < year.temperature.min() < -12 and 29 < year.temperature.max() < 43
    assert year.humidity.min() > 0 and year.humidity.max() <= 100 and 55 < year.humidity.mean() < 80


def test_generated_afternoons_are_warmer_and_drier_than_mornings():
    year = continental(0)
    by_hour = year.temperature.reshape(365, 24).mean(axis=0)
    assert by_hour[15] > by_hour[5] + 5
    by_hour = year.humidity.reshape(365, 24).mean(axis=0)
    assert by_hour[15] < by_hour[5] - 10


def test_minutes_run_through_the_hourly_means_across_midnight():
    year = continental(0)
    day, following = year.day(date(2018, 3, 5)), year.day(date(2018, 3, 6))
    assert abs(day.temperature[-1] - following.temperature[0]) < 0.2
    assert day.temperature.reshape(24, 60).mean(axis=1) == pytest.approx(year.temperature[63 * 24 : 64 * 24], abs=1.0)


def test_the_last_day_of_february_serves_a_leap_year():
    year = continental(0)
    np.testing.assert_array_equal(year.day(date(2020, 2, 29)).temperature, year.day(date(2018, 2, 28)).temperature)


def test_a_swinging_day_is_clear_and_a_flat_one_overcast():
    assert clearness(0.0) < 0.1 < clearness(8.0) < clearness(16.0) == 1.0


def test_reads_csv_and_parquet_alike(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv
    from pyarrow import parquet as pq

    table = pa.table({"FCU_OAT": np.linspace(32.0, 212.0, HOURS), "FCU_OA_HUMD": np.full(HOURS, 40.0)})
    csv.write_csv(table, tmp_path / "year.csv")
    pq.write_table(table, tmp_path / "year.parquet")
    for name in ("year.csv", "year.parquet"):
        year = read_weather(tmp_path / name)
        assert year.temperature[[0, -1]] == pytest.approx([0.0, 100.0])
        assert year.humidity[0] == 40.0


def test_a_file_without_the_outdoor_columns_is_refused_by_name(tmp_path):
    (tmp_path / "year.csv").write_text("time,temperature\n0,1\n")
    with pytest.raises(SchemaError, match="FCU_OAT"):
        read_weather(tmp_path / "year.csv")


def test_a_short_or_missing_file_is_refused(tmp_path):
    (tmp_path / "year.csv").write_text("FCU_OAT,FCU_OA_HUMD\n50,50\n")
    with pytest.raises(DataError, match="8760"):
        read_weather(tmp_path / "year.csv")
    with pytest.raises(DataError, match="no such file"):
        read_weather(tmp_path / "none.csv")


def test_a_year_with_a_hole_is_refused_with_its_hour():
    holed = np.full(HOURS, 10.0)
    holed[17] = np.nan
    with pytest.raises(DataError, match="hour 17"):
        Weather(holed, np.full(HOURS, 50.0))
