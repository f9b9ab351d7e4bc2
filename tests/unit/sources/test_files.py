from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphghha.errors import DataError, SchemaError
from graphghha.plants import load_simulator
from graphghha.plants.fcu.lbnl.files import open_lbnl
from graphghha.plants.telemetry import TelemetryFile
from graphghha.sources import Rejection, check_address, open_source, parse_address, stated_zones
from source_builders import NINE, PLANT, POINTS, drained

SETTINGS = {"site": "site", "points": POINTS, "plant": PLANT}
CASE = "FCU_SensorBias_RMTemp_+2C@2,start=2018-07-02T12:00,for=2h"
RUN = {"zones": 2, "days": 2, "start": datetime(2018, 7, 2), "seed": 5, "cases": []}


@pytest.fixture
def csv(tmp_path):
    def write(text):
        file = tmp_path / "readings.csv"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return open_source(parse_address(f"csv:{file}"), **SETTINGS)

    return write


def blocks(source):
    found = []
    while (batch := source.poll(0)) is not None:
        found.append(batch)
    return np.concatenate([b.times_ms for b in found]), np.concatenate([b.values for b in found])


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_our_telemetry_is_replayed_to_the_last_reading(layout, tmp_path):
    file = tmp_path / "run.parquet"
    load_simulator("fcu")(**RUN, layout=layout, out=file)
    times, values = blocks(open_source(parse_address(f"parquet:{file}"), **SETTINGS))
    points = list(TelemetryFile(file).meta.points)
    order = [points.index(name.rpartition("/")[2]) for name in POINTS[:29]]
    truth = np.concatenate([chunk.values.transpose(1, 0, 2)[..., order] for chunk in TelemetryFile(file).chunks()])
    assert len(times) == 2 * 1440 and (np.diff(times) == 60_000).all()
    np.testing.assert_array_equal(values, truth.reshape(len(times), -1))
    assert stated_zones(parse_address(f"parquet:{file}")) == ("zone-01", "zone-02")


def test_a_published_file_of_the_plant_is_known_by_its_times_and_read_in_its_units(tmp_path):
    load_simulator("fcu")(**RUN | {"zones": 1}, format="lbnl", out=tmp_path)
    (file,) = tmp_path.glob("FCU_*.csv")
    _, values = blocks(open_source(parse_address(f"csv:{file}"), site="s", points=POINTS[:29], plant=PLANT))
    (known,) = open_lbnl(tmp_path).values()
    names = [name.rpartition("/")[2] for name in POINTS[:29]]
    order = [[signal.name for signal in PLANT.signals].index(name) for name in names]
    truth = np.concatenate([chunk.values[0][:, order] for chunk in known.chunks()])
    np.testing.assert_allclose(values, truth, atol=1e-9)


def test_a_wide_table_with_units_in_its_header(csv):
    source = csv(
        "time,zone-01/RM_TEMP [degF],zone-02/RM_TEMP\n2018-07-02T09:00:00Z,68,21.5\n2018-07-02T09:01:00Z,,22\n"
    )
    found, rejected = drained(source)
    assert found == [
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
    found, rejected = drained(source)
    assert found == [("zone-01/RM_TEMP", NINE, 20.0), ("zone-02/RM_TEMP", NINE, 21.5)]
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
    found, rejected = drained(source)
    assert found == [("zone-01/RM_TEMP", NINE, 20.0), ("zone-01/RM_TEMP", NINE + 360_000, 21.0)]
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
    found, rejected = drained(open_source(parse_address(f"parquet:{file}"), **SETTINGS))
    assert found == [("zone-01/RM_TEMP", NINE, 20.0)]
    assert rejected == {Rejection.BAD_TIME: 1, Rejection.UNMAPPED: 2}
    assert stated_zones(parse_address(f"parquet:{file}")) is None


def test_a_file_that_cannot_be_read_says_why(csv, tmp_path):
    with pytest.raises(DataError, match="absent.csv"):
        open_source(parse_address(f"csv:{tmp_path}/absent.csv"), **SETTINGS)
    with pytest.raises(DataError, match="must name the columns"):
        csv("")
    with pytest.raises(SchemaError, match="no column of times; .* is it 'Tiime'"):
        csv("Tiime,a\n1,2\n")
    with pytest.raises(SchemaError, match="both feed 'zone-01/RM_TEMP'"):
        csv("time,zone-01/RM_TEMP,zone-01/RM_TEMP [degF]\n1530522000,1,2\n")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        open_source(parse_address(f"parquet:{tmp_path}/readings.csv"), **SETTINGS)


def test_the_simulator_begins_at_the_wanted_minute_and_is_the_same_every_time():
    address = "sim:fcu?zones=2&seed=3&start=2018-07-02T09:00&days=1"
    (times, values), (_, again) = (blocks(open_source(parse_address(address), **SETTINGS)) for _ in range(2))
    assert times[0] == NINE and values.shape == (15 * 60, len(POINTS))
    np.testing.assert_array_equal(values, again)
    assert stated_zones(parse_address(address)) == ("zone-01", "zone-02")


def test_the_simulated_building_is_attacked_from_the_onset_on():
    address = "sim:fcu?zones=2&seed=3&start=2018-07-02T09:00&days=1"
    _, calm = blocks(open_source(parse_address(address), **SETTINGS))
    _, attacked = blocks(open_source(parse_address(f"{address}&case={CASE}"), **SETTINGS))
    changed = (calm != attacked).any(axis=1)
    assert not changed[:180].any() and changed[180:300].all()


def test_a_speed_paces_the_rows_by_the_plants_own_time():
    address = "sim:fcu?zones=2&seed=3&start=2018-07-02T09:00&days=1&speed="
    slow = open_source(parse_address(address + "0.001"), **SETTINGS)
    assert slow.poll(0).times_ms.tolist() == [NINE]
    assert slow.poll(0.01) is None and slow.status.is_connected
    quick = open_source(parse_address(address + "6000"), **SETTINGS)
    first = quick.poll(0)
    later = quick.poll(5)
    assert first.times_ms[0] == NINE and later.times_ms[0] == first.times_ms[-1] + 60_000


def test_a_check_of_a_file_says_what_maps_what_does_not_and_what_is_silent(tmp_path):
    file = tmp_path / "readings.csv"
    file.write_text("time,zone-01/RM_TEMP,zone-1/FCU_DAT,zone-02/RM_TEMP (bar)\n2018-07-02T09:00:00Z,20,13,1\n")
    report = check_address(f"csv:{file}", **SETTINGS, seconds=5)
    as_json = report.to_dict()
    assert as_json["mapped"] == [
        {
            "name": "zone-01/RM_TEMP",
            "point": "zone-01/RM_TEMP",
            "unit": "degC",
            "readings": 1,
            "last_value": 20.0,
            "last_time": "2018-07-02T09:00:00Z",
        }
    ]
    strange, misfit = as_json["unmapped"]
    assert (strange["name"], strange["nearest"]) == ("zone-1/FCU_DAT", "zone-01/FCU_DAT")
    assert misfit["name"] == "zone-02/RM_TEMP" and "degC | degF | K" in misfit["why"]
    assert len(as_json["silent"]) == len(POINTS) - 1 and not as_json["sound"]
    assert report.rows()[0] == ("zone-1/FCU_DAT", "-", "1", "no such point; meant zone-01/FCU_DAT?")


def test_a_check_of_a_sound_source_finds_nothing_wrong():
    report = check_address("sim:fcu?zones=2&days=1", **SETTINGS, seconds=60)
    assert report.is_sound and len(report.rows()) == len(POINTS) and report.readings == 1440 * len(POINTS)
