import numpy as np
import pytest

from graphghha.errors import DataError, SchemaError
from graphghha.plants.fcu.lbnl.files import RepairWarning
from graphghha.plants.fcu.lbnl.rows import parse_minute
from graphghha.plants.fcu.signals import INDEX
from graphghha.plants.telemetry import GOOD, MISSING, REPAIRED
from lbnl_builders import DAYS, FAULT_FREE, lines_of, read, rewrite


@pytest.mark.parametrize(
    ("damage", "line", "message"),
    [
        pytest.param(lambda rows: rows[:700] + [rows[700][:40]], 701, "fields where the header has 30", id="cut-line"),
        pytest.param(lambda rows: rows[:700], 700, "ends after 699 of 2880 rows: it is truncated", id="cut-short"),
        pytest.param(lambda rows: rows[:700] + rows[703:], 701, "a gap of 3 minutes", id="gap"),
        pytest.param(lambda rows: rows[:700] + rows[699:], 701, "is not after", id="repeated-row"),
        pytest.param(
            lambda rows: [*rows[:700], _with(rows[700], 3, "abc"), *rows[701:]], 701, "RM_TEMP is 'abc'", id="no-number"
        ),
        pytest.param(
            lambda rows: [*rows[:700], _with(rows[700], 3, ""), *rows[701:]], 701, "RM_TEMP is ''", id="empty-cell"
        ),
        pytest.param(
            lambda rows: [*rows[:700], _with(rows[700], 6, "inf"), *rows[701:]], 701, "FCU_MAT is 'inf'", id="infinite"
        ),
        pytest.param(
            lambda rows: [*rows[:700], _with(rows[700], 0, "13/01/2018 00:00"), *rows[701:]],
            701,
            "'13/01/2018' is not a date",
            id="no-date",
        ),
        pytest.param(
            lambda rows: [*rows[:700], _with(rows[700], 0, "12/30/2018 25:00"), *rows[701:]],
            701,
            "is not a time like",
            id="no-time",
        ),
    ],
)
def test_damage_is_an_error_with_file_and_line(folder, damage, line, message):
    rewrite(folder, damage(lines_of(folder)))
    with pytest.raises(DataError, match=f"{FAULT_FREE}.csv:{line}: .*{message}"):
        read(folder)


def _with(row, column, text):
    cells = row.split(",")
    cells[column] = text
    return ",".join(cells)


def test_a_missing_column_is_named_and_cannot_be_repaired(folder):
    rewrite(folder, [_without(row) for row in lines_of(folder)])
    for repair in (False, True):
        with pytest.raises(SchemaError, match=r"FaultFree.csv:1: missing columns \['FCU_CTRL'\]"):
            read(folder, repair=repair)


def _without(row):
    time, _, *rest = row.split(",")
    return ",".join([time, *rest])


def test_repair_holds_the_last_good_value_marks_it_and_counts(folder):
    header, *rows = lines_of(folder)
    _, truth, _ = read(folder)
    rows[100] = _with(rows[100], 3, "abc")
    rows[200] = rows[200][:50]
    del rows[300:304]
    rewrite(folder, [header, *rows])
    with pytest.warns(RepairWarning, match="1 x bad number held, 5 x missing minute filled, 1 x unusable line dropped"):
        times, values, quality = read(folder, repair=True)
    assert len(times) == DAYS * 1440
    assert (np.diff(times) == np.timedelta64(1, "m")).all()
    assert values[100, INDEX["RM_TEMP"]] == truth[99, INDEX["RM_TEMP"]]
    assert (values[300:304] == truth[299]).all()
    expected = np.full(quality.shape, GOOD)
    expected[100, INDEX["RM_TEMP"]] = REPAIRED  # the 28 good readings beside it stay good
    expected[[200, 300, 301, 302, 303]] = REPAIRED
    assert (quality == expected).all()
    assert (values[expected == GOOD] == truth[expected == GOOD]).all()


