"""Exported files of a plant of the user's own as recordings at its step."""

import numpy as np
import pytest

from graphghha.errors import ConfigError, SchemaError
from graphghha.exports.attack_labels import read_labels
from graphghha.exports.recordings import read_recordings
from graphghha.plants import parse_plant

PLANT = """
[plant]
step_s = 60
[[template]]
name = "room"
[[template.signal]]
name = "temperature"
unit = "degC"
limits = [-50, 60]
columns = "T"
[[template.signal]]
name = "fan"
kind = "actuator"
states = ["Off", "On"]
sampling = "cov"
columns = "FAN"
"""


def minutes(count, day=1):
    return [f"2026-03-{day:02d} {row // 60:02d}:{row % 60:02d}:00" for row in range(count)]


def write(path, header, *columns):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in zip(*columns, strict=True))]) + "\n")


def test_a_folder_with_a_file_for_each_point_is_one_recording(tmp_path):
    write(tmp_path / "T.csv", "time,T [degF]", minutes(120), [68 + row % 2 for row in range(120)])
    write(tmp_path / "FAN.csv", "time,FAN", ["2026-03-01 00:10:00", "2026-03-01 00:40:00"], ["On", "Off"])
    (recording,) = read_recordings([tmp_path], parse_plant(PLANT)).recordings
    assert recording.values[0, 0] == pytest.approx(20), "converted to the unit of the plant file"
    assert np.isnan(recording.values[9, 1]) and recording.values[10:40, 1].all() and not recording.values[40:, 1].any()


def test_sessions_that_lie_far_apart_are_recordings_of_their_own(tmp_path):
    for day in (1, 2):
        fan = ["On" if row % 30 else "Off" for row in range(120)]
        write(tmp_path / f"run{day}.csv", "time,T,FAN", minutes(120, day), [20 + row % 3 for row in range(120)], fan)
    plant = parse_plant(PLANT)
    recordings = read_recordings([tmp_path], plant).recordings
    assert [each.files for each in recordings] == [("run1.csv",), ("run2.csv",)]
    labels = tmp_path / "labels.txt"
    labels.write_text("start,end,nodes,class,file\n2026-03-02 00:30,2026-03-02 00:40,fan;T,actuator,run2.csv\n")
    (event,) = read_labels(labels, recordings, plant)
    assert (event.recording, event.start, event.stop, event.nodes) == (1, 30, 41, ("FAN", "T"))


def test_files_that_continue_one_another_are_one_recording(tmp_path):
    for day in (1, 2, 3):
        times = minutes(1440, day) + (minutes(30, day + 1) if day == 1 else [])  # the first file overlaps the second
        values = [20 + (int(time[8:10]) * 7 + int(time[14:16])) % 5 for time in times]
        write(tmp_path / f"day{day}.csv", "time,T,FAN", times, values, ["On" if day == 1 else ""] * len(times))
    (recording,) = read_recordings([tmp_path], parse_plant(PLANT)).recordings
    assert recording.files == ("day1.csv", "day2.csv", "day3.csv") and len(recording.times_ms) == 3 * 1440
    assert (recording.values[:, 1] == 1).all(), "a point that reports on change keeps its value from file to file"
    assert np.isfinite(recording.values).all()


def test_files_with_other_values_for_the_same_times_are_recordings_of_their_own(tmp_path):
    for run in (1, 2):
        write(
            tmp_path / f"run{run}.csv",
            "time,T,FAN",
            minutes(120),
            [20 + run + row % 3 for row in range(120)],
            ["On"] * 120,
        )
    assert len(read_recordings([tmp_path], parse_plant(PLANT)).recordings) == 2


def test_readings_beyond_the_instrument_are_dropped_and_counted(tmp_path):
    values = [75 if row == 5 else 20 for row in range(120)]
    fan = ["On" if row % 30 else "Off" for row in range(120)]
    write(tmp_path / "run.csv", "time,T,FAN", minutes(120), values, fan)
    data = read_recordings([tmp_path], parse_plant(PLANT))
    assert any("T: 1 reading beyond the limits" in note for note in data.notes)
    assert data.recordings[0].values[5, 0] == 20, "the reading before is used until it is stale"


