from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphghha.errors import DataError, SchemaError
from graphghha.plants import load_simulator
from graphghha.plants.fcu.lbnl.files import open_lbnl
from graphghha.plants.telemetry import TelemetryFile
from graphghha.sources import Rejection, open_source, parse_address, stated_zones
from source_builders import NINE, PLANT, POINTS, all_rows, drained

SETTINGS = {"site": "site", "points": POINTS, "plant": PLANT}
RUN = {"zones": 2, "days": 2, "start": datetime(2018, 7, 2), "seed": 5, "cases": []}


@pytest.fixture
def csv(tmp_path):
    def write(text):
        file = tmp_path / "readings.csv"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return open_source(parse_address(f"csv:{file}"), **SETTINGS)

    return write


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_our_telemetry_is_replayed_to_the_last_reading(layout, tmp_path):
    file = tmp_path / "run.parquet"
    load_simulator("fcu")(**RUN, layout=layout, out=file)
    times, values = all_rows(open_source(parse_address(f"parquet:{file}"), **SETTINGS))
    points = list(TelemetryFile(file).meta.points)
    order = [points.index(name.rpartition("/")[2]) for name in POINTS[:29]]
    truth = np.concatenate([chunk.values.transpose(1, 0, 2)[..., order] for chunk in TelemetryFile(file).chunks()])
    assert len(times) == 2 * 1440 and (np.diff(times) == 60_000).all()
    np.testing.assert_array_equal(values, truth.reshape(len(times), -1))
    assert stated_zones(parse_address(f"parquet:{file}")) == ("zone-01", "zone-02")


def test_a_published_file_of_the_plant_is_known_by_its_times_and_read_in_its_units(tmp_path):
    load_simulator("fcu")(**RUN | {"zones": 1}, format="lbnl", out=tmp_path)
    (file,) = tmp_path.glob("FCU_*.csv")
    _, values = all_rows(open_source(parse_address(f"csv:{file}"), site="s", points=POINTS[:29], plant=PLANT))
    (known,) = open_lbnl(tmp_path).values()
    names = [name.rpartition("/")[2] for name in POINTS[:29]]
    order = [[signal.name for signal in PLANT.signals].index(name) for name in names]
    truth = np.concatenate([chunk.values[0][:, order] for chunk in known.chunks()])
    np.testing.assert_allclose(values, truth, atol=1e-9)


def test_a_wide_table_with_units_in_its_header(csv):
    source = csv(
        "time,zone-01/RM_TEMP [degF],zone-02/RM_TEMP\n2018-07-02T09:00:00Z,68,21.5\n2018-07-02T09:01:00Z,,22\n"
    )
    result, rejected = drained(source)
    assert result == [
        ("zone-01/RM_TEMP", NINE, 20.0),
        ("zone-02/RM_TEMP", NINE, 21.5),
        ("zone-02/RM_TEMP", NINE + 60_000, 22.0),
    ]
    assert not rejected


def test_a_long_table_with_units_and_qualities(csv):
    source = csv(
        "time,zone,point,value,unit,quality\n"
        "2018-07-02 09:00:00,zone-01,RM_TEMP,68,degF,good\n"
        "2018-07-02 09:00:00,zone-02,RM_TEMP,21.5,,\n"
        "2018-07-02 09:00:00,zone-02,RM_TEMP,21.5,,bad\n"
        "2018-07-02 09:00:00,zone-02,RM_TEMP,,,good\n"
        "2018-07-02 09:00:00,zone-02,RM_TEMP,warm,,good\n"
        "2018-07-02 09:00:00,zone-02,RM_TEMP,21.5,bar,good\n"
        "2018-07-02 09:00:00,zone-99,RM_TEMP,21.5,,good\n"
        "1918-07-02 09:00:00,zone-02,RM_TEMP,21.5,,good\n"
        "2018-07-02 09:00:00,zone-02,RM_TEMP,1e308,,good\n"
    )
    result, rejected = drained(source)
    assert result == [("zone-01/RM_TEMP", NINE, 20.0), ("zone-02/RM_TEMP", NINE, 21.5)]
    assert rejected == {
        Rejection.BAD_QUALITY: 2,
        Rejection.MALFORMED: 1,
        Rejection.WRONG_UNIT: 1,
        Rejection.UNMAPPED: 1,
        Rejection.BAD_TIME: 1,
        Rejection.OUT_OF_LIMITS: 1,
    }


