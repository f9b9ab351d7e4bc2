"""The methods of Table I and what they run on."""

import pytest
import torch

from graphghha.graph import NeighborRule, neighborhood
from graphghha.lab.bench.speed import latency
from graphghha.lab.bench.speed.methods import (
    BYTES_PER_PAIR,
    LARGEST_CALL_BYTES,
    synthetic_template,
    torch_threads,
    windows_per_call,
)


@pytest.mark.slow
def test_a_batch_that_a_method_cannot_hold_is_measured_in_parts(setup):
    result = latency.run(setup, (96,), batch=64, methods=["vanilla_gat", "graphghha"])
    whole = {row["method"]: row["windows_per_call"] for row in result["rows"]}
    assert whole == {"vanilla_gat": 64, "graphghha": 64}
    large = setup.task(1536, "fp32", batch=64)
    assert windows_per_call("graphghha", large) == 64 > windows_per_call("vanilla_gat", large) >= 1
    assert windows_per_call("vanilla_gat", large) * 8 * 1536 * 1536 * BYTES_PER_PAIR <= LARGEST_CALL_BYTES


def test_the_synthetic_unit_resembles_a_fan_coil_unit():
    template = synthetic_template()
    degrees = neighborhood(template, NeighborRule()).degrees
    assert template.num_nodes == 32 and sum(signal is None for signal in template.signals) == 3
    assert 8 <= degrees.mean() <= 11


def test_building_a_network_leaves_the_random_state_of_torch_alone(setup):
    before = torch.get_rng_state()
    setup.task(32, "fp32").adu("graphghha", "fp32")
    assert torch.equal(torch.get_rng_state(), before)


def test_the_thread_count_of_torch_is_restored():
    before = torch.get_num_threads()
    with torch_threads(before + 1):
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before
