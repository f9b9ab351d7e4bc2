"""GraphGHHA is judged by Algorithm 1 written plainly, values and gradients."""

import pytest
import torch

from builders import loop_template, neighbors_of, random_graph
from graphghha.errors import ConfigError
from graphghha.graph import CpsGraph, Edge, NeighborRule, Node, neighborhood
from graphghha.nn import GraphGHHA, Neighbors, reference_layer

# Largest difference to the oracle, relative to the largest output. 16-bit rows hold for one layer.
TOLERANCE = {"fp32": 2e-6, "fp16": 4e-3, "bf16": 3e-2}

ISOLATED = CpsGraph(
    [Node("lonely", "sensor"), Node("s", "sensor"), Node("c", "controller"), Node("a", "actuator")],
    [Edge("s", "c", "comm"), Edge("c", "a", "comm"), Edge("a", "s", "phys")],
)
GRAPHS = [
    pytest.param(random_graph(24, 90), {"max_neighbors": 3}, id="cap-binds"),
    pytest.param(random_graph(24, 60), {}, id="cap-does-not-bind"),
    pytest.param(random_graph(21, 80), {"direction": "out", "neighbor_divisor": 8, "policy": "first"}, id="s-not-8n"),
    pytest.param(ISOLATED, {"self_loops": False}, id="isolated-node"),
    pytest.param(CpsGraph([Node("only", "sensor")]), {}, id="one-node"),
    pytest.param(CpsGraph([Node("only", "sensor")]), {"self_loops": False}, id="one-node-no-neighbour"),
]


@pytest.mark.parametrize("global_norm", ["rms", "raw"])
@pytest.mark.parametrize("heads", [1, 2, 8], ids=lambda p: f"{p}-heads")
@pytest.mark.parametrize(("graph", "rule"), GRAPHS)
def test_values_and_gradients_equal_the_oracle(graph, rule, heads, global_norm):
    torch.manual_seed(0)
    layer = GraphGHHA(32, heads, global_norm=global_norm).double()
    neighbors, adj = neighbors_of(graph, **rule)
    H = torch.randn(graph.num_nodes, 32, dtype=torch.double, requires_grad=True)
    weights = dict(layer.named_parameters())
    inputs = [H, *weights.values()]
    probe = torch.randn(graph.num_nodes, 32, dtype=torch.double)

    fast = layer(H, neighbors)
    slow = reference_layer(H, adj, weights, heads=heads, global_norm=global_norm)
    torch.testing.assert_close(fast, slow, rtol=1e-9, atol=1e-9)

    fast_grads = torch.autograd.grad((fast * probe).sum(), inputs)
    slow_grads = torch.autograd.grad((slow * probe).sum(), inputs)
    for fast_grad, slow_grad in zip(fast_grads, slow_grads, strict=True):
        torch.testing.assert_close(fast_grad, slow_grad, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("masked", [False, True], ids=["all-present", "some-absent"])
def test_copies_of_a_zone_train_to_the_same_values_and_gradients(masked):
    """In training the local branch of a replicated template runs as dense products within each zone."""
    torch.manual_seed(3)
    graph = loop_template().replicate(4)
    rule = NeighborRule(max_neighbors=3)
    layer = GraphGHHA(32, 4).double()
    H = torch.randn(2, graph.num_nodes, 32, dtype=torch.double, requires_grad=True)
    mask = torch.rand(2, graph.num_nodes) > 0.3 if masked else None
    found = []
    for zone_nodes in (graph.num_nodes // 4, None):
        neighbors = Neighbors.from_neighborhood(neighborhood(graph, rule), zone_nodes=zone_nodes)
        assert (neighbors.block is None) == (zone_nodes is None)
        out = layer.train()(H, neighbors, mask)
        out = out if mask is None else out * mask[..., None]
        found.append([out, *torch.autograd.grad(out.square().sum(), [H, *layer.parameters()])])
    for by_block, by_neighbor in zip(*found, strict=True):
        torch.testing.assert_close(by_block, by_neighbor, rtol=1e-9, atol=1e-9)


def test_only_whole_copies_are_taken_for_copies():
    template = loop_template()
    near = neighborhood(template.replicate(3), NeighborRule())
    assert Neighbors.from_neighborhood(near, zone_nodes=template.num_nodes + 1).block is None
    linked = random_graph(24, 60)
    assert Neighbors.from_neighborhood(neighborhood(linked, NeighborRule()), zone_nodes=8).block is None
    whole = Neighbors.from_neighborhood(near, zone_nodes=template.num_nodes)
    assert torch.equal(torch.block_diag(*[whole.block.int()] * 3).bool(), whole.adj)


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 7], ids=["batch-1", "batch-7"])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_every_dtype_stays_within_its_tolerance_of_the_oracle(dtype, batch):
    torch.manual_seed(1)
    graph = random_graph(40, 160, seed=2)
    neighbors, adj = neighbors_of(graph, max_neighbors=6)
    layer = GraphGHHA(64, 8, dtype=dtype)
    H = torch.randn(batch, graph.num_nodes, 64)
    exact = {name: weight.float() for name, weight in layer.named_parameters()}
    out = layer(H.to(next(layer.parameters()).dtype), neighbors)
    assert out.dtype == next(layer.parameters()).dtype
    for fast, window in zip(out.float(), H, strict=True):
        slow = reference_layer(window, adj, exact, heads=8, global_norm="rms")
        assert (fast - slow).abs().max() <= TOLERANCE[dtype] * slow.abs().max()


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_large_scores_do_not_overflow_in_sixteen_bit(dtype):
    graph = random_graph(32, 120, seed=3)
    neighbors, _ = neighbors_of(graph, max_neighbors=4)
    layer = GraphGHHA(32, 4, dtype=dtype)
    for size in (40, 300, 3000):
        H = size * torch.randn(graph.num_nodes, 32)
        assert layer(H.to(next(layer.parameters()).dtype), neighbors).isfinite().all()


def test_isolated_node_gets_a_zero_local_row():
    torch.manual_seed(0)
    layer = GraphGHHA(16, 2)
    neighbors, _ = neighbors_of(ISOLATED, self_loops=False)
    H_cat = layer.attend(torch.randn(4, 16), neighbors, None).H_cat
    assert (H_cat[0, 8:] == 0).all() and (H_cat[1:, 8:] != 0).any()


@pytest.mark.parametrize(("width", "heads"), [(30, 4), (8, 8), (0, 1)])
def test_a_width_that_does_not_split_is_refused(width, heads):
    with pytest.raises(ConfigError, match=f"width {width}"):
        GraphGHHA(width, heads)


def test_an_unknown_global_norm_is_refused(unchecked):
    with pytest.raises(ConfigError, match=r"rms \| raw"):
        GraphGHHA(16, 2, global_norm="mean")
