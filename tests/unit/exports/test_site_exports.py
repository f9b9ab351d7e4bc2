"""Exports as the systems of sites write them: reports, databases, dashboards, a file for each point and month."""

import gzip
import zipfile
from datetime import datetime, timedelta

import numpy as np
import pytest

from export_builders import NOON, read, reasons, table
from graphghha.errors import DataError
from graphghha.exports import guess_kind, read_exports
from graphghha.exports.archives import Unpacked
from graphghha.exports.equipment import parent_of, split_name
from graphghha.exports.file_names import without_date
from graphghha.exports.parts import merge_parts
from graphghha.exports.proposal import propose_plant


def rows(line, count=40, start=NOON, step_min=5):
    return "".join(
        (start + timedelta(minutes=step_min * row)).strftime(line).replace("{v}", f"{20 + row % 7 / 10:.1f}") + "\n"
        for row in range(count)
    )


def test_a_report_lists_its_points_before_the_table(tmp_path):
    text = (
        '"Key            Name:Suffix                      Trend Definitions Used"\n'
        '"Point_1:","B1.AHU1.SAT","","5 minutes"\n"Point_2:","B1.RM101","ROOM TEMP","5 minutes"\n'
        '"Time Interval:","5 Minutes"\n""\n"<>Date","Time","Point_1","Point_2"\n'
        + rows('"%m/%d/%Y","%H:%M:%S","{v}","No Data"', 5)
        + rows('"%m/%d/%Y","%H:%M:%S","{v}","{v}"', 40, NOON + timedelta(hours=1))
        + '" **** End of Report ****"\n'
    )
    export = read(tmp_path, text)
    assert [each.name for each in export.series] == ["B1.AHU1.SAT", "B1.RM101:ROOM TEMP"]
    assert [len(each) for each in export.series] == [45, 40]
    assert "1 row left out: more or fewer fields than there are columns" in reasons(export)


def test_an_answer_of_a_time_series_database_with_two_blocks(tmp_path):
    head = (
        "#group,false,false,true,true,false,false,true,true\n"
        "#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,{kind},string,string\n"
        "#default,_result,,,,,,,\n,result,table,_start,_stop,_time,_value,_field,device\n"
    )
    line = ",,0,2021-05-01T00:00:00Z,2021-06-01T00:00:00Z,%Y-%m-%dT%H:%M:%SZ,{v},{name}"
    text = head.format(kind="double")
    for name in ("power,inv1", "power,inv2"):
        text += rows(line.replace("{name}", name))
    text += "\n" + head.format(kind="string") + rows(line.replace("{v}", "run").replace("{name}", "state,inv1"))
    export = read(tmp_path, text)
    found = {each.name: each for each in export.series}
    assert set(found) == {"inv1/power", "inv2/power", "inv1/state"}
    assert found["inv1/state"].states == ("not run", "run") and len(found["inv2/power"]) == 40
    assert "no file states a zone" not in reasons(export), "Z states it"


def test_cells_with_different_units_of_one_quantity_are_converted(tmp_path):
    cells = ["980 W", "1.02 kW", "1.10 kW", "1.00 kW"] * 5
    lines = [f"2021-05-30 12:{row:02}:00,{cell}" for row, cell in enumerate(cells)]
    (power,) = read(tmp_path, "Time,Pump Power\n" + "\n".join(lines) + "\n").series
    assert power.values[:3].tolist() == pytest.approx([980, 1020, 1100]) and power.stated_unit == "kW"


def test_a_switch_that_stood_still_in_one_file_has_both_states(tmp_path):
    on = "time,x,pump\n" + rows("%Y-%m-%d %H:%M,{v},Ein")
    both = "time,x,pump\n" + rows("%Y-%m-%d %H:%M,{v},Aus", 20, NOON + timedelta(days=1))
    both += rows("%Y-%m-%d %H:%M,{v},Ein", 20, NOON + timedelta(days=1, hours=2))
    pump = next(each for each in merge_parts(read(tmp_path, on, both).series) if each.name == "pump")
    assert pump.states == ("Aus", "Ein")
    assert pump.values.tolist() == [1] * 40 + [0] * 20 + [1] * 20


