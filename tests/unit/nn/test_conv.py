"""GraphGHHAConv keeps GATConv's call forms, and in a PyG model it replaces it in one line."""

import inspect
import subprocess
import sys
import warnings

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from builders import random_graph
from graphghha.errors import ConfigError, DataError, GraphError, SchemaError
from graphghha.graph import NeighborRule, neighborhood
from graphghha.nn import GraphGHHA, GraphGHHAConv, Neighbors
from graphghha.nn.edges import add_loops

EDGES = torch.tensor([[0, 1, 2, 3, 0, 4, 4], [1, 2, 3, 0, 2, 0, 1]])


def make(**settings):
    torch.manual_seed(0)
    return GraphGHHAConv(6, 8, **{"heads": 2, **settings}).eval()


@pytest.mark.parametrize(
    ("settings", "width"),
    [
        pytest.param({}, 16, id="concat"),
        pytest.param({"concat": False}, 8, id="mean"),
        pytest.param({"out_channels": 3}, 6, id="odd-width"),
        pytest.param({"bias": False, "add_self_loops": False, "dropout": 0.5, "negative_slope": 0.1}, 16, id="rest"),
    ],
)
def test_output_width_is_gatconvs(settings, width):
    torch.manual_seed(0)
    conv = GraphGHHAConv(**{"in_channels": 6, "out_channels": 8, "heads": 2, **settings})
    assert conv(torch.randn(5, 6), EDGES).shape == (5, width)
    assert conv(torch.randn(3, 5, 6), EDGES).shape == (3, 5, width)


def test_a_static_graph_batch_equals_a_loop():
    conv, x = make(), torch.randn(4, 5, 6)
    torch.testing.assert_close(conv(x, EDGES), torch.stack([conv(window, EDGES) for window in x]))


def test_it_is_the_mixing_of_graphghha():
    torch.manual_seed(0)
    layer, conv = GraphGHHA(16, 2), GraphGHHAConv(16, 8, heads=2, bias=False)
    conv.load_state_dict({k: v for k, v in layer.state_dict().items() if k.split(".")[0] in {"W_QKV", "W_C", "W_H"}})
    adj = torch.eye(5, dtype=torch.bool)
    adj[EDGES[1], EDGES[0]] = True  # a target attends to its sources
    nbr = torch.arange(5).expand(5, 5).contiguous()
    x = torch.randn(5, 16)
    expected = layer.W_H(layer.attend(x, Neighbors(nbr, adj), None).H_cat)
    torch.testing.assert_close(conv(x, EDGES), expected)


def test_attention_weights_come_back_with_the_edges_they_belong_to():
    conv, x = make(), torch.randn(5, 6)
    out, (edges, alpha) = conv(x, EDGES, return_attention_weights=True)
    assert torch.equal(out, conv(x, EDGES)) and alpha.shape == (edges.shape[1], 2)
    assert edges.shape[1] == EDGES.shape[1] + 5, "self-loops are part of what is attended to"
    torch.testing.assert_close(torch.zeros(5, 2).index_add(0, edges[1], alpha), torch.ones(5, 2))
    assert isinstance(conv(x, EDGES, return_attention_weights=False), torch.Tensor)


def test_without_batch_graphs_mix_and_with_batch_they_do_not():
    conv, a, b = make(), torch.randn(5, 6), torch.randn(3, 6)
    x = torch.cat([a, b])
    batch = torch.tensor([0] * 5 + [1] * 3)
    alone = conv(a, EDGES)
    torch.testing.assert_close(conv(x, EDGES, batch=batch)[:5], alone)
    assert not torch.allclose(conv(x, EDGES)[:5], alone)
    shuffled = torch.randperm(8)
    place = shuffled.argsort()
    torch.testing.assert_close(
        conv(x[shuffled], place[EDGES], batch=batch[shuffled]), conv(x, EDGES, batch=batch)[shuffled]
    )
    static = torch.stack([x, 2 * x])
    torch.testing.assert_close(conv(static, EDGES, batch=batch)[0], conv(x, EDGES, batch=batch))


