from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.errors import ConfigError, DataError, SchemaError
from graphghha.plants.telemetry import (
    GOOD,
    MISSING,
    REPAIRED,
    Chunk,
    TelemetryFile,
    TelemetryMeta,
    TelemetryWriter,
    labels_path,
    read_labels,
)

NOON = np.datetime64("2018-07-02T12:00", "ms")
NOON_ARROW = pa.scalar(NOON.item() + timedelta(minutes=2), pa.timestamp("ms")).cast(pa.timestamp("ms", tz="UTC"))


def meta(layout="long", **changes):
    fields = {
        "plant": "fcu",
        "template_hash": "abc",
        "site": "north",
        "zones": ("zone-01", "zone-02"),
        "points": ("A", "B", "C"),
        "units": ("degC", "L/s", "fraction"),
        "step_s": 60.0,
        "layout": layout,
        "seed": 7,
        "cases": ("X@1,start=2018-07-02T09:00",),
    }
    return TelemetryMeta(**fields | changes)


def chunk(minutes=5, later=0, seed=0):
    values = np.random.default_rng(seed).normal(20, 5, (2, minutes, 3)).astype(np.float32)
    times = NOON + np.timedelta64(1, "m") * (np.arange(minutes) + later)
    return Chunk(times, values, np.full(values.shape, GOOD, np.uint8))


def written(path, *chunks, layout="long"):
    with TelemetryWriter(path, meta(layout)) as writer:
        for each in chunks:
            writer.write(each)
    return path