def test_files_of_a_point_by_month_are_one_point(tmp_path):
    names = [f"{point}_{month}.csv" for month in ("2021-05", "2021-06") for point in ("VAV-1_ZN-T", "VAV-2_ZN-T")]
    starts = [NOON, NOON, datetime(2021, 6, 1, 12), datetime(2021, 6, 1, 12)]
    texts = [table("Timestamp,Value (°F)", "%Y-%m-%d %H:%M,{v}", start=start) for start in starts]
    export = read(tmp_path, *texts, names=tuple(names))
    assert {each.name: len(each) for each in merge_parts(export.series)} == {"VAV-1_ZN-T": 60, "VAV-2_ZN-T": 60}


@pytest.mark.parametrize(
    ("stem", "point"),
    [
        ("ZN-T_2024-03", "ZN-T"),
        ("ZN-T 2024-03-01 to 2024-03-31", "ZN-T"),
        ("ZN-T_20240301-20240331", "ZN-T"),
        ("ZN-T (Mar 2024)", "ZN-T"),
        ("ZN-T_20240301T000000", "ZN-T"),
        ("AHU-2021", "AHU-2021"),
        ("Pump 12", "Pump 12"),
    ],
)
def test_a_date_behind_the_name_of_a_file_is_no_part_of_the_point(stem, point):
    assert without_date(stem) == point


def test_digits_that_are_no_date_near_the_readings_are_a_number():
    may = round(NOON.timestamp() * 1000)
    assert without_date("VAV-201203", (may, may + 86_400_000)) == "VAV-201203"
    assert without_date("VAV-202105", (may, may + 86_400_000)) == "VAV"


@pytest.mark.parametrize(
    ("name", "piece", "parent"),
    [
        ("HQ RTU-1 VAV-102 Zone Temp", ("VAV", "102", "Zone Temp"), "RTU-1"),
        ("HQ RTU-1 Discharge Temp", ("RTU", "1", "Discharge Temp"), ""),
        ("Main/AHU_N/VAV_N04/SpaceTemp", ("VAV", "N04", "SpaceTemp"), "AHU_N"),
        ("Main/AHU_N/SaTemp", ("AHU", "N", "SaTemp"), ""),
        ("B12.RM101:VLV 1 POS", ("RM", "101", "VLV 1 POS"), ""),
        ("AHU_SF_Status", ("", "", "AHU_SF_Status"), ""),
    ],
)
def test_equipment_anywhere_in_a_name(name, piece, parent):
    assert split_name(name) == piece
    assert parent_of(name) == parent


def proposed(tmp_path, names, units=None):
    header = ",".join(["time", *(f"{name} [{(units or {}).get(name, 'degF')}]" for name in names)])
    return propose_plant(read(tmp_path, table(header, "%Y-%m-%d %H:%M" + ",{v}" * len(names))), "site")


@pytest.mark.parametrize("box", ["VAV{ahu}{number:02}", "VAV-{ahu}-{number}"])
def test_numbers_show_which_air_handler_feeds_a_box(tmp_path, box):
    boxes = [box.format(ahu=ahu, number=number) for ahu in (1, 2) for number in range(1, 4)]
    names = [f"AHU{ahu}_{role}" for ahu in (1, 2) for role in ("SA_Temp", "Clg_Valve")]
    plant = proposed(tmp_path, names + [f"{each}_ZN_Temp" for each in boxes])
    pairs = {pair for edge in plant.shared_edges for pair in edge.pairs}
    assert pairs == {(f"AHU{1 + (at >= 3)}", each) for at, each in enumerate(boxes)}


def test_points_that_measure_different_things_are_no_copies(tmp_path):
    names = ["AIT-201.PV", "AIT-301.PV", "AIT-302.PV", "LIT-101.PV", "LIT-201.PV"]
    units = {"AIT-201.PV": "NTU", "AIT-301.PV": "mg/L", "AIT-302.PV": "pH", "LIT-101.PV": "mm", "LIT-201.PV": "m"}
    plant = proposed(tmp_path, names, units)
    found = {template.copies: [signal.unit for signal in template.signals] for template in plant.templates}
    assert found[("LIT-101", "LIT-201")] == ["mm"], "a conversion makes them alike"
    assert found[("AIT-302",)] == ["pH"] and found[("AIT-301",)] == ["mg/L"]


