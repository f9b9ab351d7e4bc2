"""What the other zones read, compared with a median that is taken zone by zone."""

import numpy as np
import pytest

from graphghha.windows.peers import median_of_others


@pytest.mark.parametrize("zones", [1, 2, 3, 4, 7, 12])
@pytest.mark.parametrize("unknown", [0.0, 0.3, 1.0])
def test_it_is_the_median_of_the_other_known_zones(zones, unknown):
    rng = np.random.default_rng([zones, int(10 * unknown)])
    values = rng.integers(0, 6, (40, zones, 3)).astype(np.float32)  # with ties
    known = rng.random(values.shape) >= unknown
    found, has_others = median_of_others(values, known)
    for row, zone, signal in np.ndindex(values.shape):
        others = [values[row, z, signal] for z in range(zones) if z != zone and known[row, z, signal]]
        assert has_others[row, zone, signal] == bool(others)
        assert found[row, zone, signal] == (np.median(others) if others else 0.0)


def test_an_unknown_value_moves_nobody():
    values = np.array([[[1.0], [2.0], [1e9]]], np.float32)
    known = np.array([[[True], [True], [False]]])
    found, _ = median_of_others(values, known)
    assert found[0, :, 0].tolist() == [2.0, 1.0, 1.5]
