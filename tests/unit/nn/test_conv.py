"""GraphGHHAConv keeps GATConv's call forms, and in a PyG model it replaces it in one line."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from graphghha.errors import ConfigError, DataError, GraphError, SchemaError
from graphghha.nn import GraphGHHA, GraphGHHAConv, Neighbors

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
    # node 0 speaks to four nodes: the least specific source goes first
    assert kept == ([0, 1, 2] if policy == "first" else [1, 2, 3])


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


def test_gradients_are_right():
    conv = make().double()
    x = torch.randn(5, 6, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: conv(x, EDGES, batch=torch.tensor([0, 0, 0, 1, 1])), x)


def test_bad_input_is_named(unchecked):
    conv, x = make(), torch.randn(5, 6)
    with pytest.raises(SchemaError, match=r"\[N, 6\] or \[B, N, 6\], found \[5, 4\]"):
        conv(x[:, :4], EDGES)
    with pytest.raises(SchemaError, match="found tuple"):
        conv((x, x), EDGES)
    with pytest.raises(SchemaError, match="floating point"):
        conv(x.long(), EDGES)
    with pytest.raises(SchemaError, match="edge_index must be int64"):
        conv(x, EDGES.float())
    with pytest.raises(GraphError, match="outside the 5 nodes"):
        conv(x, torch.tensor([[0], [5]]))
    with pytest.raises(DataError, match="NaN or Inf"):
        conv(x * torch.nan, EDGES)
    with pytest.raises(SchemaError, match="edge_dim is None but edge_attr is not None"):
        conv(x, EDGES, torch.randn(7, 3))
    with pytest.raises(SchemaError, match=r"edge_attr must be \[7, 3\]"):
        make(edge_dim=3)(x, EDGES, torch.randn(6, 3))
    with pytest.raises(SchemaError, match=r"batch must be int64 \[5\]"):
        conv(x, EDGES, batch=torch.zeros(4, dtype=torch.long))
    with pytest.raises(ConfigError, match="bipartite"):
        GraphGHHAConv((6, 6), 8)
    with pytest.raises(ConfigError, match="max_neighbors"):
        GraphGHHAConv(6, 8, max_neighbors=0)


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


def test_in_a_pyg_model_it_replaces_gatconv_in_one_line():
    geometric = pytest.importorskip("torch_geometric.nn", reason="needs the extra [pyg]")
    assert learn(geometric.GATConv) > 0.85
    assert learn(GraphGHHAConv) > 0.85