def test_a_node_without_in_edges_has_no_local_part():
    conv = make(add_self_loops=False)
    _, (edges, alpha) = conv(torch.randn(5, 6), EDGES, return_attention_weights=True)
    assert 4 not in edges[1] and alpha.isfinite().all()
    assert conv(torch.randn(5, 6), torch.zeros(2, 0, dtype=torch.long)).isfinite().all()


def test_edge_attributes_steer_attention():
    conv, x = make(edge_dim=3), torch.randn(5, 6)
    attributes = torch.randn(7, 3)
    out, (edges, alpha) = conv(x, EDGES, attributes, return_attention_weights=True)
    assert alpha.shape == (12, 2) and out.shape == (5, 16)
    assert not torch.allclose(out, conv(x, EDGES, 2 * attributes))


@pytest.mark.parametrize("policy", ["first", "specific"])
def test_the_cap_keeps_at_most_that_many_in_edges(policy):
    hub = torch.tensor([[0, 1, 2, 3, 4, 5, 0, 0, 0], [6, 6, 6, 6, 6, 6, 1, 2, 3]])
    conv = make(max_neighbors=3, policy=policy, add_self_loops=False)
    _, (edges, _) = conv(torch.randn(7, 6), hub, return_attention_weights=True)
    kept = edges[0, edges[1] == 6].tolist()
    # 4 and 5 touch one node each, 1 to 3 two, and 0 four: the least specific source goes first
    assert kept == ([0, 1, 2] if policy == "first" else [1, 4, 5])


def test_self_loops_survive_the_cap_when_specific():
    conv = make(max_neighbors=1)
    _, (edges, alpha) = conv(torch.randn(5, 6), EDGES, return_attention_weights=True)
    assert torch.equal(edges[0], edges[1]) and (alpha == 1).all()


def test_existing_self_loops_are_not_doubled():
    looped = torch.cat([EDGES, torch.tensor([[2], [2]])], dim=1)
    conv, x = make(), torch.randn(5, 6)
    torch.testing.assert_close(conv(x, looped), conv(x, EDGES))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_low_precision_stays_close(dtype):
    conv, x = make(), torch.randn(5, 6)
    torch.testing.assert_close(conv.to(dtype)(x.to(dtype), EDGES).float(), make()(x, EDGES), rtol=0.05, atol=0.05)


@pytest.mark.slow
def test_gradients_are_right():
    conv = make().double()
    x = torch.randn(5, 6, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: conv(x, EDGES, batch=torch.tensor([0, 0, 0, 1, 1])), x)


def test_edge_attributes_are_taken_as_gatconv_takes_them():
    x, one = torch.randn(5, 6), torch.randn(7)
    conv = make(edge_dim=1)
    torch.testing.assert_close(conv(x, EDGES, one), conv(x, EDGES, one[:, None]))
    assert conv(x, EDGES).shape == (5, 16)
    torch.testing.assert_close(make()(x, EDGES, one), make()(x, EDGES))


def test_a_self_loop_takes_the_mean_of_the_in_edges_attributes():
    conv, x = make(edge_dim=1), torch.randn(5, 6)
    attributes = torch.randn(7, 1)
    incoming = [attributes[EDGES[1] == node] for node in range(5)]
    means = torch.stack([mine.mean(0) if len(mine) else torch.zeros(1) for mine in incoming])
    by_hand = GraphGHHAConv(6, 8, heads=2, edge_dim=1, add_self_loops=False).eval()
    by_hand.load_state_dict(conv.state_dict())
    looped = torch.cat([EDGES, torch.arange(5).expand(2, -1)], dim=1)
    torch.testing.assert_close(conv(x, EDGES, attributes), by_hand(x, looped, torch.cat([attributes, means])))


def test_attributes_stay_with_their_edges_under_the_cap():
    x, attributes = torch.randn(5, 6), torch.randn(7, 1)
    capped = make(edge_dim=1, max_neighbors=1, add_self_loops=False)
    _, (edges, _) = capped(x, EDGES, attributes, return_attention_weights=True)
    free = make(edge_dim=1, add_self_loops=False)
    free.load_state_dict(capped.state_dict())
    kept = torch.tensor([(edge[:, None] == EDGES).all(0).nonzero()[0].item() for edge in edges.T])
    torch.testing.assert_close(capped(x, EDGES, attributes), free(x, edges, attributes[kept]))


