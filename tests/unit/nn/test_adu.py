"""The Attack Detection Unit: any size, any layer, masks, explanations, bad input."""

import copy
import re

import pytest
import torch

from builders import loop_template
from graphghha.classes import CLASSES, UNKNOWN
from graphghha.errors import CheckpointError, ConfigError, DataError, NotFoundError, SchemaError
from graphghha.graph import CpsGraph, Node
from graphghha.nn import ADU, LAYERS


@pytest.fixture(scope="module")
def template():
    return loop_template()


@pytest.fixture(scope="module")
def adu(template):
    torch.manual_seed(0)
    return ADU(template, in_features=5, width=32, heads=4).eval()


def test_probabilities_of_four_classes_for_every_node(adu, template):
    probs = adu(torch.randn(3, 8, 5), template)
    assert probs.shape == (3, 8, len(CLASSES)) and probs.dtype == torch.float32
    torch.testing.assert_close(probs.sum(-1), torch.ones(3, 8))
    torch.testing.assert_close(adu.attack_probability(probs), probs[..., 1:].sum(-1))
    assert torch.equal(adu.attack_class(probs), probs.argmax(-1))


@pytest.mark.parametrize("layer", sorted(LAYERS))
def test_one_model_runs_on_any_number_of_zones(template, layer):
    adu = ADU(template, layer=layer, in_features=5, width=32, heads=4)
    for zones in (1, 2, 7):
        graph = template.replicate(zones, shared=["outdoor", "supervisor"])
        assert adu(torch.randn(graph.num_nodes, 5), graph).shape == (graph.num_nodes, 4)


def test_the_defaults_are_the_papers(template):
    config = ADU(template).config
    assert (config.layer, config.layers, config.heads, config.width) == ("graphghha", 3, 8, 64)


def test_two_sensors_with_equal_readings_are_told_apart_by_role(adu, template):
    x = torch.zeros(8, 5)
    temp, flow = template.index("temp"), template.index("flow")
    H, _ = adu.embed(x, adu.tensors(template), None)
    assert not torch.allclose(H[temp], H[flow])


def test_features_of_a_node_without_a_signal_are_never_read(adu, template):
    x = torch.randn(8, 5)
    forged = x.clone()
    forged[template.index("pump")] = torch.nan
    assert torch.equal(adu(x, template), adu(forged, template))


def test_an_absent_node_is_unknown_and_invisible(adu, template):
    x = torch.randn(2, 8, 5)
    mask = torch.ones(2, 8, dtype=torch.bool)
    mask[1, 4] = False
    poisoned = x.clone()
    poisoned[1, 4] = torch.nan
    probs = adu(poisoned, template, mask)
    assert probs[1, 4].isnan().all() and probs[mask].isfinite().all()
    assert adu.attack_class(probs)[1, 4] == UNKNOWN
    assert adu.attack_probability(probs)[1, 4].isnan()
    torch.testing.assert_close(probs[0], adu(x[0], template))
    finite = x.clone()
    finite[1, 4] = 3.0
    assert torch.equal(adu(finite, template, mask)[mask], probs[mask])


def test_nobody_present_is_all_unknown(adu, template):
    assert adu(torch.randn(8, 5), template, torch.zeros(8, dtype=torch.bool)).isnan().all()


def test_zones_of_one_graph_mix_and_windows_of_a_batch_do_not(adu, template):
    two = template.replicate(2)
    x = torch.randn(16, 5)
    louder = x.clone()
    louder[8:] *= 50
    assert not torch.equal(adu(x, two)[:8], adu(louder, two)[:8])
    batch, other = (torch.stack([x[:8], second]) for second in (x[8:], louder[8:]))
    assert torch.equal(adu(batch, template)[0], adu(other, template)[0])


def test_a_binary_head_gives_the_probability_of_attack(template):
    adu = ADU(template, in_features=2, head="binary")
    probs = adu(torch.randn(8, 2), template)
    assert probs.shape == (8, 2)
    torch.testing.assert_close(adu.attack_probability(probs), probs[:, 1])


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_low_precision_agrees_with_full_precision(adu, template, dtype):
    low = ADU(template, in_features=5, width=32, heads=4, dtype=dtype)
    low.load_state_dict(adu.state_dict())
    x = torch.randn(4, 8, 5)
    probs = low(x, template)
    assert probs.dtype == torch.float32
    torch.testing.assert_close(probs, adu(x, template), rtol=0, atol=0.02)


def test_an_explanation_names_gates_and_strongest_edges(adu, template):
    found = adu.explain(torch.randn(8, 5), template, "temp")
    assert len(found.global_gates) == len(found.local_gates) == 3
    assert all(0 < gate < 1 for gate in found.global_gates + found.local_gates)
    assert {(edge.source, edge.kind) for edge in found.edges} == {
        ("temp", "self"),
        ("temp_pid", "comm"),
        ("valve", "phys"),
        ("pump", "phys"),
    }
    weights = [edge.weight for edge in found.edges]
    assert weights == sorted(weights, reverse=True) and sum(weights) == pytest.approx(1)


@pytest.mark.parametrize("layer", sorted(LAYERS))
def test_every_layer_can_be_explained(template, layer):
    adu = ADU(template, layer=layer, in_features=5, width=32, heads=4)
    assert adu.explain(torch.randn(8, 5), template, "valve", top=2).edges


