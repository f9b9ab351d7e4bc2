"""One suite over every attention layer: they are interchangeable in the ADU."""

import subprocess
import sys

import pytest
import torch

from builders import loop_template, neighbors_of, random_graph
from graphghha.errors import ConfigError
from graphghha.graph import NeighborRule, from_pairs
from graphghha.models.weights import LAYER_WEIGHTS
from graphghha.nn import LAYERS, GraphGHHA, Neighbors, ScaledDotProduct, SparsifiedGAT, VanillaGAT
from graphghha.nn.registry import make_layer

NAMES = sorted(LAYERS)


@pytest.fixture(params=NAMES)
def layer(request):
    torch.manual_seed(0)
    return make_layer(request.param, 32, 4, dtype="fp32")


def test_the_weights_of_every_layer_are_known_to_model_directories():
    assert set(LAYER_WEIGHTS) == set(LAYERS)


def test_a_batch_equals_a_loop(layer):
    neighbors, _ = neighbors_of(random_graph(18, 50))
    H = torch.randn(5, 18, 32)
    one_by_one = torch.stack([layer(window, neighbors) for window in H])
    torch.testing.assert_close(layer(H, neighbors), one_by_one)


def test_other_windows_of_a_batch_change_nothing(layer):
    neighbors, _ = neighbors_of(random_graph(18, 50))
    H = torch.randn(2, 18, 32)
    other = H.clone()
    other[1] = 1000 * torch.randn(18, 32)
    assert torch.equal(layer(H, neighbors)[0], layer(other, neighbors)[0])


def test_an_absent_node_is_as_good_as_removed(layer):
    """Present nodes score as on the graph without it; what the absent node holds is never read."""
    graph = loop_template()
    neighbors, adj = neighbors_of(graph)
    if type(layer).__name__ == "GHHA":
        layer.num_blocks = 1  # blocks follow positions, which removal shifts
    present = torch.ones(8, dtype=torch.bool)
    present[3] = False
    H = torch.randn(8, 32)
    out = layer(H, neighbors, present)
    for poison in (1e6, 1e20, torch.inf, torch.nan):
        poisoned = H.clone()
        poisoned[3] = poison
        torch.testing.assert_close(layer(poisoned, neighbors, present)[present], out[present])

    rows, cols = adj[present][:, present].nonzero().T.numpy()
    smaller = Neighbors.from_neighborhood(from_pairs(rows, cols, 7, NeighborRule(self_loops=False)))
    torch.testing.assert_close(layer(H[present], smaller), out[present])


def test_attention_weights_sum_to_one_over_the_nodes_they_name(layer):
    neighbors, _ = neighbors_of(loop_template())
    alpha = layer.attend(torch.randn(8, 32), neighbors, None).alpha
    assert layer.columns(neighbors).shape[-1] == alpha.shape[-1]
    torch.testing.assert_close(alpha.sum(-1), torch.ones(8, 4))


def test_every_parameter_learns(layer):
    neighbors, _ = neighbors_of(random_graph(18, 50))
    (layer(torch.randn(3, 18, 32), neighbors) * torch.randn(3, 18, 32)).sum().backward()
    assert {name for name, p in layer.named_parameters() if p.grad is None or not p.grad.any()} == set()


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("name", NAMES)
def test_every_layer_runs_in_every_dtype(name, dtype):
    torch.manual_seed(0)
    low, high = make_layer(name, 32, 4, dtype=dtype), make_layer(name, 32, 4, dtype="fp32")
    high.load_state_dict({k: v.float() for k, v in low.state_dict().items()})
    neighbors, _ = neighbors_of(random_graph(18, 50))
    H = torch.randn(18, 32)
    out = low(H.to(next(low.parameters()).dtype), neighbors)
    torch.testing.assert_close(out.float(), high(H, neighbors), rtol=0.05, atol=0.05)


def test_quantized_means_sixteen_bit():
    layer = make_layer("quantized_gat", 32, 4)
    assert isinstance(layer, VanillaGAT) and layer.W_H.weight.dtype == torch.float16