def test_labels_may_name_a_node_by_its_header_or_the_end_of_its_path(tmp_path):
    text = PLANT.replace('columns = "T"', 'columns = "\\\\\\\\HOST\\\\LOG\\\\2_LT_001_PV"')
    plant = parse_plant(text)
    column = r"\\HOST\LOG\2_LT_001_PV"
    write(tmp_path / "d.csv", f"time,{column},FAN", minutes(60), range(60), ["On", "Off"] * 30)
    recordings = read_recordings([tmp_path / "d.csv"], plant).recordings
    for name in (column, "2_LT_001_PV", f"{column} [degC]", "temperature"):
        line = f"2026-03-01 00:10,2026-03-01 00:20,{name},sensor"
        (tmp_path / "labels.csv").write_text(f"start,end,nodes,class\n{line}\n")
        (event,) = read_labels(tmp_path / "labels.csv", recordings, plant)
        assert event.nodes == (column,)


def test_labels_may_leave_out_the_provider_of_a_tag_and_what_a_trend_log_appends(tmp_path):
    column = "[default]Hall/CRAH_02/SupplyTemp.Present Value"
    plant = parse_plant(PLANT.replace('columns = "T"', f'columns = "{column}"'))
    write(tmp_path / "d.csv", f"time,{column},FAN", minutes(60), range(60), ["On", "Off"] * 30)
    recordings = read_recordings([tmp_path / "d.csv"], plant).recordings
    for name in ("Hall/CRAH_02/SupplyTemp.Present Value", "CRAH_02/SupplyTemp.Present Value", column[:-14]):
        (tmp_path / "labels.csv").write_text(f"start,end,nodes\n2026-03-01 00:10,2026-03-01 00:20,{name}\n")
        (event,) = read_labels(tmp_path / "labels.csv", recordings, plant)
        assert event.nodes == (column,)


def test_labels_may_write_their_times_like_the_data(tmp_path):
    plant = parse_plant(PLANT.replace("[plant]", '[plant]\ndates = "day first"'))
    write(tmp_path / "d.csv", "time,T,FAN", minutes(60), range(60), ["On", "Off"] * 30)
    recordings = read_recordings([tmp_path / "d.csv"], plant).recordings
    labels = tmp_path / "labels.csv"
    for day in ("01.03.2026", "1/3/2026", "1-Mar-26"):
        labels.write_text(f"start,end,nodes\n{day} 00:10,{day} 00:20:00,T\n")
        (event,) = read_labels(labels, recordings, plant)
        assert (event.start, event.stop) == (10, 21)
    with pytest.raises(SchemaError, match=r"'03/01/2026 00:10' is not a time like 2026-03-01"):
        labels.write_text("start,end,nodes\n03/01/2026 00:10,03/01/2026 00:20,T\n")
        read_labels(labels, recordings, parse_plant(PLANT))


def test_the_plant_file_keeps_the_order_of_dates_for_files_that_do_not_show_it(tmp_path):
    times = [f"06/07/2026 {row // 60:02d}:{row % 60:02d}" for row in range(120)]
    fan = ["On" if row % 30 else "Off" for row in range(120)]
    write(tmp_path / "run.csv", "time,T,FAN", times, [20 + row % 3 for row in range(120)], fan)
    months = {}
    for order in ("day first", "month first"):
        plant = parse_plant(PLANT.replace("[plant]", f'[plant]\ndates = "{order}"'))
        (recording,) = read_recordings([tmp_path / "run.csv"], plant).recordings
        months[order] = int(recording.times_ms[0].astype("datetime64[ms]").astype("datetime64[M]").astype(int)) % 12 + 1
    assert months == {"day first": 7, "month first": 6}
    with pytest.raises(ConfigError, match="day first | month first"):
        parse_plant(PLANT.replace("[plant]", '[plant]\ndates = "backwards"'))
