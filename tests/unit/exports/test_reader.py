import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from export_builders import ms, only, read, reasons, table
from graphghha.errors import DataError
from graphghha.exports import ExportReader, Mode, merge_parts, read_exports

FIRST = ms(2021, 5, 30, 12)
VALUES = [20.0, 20.1, 20.2]


@pytest.mark.parametrize(
    "header, line",
    [
        ("time,room", "%Y-%m-%dT%H:%M:%SZ,{v}"),
        ("Timestamp,Value (°C)", "%d-%b-%y %I:%M:%S %p UTC,{v}"),
        ("Date/Time;Room [degC]", "%d.%m.%Y %H:%M;{v}"),
        ("Date\tTime\tRoom", "%m/%d/%Y\t%I:%M:%S %p\t{v}"),
        ("zeit|raum", "%A, %B %d, %Y %H:%M|{v}"),
        ("Datetime,room", "%a %b %d %H:%M:%S UTC %Y,{v}"),
        ("ts,room", "%Y%m%dT%H%M%SZ,{v}"),
        ("when,room", "%d/%m/%Y %H:%M:%S.000,{v}"),
        ("time,room,", "%Y/%m/%d %H:%M,{v},"),
        ("time,room", "%Y-%m-%d %H:%M:%S+00:00,{v} °C {ok}"),
    ],
)
def test_every_way_to_write_a_time_gives_the_same_readings(header, line, tmp_path):
    series = only(read(tmp_path, table(header, line)))
    assert series.times_ms[0] == FIRST and (np.diff(series.times_ms) == 300_000).all() and len(series) == 30
    assert series.values[:3].tolist() == VALUES
    assert (series.reporting.mode, series.reporting.step_ms) == (Mode.SAMPLED, 300_000)


@pytest.mark.parametrize("scale", [1, 1000])
def test_numbers_since_1970_are_times(scale, tmp_path):
    lines = [f"{(FIRST // 1000 + 60 * row) * scale},{row}" for row in range(5)]
    series = only(read(tmp_path, "ts,level\n" + "\n".join(lines)))
    assert series.times_ms.tolist() == [FIRST + 60_000 * row for row in range(5)]


def test_days_since_1900_are_local_times(tmp_path):
    series = only(read(tmp_path, "Date,level\n44346.5,1\n44346.50347,2\n44346.50694,3\n", zone="America/Chicago"))
    assert series.times_ms.tolist() == [ms(2021, 5, 30, 12, minute, zone="America/Chicago") for minute in (0, 5, 10)]


@pytest.mark.parametrize(
    "dates, order, reason",
    [
        (("31/05/2021", "01/06/2021", "02/06/2021"), "day first", "31/05/2021 occurs"),
        (("05/31/2021", "06/01/2021", "06/02/2021"), "month first", "05/31/2021 occurs"),
        (("03/06/2021", "04/06/2021", "05/06/2021"), "day first", "would jump back and forth"),
        (("06/03/2021", "06/04/2021", "06/05/2021"), "month first", "would jump back and forth"),
        (("06/06/2021", "06/06/2021", "06/06/2021"), "month first", "no date of this file shows the order"),
    ],
)
def test_the_order_of_day_and_month_is_found_and_explained(dates, order, reason, tmp_path):
    export = read(tmp_path, "time,x\n" + "".join(f"{date} 0{row}:00,{row}\n" for row, date in enumerate(dates)))
    (guess,) = [guess for guess in export.guesses if guess.what == "dates"]
    assert guess.value == order and reason in guess.reason


def test_a_file_whose_dates_tell_nothing_is_read_like_the_others_of_its_folder(tmp_path):
    clear = "time,x\n31/05/2021 00:00,1\n31/05/2021 01:00,2\n31/05/2021 02:00,3\n"
    unclear = "time,x\n05/06/2021 00:00,1\n05/06/2021 01:00,2\n05/06/2021 02:00,3\n"
    export = read(tmp_path, clear, unclear)
    assert export.series[1].times_ms[0] == ms(2021, 6, 5)
    assert "part-1.csv: dates day first: stated, or as in other files" in reasons(export)


def test_decimal_commas_thousands_and_header_lines(tmp_path):
    text = (
        "History: /Site/AHU\nUnits: kPa\nTime zone: Europe/Berlin\n\n"
        "Zeit;Druck\n30.05.2021 12:00;1.234,5\n30.05.2021 12:01;1.235,5\n30.05.2021 12:02;0,5\n"
    )
    export = read(tmp_path, text)
    series = only(export)
    assert series.values.tolist() == [1234500.0, 1235500.0, 500.0] and series.unit == "Pa"
    assert series.times_ms[0] == ms(2021, 5, 30, 10)
    assert "decimal mark comma" in reasons(export) and "separator semicolon" in reasons(export)


