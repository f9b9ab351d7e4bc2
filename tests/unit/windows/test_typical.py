"""The typical zone: medians over the zones that read a signal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import loop_template
from graphghha.windows.typical import LEAST_SHARE, LEAST_ZONES, TypicalZone

TEMPLATE = loop_template()
SIGNALS = len(TEMPLATE.points)


@given(st.integers(3, 8), st.integers(0, 2**32 - 1))
def test_it_is_the_median_of_the_zones_that_read_a_signal(zones, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(20, 5, (4, zones * SIGNALS))
    fresh = rng.random(values.shape) < 0.6
    values[rng.random(values.shape) < 0.1] = np.nan
    found, known = TypicalZone(TEMPLATE.replicate(zones), TEMPLATE)(values, fresh)
    for row in range(4):
        for signal in range(SIGNALS):
            column = [
                values[row, zone * SIGNALS + signal] for zone in range(zones) if fresh[row, zone * SIGNALS + signal]
            ]
            read = [value for value in column if np.isfinite(value)]
            assert known[row, signal] == (len(read) >= LEAST_SHARE * zones)
            if known[row, signal]:
                assert found[row, signal] == pytest.approx(np.median(read))
            else:
                assert np.isnan(found[row, signal])


def test_one_zone_does_not_move_it_and_all_together_do():
    read = TypicalZone(TEMPLATE.replicate(5), TEMPLATE)
    quiet = np.full((1, 5 * SIGNALS), 20.0)
    one, everywhere = quiet.copy(), quiet + 4
    one[0, :SIGNALS] += 4
    fresh = np.ones(quiet.shape, bool)
    assert (read(one, fresh)[0] == 20).all() and (read(everywhere, fresh)[0] == 24).all()


def test_a_building_of_few_zones_has_no_typical_one():
    assert TypicalZone.of(TEMPLATE.replicate(LEAST_ZONES - 1), TEMPLATE) is None
    assert TypicalZone.of(TEMPLATE, TEMPLATE) is None
    assert TypicalZone.of(TEMPLATE.replicate(LEAST_ZONES), TEMPLATE) is not None
