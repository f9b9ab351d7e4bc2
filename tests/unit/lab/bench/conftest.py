"""Small results that several tests of the benchmarks use."""

import json

import pytest

from graphghha.lab.bench.detection.paper_protocol import DetectionEffort, PaperBench, detection
from graphghha.lab.bench.detection.variants import METHODS
from graphghha.lab.bench.harness import Effort
from graphghha.lab.bench.speed import incremental, latency, precision
from graphghha.lab.bench.speed.methods import Setup
from graphghha.models import load_model, shipped_model

TINY = DetectionEffort(days=1, stride_min=240, steps=3, normal_years=1, extra_years=0, most_samples=1, batch_zones=4)
CASES = ("FCU_OADMPRStuck_100", "FCU_VLVStuck_Heating_100", "FCU_SensorBias_RMTemp_+4C", "FCU_FilterRestriction_50%")


@pytest.fixture(scope="session")
def setup():
    """The synthetic unit and the benchmark network, one call per method."""
    return Setup(effort=Effort(budget_s=0.0, min_rounds=1, slice_s=0.0))


@pytest.fixture(scope="session")
def table_i(setup):
    return _through_json(latency.run(setup, (32, 64), dtype=("fp32", "bf16")))


@pytest.fixture(scope="session")
def table_iv(setup):
    return _through_json(precision.run(setup, shipped_model("fcu"), 64, test=precision.QUICK_TEST))


@pytest.fixture(scope="session")
def events(setup):
    return _through_json(incremental.run(setup, shipped_model("fcu"), (2,), 12, calm_nodes=320))


@pytest.fixture(scope="session")
def model():
    return load_model(shipped_model("fcu"))


@pytest.fixture(scope="session")
def bench(tmp_path_factory, model):
    return PaperBench(tmp_path_factory.mktemp("work"), TINY, preprocessing=model.preprocessing, cases=CASES)


@pytest.fixture(scope="session")
def study(bench):
    """Rows of the four methods at two sizes with two seeds."""
    return detection(bench, METHODS, [32, 64], [0, 1])


def _through_json(result):
    return json.loads(json.dumps(result, allow_nan=False))
