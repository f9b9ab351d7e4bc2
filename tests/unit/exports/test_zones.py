from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from export_builders import ms, only, read, reasons
from graphghha.errors import ConfigError
from graphghha.exports import read_exports
from graphghha.exports.proposal import propose_plant
from graphghha.exports.zones import LocalClock, check_zone, clock_changes, zone_offset_ms

CHICAGO = "America/Chicago"
BACK = ms(2021, 11, 7, 7)  # 02:00 CDT becomes 01:00 CST
FORWARD = ms(2021, 3, 14, 8)


def local_texts(start_utc_ms, rows, step_min, zone):
    """What a wall clock in the zone shows, row by row."""
    times = (start_utc_ms / 1000 + row * step_min * 60 for row in range(rows))
    return [datetime.fromtimestamp(time, ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M") for time in times]


@pytest.mark.parametrize("step_min", [5, 15, 60])
@pytest.mark.parametrize("change", [BACK, FORWARD])
def test_a_change_of_the_clock_inside_a_file_comes_out_right(change, step_min, tmp_path):
    start = change - 86_400_000
    rows = 2 * 24 * 60 // step_min
    texts = local_texts(start, rows, step_min, CHICAGO)
    export = read(tmp_path, "time,x\n" + "".join(f"{text},{row}\n" for row, text in enumerate(texts)), zone=CHICAGO)
    series = only(export)
    assert series.times_ms.tolist() == [start + row * step_min * 60_000 for row in range(rows)]
    assert series.values.tolist() == list(range(rows))
    doubled = f"doubled hour {2 * 60 // step_min} of {rows} readings: the clock was put back on 2021-11-07"
    assert (doubled in reasons(export)) == (change == BACK)


def test_a_file_sorted_by_local_time_and_one_with_the_newest_first(tmp_path):
    texts = local_texts(BACK - 3 * 3_600_000, 6 * 12, 5, CHICAGO)
    rows = [f"{text},{row}" for row, text in enumerate(texts)]
    truth = [BACK - 3 * 3_600_000 + row * 300_000 for row in range(len(rows))]
    by_clock = only(read(tmp_path, "time,x\n" + "\n".join(sorted(rows, key=lambda row: row[:16])), zone=CHICAGO))
    assert by_clock.times_ms.tolist() == truth and by_clock.values.tolist() == list(range(len(rows)))
    backwards = only(read(tmp_path, "time,x\n" + "\n".join(rows[::-1]), zone=CHICAGO))
    assert backwards.times_ms.tolist() == truth and backwards.values.tolist() == list(range(len(rows)))


@pytest.mark.parametrize(
    "zone, people",
    [("America/Denver", "North America"), ("Europe/Berlin", "Central Europe"), ("Europe/London", "Western")],
)
@pytest.mark.parametrize("is_back", [True, False])
def test_summer_time_is_noticed_in_times_that_name_no_zone(zone, people, is_back, tmp_path):
    (change,) = [c for c in clock_changes(zone, ms(2021, 1, 1), ms(2021, 12, 31)) if c.is_back == is_back]
    texts = local_texts(change.utc_ms - 86_400_000, 2 * 24 * 4, 15, zone)
    export = read(tmp_path, "time,x\n" + "".join(f"{text},{row}\n" for row, text in enumerate(texts)))
    series = only(export)
    assert (np.diff(series.times_ms) == 900_000).all() and len(series) == len(texts)
    assert f"when the clocks of {people}" in reasons(export)
    assert not export.zone.is_stated


def test_a_clock_that_is_not_put_forward_is_noticed(tmp_path):
    texts = [f"2021-03-14 {hour:02}:{minute:02}" for hour in range(6) for minute in range(0, 60, 5)]
    export = read(tmp_path, "time,x\n" + "".join(f"{text},{row}\n" for row, text in enumerate(texts)), zone=CHICAGO)
    assert (np.diff(only(export).times_ms) == 300_000).all()
    assert "this clock is not put forward" in reasons(export)


def test_letters_behind_the_time_tell_the_two_hours_apart(tmp_path):
    rows = ["07-Nov-21 1:30:00 AM CDT,1", "07-Nov-21 1:30:00 AM CST,2", "07-Nov-21 2:30:00 AM CST,3"]
    series = only(read(tmp_path, "Timestamp,Value\n" + "\n".join(rows)))
    assert np.diff(series.times_ms).tolist() == [3_600_000, 3_600_000]


def test_a_file_without_a_zone_follows_the_others_of_its_export(tmp_path):
    stated = "Timestamp,Value\n" + "".join(f"07-May-22 12:0{row}:00 PM CDT,{row}\n" for row in range(4))
    silent = "Times,Value\n" + "".join(f"5/7/2022 12:0{row},{row}\n" for row in range(4))
    export = read(tmp_path, stated, silent)
    assert export.series[0].times_ms.tolist() == export.series[1].times_ms.tolist()
    assert "part-1.csv: time zone America/Chicago: other files of this export state CDT" in reasons(export)


def test_times_without_any_zone_are_taken_as_utc_and_said(tmp_path):
    export = read(tmp_path, "time,x\n2021-05-30 12:00,1\n")
    assert only(export).times_ms.tolist() == [ms(2021, 5, 30, 12)]
    assert "no file states a zone; state yours" in reasons(export)


def test_names_of_zones():
    assert zone_offset_ms("CDT") == -5 * 3_600_000 and zone_offset_ms("+0530") == 19_800_000
    assert zone_offset_ms("IST") is None  # India, Israel or Ireland
    assert check_zone("Europe/Berlin") == "Europe/Berlin" and check_zone("PST") == "America/Los_Angeles"
    with pytest.raises(ConfigError, match="did you mean 'America/Chicago'"):
        check_zone("America/Chikago")


def test_a_clock_without_changes_is_a_plain_shift():
    utc, report = LocalClock("Asia/Tokyo").to_utc(np.array([ms(2021, 5, 30, 9)]))
    assert utc.tolist() == [ms(2021, 5, 30)] and not report.changes


@pytest.mark.parametrize("is_by_point", [True, False])
def test_the_doubled_hour_of_a_long_table_is_told_apart_for_each_point(is_by_point, tmp_path):
    texts = local_texts(BACK - 3 * 3_600_000, 6 * 4, 15, CHICAGO)
    rows = [f"{text},{point},{row}" for row, text in enumerate(texts) for point in "ab"]
    if is_by_point:
        rows.sort(key=lambda row: row.split(",")[1])
    export = read(tmp_path, "time,point,value\n" + "\n".join(rows), zone=CHICAGO)
    for series in export.series:
        assert series.times_ms.tolist() == [BACK - 3 * 3_600_000 + row * 900_000 for row in range(len(texts))]
        assert series.values.tolist() == list(range(len(texts)))


@pytest.mark.parametrize(
    "spans, zone",
    [
        ([("2024-03-08", "-06:00"), ("2024-03-12", "-05:00")], "America/Chicago"),
        ([("2024-03-29", "+01:00"), ("2024-04-02", "+02:00")], "Europe/Berlin"),
        ([("2024-07-01", "-04:00")], "America/New_York"),
        ([("2024-03-08", "-03:00"), ("2024-06-12", "-03:00")], "Etc/GMT+3"),
        ([("2024-03-08", "Z")], "UTC"),
    ],
)
def test_distances_from_utc_show_the_region_of_a_plant(tmp_path, spans, zone):
    rows = [
        f"{day}T{row // 12:02d}:{row % 12 * 5:02d}:00{offset},{20 + row % 4}"
        for day, offset in spans
        for row in range(144)
    ]
    (tmp_path / "d.csv").write_text("timestamp,ZN-T\n" + "\n".join(rows) + "\n")
    export = read_exports([tmp_path / "d.csv"])
    proposal = propose_plant(export, name="site")
    assert proposal.zone == zone
    assert (zone == "UTC") or any(guess.what == "time zone" and "state" in guess.reason for guess in proposal.guesses)
