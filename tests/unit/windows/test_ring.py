import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.errors import ConfigError
from graphghha.windows import Ring, Rows


def rows(start: int, count: int, points: int = 2) -> Rows:
    times = np.arange(start, start + count, dtype=np.int64)
    values = np.repeat(times[:, None], points, axis=1).astype(float)
    return Rows(times, values, values % 3 != 0, np.ones(count, bool))


@given(st.integers(1, 6), st.lists(st.integers(0, 9), max_size=8))
def test_the_ring_shows_the_newest_rows_in_time_order(capacity, counts):
    ring, total = Ring(capacity, 2), 0
    for count in counts:
        ring.extend(rows(total, count))
        total += count
        expected = rows(max(0, total - capacity), min(total, capacity))
        times, values, fresh = ring.last()
        assert times.tolist() == expected.times_ms.tolist()
        assert values.tolist() == expected.values.tolist()
        assert fresh.tolist() == expected.fresh.tolist()
        assert len(ring) == len(expected) and ring.is_full == (total >= capacity)


def test_fewer_rows_can_be_asked_for():
    ring = Ring(5, 2)
    ring.extend(rows(0, 7))
    assert ring.last(2)[0].tolist() == [5, 6]
    assert ring.last(99)[0].tolist() == [2, 3, 4, 5, 6]


def test_a_window_is_a_read_only_view():
    ring = Ring(3, 2)
    ring.extend(rows(0, 4))
    _, values, _ = ring.last()
    assert values.base is not None
    with pytest.raises(ValueError, match="read-only"):
        values[0, 0] = 1.0


@pytest.mark.parametrize("shape", [(0, 1), (1, 0)], ids=["no-rows", "no-points"])
def test_an_empty_ring_is_refused(shape):
    with pytest.raises(ConfigError, match="must be at least 1"):
        Ring(*shape)