def test_bias_and_dropout_do_what_they_say():
    conv, x = make(), torch.randn(5, 6)
    before = conv(x, EDGES)
    torch.nn.init.constant_(conv.bias, 2.0)
    torch.testing.assert_close(conv(x, EDGES), before + 2.0)
    noisy = make(dropout=0.5).train()
    torch.manual_seed(0)
    _, (_, alpha) = noisy(x, EDGES, return_attention_weights=True)
    assert (alpha == 0).any(), "attention itself is dropped, and what is dropped is shown"
    assert not torch.equal(noisy(x, EDGES), noisy(x, EDGES))


def test_graph_ids_may_have_gaps_and_sizes_may_differ_wildly():
    conv, x = make(), torch.randn(5, 6)
    gaps = torch.tensor([7, 7, 10**9, 10**9, 10**9])
    torch.testing.assert_close(conv(x, EDGES, batch=gaps), conv(x, EDGES, batch=torch.tensor([0, 0, 1, 1, 1])))
    many = torch.cat([torch.zeros(2000, dtype=torch.long), torch.arange(1, 2001)])
    assert conv(torch.randn(4000, 6), EDGES, batch=many).isfinite().all()


def test_nothing_in_nothing_out():
    conv = make()
    assert conv(torch.randn(0, 6), torch.zeros(2, 0, dtype=torch.long)).shape == (0, 16)
    assert conv(torch.randn(0, 5, 6), EDGES).shape == (0, 5, 16)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_hostile_node_does_not_make_the_others_infinite(dtype):
    conv, x = make().to(dtype), torch.randn(30, 6)
    x[0] = 1e20 if dtype != torch.float16 else 6e4
    assert conv(x.to(dtype), EDGES)[5:].isfinite().all()


@pytest.mark.parametrize("policy", ["first", "specific"])
def test_the_cap_means_the_same_as_in_the_graph_room(policy):
    for seed in range(20):
        graph = random_graph(12, 50, seed)
        rule = NeighborRule(direction="in", self_loops=True, max_neighbors=3, policy=policy)
        expected = neighborhood(graph, rule).dense()
        conv = make(max_neighbors=3, policy=policy)
        _, (edges, _) = conv(torch.randn(12, 6), torch.tensor(graph.edge_index), return_attention_weights=True)
        found = torch.zeros(12, 12, dtype=torch.bool)
        found[edges[1], edges[0]] = True
        assert (found.numpy() == expected).all()


@pytest.mark.slow
def test_it_compiles_whole():
    """In a process of its own: the run-time shape checks of this one cannot be traced."""
    code = """
import torch
from graphghha.nn import GraphGHHAConv
conv, x, edges = GraphGHHAConv(6, 8, heads=2), torch.randn(5, 6), torch.tensor([[0, 1, 2], [1, 2, 0]])
compiled = torch.compile(conv, fullgraph=True, backend="eager")
torch.testing.assert_close(compiled(x, edges), conv(x, edges))
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_bad_input_is_named(unchecked):
    conv, x = make(), torch.randn(5, 6)
    with pytest.raises(SchemaError, match=r"\[N, 6\] or \[B, N, 6\], got \[5, 4\]"):
        conv(x[:, :4], EDGES)
    with pytest.raises(SchemaError, match="bipartite"):
        conv((x, x), EDGES)
    with pytest.raises(SchemaError, match="floating point"):
        conv(x.long(), EDGES)
    with pytest.raises(SchemaError, match="edge_index must be int64"):
        conv(x, EDGES.float())
    with pytest.raises(GraphError, match="outside the 5 nodes"):
        conv(x, torch.tensor([[0], [5]]))
    with pytest.raises(DataError, match="NaN or Inf"):
        conv(x * torch.nan, EDGES)
    with pytest.raises(SchemaError, match=r"edge_attr must be \[7, 3\]"):
        make(edge_dim=3)(x, EDGES, torch.randn(6, 3))
    with pytest.raises(SchemaError, match=r"batch must be int64 \[5\]"):
        conv(x, EDGES, batch=torch.zeros(4, dtype=torch.long))
    with pytest.raises(ConfigError, match="bipartite"):
        GraphGHHAConv((6, 6), 8)
    for wrong in ({"max_neighbors": 0}, {"policy": "best"}, {"global_norm": "mean"}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            GraphGHHAConv(6, 8, **wrong)


def task(seed=0):
    """Two rings joined at random; the label is the ring, the features barely tell it."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(120) % 2
    x = torch.randn(120, 8, generator=generator)
    x[:, 0] += labels * 1.2
    source = torch.arange(120).repeat_interleave(4)
    target = (source + 2 * torch.randint(1, 30, (480,), generator=generator)) % 120
    return x, torch.stack([source, target]), labels


