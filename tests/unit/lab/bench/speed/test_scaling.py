"""Throughput by batch, speed-up by threads, latency by heads. Speed itself is not tested."""

import pytest

from graphghha.errors import ConfigError
from graphghha.lab.bench.speed import scaling

pytestmark = pytest.mark.slow


def test_throughput_has_a_row_per_size_and_batch(setup):
    result = scaling.throughput(setup, (32, 64), batches=(1, 3))
    assert [(row["nodes"], row["batch"]) for row in result["rows"]] == [(32, 1), (32, 3), (64, 1), (64, 3)]
    row = result["rows"][-1]
    assert row["graphs_per_s"] == pytest.approx(3e3 / row["ms"])
    assert row["node_windows_per_s_per_core"] == pytest.approx(64 * row["graphs_per_s"])


def test_speedups_are_those_over_one_thread(setup):
    result = scaling.thread_speedup(setup, (64,), (1, 2))
    one, two = result["rows"]
    assert one["speedup"] == 1.0 and two["speedup"] == pytest.approx(one["ms"] / two["ms"])
    with pytest.raises(ConfigError, match="must begin with 1"):
        scaling.thread_speedup(setup, (64,), (2, 1))


def test_heads_are_measured_on_one_size(setup):
    rows = scaling.heads_latency(setup, (2, 4))
    assert [(row["heads"], row["nodes"]) for row in rows] == [(2, 1024), (4, 1024)]
