"""Every fault in its short form: the same code as `graphghha bench reliability`."""

import pytest

from faults.effort import QUICK
from faults.rig import PLAIN_RIG


@pytest.fixture
def figures(tmp_path):
    """Runs a trial and returns the figures that do not hold, and all of them."""

    def run(trial, effort=QUICK, rig=PLAIN_RIG):
        found = trial(tmp_path, rig, effort, lambda line: None)
        assert found
        return [figure for figure in found if not figure.holds]

    return run
