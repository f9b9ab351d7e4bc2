import numpy as np
import pytest

from export_builders import ms, read, table
from graphghha.errors import DataError
from graphghha.exports import common_step_ms, lay_on_grid

START = ms(2021, 5, 30, 12)


def test_a_sampled_point_goes_stale_and_one_that_reports_changes_does_not(tmp_path):
    sampled = "time,x\n" + "".join(f"2021-05-30 12:{minute:02},{minute}\n" for minute in (*range(0, 20), 40))
    changes = "time,OCC-C\n2021-05-30 11:00,Off\n2021-05-30 12:07,On\n2021-05-30 12:09,Off\n2021-05-30 12:11,On\n"
    export = read(tmp_path, sampled, changes, names=("a-T.csv", "b-C.csv"))
    assert common_step_ms(export.series) == 60_000
    rows = lay_on_grid(export.series, 60_000)
    assert rows.times_ms[0] == START and len(rows.times_ms) == 41
    measured, state = rows.values.T
    assert measured[:20].tolist() == list(range(20)) and measured[21] == 19 and np.isnan(measured[23:40]).all()
    assert state[:7].tolist() == [0.0] * 7 and state[7:9].tolist() == [1.0, 1.0] and state[40] == 1.0
    assert rows.age_ms[40, 1] == 29 * 60_000


def test_a_point_is_unknown_before_its_first_record(tmp_path):
    export = read(
        tmp_path, table("time,x", "%Y-%m-%d %H:%M,{v}"), "time,SP\n2021-05-30 13:00,5\n", names=("a.csv", "b-SP.csv")
    )
    rows = lay_on_grid(export.series, 300_000)
    assert np.isnan(rows.values[:12, 1]).all() and (rows.values[12:, 1] == 5).all() and rows.age_ms[0, 1] == -1


def test_a_coarser_grid_takes_the_newest_reading(tmp_path):
    export = read(tmp_path, table("time,x", "%Y-%m-%d %H:%M,{v}"))
    rows = lay_on_grid(export.series, 900_000)
    assert rows.values[:3, 0].tolist() == [20.0, 20.3, 20.6]


def test_nothing_and_too_much_are_refused(tmp_path):
    with pytest.raises(DataError, match="no readings"):
        lay_on_grid([], 60_000)
    export = read(tmp_path, "time,x\n1991-05-30 12:00,1\n2021-05-30 12:00,1\n2021-05-30 12:01,1\n")
    with pytest.raises(DataError, match="do not fit into memory"):
        lay_on_grid(export.series, 1)