def learn(conv_type):
    """A plain PyG-style model; only the name of the convolution differs."""
    x, edge_index, labels = task()
    torch.manual_seed(0)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = conv_type(8, 8, heads=4)
            self.conv2 = conv_type(32, 2, heads=1, concat=False)

        def forward(self, x, edge_index):
            return self.conv2(F.elu(self.conv1(x, edge_index)), edge_index)

    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    train = torch.rand(120, generator=torch.Generator().manual_seed(1)) < 0.5
    for _ in range(150):
        optimizer.zero_grad()
        F.cross_entropy(net(x, edge_index)[train], labels[train]).backward()
        optimizer.step()
    return float((net(x, edge_index).argmax(1) == labels)[~train].float().mean())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:GraphGHHAConv")  # even and odd nodes are not connected
def test_in_a_pyg_model_it_replaces_gatconv_in_one_line():
    geometric = pytest.importorskip("torch_geometric.nn", reason="needs the extra [pyg]")
    assert learn(geometric.GATConv) > 0.85
    assert learn(GraphGHHAConv) > 0.85


TWO_GRAPHS = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 0, 4, 3]])


def test_several_components_without_a_batch_are_warned_of_once():
    conv, x = GraphGHHAConv(6, 4), torch.randn(5, 6)
    with pytest.warns(UserWarning, match="several components, and no batch was given"):
        conv(x, TWO_GRAPHS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        conv(x, TWO_GRAPHS)  # only once
        GraphGHHAConv(6, 4)(x, TWO_GRAPHS, batch=torch.tensor([0, 0, 0, 1, 1]))
        GraphGHHAConv(6, 4)(x, TWO_GRAPHS[:, :3])  # nodes without an edge are no graphs of their own
        GraphGHHAConv(6, 4)(x, torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]]))


def test_channels_are_taken_from_the_first_call_or_from_loaded_weights():
    edges, x = TWO_GRAPHS[:, :3], torch.randn(3, 6)
    lazy = GraphGHHAConv(-1, 4, heads=2)
    out = lazy(x, edges)
    assert out.shape == (3, 8) and lazy.in_channels == 6
    again = GraphGHHAConv(-1, 4, heads=2)
    again.load_state_dict(lazy.state_dict())
    assert torch.equal(again(x, edges), out)


@pytest.mark.filterwarnings("ignore:Sparse")
def test_a_sparse_adjacency_is_read_as_pyg_reads_it():
    edges, x = TWO_GRAPHS[:, :3], torch.randn(3, 6)
    conv = GraphGHHAConv(6, 4)
    adjacency = torch.sparse_coo_tensor(edges.flip(0), torch.ones(3), (3, 3))  # row = target
    assert torch.allclose(conv(x, adjacency), conv(x, edges))
    assert torch.allclose(conv(x, adjacency.to_sparse_csr()), conv(x, edges))


def test_a_pair_of_inputs_is_refused_with_what_to_do_instead():
    with pytest.raises(SchemaError, match="put sources and targets into one x"):
        GraphGHHAConv(6, 4)((torch.randn(3, 6), torch.randn(2, 6)), TWO_GRAPHS[:, :3])