def test_a_line_of_units_below_the_names(tmp_path):
    text = "Time,RM-T,CHW-F\n,°F,gpm\n2021-05-30T12:00:00Z,68,10\n2021-05-30T12:01:00Z,50,20\n2021-05-30T12:02Z,50,20\n"
    room, flow = read(tmp_path, text).series
    assert room.values[:2].tolist() == pytest.approx([20.0, 10.0]) and room.unit == "degC"
    assert flow.unit == "L/s" and flow.stated_unit == "gpm"


def test_a_file_without_a_header_and_one_in_another_encoding(tmp_path):
    plain = read(tmp_path, "2021-05-30 12:00,1\n2021-05-30 12:01,2\n2021-05-30 12:02,2\n", names=("TANK-1.csv",))
    assert only(plain).name == "TANK-1" and "header none" in reasons(plain)
    latin = read(tmp_path, "time,Raum [°C]\n2021-05-30 12:00,1\n".encode("cp1252"))
    assert only(latin).unit == "degC"
    wide = read(tmp_path, "time,Raum [°C]\n2021-05-30 12:00,1\n".encode("utf-16"))
    assert only(wide).values.tolist() == [1.0]


def test_a_long_table_with_units_qualities_and_states(tmp_path):
    rows = [
        "2021-05-30T12:00:00Z,AHU-1,SA-T,68,degF,good",
        "2021-05-30T12:00:00Z,AHU-1,SF-S,On,,good",
        "2021-05-30T12:01:00Z,AHU-1,SA-T,50,degF,good",
        "2021-05-30T12:01:00Z,AHU-1,SF-S,Off,,good",
        "2021-05-30T12:02:00Z,AHU-1,SA-T,51,degF,bad",
        "2021-05-30T12:02:00Z,AHU-1,SF-S,N/A,,good",
    ]
    export = read(tmp_path, "time,device,point,value,unit,quality\n" + "\n".join(rows))
    supply, fan = export.series
    assert (supply.name, supply.unit) == ("AHU-1/SA-T", "degC") and supply.values.tolist() == pytest.approx([20, 10])
    assert (fan.states, fan.values.tolist()) == (("Off", "On"), [1.0, 0.0])
    assert "quality is marked as bad" in reasons(export) and "'n/a' means that there is no value" in reasons(export)


def test_a_quality_beside_each_column(tmp_path):
    text = "time,A,A Status,B,B Status\n2021-05-30T12:00Z,1,{ok},5,{down}\n2021-05-30T12:01Z,2,{fault},6,{ok}\n"
    first, second = read(tmp_path, text).series
    assert (first.values.tolist(), second.values.tolist()) == ([1.0], [6.0])


def test_a_column_called_status_that_holds_a_state_is_a_point(tmp_path):
    text = "time,Temp,Status\n2021-05-30T12:00Z,1,On\n2021-05-30T12:01Z,2,Off\n2021-05-30T12:02Z,2,On\n"
    assert [series.name for series in read(tmp_path, text).series] == ["Temp", "Status"]


def test_duplicates_and_disorder_are_mended_and_counted(tmp_path):
    rows = ["12:00,1", "12:02,3", "12:01,2", "12:03,4", "12:03,4", "12:04,5", "12:04,6", "12:05,7", "12:06,8"]
    export = read(tmp_path, "time,x\n" + "\n".join(f"2021-05-30 {row}" for row in rows))
    assert only(export).values.tolist() == [1, 2, 3, 4, 6, 7, 8]
    assert "time goes back 1 time" in reasons(export)
    assert "1 reading left out: repeated: same time and same value" in reasons(export)
    assert "1 reading left out: a later row has another value for the same time" in reasons(export)


def test_newest_first_is_no_disorder(tmp_path):
    series = only(read(tmp_path, "time,x\n" + "".join(f"2021-05-30 12:{30 - row}:00,{row}\n" for row in range(20))))
    assert series.values.tolist() == list(range(19, -1, -1)) and not series.guesses and not series.omissions


@pytest.mark.parametrize(
    "header, sentinel",
    [("VAV-3_DA-T (°F)", "-250.0"), ("T1 (°C)", "850"), ("AI-7", "327.67"), ("CHW-F (gpm)", "-9999"), ("X", "1e38")],
)
def test_a_reading_that_means_no_sensor_is_named_once(header, sentinel, tmp_path):
    values = ["20.0", "20.5", sentinel, "21.0", sentinel]
    lines = "".join(f"2021-05-30 12:0{row},{value}\n" for row, value in enumerate(values))
    export = read(tmp_path, f"time,{header}\n{lines}")
    series = only(export)
    assert len(series) == 3 and series.sentinels == (float(sentinel),)
    assert reasons(export).count("means no sensor") == 1


