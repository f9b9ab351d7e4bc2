"""The layers as the paper prints them: Algorithm 1 and the equations of GAT, computed by hand or as loops."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import neighbors_of, random_graph
from graphghha.graph import PAPER_RULE, NeighborRule, neighborhood
from graphghha.nn import GraphGHHA, Neighbors, VanillaGAT

graphs = st.builds(random_graph, st.integers(1, 25), st.integers(0, 80), st.integers(0, 10_000))


def algorithm_1(graph, divisor):
    """Lines 7-14: count up neighbours by index while count < s/n."""
    adj = np.zeros((graph.num_nodes, graph.num_nodes), bool)
    adj[tuple(graph.edge_index)] = True
    chosen = []
    for i in range(graph.num_nodes):
        count, row = 0, []
        for j in range(graph.num_nodes):
            if adj[i, j] and count < graph.num_nodes / divisor:
                row.append(j)
                count += 1
        chosen.append(row)
    return chosen


@given(graphs, st.integers(1, 10))
@settings(deadline=None, max_examples=50)
def test_the_paper_rule_is_algorithm_1(graph, divisor):
    rule = NeighborRule(direction="out", self_loops=False, neighbor_divisor=divisor, policy="first")
    found = neighborhood(graph, rule)
    assert [found.neighbors(i).tolist() for i in range(graph.num_nodes)] == algorithm_1(graph, divisor)


def test_the_paper_rule_binds_at_32_nodes():
    assert PAPER_RULE.cap(32) == 4 and PAPER_RULE.cap(33) == 5 and PAPER_RULE.cap(1536) == 192


def test_the_printed_algorithm_is_one_head_and_the_raw_sum():
    """Two nodes by hand: Alg. 1 with identity weights."""
    layer = GraphGHHA(2, 1, global_norm="raw")
    with torch.no_grad():
        layer.W_QKV.weight.copy_(torch.eye(2).repeat(3, 1))
        layer.W_C.weight.zero_()  # both gates 1/2
        layer.W_H.weight.copy_(torch.eye(2))
        layer.mlp[2].weight.zero_()
        layer.mlp[2].bias.zero_()
    H = torch.tensor([[1.0, 1.0], [2.0, 3.0]])
    neighbors = Neighbors(torch.tensor([[1], [0]]), torch.tensor([[True], [False]]))
    # H1 = relu2(q) * sum_j relu2(k_j) v_j = q^2 * (1 + 8); H2: node 0 attends to node 1 only, node 1 to nobody
    expected = torch.tensor([[0.5 * 9 + 1, 0.5 * 3 + 1], [0.5 * 36 + 2, 0 + 3]])
    torch.testing.assert_close(layer(H, neighbors), expected)


def test_the_gat_layer_is_equations_one_to_four():
    torch.manual_seed(0)
    layer = VanillaGAT(8, 2)
    neighbors, adj = neighbors_of(random_graph(6, 10))
    H = torch.randn(6, 8)
    WH = (H @ layer.W_GAL.weight.T).reshape(6, 2, 4)
    expected = torch.zeros(6, 2, 4)
    for i in range(6):
        for p in range(2):
            mine = [j for j in range(6) if adj[i, j]]
            a = torch.cat([layer.a_i[p], layer.a_j[p]])
            e = torch.stack([torch.nn.functional.leaky_relu(a @ torch.cat([WH[i, p], WH[j, p]]), 0.2) for j in mine])
            expected[i, p] = (e.softmax(0)[:, None] * WH[mine, p]).sum(0)
    torch.testing.assert_close(layer.attend(H, neighbors, None).H_cat, torch.nn.functional.elu(expected.flatten(1)))
