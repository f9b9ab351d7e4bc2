from datetime import datetime, timedelta

import numpy as np
import pytest

from graphghha.errors import ConfigError, DataError, SchemaError
from graphghha.sources import Rejection, check_address, open_source, parse_address
from source_builders import NINE, PLANT, POINTS, all_rows, drained

SETTINGS = {"site": "site", "points": POINTS, "plant": PLANT}
COLUMNS = {point: number for number, point in enumerate(POINTS)}
MINUTE = 60_000


def opened(path, options=""):
    return open_source(parse_address(f"csv:{path}{options}"), **SETTINGS)


def lines(header, rows, step_min=1, line="%d.%m.%Y %H:%M;{v}"):
    start = datetime(2018, 7, 2, 9)
    times = [start + timedelta(minutes=step_min * row) for row in range(rows)]
    cells = [time.strftime(line).replace("{v}", f"{68 + row % 5}") for row, time in enumerate(times)]
    return "\n".join([header, *cells]) + "\n"


def column(source, point):
    times, values = all_rows(source)
    return times, values[:, COLUMNS[point]]


def test_a_table_in_another_dialect_is_read_on_the_steps_of_the_plant(tmp_path):
    (tmp_path / "bms.csv").write_text(lines("Datum/Zeit;zone-01/RM_TEMP [degF]", 30))
    times, values = column(opened(tmp_path / "bms.csv"), "zone-01/RM_TEMP")
    assert times.tolist() == [NINE + MINUTE * row for row in range(30)]
    np.testing.assert_allclose(values[:2], [20.0, (69 - 32) / 1.8])


def test_the_zone_may_be_stated_in_the_address_or_in_the_mapping_file(tmp_path):
    (tmp_path / "bms.csv").write_text(lines("time,RT", 30, line="%Y-%m-%d %H:%M,{v}"))
    (tmp_path / "map.toml").write_text(
        '[table]\nzone = "America/Chicago"\n[[map]]\ncolumn = "RT"\npoint = "zone-02/RM_TEMP"\nunit = "degF"\n'
    )
    times, _ = column(opened(tmp_path / "bms.csv", f"?mapping={tmp_path / 'map.toml'}"), "zone-02/RM_TEMP")
    assert times[0] == NINE + 5 * 60 * MINUTE
    times, _ = column(opened(tmp_path / "bms.csv", f"?zone=UTC&mapping={tmp_path / 'map.toml'}"), "zone-02/RM_TEMP")
    assert times[0] == NINE
    with pytest.raises(ConfigError, match="time zone 'Mars' is unknown"):
        opened(tmp_path / "bms.csv", "?zone=Mars")
    with pytest.raises(ConfigError, match="dates = 'backwards' is unknown; use day first"):
        opened(tmp_path / "bms.csv", "?dates=backwards")
    (tmp_path / "wrong.toml").write_text('[table]\nzoom = "UTC"\n')
    with pytest.raises(ConfigError, match="unknown key 'zoom'; did you mean 'zone'"):
        opened(tmp_path / "bms.csv", f"?mapping={tmp_path / 'wrong.toml'}")


def test_a_folder_with_one_file_per_point_and_states_in_words(tmp_path):
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "R1-T.csv").write_text(lines("Timestamp,Value (°F)", 60, line="%d-%b-%y %I:%M:%S %p UTC,{v}"))
    rows = ["02-Jul-18 8:00:00 AM UTC,Setback", "02-Jul-18 9:10:00 AM UTC,Operate", "02-Jul-18 9:40:00 AM UTC,Lunch"]
    (folder / "R1-OCC.csv").write_text("Timestamp,Value\n" + "\n".join(rows))
    (folder / "R1-X.csv").write_text(lines("Timestamp,Value", 5, line="%d-%b-%y %I:%M:%S %p UTC,{v}"))
    (tmp_path / "map.toml").write_text(
        '[[map]]\ncolumn = "R1-T"\npoint = "zone-01/RM_TEMP"\n[[map]]\ncolumn = "R1-OCC"\npoint = "zone-01/FCU_CTRL"\n'
    )
    result, rejected = drained(opened(folder, f"?mapping={tmp_path / 'map.toml'}"))
    mode = {time: value for point, time, value in result if point == "zone-01/FCU_CTRL"}
    # silence means unchanged: the mode is known at every step, and a word that the plant lacks is counted
    assert [mode[NINE + MINUTE * row] for row in (0, 9, 10, 59)] == [2.0, 2.0, 1.0, 1.0]
    assert rejected == {Rejection.UNMAPPED: 5, Rejection.MALFORMED: 1}