def test_a_point_without_a_sensor_is_dead_and_a_flow_of_850_is_a_flow(tmp_path):
    lines = "".join(f"2021-05-30 12:0{row},850\n" for row in range(5))
    assert only(read(tmp_path, f"time,SA-T (°C)\n{lines}")).is_dead
    assert len(only(read(tmp_path, f"time,SUPFLOW (cfm)\n{lines}"))) == 5


def test_every_file_of_a_folder_is_accounted_for(tmp_path):
    good = "Timestamp,Value (%)\n" + "".join(f"30-May-21 12:0{row}:00 PM CDT,{row}\n" for row in range(5))
    (tmp_path / "A-O.csv").write_text(good)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("Timestamp,Value\n")
    (tmp_path / "notes.txt").write_text("to whom it may concern\nnothing here\n")
    (tmp_path / "book.csv").write_bytes(b"PK\x03\x04rest")
    (tmp_path / "no_time.csv").write_text("a,b\nx,y\nz,u\n")
    (tmp_path / "broken.parquet").write_text("no parquet")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")  # no table by its name
    export = read_exports([tmp_path])
    left_out = {file.path.name: file.omissions[0].reason for file in export.files if not file.is_read}
    assert [series.name for series in export.series] == ["A-O"] and len(export.files) == 7
    assert left_out["empty.csv"] == "the file is empty"
    assert left_out["header.csv"] == "there is a header and not a single reading"
    assert "two fields" in left_out["notes.txt"] and "workbook" in left_out["book.csv"]
    assert "no column holds times" in left_out["no_time.csv"] and "Parquet" in left_out["broken.parquet"]


def test_what_cannot_be_read_at_all_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        read_exports([tmp_path / "absent.csv"])
    with pytest.raises(DataError, match="no file ends with"):
        read_exports([tmp_path])
    with pytest.raises(DataError, match="the file is empty"):
        read(tmp_path, "")
    with pytest.raises(DataError, match="'nowhere' holds times; there are 'time', 'x'"):
        read(tmp_path, "time,x\n2021-05-30 12:00,1\n", time_column="nowhere")


def test_texts_and_numbers_of_rows_are_left_out_by_name(tmp_path):
    text = "index,time,x,remark\n" + "".join(f"{row},2021-05-30 12:0{row},{row},text {row}\n" for row in range(9))
    export = read(tmp_path, text)
    assert [series.name for series in export.series] == ["x"]
    assert "remark: 1 column left out: a remark" in reasons(export)
    assert "index: 1 column left out: a number of the row" in reasons(export)


def test_parquet_is_read_like_a_text_file(tmp_path):
    times = pa.array([FIRST + 60_000 * row for row in range(4)], pa.timestamp("ms"))
    pq.write_table(
        pa.table({"DATETIME": times, "L_T1": [1.0, 2.0, None, 3.0], "on": [True, False, True, True]}),
        tmp_path / "a.parquet",
    )
    level, state = read_exports([tmp_path / "a.parquet"]).series
    assert level.values.tolist() == [1, 2, 3] and level.kind.quantity == "length"
    assert state.states == ("false", "true")


def test_parts_of_a_point_are_joined_and_units_must_agree(tmp_path):
    export = read(tmp_path, "time,x [kPa],y\n2021-05-30 12:00,1,1\n", "time,x [kPa],y\n2021-05-31 12:00,2,1\n")
    x, y = merge_parts(export.series)
    assert x.values.tolist() == [1000, 2000] and y.values.tolist() == [1, 1]
    export = read(tmp_path, "time,x [kPa],y\n2021-05-30 12:00,1,1\n", "time,x [K],y\n2021-05-31 12:00,2,1\n")
    with pytest.raises(DataError, match="its unit is Pa in part-0.csv and degC in part-1.csv"):
        merge_parts(export.series)


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_a_large_file_is_read_in_groups_with_the_same_result(layout, tmp_path, monkeypatch):
    if layout == "wide":
        lines = [f"2021-05-30 12:{row:02},{row},{row * 2},{'On' if row % 2 else 'Off'}" for row in range(60)]
        text = "time,a,b,c\n" + "\n".join(lines)
    else:
        text = "time,point,value\n" + "".join(
            f"2021-05-30 12:{row:02},{name},{row}\n" for row in range(60) for name in "abc"
        )
    whole = read(tmp_path, text)
    monkeypatch.setattr("graphghha.exports.reader.GROUP_BYTES", 1)
    monkeypatch.setattr("graphghha.exports.table.BLOCK_BYTES", 512)
    parts = list(ExportReader([tmp_path / "part-0.csv"]).series())
    assert [each.name for each in parts] == [each.name for each in whole.series] == ["a", "b", "c"]
    for part, one in zip(parts, whole.series, strict=True):
        assert part.values.tolist() == one.values.tolist() and part.times_ms.tolist() == one.times_ms.tolist()