def test_rows_of_another_width_are_counted(tmp_path):
    text = "time,x,y\n" + rows("%Y-%m-%d %H:%M,{v},{v}") + "2021-05-31 12:00,1,2,3\n2021-05-31 12:05,1\n"
    export = read(tmp_path, text)
    assert "2 rows left out: more or fewer fields" in reasons(export)
    assert np.isfinite(export.series[0].values).all()


def test_compressed_files_and_archives_are_read(tmp_path):
    text = table("time,AHU-1 SAT [degC],AHU-1 RAT [degC]", "%Y-%m-%d %H:%M,{v},{v}")
    (tmp_path / "day1.csv.gz").write_bytes(gzip.compress(text.encode()))
    with zipfile.ZipFile(tmp_path / "months.zip", "w") as archive:
        archive.writestr("may/VAV-1_ZN-T.csv", table("Timestamp,Value (°F)", "%Y-%m-%d %H:%M,{v}"))
        archive.writestr("may/readme.md", "nothing")
        archive.writestr("__MACOSX/may/._VAV-1_ZN-T.csv", "x")
    (tmp_path / "old.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    (tmp_path / "torn.zip").write_bytes(b"PK\x03\x04 no archive")
    export = read_exports([tmp_path])
    assert {each.name: len(each) for each in export.series} == {"AHU-1 SAT": 30, "AHU-1 RAT": 30, "VAV-1_ZN-T": 30}
    left_out = {file.path.name: file.omissions[0].reason for file in export.files if not file.is_read}
    assert set(left_out) == {"old.xls", "torn.zip"}
    assert "old Excel workbook" in left_out["old.xls"] and "cannot be unpacked" in left_out["torn.zip"]
    assert any(file.path == tmp_path / "months.zip" / "may/VAV-1_ZN-T.csv" for file in export.files)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path):
    path = tmp_path / "zeros.csv.gz"
    path.write_bytes(gzip.compress(bytes(1 << 22)))
    with pytest.raises(DataError, match="unpack it and give fewer files"):
        list(Unpacked((".csv",), most_bytes=1 << 20).tables(path))


def workbook(path, rows):
    """Write a workbook with a sheet whose first column holds times, as spreadsheets store them."""
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    cells = []
    for number, row in enumerate(rows, start=1):
        inside = "".join(
            f'<c r="{"ABCD"[at]}{number}" t="inlineStr"><is><t>{cell}</t></is></c>'
            if isinstance(cell, str)
            else f'<c r="{"ABCD"[at]}{number}" s="{int(at == 0)}"><v>{cell!r}</v></c>'
            for at, cell in enumerate(row)
            if cell is not None
        )
        cells.append(f'<row r="{number}">{inside}</row>')
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook {main} xmlns:r="{relation}"><sheets>'
            '<sheet name="Trend" sheetId="1" r:id="a"/></sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            '<Relationship Id="a" Target="worksheets/sheet1.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/styles.xml",
            f'<styleSheet {main}><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy\\ hh:mm:ss"/></numFmts>'
            '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>',
        )
        archive.writestr(
            "xl/worksheets/sheet1.xml", f"<worksheet {main}><sheetData>{''.join(cells)}</sheetData></worksheet>"
        )


def test_a_workbook_is_read_with_its_times(tmp_path):
    day = 44346 + 0.5  # noon of 30 May 2021
    rows = [
        ["When", "Room (degC)", "Fan"],
        *([day + row / 288, 20 + row / 10, "On" if row % 2 else None] for row in range(30)),
    ]
    workbook(tmp_path / "trend.xlsx", rows)
    export = read_exports([tmp_path / "trend.xlsx"])
    room, fan = export.series
    assert room.times_ms[0] == round(NOON.timestamp() * 1000) and set(np.diff(room.times_ms)) == {300_000}
    assert room.unit == "degC" and len(room) == 30 and len(fan) == 15 and fan.states == ("not On", "On")