def test_bad_input_is_named(adu, template, unchecked):
    good = torch.randn(8, 5)
    with pytest.raises(SchemaError, match=r"8 nodes, 5 features\], got \[7, 5\]"):
        adu(good[:7], template)
    with pytest.raises(SchemaError, match=r"got \[8, 4\]"):
        adu(good[:, :4], template)
    with pytest.raises(SchemaError, match="floating point, got torch.int64"):
        adu(good.long(), template)
    for mask in (torch.ones(8), torch.ones(2, 8, dtype=torch.bool), torch.ones(7, dtype=torch.bool)):
        with pytest.raises(SchemaError, match="mask must be bool"):
            adu(good, template, mask)
    broken = good.clone()
    broken[2, 1] = torch.inf
    with pytest.raises(DataError, match="node 2 contain NaN or Inf"):
        adu(broken, template)
    with pytest.raises(CheckpointError, match="roles this model was not built for: chiller"):
        adu(torch.randn(1, 5), CpsGraph([Node("chiller", "actuator")]))
    with pytest.raises(NotFoundError, match="no node is named 'boiler'"):
        adu.explain(good, template, "boiler")
    with pytest.raises(SchemaError, match="one window"):
        adu.explain(good[None], template, "valve")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param({"layer": "gat"}, "unknown layer 'gat'", id="layer"),
        pytest.param({"layers": 0}, "layers 0", id="no-layers"),
        pytest.param({"head": "softmax"}, "classes | binary", id="head"),
        pytest.param({"dtype": "int8"}, "fp32 | fp16 | bf16", id="dtype"),
        pytest.param({"widht": 3}, "widht", id="typo"),
        pytest.param({"neighbors": "up"}, "in | out | both", id="direction"),
        pytest.param({"heads": 0}, "heads 0", id="no-heads"),
        pytest.param({"heads": 8.0}, "heads 8.0", id="broken-heads"),
        pytest.param({"mlp_ratio": -1}, "mlp_ratio", id="mlp"),
        pytest.param({"dropout": 2}, "dropout", id="dropout"),
    ],
)
def test_impossible_settings_are_refused(template, settings, message, unchecked):
    with pytest.raises(ConfigError, match=re.escape(message)):
        ADU(template, **settings)


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "layers"), [("fp32", 3), ("fp32", 10), ("bf16", 3), ("fp16", 3), ("fp16", 10)])
def test_one_hostile_node_does_not_blind_the_plant(template, dtype, layers):
    torch.manual_seed(0)
    adu = ADU(template, in_features=5, layers=layers, dtype=dtype)
    building = template.replicate(8)
    x = torch.randn(64, 5)
    for size in (1e3, 1e6, 1e12, 1e30):
        x[5] = size * torch.randn(5)
        assert adu(x, building).isfinite().all()


def test_scoring_first_does_not_stop_training_later(template):
    adu, building = ADU(template, in_features=5, layer="vanilla_gat"), template.replicate(3)
    with torch.inference_mode():
        adu(torch.randn(24, 5), building)
    adu(torch.randn(24, 5), building).sum().backward()
    assert adu.classifier.weight.grad is not None


def test_each_kind_has_its_own_projection(adu, template):
    with torch.no_grad():
        other = copy.deepcopy(adu)
        other.kind_projection[0].weight.add_(1.0)  # sensors
    x = torch.randn(8, 5)
    before, after = (a.embed(x, a.tensors(template), None)[0] for a in (adu, other))
    changed = (before != after).any(-1)
    assert changed.tolist() == [node.kind == "sensor" for node in template.nodes]


def test_the_gates_of_an_explanation_are_in_order(template):
    """A gate that is nailed open must be the one that is shown open."""
    adu = ADU(template, in_features=5, layers=2)
    with torch.no_grad():
        adu.role_embedding.weight.fill_(1.0)
        for layer in adu.layers:
            layer.W_C.weight[0] = 1.0  # global gate: open
            layer.W_C.weight[1] = -1.0
    found = adu.explain(torch.zeros(8, 5), template, "temp")
    assert found.global_gates[0] > 0.99 and found.local_gates[0] < 0.01


def test_explanations_follow_the_layers(adu, template):
    """Each layer is explained on what the one before it made, as in a real pass."""
    x = torch.randn(8, 5)
    H, _ = adu.embed(x, adu.tensors(template), None)
    expected = []
    for layer in adu.layers:
        expected.append(layer.attend(H, adu.tensors(template).neighbors, None).gates[2, 0].item())
        H = layer(H, adu.tensors(template).neighbors)
    assert adu.explain(x, template, "temp").global_gates == pytest.approx(expected)


def test_an_absent_node_listened_to_nobody(adu, template):
    mask = torch.ones(8, dtype=torch.bool)
    mask[template.index("temp")] = False
    assert adu.explain(torch.randn(8, 5), template, "temp", mask).edges == ()
    assert "temp" not in {edge.source for edge in adu.explain(torch.randn(8, 5), template, "valve", mask).edges}


def test_the_dense_rivals_are_not_capped(template):
    hub = template.replicate(40, shared=["supervisor"])
    widths = {}
    for layer in ("graphghha", "sparsified_gat", "vanilla_gat", "scaled_dot_product"):
        adu = ADU(template, layer=layer)
        widths[layer] = adu.tensors(hub).neighbors.nbr.shape[1]
    assert widths == {"graphghha": 16, "sparsified_gat": 16, "vanilla_gat": 121, "scaled_dot_product": 121}


def test_a_direction_alone_keeps_the_rest_of_the_rule(template):
    rule = ADU(template, neighbors="out").config.neighbors
    assert rule.direction == "out" and rule.max_neighbors == 16


def test_no_windows_give_no_scores(adu, template):
    assert adu(torch.randn(0, 8, 5), template).shape == (0, 8, 4)