def test_the_real_site_is_read_whole(data_dir):
    export = read_exports([data_dir / "real_site" / "exports"])
    assert len(export.files) == 90
    (empty,) = [file for file in export.files if not file.is_read]
    assert empty.path.name == "S-7_FBD-SP.csv" and "not a single reading" in empty.omissions[0].reason
    by_name = {series.name: series for series in export.series}
    assert len(by_name) == 89 == sum(len(file.points) for file in export.files)
    dead = {name for name, series in by_name.items() if series.is_dead}
    assert dead == {"VAV-1_DA-T", "VAV-2_DA-T", "VAV-3-DA-T", "VAV-4-DA-T", "VAV-6-DA-T"}
    assert export.zone.clock.zone == "America/Chicago"
    # one dialect names the zone, the other does not: both begin in the same hour of the same day
    assert by_name["S-7_ZN-T"].times_ms[0] == ms(2022, 5, 7, 17, 15)
    assert by_name["S-7_DA-T"].times_ms[0] == ms(2022, 5, 7, 17)
    # a log that began in winter time
    assert by_name["S-7_OCC-C"].times_ms[0] == ms(2022, 3, 2, 18, 0, 43)
    assert by_name["S-7_OCC-C"].states == ("UnOccupied", "Occupied") and by_name["VAV-1_OCC-O"].states == (
        "Unocc",
        "Occ",
    )
    assert {str(by_name[name].reporting) for name in ("S-7_DA-T", "VAV-3-SUPFLOW")} == {"sampled every 5 min"}
    assert {by_name[n].reporting.mode for n in ("S-7_DAT-SP", "VAV-2_ACTCLGSP", "S-7_SF-C")} == {Mode.COV}
    assert by_name["VAV-3-SUPFLOW"].unit == "L/s" and by_name["S-7_BLDG-P"].unit == "Pa"
    assert by_name["DA-P"].unit is None and by_name["DA-P"].kind.quantity == "pressure"
    assert by_name["S-7_RH-O"].is_constant


def test_dates_with_points_have_the_day_first(tmp_path):
    export = read(tmp_path, "time;x\n02.07.2018 09:00;1\n02.07.2018 09:01;2\n02.07.2018 09:02;3\n")
    assert only(export).times_ms[0] == ms(2018, 7, 2, 9) and "dates with points have the day first" in reasons(export)


@pytest.mark.parametrize(
    "text",
    [
        b"time,x\n\x00\x01\x02",
        b'time,x\n"2021-05-30 12:00,1\n2021-05-30 12:01,2\n',
        "time,x\n" + "9" * 400 + ",1\n",
        "time,x\n2021-05-30 12:00,1e999\n2021-05-30 12:01,inf\n2021-05-30 12:02,2\n",
        "time,x\n13/13/2021 12:00,1\n14/14/2021 12:00,1\n",
        "time,x\n13/05/2021 12:00,1\n05/13/2021 12:00,1\n05/14/2021 12:00,1\n",
        ",,,\n,,,\n",
        "a" * 300_000,
        "time,x\n" + "2021-05-30 12:00," + "1" * 200_000 + "\n",
        "time,x\r2021-05-30 12:00,1\r2021-05-30 12:01,2\r",
        "time,x,x,x\n2021-05-30 12:00,1,2,3\n2021-05-30 12:01,1,2,3\n",
        "ts,x\n1e30,1\n1e30,2\n",
    ],
    ids=range(12),
)
def test_hostile_files_give_readings_or_one_sentence(text, tmp_path):
    try:
        export = read(tmp_path, text)
    except DataError as exc:
        assert "\n" not in str(exc)
    else:
        assert len(export.files) == 1 and all(np.isfinite(series.values).all() for series in export.series)


def test_a_parquet_column_that_holds_no_readings_is_named(tmp_path):
    times = pa.array([FIRST, FIRST + 1000], pa.timestamp("ms"))
    pq.write_table(pa.table({"time": times, "x": [1, 2], "list": [[1], [2]]}), tmp_path / "a.parquet")
    export = read_exports([tmp_path / "a.parquet"])
    assert "list" in reasons(export) and "x" in {series.name for series in export.series}