def test_repair_invents_nothing_in_a_long_silence_and_counts_missing_rows_at_the_end(folder):
    header, *rows = lines_of(folder)
    rewrite(folder, [header, *rows[:1000], *rows[1100:2000]])
    with pytest.warns(RepairWarning, match="100 x missing minute filled, 880 x row missing at the end"):
        times, values, quality = read(folder, repair=True)
    assert len(times) == 2000
    assert (quality[1000:1100] == MISSING).all()
    assert np.isnan(values[1000:1100]).all()


def test_a_bad_first_row_has_nothing_to_hold(folder):
    header, first, *rows = lines_of(folder)
    rewrite(folder, [header, _with(first, 3, "x"), *rows])
    with pytest.warns(RepairWarning, match=r"repaired 1 x bad number with none to hold$"):
        _, values, quality = read(folder, repair=True)
    room = INDEX["RM_TEMP"]
    assert np.isnan(values[0, room])
    assert quality[0, room] == MISSING
    assert (np.delete(quality[0], room) == GOOD).all()
    assert (quality[1] == GOOD).all()


@pytest.mark.parametrize(
    "at", [pytest.param(0, id="first"), pytest.param(700, id="middle"), pytest.param(-1, id="last")]
)
def test_repair_drops_one_mistyped_date_instead_of_inventing_a_year(folder, at):
    header, *rows = lines_of(folder)
    _, truth, _ = read(folder)
    rows[at] = rows[at].replace("/2018 ", "/2019 ")
    rewrite(folder, [header, *rows])
    with pytest.raises(DataError, match="gap of|is not after"):
        read(folder)
    with pytest.warns(RepairWarning, match="1 x line with a stray time dropped"):
        times, values, quality = read(folder, repair=True)
    lost = {0: 0, 700: 700, -1: len(rows) - 1}[at]
    kept = np.delete(np.arange(len(rows)), lost)
    inside = at == 700
    assert len(times) == len(rows) - (not inside)
    assert (values[kept] == truth[kept]).all() if inside else (values == truth[kept]).all()
    assert (quality[lost] == REPAIRED).all() if inside else (quality == GOOD).all()


def test_repair_believes_a_jump_that_the_next_line_confirms(folder):
    header, *rows = lines_of(folder)
    rewrite(folder, [header, *rows[:1000], *rows[2000:]])
    with pytest.warns(RepairWarning, match="1000 x missing minute filled"):
        times, _, quality = read(folder, repair=True)
    assert len(times) == DAYS * 1440
    assert (quality[1000:2000] == MISSING).all()
    assert (quality[2000:] == GOOD).all()


def test_quoted_fields_read_alike_on_the_fast_and_the_slow_path(folder):
    times, values, _ = read(folder)
    lines = [",".join(f'"{cell}"' for cell in line.split(",")) for line in lines_of(folder)]
    rewrite(folder, lines)
    quick, same, _ = read(folder)
    rewrite(folder, [*lines[:2000], lines[2000][:30], *lines[2001:]])  # sends the whole file to the slow path
    with pytest.warns(RepairWarning, match=r"1 x missing minute filled, 1 x unusable line dropped$"):
        slow, held, _ = read(folder, repair=True)
    assert (quick == times).all() and (slow == times).all()
    assert (same == values).all()
    assert (np.delete(held, 1999, axis=0) == np.delete(values, 1999, axis=0)).all()


def test_digits_with_underscores_are_no_number_on_either_path(folder):
    header, first, *rows = lines_of(folder)
    rewrite(folder, [header, _with(first, 3, "7_1.5"), *rows])
    with pytest.raises(DataError, match=r":2: RM_TEMP is '7_1.5', not a number"):
        read(folder)


def test_blank_lines_at_the_end_are_no_fault(folder):
    rewrite(folder, [*lines_of(folder), "", ""])
    assert len(read(folder)[0]) == DAYS * 1440


def test_times_are_minutes_since_1970():
    assert parse_minute("01/01/1970 01:00") == 60
