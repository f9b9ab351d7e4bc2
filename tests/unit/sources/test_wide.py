import numpy as np
import pytest

from graphghha.errors import SchemaError
from graphghha.sources import Rejection
from graphghha.sources.mapping import Mapper
from graphghha.sources.wide import WideLayout
from source_builders import NINE, POINTS, points, readings

TIMES = np.array([NINE, NINE + 60_000], np.int64)


def layout(names, units=None):
    return WideLayout("site", Mapper(points()), names, units or [None] * len(names), "table")


def test_columns_are_put_in_the_order_of_the_points_and_into_si():
    wide = layout(["zone-02/RM_TEMP", "cellar", "zone-01/RM_TEMP"], ["degF", None, None])
    assert wide.used.tolist() == [0, 2]
    batch = wide.batch(TIMES, np.array([[68.0, 20.5], [np.nan, 21.0]]))
    assert batch.values.shape == (2, len(POINTS)) and batch.rejected == {Rejection.UNMAPPED: 2}
    assert readings(batch) == [
        ("zone-01/RM_TEMP", NINE, 20.5),
        ("zone-02/RM_TEMP", NINE, 20.0),
        ("zone-01/RM_TEMP", NINE + 60_000, 21.0),
    ]


def test_rows_without_a_time_and_values_beyond_the_instrument_are_rejected():
    values = np.array([[20.0], [1e9]])
    assert layout(["zone-01/RM_TEMP"]).batch(TIMES, values, malformed=[1]).rejected == {
        Rejection.OUT_OF_LIMITS: 1,
        Rejection.MALFORMED: 1,
    }
    batch = layout(["zone-01/RM_TEMP"]).batch(np.array([-1, NINE]), values)
    assert batch.rejected == {Rejection.BAD_TIME: 1, Rejection.OUT_OF_LIMITS: 1} and len(batch.times_ms) == 1


def test_two_columns_for_one_point_are_refused():
    with pytest.raises(SchemaError, match="table: columns 'zone-01/RM_TEMP' and 'zone-01/RM_TEMP' both feed"):
        layout(["zone-01/RM_TEMP", "zone-01/RM_TEMP"], ["degC", "degF"])