@pytest.mark.parametrize(
    ("name", "unit", "role", "quantity"),
    [
        ("RA-CO2", "ppm", "sensor", "concentration"),
        ("AHU01.RACO2", None, "sensor", "concentration"),
        ("HP 1/Brine Out", "degC", "sensor", "temperature"),
        ("C101_TT_OIL", None, "sensor", "temperature"),
        ("XV_BLD", None, "actuator", None),
        ("bess1/cell_temp_max", None, "sensor", "temperature"),
        ("AHU01.CCV", None, "actuator", None),
        ("RTU-1 Occupied", None, "controller", None),
        ("CH-1 Load", "%", "sensor", "share"),
        ("FCV-201.OUT", "%", "actuator", None),
        ("Chilled Valve Out", "V", "actuator", "voltage"),
    ],
)
def test_names_of_instruments_and_outputs(name, unit, role, quantity):
    kind = guess_kind(name, unit=unit)
    assert (kind.role, kind.quantity) == (role, quantity), kind.reason


def test_in_and_out_behind_a_name_are_no_units(tmp_path):
    export = read(tmp_path, table("time,Brine In,Brine Out,Rain [in]", "%Y-%m-%d %H:%M,{v},{v},{v}"))
    assert [(each.name, each.stated_unit) for each in export.series] == [
        ("Brine In", None),
        ("Brine Out", None),
        ("Rain", "in"),
    ]


def test_a_city_behind_an_offset_is_the_zone_of_the_plant(tmp_path):
    text = table("ts,Zone Temp,Fan", "%Y-%m-%dT%H:%M:00-04:00 New_York,{v}°F,{v}")
    export = read(tmp_path, text)
    assert export.zone.clock.zone == "America/New_York" and export.zone.is_stated
    assert export.series[0].times_ms[0] == round(NOON.timestamp() * 1000) + 4 * 3_600_000


def test_a_file_of_a_point_may_repeat_the_time_and_hold_remarks(tmp_path):
    head = "Point:,x\nUnits:,°F\n\nDate,Excel Time,Value,Notes\n"
    for name in ("ahu1_sat", "ahu1_rat"):
        (tmp_path / f"{name}.csv").write_text(head + rows("%m/%d/%Y %H:%M:%S,44346.5,{v},"))
    found = read_exports([tmp_path]).series
    assert [(each.name, each.stated_unit, len(each)) for each in found] == [
        ("ahu1_rat", "°F", 40),
        ("ahu1_sat", "°F", 40),
    ]


def test_equal_names_of_columns_are_told_apart(tmp_path):
    text = ",AHU-1,,VAV-1,\nTime,T,Fan,T,Dmpr\n" + rows("%Y-%m-%d %H:%M,{v},{v},{v},{v}")
    assert [each.name for each in read(tmp_path, text).series] == ["AHU-1 T", "AHU-1 Fan", "VAV-1 T", "VAV-1 Dmpr"]
    text = "Time,T,T\n" + rows("%Y-%m-%d %H:%M,{v},1{v}")
    assert [(each.name, each.values[0]) for each in read(tmp_path, text).series] == [("T", 20.0), ("T #2", 120.0)]


def test_states_of_a_home_automation_system(tmp_path):
    text = "entity_id,state,last_changed\n" + rows(
        "sensor.room,{v},%Y-%m-%dT%H:%M:%SZ\nswitch.pump,on,%Y-%m-%dT%H:%M:%SZ"
    )
    room, pump = read(tmp_path, text).series
    assert (room.name, len(room)) == ("sensor.room", 40) and pump.states == ("not on", "on")


def test_a_temperature_in_an_unknown_unit_is_read(tmp_path):
    text = table("time,Room Temp [dC]", "%Y-%m-%d %H:%M,{v}") + "2021-05-30 18:00,-9999\n"
    (series,) = read(tmp_path, text).series
    assert len(series) == 30 and series.unit == "dC"


def test_a_letter_behind_a_temperature_is_its_unit(tmp_path):
    export = read(tmp_path, table("time,Supply Temp F,Pump F", "%Y-%m-%d %H:%M,{v},{v}"))
    assert [(each.name, each.stated_unit) for each in export.series] == [("Supply Temp", "F"), ("Pump F", None)]
