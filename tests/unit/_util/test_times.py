import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha._util.times import iso, iso_ms, parse_time_ms


def test_times_are_utc_with_a_z():
    assert iso(1_530_522_000_000) == "2018-07-02T09:00:00Z"
    assert iso_ms(1_530_522_000_007) == "2018-07-02T09:00:00.007Z"


def test_times_before_1970_are_written_too():
    assert iso(-1000) == "1969-12-31T23:59:59Z"


@given(st.integers(0, 4_102_444_800_000))
def test_times_are_read_as_they_are_written(time_ms):
    second = time_ms // 1000 * 1000
    assert parse_time_ms(iso(second)) == second
    if time_ms > 1e11:
        assert parse_time_ms(time_ms) == time_ms and parse_time_ms(time_ms / 1000) == time_ms


@pytest.mark.parametrize(
    "time", ["", "noon", "2018-13-01", "9" * 100, True, [], float("nan"), float("inf"), "0001-01-01T00:00+14:00"]
)
def test_anything_else_is_not_a_time_or_lies_before_1970(time):
    time_ms = parse_time_ms(time)
    assert time_ms is None or time_ms < 0
