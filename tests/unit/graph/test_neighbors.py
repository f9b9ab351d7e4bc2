"""Whom each node attends to under every rule; tests/paper compares the paper's rule with Algorithm 1."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import loop_template, random_graph
from graphghha.errors import ConfigError, GraphError
from graphghha.graph import CpsGraph, Edge, NeighborRule, Node, from_pairs, neighborhood

graphs = st.builds(random_graph, st.integers(1, 25), st.integers(0, 80), st.integers(0, 10_000))


@given(graphs, st.sampled_from(["in", "out", "both"]), st.booleans(), st.sampled_from([None, 1, 3, 100]), st.booleans())
@settings(deadline=None, max_examples=100)
def test_every_form_tells_the_same_story(graph, direction, loops, cap, first):
    rule = NeighborRule(
        direction=direction, self_loops=loops, max_neighbors=cap, policy="first" if first else "specific"
    )
    found, s = neighborhood(graph, rule), graph.num_nodes
    out = np.zeros((s, s), bool)
    out[tuple(graph.edge_index)] = True
    allowed = {"out": out, "in": out.T, "both": out | out.T}[direction] | (np.eye(s, dtype=bool) & loops)
    dense = found.dense()
    assert not (dense & ~allowed).any()
    expected = np.minimum(allowed.sum(1), cap or s)
    assert (dense.sum(1) == expected).all() and (found.degrees == expected).all()
    nbr, mask = found.padded()
    assert nbr.shape == mask.shape == (s, max(1, found.max_degree))
    for i in range(s):
        assert sorted(nbr[i, mask[i]]) == found.neighbors(i).tolist() == np.flatnonzero(dense[i]).tolist()


def test_specific_keeps_the_node_itself_and_drops_the_hub():
    nodes = [Node("hub", "controller"), *(Node(f"s{i}", "sensor") for i in range(4)), Node("own", "controller")]
    edges = [Edge(f"s{i}", "hub", "comm") for i in range(4)] + [Edge("s3", "own", "comm")]
    graph = CpsGraph(nodes, edges)
    first = neighborhood(graph, NeighborRule(max_neighbors=2, policy="first"))
    specific = neighborhood(graph, NeighborRule(max_neighbors=2, policy="specific"))
    names = [[graph.names[j] for j in found.neighbors(graph.index("s3"))] for found in (first, specific)]
    assert names == [["hub", "s3"], ["s3", "own"]]


def test_specific_never_drops_the_node_itself():
    graph = random_graph(20, 90)
    rule = NeighborRule(max_neighbors=1, policy="specific")
    assert (neighborhood(graph, rule).idx == np.arange(20)).all()


def test_small_integers_do_not_overflow():
    rows, cols = np.array([99_999], np.int32), np.array([5], np.int32)
    assert from_pairs(rows, cols, 100_000, NeighborRule(self_loops=False)).neighbors(99_999).tolist() == [5]


def test_padding_is_as_wide_as_the_largest_degree_after_the_cap():
    building = loop_template().replicate(40, shared=["supervisor"])
    assert neighborhood(building, NeighborRule(max_neighbors=6)).padded()[0].shape == (281, 6)
    assert neighborhood(building, NeighborRule(neighbor_divisor=8)).max_degree == 36, "s/n, not s"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param({"direction": "up"}, "in | out | both", id="direction"),
        pytest.param({"policy": "best"}, "first | specific", id="policy"),
        pytest.param({"max_neighbors": 0}, "whole number from 1", id="no-neighbour"),
        pytest.param({"max_neighbors": 2.5}, "whole number from 1", id="half-a-neighbour"),
        pytest.param({"neighbor_divisor": -8}, "whole number from 1", id="divisor"),
        pytest.param({"neighbor_divisor": 8, "max_neighbors": 8}, "not both", id="both-caps"),
    ],
)
def test_impossible_rules_are_refused(settings, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        NeighborRule(**settings)


def test_an_edge_out_of_range_is_refused():
    with pytest.raises(GraphError, match="outside the 3 nodes"):
        from_pairs(np.array([0]), np.array([3]), 3, NeighborRule())
