import numpy as np
import pytest

from builders import loop_template
from graphghha.lab.training.expectation import fit_expectation
from graphghha.windows import RECENT, noise_floor


@pytest.mark.slow
def test_the_expectation_learns_a_relation_and_sees_it_broken():
    template = loop_template()
    count, recent = len(template.points), len(RECENT.feature_names)
    rng = np.random.default_rng(0)
    values = rng.normal(0, 1, (20_000, count)).astype(np.float32)
    names = list(template.points)
    valve, command = names.index("valve"), names.index("temp_pid")
    values[:, valve] = values[:, command] + rng.normal(0, 0.05, 20_000)
    inputs = np.repeat(values, recent, axis=1)
    floor = noise_floor([0.05] * count, np.ones(count))
    result = fit_expectation(inputs, values, template, floor, seed=0, epochs=6)
    calm = result.residuals(inputs[:500], values[:500])
    stuck = values[:500].copy()
    stuck[:, valve] = 2.0
    broken = result.residuals(np.repeat(stuck, recent, axis=1), stuck)
    assert 0.5 < calm[:, valve].std() < 2
    assert np.abs(broken[:, valve]).mean() > 4