@pytest.mark.parametrize("layout", ["long", "wide"])
@given(lengths=st.lists(st.integers(1, 40), min_size=1, max_size=9))
def test_what_is_written_is_read_back(layout, lengths, tmp_path_factory):
    starts = np.cumsum([0, *lengths[:-1]])
    chunks = [chunk(n, later=int(at), seed=n) for n, at in zip(lengths, starts, strict=True)]
    file = TelemetryFile(written(tmp_path_factory.mktemp("t") / "run.parquet", *chunks, layout=layout))
    assert file.meta == meta(layout)
    read = list(file.chunks())
    assert len(read) == len(chunks) if layout == "long" else len(read) == -(-len(chunks) // 7)
    assert (np.concatenate([c.times for c in read]) == np.concatenate([c.times for c in chunks])).all()
    assert (np.concatenate([c.values for c in read], 1) == np.concatenate([c.values for c in chunks], 1)).all()
    assert all((c.quality == GOOD).all() for c in read)


@pytest.mark.parametrize("layout", ["long", "wide"])
def test_days_are_read_one_by_one_however_they_lie_in_the_file(tmp_path, layout):
    path = written(tmp_path / "run.parquet", *(chunk(1440, later=1440 * day) for day in range(9)), layout=layout)
    assert [len(c.times) for c in TelemetryFile(path).chunks()] == [1440] * 9
    assert pq.ParquetFile(path).num_row_groups == {"long": 9, "wide": 2}[layout]


def test_the_long_layout_has_one_row_per_reading_with_the_promised_columns(tmp_path):
    table = pq.read_table(written(tmp_path / "run.parquet", chunk()))
    assert table.column_names == ["site", "zone", "point", "time", "value", "quality"]
    assert len(table) == 2 * 5 * 3
    first = table.slice(0, 1).to_pylist()[0]
    assert (first["site"], first["zone"], first["point"], first["quality"]) == ("north", "zone-01", "A", "good")
    assert str(table.schema.field("time").type) == "timestamp[ms, tz=UTC]"


def test_the_wide_layout_has_time_and_one_column_per_zone_and_point(tmp_path):
    table = pq.read_table(written(tmp_path / "run.parquet", chunk(), layout="wide"))
    assert table.column_names == ["time", *(f"zone-0{z}/{p}" for z in (1, 2) for p in "ABC")]
    assert len(table) == 5


def test_quality_and_missing_readings_survive(tmp_path):
    marked = chunk()
    marked.quality[0, 1, 2] = REPAIRED
    marked.quality[1, 2, 0] = MISSING
    marked.values[1, 2, 0] = np.nan
    (read,) = TelemetryFile(written(tmp_path / "long.parquet", marked)).chunks()
    assert (read.quality == marked.quality).all()
    (read,) = TelemetryFile(written(tmp_path / "wide.parquet", marked, layout="wide")).chunks()
    assert read.quality[1, 2, 0] == MISSING
    assert np.isnan(read.values[1, 2, 0])


def crowd(zones, minutes=3, later=0):
    values = np.random.default_rng(zones).normal(20, 5, (zones, minutes, 3)).astype(np.float32)
    quality = np.full(values.shape, GOOD, np.uint8)
    quality[-1, -1, -1] = REPAIRED
    return Chunk(NOON + np.timedelta64(1, "m") * (np.arange(minutes) + later), values, quality)


def test_a_large_building_lies_in_row_groups_of_some_zones_and_reads_back_day_by_day(tmp_path):
    days = [crowd(120), crowd(120, later=3)]
    path = tmp_path / "run.parquet"
    with TelemetryWriter(path, meta(zones=tuple(f"zone-{n}" for n in range(120)))) as writer:
        for each in days:
            writer.write(each)
    file = pq.ParquetFile(path)
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [180] * 12
    zones = file.read_row_group(1)["zone"].to_pylist()
    assert (zones[0], zones[-1]) == ("zone-20", "zone-39")
    read = list(TelemetryFile(path).chunks())
    assert len(read) == 2
    for day, same in zip(days, read, strict=True):
        assert (day.times == same.times).all()
        assert (day.values == same.values).all()
        assert (day.quality == same.quality).all()


def test_row_groups_of_one_day_with_unequal_times_are_joined(tmp_path):
    path = written(tmp_path / "run.parquet", chunk(minutes=6))
    table = pq.read_table(path)
    holey = table.filter(pc.or_(pc.not_equal(table["zone"], "zone-02"), pc.less(table["time"], NOON_ARROW)))
    with pq.ParquetWriter(path, holey.schema) as writer:
        for zone in ("zone-02", "zone-01"):
            writer.write_table(holey.filter(pc.equal(holey["zone"], zone)))
    (read,) = TelemetryFile(path).chunks()
    assert (read.times == chunk(minutes=6).times).all()
    assert (read.values[0] == chunk(minutes=6).values[0]).all()
    assert (read.values[1, :2] == chunk(minutes=6).values[1, :2]).all()
    assert (read.quality[1, 2:] == MISSING).all()
    assert np.isnan(read.values[1, 2:]).all()


@pytest.mark.parametrize("layout", ["long", "wide"])
def test_the_same_content_is_the_same_bytes(tmp_path, layout):
    first = written(tmp_path / "a.parquet", chunk(), chunk(later=5), layout=layout).read_bytes()
    assert first == written(tmp_path / "b.parquet", chunk(), chunk(later=5), layout=layout).read_bytes()


def test_a_failed_run_leaves_neither_a_file_nor_a_part_of_one(tmp_path):
    with pytest.raises(RuntimeError), TelemetryWriter(tmp_path / "run.parquet", meta()) as writer:
        writer.write(chunk())
        raise RuntimeError("power cut")
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_file_survives_a_failed_rewrite(tmp_path):
    path = written(tmp_path / "run.parquet", chunk())
    before = path.read_bytes()
    with pytest.raises(RuntimeError), TelemetryWriter(path, meta()):
        raise RuntimeError("power cut")
    assert path.read_bytes() == before


def test_files_that_are_no_telemetry_are_refused_by_name(tmp_path):
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(DataError, match="x.parquet: cannot be read as Parquet"):
        TelemetryFile(path)
    with pytest.raises(DataError, match="cannot be read"):
        TelemetryFile(tmp_path / "absent.parquet")
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(SchemaError, match="not a telemetry file of this package"):
        TelemetryFile(path)
    pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({"graphghha": "{}"}), path)
    with pytest.raises(SchemaError, match="is not graphghha-telemetry/1"):
        TelemetryFile(path)
    table = pa.table({"time": [1]}).replace_schema_metadata({"graphghha": meta().to_bytes()})
    pq.write_table(table, path)
    with pytest.raises(SchemaError, match=r"missing columns \['point'"):
        TelemetryFile(path)


@pytest.mark.parametrize("layout", ["long", "wide"])
def test_a_flipped_bit_in_the_readings_is_noticed(tmp_path, layout):
    path = written(tmp_path / "run.parquet", chunk(600), layout=layout)
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"run\.parquet: row group 0 cannot be read"):
        list(TelemetryFile(path).chunks())