def test_words_that_a_plant_does_not_know_are_named_and_may_be_translated(tmp_path):
    rows = ["02-Jul-18 9:00:00 AM UTC,Unoccupied", "02-Jul-18 9:10:00 AM UTC,Occupied", "02-Jul-18 9:47:00 AM UTC,Off"]
    (tmp_path / "OCC.csv").write_text("Timestamp,Value\n" + "\n".join(rows))
    entry = '[[map]]\ncolumn = "OCC"\npoint = "zone-01/FCU_CTRL"\n'
    mapping = tmp_path / "map.toml"
    mapping.write_text(entry)
    notes = "\n".join(opened(tmp_path / "OCC.csv", f"?mapping={mapping}").notes)
    assert "OCC: word 'Occupied': no state of FCU_CTRL (shutdown, operate, setback), so 1 reading left out" in notes
    assert "in the mapping file, below [states.FCU_CTRL]" in notes and "its values are words" not in notes
    mapping.write_text(entry + '[states.FCU_CTRL]\noccupied = "operate"\nUnoccupied = "setback"\nOff = "shutdown"\n')
    source = opened(tmp_path / "OCC.csv", f"?mapping={mapping}")
    assert not [note for note in source.notes if "word" in note]
    mode = column(source, "zone-01/FCU_CTRL")[1]
    assert [mode[0], mode[10], mode[47]] == [2.0, 1.0, 0.0]
    mapping.write_text(entry + '[states.FCU_CTRL]\nOccupied = "operation"\n')
    with pytest.raises(ConfigError, match=r"\[states.FCU_CTRL\]: Occupied = 'operation' is no state; use shutdown"):
        opened(tmp_path / "OCC.csv", f"?mapping={mapping}")


def test_a_check_looks_at_readings_that_come_too_seldom_and_says_so(tmp_path):
    (tmp_path / "bms.csv").write_text(lines("time,zone-01/RM_TEMP [degF],AHU", 40, 15, "%Y-%m-%dT%H:%M:%SZ,{v},1"))
    report = check_address(f"csv:{tmp_path / 'bms.csv'}", **SETTINGS, seconds=60)
    assert [each.point for each in report.mapped] == ["zone-01/RM_TEMP"] and report.unmapped[0].name == "AHU"
    assert "come every 15 min" in report.problem and not report.is_sound
    assert report.to_dict()["problem"] == report.problem


@pytest.mark.parametrize("line", ["%d.%m.%Y %H:%M;{v}", "%Y-%m-%dT%H:%M:%SZ,{v}"], ids=["foreign", "ours"])
@pytest.mark.parametrize("step_min", [5, 15])
def test_readings_that_come_too_seldom_are_refused_in_one_sentence_or_held(line, step_min, tmp_path):
    separator = ";" if ";" in line else ","
    (tmp_path / "bms.csv").write_text(lines(f"time{separator}zone-01/RM_TEMP [degF]", 200, step_min, line))
    sentence = f"come every {step_min} min, and the models of plant 'fcu' need one every 1 min; .*hold=yes"
    with pytest.raises(DataError, match=sentence) as refused:
        opened(tmp_path / "bms.csv")
    assert refused.type is DataError
    times, values = column(opened(tmp_path / "bms.csv", "?hold=yes"), "zone-01/RM_TEMP")
    assert (np.diff(times) == MINUTE).all() and len(times) == 199 * step_min + 1
    np.testing.assert_allclose(values[:step_min], 20.0)


