"""Every trial of `scripts/bench reliability` in its short form."""

import pytest

from faults.effort import QUICK
from faults.rig import TOY_RIG


@pytest.fixture
def failures(tmp_path):
    """Return a function that runs a trial and returns the figures that do not hold."""

    def run(trial, effort=QUICK, rig=TOY_RIG):
        figures = trial(tmp_path, rig, effort, lambda line: None)
        assert figures
        return [figure for figure in figures if not figure.holds]

    return run