def test_a_reading_given_twice_may_not_contradict_itself(tmp_path):
    path = written(tmp_path / "run.parquet", chunk())
    table = pq.read_table(path)
    again = table.slice(7, 1)
    pq.write_table(pa.concat_tables([table, again]), path)
    assert (next(TelemetryFile(path).chunks()).values == chunk().values).all()
    other = again.set_column(4, "value", pa.array([-1.0], pa.float32()))
    pq.write_table(pa.concat_tables([table, other]), path)
    with pytest.raises(DataError, match=r"zone-01/B at 2018-07-02T12:02:00.000 is .* and -1; keep only one of the two"):
        list(TelemetryFile(path).chunks())


def test_a_zone_the_metadata_does_not_know_is_refused(tmp_path):
    path = written(tmp_path / "run.parquet", chunk())
    table = pq.read_table(path)
    zones = pa.array(["zone-99"] * len(table))
    pq.write_table(table.set_column(1, "zone", zones), path)
    with pytest.raises(SchemaError, match="'zone-99' is not among"):
        list(TelemetryFile(path).chunks())


@pytest.mark.parametrize(
    ("layout", "name", "kind", "message"),
    [
        ("long", "value", pa.string(), "'value' holds string; it must hold numbers"),
        ("wide", "zone-01/A", pa.string(), "'zone-01/A' holds string; it must hold numbers"),
        ("wide", "time", pa.int64(), "'time' holds int64; it must hold timestamps"),
        ("long", "zone", pa.int8(), "'zone' holds int8; it must hold names"),
    ],
)
def test_columns_of_another_kind_are_refused_by_name(layout, name, kind, message, tmp_path):
    path = written(tmp_path / "run.parquet", chunk(), layout=layout)
    table = pq.read_table(path)
    at = table.schema.names.index(name)
    column = pa.array([1] * len(table), pa.int64()) if kind != pa.string() else pa.array(["21.4"] * len(table))
    pq.write_table(table.set_column(at, name, column.cast(kind)), path)
    with pytest.raises(SchemaError, match=message):
        TelemetryFile(path)


@pytest.mark.parametrize("name", ["time", "zone", "point", "quality"])
def test_a_row_without_time_or_name_is_refused(name, tmp_path):
    path = written(tmp_path / "run.parquet", chunk())
    table = pq.read_table(path)
    hole = pc.if_else(pa.array(np.arange(len(table)) == 7), None, table[name])
    pq.write_table(table.set_column(table.schema.names.index(name), name, hole), path)
    with pytest.raises(DataError, match=f"1 rows of row group 0 have no {name}"):
        list(TelemetryFile(path).chunks())


def test_finer_times_are_read_to_the_millisecond(tmp_path):
    path = written(tmp_path / "run.parquet", chunk(), layout="wide")
    table = pq.read_table(path)
    fine = table["time"].cast(pa.timestamp("ns", tz="UTC")).cast(pa.int64())
    fine = pc.add(fine, 123).cast(pa.timestamp("ns", tz="UTC"))
    pq.write_table(table.set_column(0, "time", fine), path)
    assert (next(TelemetryFile(path).chunks()).times == chunk().times).all()


def test_impossible_metadata_is_refused():
    with pytest.raises(ConfigError, match="unknown layout 'tall'"):
        meta("tall")
    with pytest.raises(ConfigError, match="3 points but 1 units"):
        meta(units=("degC",))


def test_labels_lie_beside_and_their_absence_or_damage_is_an_error(tmp_path):
    path = tmp_path / "run.parquet"
    assert labels_path(path) == tmp_path / "run.labels.parquet"
    with pytest.raises(DataError, match=r"run\.labels\.parquet: cannot be read"):
        read_labels(path)
    pq.write_table(pa.table({"time": [1]}), labels_path(path))
    with pytest.raises(SchemaError, match="missing columns"):
        read_labels(path)


def test_an_unwritable_place_is_an_error_with_its_path(tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        TelemetryWriter(tmp_path / "absent" / "run.parquet", meta())
    with pytest.raises(DataError, match=r"folder\.parquet: cannot be written: it is a folder"):
        (tmp_path / "folder.parquet").mkdir()
        TelemetryWriter(tmp_path / "folder.parquet", meta())
    assert [each.name for each in tmp_path.iterdir()] == ["folder.parquet"]


def test_a_place_that_becomes_unwritable_on_the_way_is_an_error_and_leaves_nothing(tmp_path):
    with (
        pytest.raises(DataError, match=r"run\.parquet: cannot be written"),
        TelemetryWriter(tmp_path / "run.parquet", meta()) as writer,
    ):
        writer.write(chunk())
        (tmp_path / "run.parquet").mkdir()
    assert [each.name for each in tmp_path.iterdir()] == ["run.parquet"]