def test_positional_arguments_are_in_gatconvs_order():
    geometric = pytest.importorskip("torch_geometric.nn", reason="needs the extra [pyg]")
    for name in ("__init__", "forward"):
        ours = inspect.signature(getattr(GraphGHHAConv, name)).parameters.values()
        theirs = inspect.signature(getattr(geometric.GATConv, name)).parameters.values()
        positional = [(p.name, p.default) for p in ours if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert positional == [(p.name, p.default) for p in theirs if p.kind is p.POSITIONAL_OR_KEYWORD]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("batch", [None, torch.tensor([0, 0, 0, 0, 0])])
def test_it_trains_under_autocast(dtype, batch):
    conv, x, attributes = make(edge_dim=3, residual=True), torch.randn(5, 6), torch.randn(7, 3)
    expected = conv(x, EDGES, attributes, batch=batch)
    with torch.autocast("cpu", dtype):
        out = conv(x, EDGES, attributes, batch=batch)
    out.float().sum().backward()
    assert out.dtype == dtype and all(p.grad.isfinite().all() for p in conv.parameters())
    torch.testing.assert_close(out.float(), expected, atol=0.05, rtol=0.05)


@pytest.mark.parametrize("fill_value", ["mean", "add", "min", "max", "mul", 0.5, torch.tensor([1.0, 2.0])])
def test_attributes_of_self_loops_are_pygs(fill_value):
    utils = pytest.importorskip("torch_geometric.utils", reason="needs the extra [pyg]")
    attributes = torch.randn(7, 2)
    edges, theirs = utils.add_self_loops(EDGES, attributes, fill_value=fill_value, num_nodes=6)  # node 5 is isolated
    looped, ours = add_loops(EDGES, attributes, 6, fill_value)
    assert torch.equal(looped, edges)
    torch.testing.assert_close(ours, theirs)


def test_residual_adds_a_linear_map_of_x():
    conv, x = make(residual=True), torch.randn(5, 6)
    plain = make()
    plain.load_state_dict({k: v for k, v in conv.state_dict().items() if k != "W_R.weight"})
    torch.testing.assert_close(conv(x, EDGES), plain(x, EDGES) + x @ conv.W_R.weight.T)
    lazy = GraphGHHAConv(-1, 8, heads=2, residual=True).eval()
    lazy.load_state_dict(conv.state_dict())
    assert torch.equal(lazy(x, EDGES), conv(x, EDGES))


@pytest.mark.filterwarnings("ignore:Sparse")
def test_values_of_a_sparse_adjacency_are_edge_attributes():
    conv, x, weights = make(edge_dim=1), torch.randn(5, 6), torch.randn(7)
    adjacency = torch.sparse_coo_tensor(EDGES.flip(0), weights, (5, 5))
    torch.testing.assert_close(conv(x, adjacency), conv(x, EDGES, weights))
    assert not torch.allclose(conv(x, adjacency), conv(x, EDGES))
    with pytest.raises(GraphError, match=r"must be \[5, 5\], one row a node, got \[6, 6\]"):
        conv(x, torch.sparse_coo_tensor(EDGES.flip(0), weights, (6, 6)))


def test_types_that_do_not_fit_are_named(unchecked):
    conv, x = make(), torch.randn(5, 6)
    with pytest.raises(SchemaError, match="the weights are torch.float32"):
        conv(x.double(), EDGES)
    with pytest.raises(SchemaError, match="x must be dense"):
        conv(x.to_sparse(), EDGES)
    with pytest.raises(SchemaError, match=r"batch must be int64 \[5\], got list"):
        conv(x, EDGES, batch=[0, 0, 0, 0, 0])
    with pytest.raises(SchemaError, match=r"edge_attr must be \[7, 2\], got list"):
        make(edge_dim=2)(x, EDGES, [1.0, 2.0])
    with pytest.raises(SchemaError, match=r"size \(5, 3\) of 5 nodes: bipartite"):
        conv(x, EDGES, size=(5, 3))
    assert torch.equal(conv(x, EDGES, None, (5, 5)), conv(x, EDGES))
    assert torch.isfinite(make(edge_dim=1)(x, EDGES, torch.arange(7))).all()  # integers are cast
    for wrong in ({"out_channels": 8.0}, {"heads": "4"}, {"edge_dim": -1}, {"fill_value": "median"}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            GraphGHHAConv(**{"in_channels": 6, "out_channels": 8, **wrong})
