import numpy as np

from graphghha.sources import ReadingBatch, Rejection, RowBatch

TIMES = np.array([1, 2, 3], np.int64)
SINGLE = ReadingBatch("site", 9, TIMES, np.array([10.0, 20.0, 30.0]), np.array([4, 5, 4], np.int32))
ROWS = RowBatch("site", 9, TIMES, np.array([[1.0, np.nan], [2.0, 3.0], [np.nan, np.nan]]))


def listed(batch):
    return list(zip(*(array.tolist() for array in batch.readings()), strict=True))


def test_single_readings_and_rows_tell_column_time_and_value_of_every_reading():
    assert listed(SINGLE) == [(4, 1, 10.0), (5, 2, 20.0), (4, 3, 30.0)]
    assert listed(ROWS) == [(0, 1, 1.0), (0, 2, 2.0), (1, 2, 3.0)]


def test_a_part_of_a_batch_keeps_everything_else():
    for which in (slice(1, 3), np.array([False, True, True])):
        assert listed(SINGLE.select(which)) == [(5, 2, 20.0), (4, 3, 30.0)]
        part = ROWS.select(which)
        assert listed(part) == [(0, 2, 2.0), (1, 2, 3.0)] and (part.site, part.received_ms) == ("site", 9)


def test_the_columns_of_rows_are_all_points():
    assert SINGLE.columns.tolist() == [4, 5, 4] and ROWS.columns.tolist() == [0, 1]


def test_an_empty_batch_has_no_readings_and_keeps_what_was_rejected():
    batch = ReadingBatch.empty("site", 9, {Rejection.MALFORMED: 2}, receipt="r")
    assert len(batch) == 0 and listed(batch) == []
    assert batch.rejected == {Rejection.MALFORMED: 2} and batch.receipt == "r"
