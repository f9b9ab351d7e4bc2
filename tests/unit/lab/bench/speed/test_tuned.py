"""Other methods at good settings: what is measured, and that a compiled method is compared with itself first."""

import platform
import resource

import numpy as np
import pytest
import torch

from graphghha.errors import EngineError
from graphghha.lab.bench.harness import kept_memory
from graphghha.lab.bench.speed import tuned
from graphghha.lab.bench.speed.methods import build

pytestmark = pytest.mark.slow


def test_all_methods_of_a_size_have_a_row_and_the_engine_is_checked(setup):
    result = tuned.run(setup, (32,), compiled=())
    assert {row["method"] for row in result["rows"]} == set(tuned.METHODS)
    assert all(row["cpu_ms"] > 0 for row in result["rows"])
    assert [entry["nodes"] for entry in result["gate"]] == [32]


def test_a_network_is_prepared_before_it_is_called(setup):
    task, seen = setup.task(32, "fp32"), []

    def prepare(network):
        seen.append(network)
        return lambda x, edges: torch.zeros(2)

    assert build("vanilla_gat", task, prepare)().tolist() == [0, 0]
    assert isinstance(seen[0], torch.nn.Module)


def test_a_compiled_method_that_differs_is_refused(setup):
    with pytest.raises(EngineError, match="differs from eager"):
        tuned.compiled_call("vanilla_gat", setup.task(32, "fp32"), lambda net: lambda *inputs: net(*inputs) + 0.1)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has mallopt")
def test_memory_that_is_freed_in_the_block_is_not_fetched_again():
    with kept_memory() as kept:
        np.ones(1 << 23)  # 64 MB
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        np.ones(1 << 23)
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert kept and faults < 1000, "64 MB from the system are 16,384 pages"
