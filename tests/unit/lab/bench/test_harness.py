"""Methods are timed in turns, and memory is measured from outside."""

import numpy as np

from graphghha.lab.bench.harness import Effort, Timing, interleaved, machine_info, peak_mb


def test_times_of_a_batch_are_per_window():
    assert Timing(128.0, 192.0, 64.0, 7).per(64) == Timing(2.0, 3.0, 1.0, 7)


def test_every_method_is_called_in_every_round():
    order = []
    calls = {name: lambda name=name: order.append(name) for name in "abc"}
    timings = interleaved(calls, Effort(budget_s=0.0, min_rounds=4, slice_s=0.0))
    assert order[-12:] == ["a", "b", "c"] * 4
    assert {timing.calls for timing in timings.values()} == {4}


def test_peak_memory_includes_what_a_call_holds():
    def build():
        block = np.ones(40 << 20, np.uint8)
        return lambda: block.sum()

    _, peak = peak_mb(build)
    assert peak is None or peak >= 35


def test_the_machine_is_described_without_paths_and_host_names():
    machine = machine_info()
    assert "/" not in (machine["compiler"] or "") and "-" not in machine["system"]
    assert machine["packages"]["numpy"] == np.__version__
