"""What the normalised global branch promises: any size, bounded reach, no mixing of graphs."""

import pytest
import torch

from builders import loop_template, neighbors_of, random_graph
from graphghha.nn import GraphGHHA, Neighbors


def stated_c(layer: GraphGHHA, H: torch.Tensor) -> torch.Tensor:
    """docs/decisions/global-branch.md: c_i = 2 w |ReLU^2(Q1_i)| |W_H[:, :k1]|, per node."""
    k1, heads = layer.width // 2, layer.heads
    Q1 = layer.W_QKV(H)[..., :k1]
    spread = torch.linalg.matrix_norm(layer.W_H.weight[:, :k1], 2)
    return 2 * (k1 // heads) * Q1.relu().square().norm(dim=-1) * spread


@pytest.mark.parametrize("heads", [1, 8], ids=["1-head", "8-heads"])
@pytest.mark.parametrize("zones", [4, 48], ids=["32-nodes", "384-nodes"])
def test_one_hostile_node_moves_a_non_neighbour_by_at_most_c_over_s(zones, heads):
    torch.manual_seed(0)
    graph = loop_template().replicate(zones)
    neighbors, adj = neighbors_of(graph)
    layer = GraphGHHA(32, heads)
    H = torch.randn(graph.num_nodes, 32)
    hostile = graph.index("zone-02/valve")
    forged = H.clone()
    forged[hostile] *= 1e6
    # H_att: what mixing adds to a node, before its own LayerNorm and MLP
    calm, moved = (layer.W_H(layer.attend(h, neighbors, None).H_cat) for h in (H, forged))
    shift = (calm - moved).norm(dim=-1)
    others = ~adj[:, hostile]
    others[hostile] = False
    assert others.sum() > graph.num_nodes / 2
    assert (shift[others] <= stated_c(layer, H)[others] / graph.num_nodes + 1e-5).all()
    assert shift[others].max() > 0, "the global branch must carry something, or this test shows nothing"


def test_the_raw_sum_has_no_such_bound():
    torch.manual_seed(0)
    graph = loop_template().replicate(48)
    neighbors, adj = neighbors_of(graph)
    layer = GraphGHHA(32, 4, global_norm="raw")
    H = torch.randn(graph.num_nodes, 32)
    forged = H.clone()
    forged[0] *= 1e6
    shift = (layer(H, neighbors) - layer(forged, neighbors)).norm(dim=-1)
    assert shift[~adj[:, 0]].median() > 1e6


@torch.no_grad()
def test_weights_made_at_32_nodes_give_outputs_of_the_same_scale_at_1536():
    torch.manual_seed(0)
    layers = torch.nn.ModuleList(GraphGHHA(64, 8) for _ in range(3))
    template = loop_template()
    scale = {}
    for nodes in (32, 1536):
        graph = template.replicate(nodes // template.num_nodes)
        neighbors, _ = neighbors_of(graph)
        H = torch.randn(graph.num_nodes, 64)
        for layer in layers:
            H = layer(H, neighbors)
        scale[nodes] = float(H.square().mean().sqrt())
    assert 0.9 < scale[1536] / scale[32] < 1.1


def test_relabelling_nodes_permutes_the_outputs():
    torch.manual_seed(0)
    graph = random_graph(20, 50)
    neighbors, adj = neighbors_of(graph)
    order = torch.randperm(20)
    layer = GraphGHHA(32, 4)
    H = torch.randn(20, 32)
    place = order.argsort()
    shuffled = Neighbors(place[neighbors.nbr[order]], neighbors.nbr_mask[order])
    assert (shuffled.adj == adj[order][:, order]).all()
    torch.testing.assert_close(layer(H[order], shuffled), layer(H, neighbors)[order])