def test_broken_cells_rows_and_times_of_a_wide_table_are_counted_and_the_rest_is_read(csv):
    source = csv(
        b"Time,zone-01/RM_TEMP,cellar\n"
        b"1530522000,20.0,1\n"
        b"1530522060,\xff\xfe,1\n"
        b"1530522120,inf,1\n"
        b"1530522180,1_0,1\n"
        b"noon,20.0,1\n"
        b"1530522240\n"
        b"1530522300,nan,1\n"
        b"1530522360,21.0,1\n"
        b"1530522420,1,1,1,1\n"
    )
    result, rejected = drained(source)
    assert result == [("zone-01/RM_TEMP", NINE, 20.0), ("zone-01/RM_TEMP", NINE + 360_000, 21.0)]
    assert rejected == {
        Rejection.MALFORMED: 4,
        Rejection.OUT_OF_LIMITS: 1,
        Rejection.BAD_TIME: 1,
        Rejection.UNMAPPED: 7,
    }


def test_anybodys_parquet_is_read_too(tmp_path):
    file = tmp_path / "foreign.parquet"
    stamps = [datetime(2018, 7, 2, 9, tzinfo=UTC), None]
    pq.write_table(pa.table({"timestamp": stamps, "zone-01/RM_TEMP": [20, 21], "note": ["a", "b"]}), file)
    result, rejected = drained(open_source(parse_address(f"parquet:{file}"), **SETTINGS))
    assert result == [("zone-01/RM_TEMP", NINE, 20.0)]
    assert rejected == {Rejection.BAD_TIME: 1, Rejection.UNMAPPED: 2}
    assert stated_zones(parse_address(f"parquet:{file}")) is None


def test_a_file_that_cannot_be_read_says_why(csv, tmp_path):
    with pytest.raises(DataError, match="absent.csv"):
        open_source(parse_address(f"csv:{tmp_path}/absent.csv"), **SETTINGS)
    with pytest.raises(DataError, match="must name the columns"):
        csv("")
    with pytest.raises(SchemaError, match="no column holds the time; .* is it 'Tiime'"):
        csv("Tiime,a\n1,2\n")
    with pytest.raises(SchemaError, match="both feed 'zone-01/RM_TEMP'"):
        csv("time,zone-01/RM_TEMP,zone-01/RM_TEMP [degF]\n1530522000,1,2\n")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        open_source(parse_address(f"parquet:{tmp_path}/readings.csv"), **SETTINGS)


def test_a_parquet_file_that_unpacks_to_hundreds_of_megabytes_of_text_is_refused(tmp_path):
    table = pa.table({"time": ["2018-07-02T09:00:00Z"], "point": ["x" * (80 << 20)], "value": [1.0]})
    path = tmp_path / "bomb.parquet"
    pq.write_table(table, path, compression="zstd")
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match="column 'point' unpacks from"):
        open_source(parse_address(f"parquet:{path}"), site="site", points=POINTS, plant=PLANT)


def test_a_torn_row_that_is_not_utf8_is_left_out_like_any_other(csv, capfd):
    good = [f"2018-07-02T09:{minute:02}:00Z,20" for minute in range(20)]
    text = "\n".join(["time,zone-01/RM_TEMP", *good]).encode() + b"\ncaf\xe9,\xff,3\n2018-07-02T09:20:00Z,21\n"
    result, rejected = drained(csv(text))
    assert len(result) == 21 and rejected == {Rejection.MALFORMED: 1}
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "first, jump_min, minutes",
    [(datetime(2018, 3, 11, 1, 30), 60, 90), (datetime(2018, 11, 4, 1, 30), -60, 90)],
    ids=["spring", "autumn"],
)
def test_a_change_of_the_clock_shows_in_times_without_a_zone(csv, first, jump_min, minutes):
    times = [first + timedelta(minutes=m + (jump_min if m >= 30 else 0)) for m in range(minutes)]
    source = csv("time,zone-01/RM_TEMP\n" + "".join(f"{time:%Y-%m-%d %H:%M},20\n" for time in times))
    read, _ = all_rows(source)
    assert (np.diff(read) == 60_000).all() and len(read) == minutes
    assert any("when the clocks of North America change" in note for note in source.notes)


def test_times_without_a_zone_are_taken_as_utc_and_that_is_said(csv):
    source = csv("time,zone-01/RM_TEMP\n" + "".join(f"2018-07-02 09:{m:02},20\n" for m in range(20)))
    assert all_rows(source)[0][0] == NINE and "no file states a zone" in source.notes[0]
    assert csv("time,zone-01/RM_TEMP\n2018-07-02T09:00:00Z,20\n2018-07-02T09:01:00Z,20\n").notes == ()