def test_no_batch_of_a_file_spans_more_than_a_day_and_nothing_is_lost(tmp_path):
    rows = "\n".join(f"{NINE // 1000 + 120 * row},20" for row in range(7200))  # ten days, every two minutes
    (tmp_path / "ten.csv").write_text(f"time,zone-01/RM_TEMP\n{rows}\n")
    source = opened(tmp_path / "ten.csv")
    batches = []
    while (batch := source.poll(0)) is not None:
        batches.append(batch)
    assert max(batch.times_ms[-1] - batch.times_ms[0] for batch in batches) <= 86_400_000
    assert sum(len(batch.times_ms) for batch in batches) == 7200 and batches[0].times_ms[0] == NINE


def test_two_tables_for_one_point_are_an_error(tmp_path):
    text = lines("Zeit;A;B", 20, line="%d.%m.%Y %H:%M;{v};{v}")
    (tmp_path / "bms.csv").write_text(text)
    entries = "".join(f'[[map]]\ncolumn = "{name}"\npoint = "zone-01/RM_TEMP"\nunit = "degF"\n' for name in "AB")
    (tmp_path / "map.toml").write_text(entries)
    with pytest.raises(SchemaError, match="'A' and 'B' both feed one point"):
        opened(tmp_path / "bms.csv", f"?mapping={tmp_path / 'map.toml'}")


def test_what_was_guessed_and_left_out_is_part_of_the_check(tmp_path):
    back = [f"07.11.2021 {hour:02}:{minute:02};68" for hour in (0, 1, 1, 2) for minute in range(60)]
    (tmp_path / "bms.csv").write_text("Zeit;zone-01/RM_TEMP [degF]\n" + "\n".join(back) + "\n")
    report = check_address(f"csv:{tmp_path / 'bms.csv'}?zone=America/Chicago", **SETTINGS, seconds=20)
    assert "bms.csv: time zone America/Chicago: stated" in report.notes
    assert any("doubled hour 120 of 240 readings" in note for note in report.notes)
    assert report.readings == 240 and report.to_dict()["notes"] == list(report.notes)


def changes(signal, days=3):
    """Records of a point that reports on change and repeats its value after a quarter of an hour of silence."""
    rng, value, age = np.random.default_rng(len(signal)), 20.0, 15
    for minute in range(1440 * days):
        age += 1
        if changed := signal != "FCU_OAT" and rng.random() < (0.2 if signal == "RM_TEMP" else 0.01):
            value += 0.5 if value < 22 else -2
        if changed or age >= 15:
            age = 0
            yield minute, value


@pytest.mark.parametrize("separator", [",", ";"], ids=["ours", "foreign"])
def test_points_that_report_on_change_and_repeat_are_held_without_asking(separator, tmp_path):
    signals = ("RM_TEMP", "FCU_MAT", "FCU_DAT", "FCU_OAT")
    records = [(minute, name, value) for name in signals for minute, value in changes(name)]
    for order in (sorted(records), records):  # by time, and by point
        rows = [f"{NINE // 1000 + 60 * minute},zone-01,{name},{value},degC" for minute, name, value in order]
        text = "\n".join(["time,zone,point,value,unit", *rows]) + "\n"
        (tmp_path / "bms.csv").write_text(text.replace(",", separator))
        source = opened(tmp_path / "bms.csv")
        assert any("reporting on change: so do 3 of 4 points" in note for note in source.notes)
        times, values = column(source, "zone-01/FCU_MAT")
        assert len(times) > 3 * 1440 - 15 and np.isfinite(values).all()
        known = {NINE + MINUTE * minute: value for minute, name, value in records if name == "FCU_MAT"}
        assert all(values[list(times).index(time)] == value for time, value in known.items())


def test_a_table_of_our_own_form_that_is_ordered_by_points_loses_nothing(tmp_path):
    rows = [
        f"{NINE // 1000 + 60 * row},here,zone-01,{name},20" for name in ("RM_TEMP", "FCU_MAT") for row in range(120)
    ]
    (tmp_path / "bms.csv").write_text("\n".join(["time,site,zone,point,value", *rows]) + "\n")
    times, values = all_rows(opened(tmp_path / "bms.csv"))
    assert times.tolist() == [NINE + MINUTE * row for row in range(120)]
    assert np.isfinite(values).sum() == 240
