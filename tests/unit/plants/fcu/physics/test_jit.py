import subprocess
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

import graphghha
from graphghha.plants.fcu.physics.building import Building

PLAIN = """
import sys
sys.modules["numba"] = None
from datetime import datetime
import numpy as np
from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.physics.jit import HAS_NUMBA
assert not HAS_NUMBA
day = Building(zones=2, seed=3, start=datetime(2018, 7, 9), spin_up_days=0).step()
np.save(sys.argv[1], day.telemetry)
"""


def test_without_numba_the_same_functions_run_as_plain_python_with_one_warning(tmp_path):
    root = Path(graphghha.__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-c", PLAIN, str(tmp_path / "day.npy")],
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("numba is not installed") == 1
    compiled = Building(zones=2, seed=3, start=datetime(2018, 7, 9), spin_up_days=0).step().telemetry
    np.testing.assert_allclose(np.load(tmp_path / "day.npy"), compiled, rtol=1e-6, atol=1e-6)


UNCACHED = """
from numba.core.caching import CacheImpl
# what a read-only installation without a writable home looks like to numba
CacheImpl._locator_classes = []
from datetime import datetime
from graphghha.plants.fcu.physics.jit import HAS_NUMBA, compiled
from graphghha.plants.fcu.physics.components import effectiveness
assert HAS_NUMBA
assert effectiveness.stats.cache_path is None
assert 0.0 < effectiveness(1.0, 0.5) < 1.0
"""


def test_without_a_folder_for_its_cache_the_code_is_compiled_all_the_same():
    pytest.importorskip("numba")
    root = Path(graphghha.__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-c", UNCACHED], env={"PYTHONPATH": str(root)}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
