"""Latency by number of neighbors: rings of a known degree, and rows with and without the cap."""

import pytest

from graphghha.graph import NeighborRule, neighborhood
from graphghha.lab.bench.speed import degree

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("wanted", "others"), [(0, 0), (8, 8), (32, 32), (64, 63), (100, 63)])
def test_a_ring_has_the_degree_that_was_asked_for(wanted, others):
    degrees = neighborhood(degree.ring(64, wanted), NeighborRule(self_loops=False)).degrees
    assert (degrees == others).all()


def test_every_degree_has_a_row_per_method_and_the_engine_is_checked_with_and_without_the_cap(setup):
    result = degree.run(setup, (8, 24, 128), nodes=64, cap=12)
    assert {row["neighbors"] for row in result["rows"]} == {8, 24}, "128 neighbors do not fit on 64 nodes"
    caps = {row["method"]: row["cap"] for row in result["rows"]}
    assert caps["graphghha"] == caps["sparsified_gat"] == 12 and caps["graphghha_uncapped"] is None
    assert [(entry["neighbors"], entry["method"]) for entry in result["gate"]] == [
        (neighbors, method) for neighbors in (8, 24) for method in ("graphghha", "graphghha_uncapped")
    ]
