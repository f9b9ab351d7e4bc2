import tomllib

import pytest

from graphghha.plants import Points
from graphghha.sources import check_address
from graphghha.sources.draft import draft_points
from graphghha.sources.mapping import read_mapping
from source_builders import PLANT, POINTS, points

SETTINGS = {"site": "site", "points": POINTS, "plant": PLANT, "seconds": 20}
NAMES = {
    "R1.RoomTemp": ("zone-01/RM_TEMP", "72.1"),
    "R1.MAT": ("zone-01/FCU_MAT", "68.8"),
    "R1.DAT": ("zone-01/FCU_DAT", "55.2"),
    "R1.CHW-EWT": ("zone-01/FCU_CLG_EWT", "45.0"),
    "R1.ClgValve Pos": ("zone-01/FCU_CVLV", "{percent}"),
    "R1.Damper Cmd": ("zone-01/FCU_DMPR_DM", "30"),
    "R1.DA-RH": ("zone-01/FCU_DA_HUMD", "45"),
}


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "bms.csv"
    rows = []
    for minute in range(40):
        cells = [value.format(percent=minute * 2) for _, value in NAMES.values()]
        rows.append(f"2018-07-02T09:{minute:02}:00Z," + ",".join(cells))
    path.write_text("time," + ",".join(NAMES) + "\n" + "\n".join(rows) + "\n")
    return path


def mapping(tmp_path, units=""):
    entries = "".join(f'[[map]]\ncolumn = "{name}"\npoint = "{point}"\n' for name, (point, _) in NAMES.items())
    (tmp_path / "map.toml").write_text(entries + units)
    return f"?mapping={tmp_path / 'map.toml'}"


def test_missing_units_are_marked_and_what_the_readings_suggest_is_said(csv, tmp_path):
    report = check_address(f"csv:{csv}{mapping(tmp_path)}", **SETTINGS)
    by_name = {each.name: each for each in report.mapped}
    assert all(each.is_assumed for each in report.mapped) and report.step_s == 60
    assert by_name["R1.RoomTemp"].doubt == "reads like degF, not degC" and by_name["R1.RoomTemp"].out_of_limits == 40
    assert by_name["R1.MAT"].doubt == "reads like degF, not degC" and by_name["R1.MAT"].out_of_limits == 0
    # cold water may have 45 degC, but hardly where everything else is in degF
    assert "others of its quantity read like degF" in by_name["R1.CHW-EWT"].doubt
    assert by_name["R1.ClgValve Pos"].doubt == "reads like %, not fraction"
    assert by_name["R1.DA-RH"].doubt == ""
    row = next(row for row in report.rows() if row[0] == "R1.RoomTemp")
    assert row[1:3] == ("zone-01/RM_TEMP", "degC?") and row[4] == "reads like degF, not degC; 40 out of limits"
    assert not report.is_sound


def test_stated_units_end_the_doubts(csv, tmp_path):
    units = '[units]\nRM_TEMP = "degF"\nFCU_MAT = "degF"\nFCU_DAT = "degF"\nFCU_CLG_EWT = "degF"\nFCU_CVLV = "%"\n'
    units += 'FCU_DMPR_DM = "%"\nFCU_DA_HUMD = "%RH"\n'
    report = check_address(f"csv:{csv}{mapping(tmp_path, units)}", **SETTINGS)
    assert not report.doubts and not any(each.is_assumed for each in report.mapped)


def test_a_wrong_unit_that_was_stated_is_doubted_too(csv, tmp_path):
    report = check_address(
        f"csv:{csv}{mapping(tmp_path, '[units]' + chr(10) + 'RM_TEMP = ' + repr('degC'))}", **SETTINGS
    )
    (room,) = [each for each in report.doubts if each.name == "R1.RoomTemp"]
    assert not room.is_assumed and "reads like degF" in room.doubt


def test_supply_water_is_the_water_that_enters_a_coil():
    names = ["R1 CHW Supply Temp", "R1 CHWRT", "R1 HW Supply Temp", "R1 Supply Air Temp", "R1 Fan Mode", "R1 CHW Valve"]
    found = draft_points(names, Points.from_names(PLANT, PLANT.template.replicate(1).points), PLANT, {})
    assert {name: point.rpartition("/")[2] for name, point in found.items()} == {
        "R1 CHW Supply Temp": "FCU_CLG_EWT",
        "R1 CHWRT": "FCU_CLG_RWT",
        "R1 HW Supply Temp": "FCU_HTG_EWT",
        "R1 Supply Air Temp": "FCU_DAT",
        "R1 Fan Mode": "FAN_CTRL",
        "R1 CHW Valve": "FCU_CVLV",
    }


def test_a_check_drafts_a_mapping_file_that_can_be_used(csv, tmp_path):
    report = check_address(f"csv:{csv}", **SETTINGS)
    assert not report.mapped and len(report.unmapped) == len(NAMES)
    (tmp_path / "draft.toml").write_text(report.draft)
    drafted = {entry["column"]: entry["point"] for entry in tomllib.loads(report.draft)["map"]}
    assert drafted == {name: point for name, (point, _) in NAMES.items()}
    again = check_address(f"csv:{csv}?mapping={tmp_path / 'draft.toml'}", **SETTINGS)
    assert len(again.mapped) == len(NAMES) and not again.unmapped
    (tmp_path / "second.toml").write_text(again.draft)
    rules = read_mapping(tmp_path / "second.toml", points())
    units = {rule.name: rule.unit for rule in rules.rules}
    assert units["R1.RoomTemp"] == units["R1.CHW-EWT"] == "degF" and units["R1.ClgValve Pos"] == "%"
    assert units["R1.DA-RH"] is None and "one of %RH | % | fraction" in again.draft
    assert "# zone-02/RM_TEMP" in again.draft  # a point that nothing feeds


def test_names_with_a_common_beginning_are_one_zone():
    names = ["FLR9-Room Temp", "FLR10-Room Temp", "FLR9-Fan Speed", "nonsense"]
    table = Points.from_names(PLANT, POINTS)
    found = draft_points(names[:3], table, PLANT, {})
    assert found == {
        "FLR9-Room Temp": "zone-01/RM_TEMP",
        "FLR10-Room Temp": "zone-02/RM_TEMP",
        "FLR9-Fan Speed": "zone-01/FCU_SPD",
    }
    assert draft_points(["nonsense"], table, PLANT, {}) == {}
    assert draft_points(["A1 Room Temp"], table, PLANT, {"other": "zone-01/RM_TEMP"}) == {}


def test_a_draft_keeps_odd_names_readable(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text('time,"a ""quoted"" name\\"\n' + "".join(f"2018-07-02T09:{m:02}:00Z,1\n" for m in range(12)))
    report = check_address(f"csv:{path}", **SETTINGS)
    assert "resembles no point" in report.draft and not tomllib.loads(report.draft)


def test_a_name_that_ends_with_a_signals_own_name_is_that_signal():
    names = [f"R10{zone}.{signal}" for zone in (1, 2) for signal in ("FCU_CTRL", "RMCLGSPT", "fcu-cvlv-dm", "FCU_CVLV")]
    found = draft_points(names, Points.from_names(PLANT, POINTS), PLANT, {})
    assert found["R101.FCU_CTRL"] == "zone-01/FCU_CTRL" and found["R102.RMCLGSPT"] == "zone-02/RMCLGSPT"
    assert found["R101.fcu-cvlv-dm"] == "zone-01/FCU_CVLV_DM" and found["R101.FCU_CVLV"] == "zone-01/FCU_CVLV"