def test_dense_and_sparse_gat_agree_when_nothing_is_capped():
    torch.manual_seed(0)
    dense, sparse = VanillaGAT(32, 4), SparsifiedGAT(32, 4)
    sparse.load_state_dict(dense.state_dict())
    graph = random_graph(18, 60)
    neighbors, _ = neighbors_of(graph)
    H = torch.randn(3, 18, 32)
    torch.testing.assert_close(sparse(H, neighbors), dense(H, neighbors))
    capped, _ = neighbors_of(graph, max_neighbors=2)
    assert not torch.allclose(sparse(H, capped), dense(H, neighbors))


def test_scaled_dot_product_equals_torch_full_and_masked():
    torch.manual_seed(0)
    neighbors, adj = neighbors_of(random_graph(10, 30))
    H = torch.randn(10, 16)
    for masked, mask in ((False, None), (True, adj)):
        layer = ScaledDotProduct(16, 2, masked=masked)
        Q, K, V = (X.reshape(10, 2, 8).transpose(0, 1) for X in layer.W_QKV(H).chunk(3, -1))
        expected = torch.nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
        torch.testing.assert_close(
            layer.attend(H, neighbors, None).H_cat.reshape(10, 2, 8), expected.transpose(0, 1), rtol=1e-4, atol=1e-5
        )


def test_ghha_with_one_block_is_graphghha_on_the_complete_graph():
    torch.manual_seed(0)
    block, graph_layer = make_layer("ghha", 32, 4, num_blocks=1), GraphGHHA(32, 4)
    block.load_state_dict(graph_layer.state_dict())
    everyone = torch.arange(9).expand(9, 9).contiguous()
    complete = Neighbors(everyone, torch.ones(9, 9, dtype=torch.bool))
    H = torch.randn(9, 32)
    torch.testing.assert_close(block(H, complete), graph_layer(H, complete))


def test_ghha_blocks_do_not_see_each_other_locally():
    torch.manual_seed(0)
    layer = make_layer("ghha", 16, 2, num_blocks=3)
    neighbors, _ = neighbors_of(random_graph(10, 20))  # blocks of 4, 4, 2: padded
    H = torch.randn(10, 16)
    changed = H.clone()
    changed[9] += 1
    local = [layer.attend(h, neighbors, None).H_cat[:, 8:] for h in (H, changed)]
    assert torch.equal(local[0][:8], local[1][:8])
    assert not torch.equal(local[0][8], local[1][8])


def test_an_unknown_layer_or_option_is_named():
    with pytest.raises(ConfigError, match=r"graphghha \| "):
        make_layer("gat", 32, 4)
    with pytest.raises(ConfigError, match="num_bloks"):
        make_layer("ghha", 32, 4, num_bloks=3)


def test_dropout_acts_on_both_residual_branches(layer):
    neighbors, _ = neighbors_of(random_graph(18, 50))
    H = torch.randn(18, 32)
    for branch in ("W_H", "mlp"):
        noisy = type(layer)(32, 4, dtype="fp32", dropout=0.5)
        with torch.no_grad():
            silent = noisy.mlp[2] if branch == "W_H" else noisy.W_H
            for parameter in silent.parameters():
                parameter.zero_()
        assert not torch.equal(noisy(H, neighbors), noisy(H, neighbors)), branch


def test_an_empty_batch_gives_an_empty_answer(layer):
    neighbors, _ = neighbors_of(random_graph(18, 50))
    assert layer(torch.randn(0, 18, 32), neighbors).shape == (0, 18, 32)


@pytest.mark.slow
def test_every_layer_compiles_whole():
    """In a process of its own: the run-time shape checks of this one cannot be traced."""
    code = """
import torch
from graphghha.lab.bench.speed.degree import ring
from graphghha.nn import ADU, LAYERS
template = ring(6, 2)
for name in LAYERS:
    adu = ADU(template, layer=name, width=8, heads=2, layers=1, dtype="fp32").eval()
    tensors, x = adu.tensors(template), torch.randn(6, 1)
    compiled = torch.compile(lambda x: adu(x, tensors), fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(x), adu(x, tensors))
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
