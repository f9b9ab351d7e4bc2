"""Saved equals loaded, and what does not fit is refused with the reason."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from builders import loop_template
from graphghha.errors import CheckpointError
from graphghha.graph import NeighborRule, write_graph
from graphghha.nn import ADU, LAYERS, adu_from_arrays, load_adu, save_adu


@pytest.fixture
def saved(tmp_path):
    adu = ADU(loop_template(), in_features=3, width=32, heads=4, options={"global_norm": "raw"})
    save_adu(adu, tmp_path / "model")
    return tmp_path / "model", adu


def test_saved_equals_loaded(saved):
    directory, adu = saved
    save_adu(adu, str(directory))  # a path as text
    loaded = load_adu(str(directory))
    assert loaded.config == adu.config and loaded.template == adu.template
    x = torch.randn(8, 3)
    assert torch.equal(loaded(x, adu.template), adu(x, adu.template))


@pytest.mark.parametrize("layer", sorted(LAYERS))
def test_every_layer_survives_the_round_trip(tmp_path, layer):
    adu = ADU(loop_template(), layer=layer, neighbors=NeighborRule(neighbor_divisor=4, policy="first"))
    save_adu(adu, tmp_path)
    loaded = load_adu(tmp_path)
    assert loaded.config == adu.config
    for name, tensor in adu.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor)


def test_parameter_names_are_stable():
    """A change here breaks every saved model."""
    names = set(ADU(loop_template(), layers=1).state_dict())
    assert names == {
        "kind_projection.0.weight",
        "kind_projection.1.weight",
        "kind_projection.2.weight",
        "role_embedding.weight",
        "layers.0.W_QKV.weight",
        "layers.0.W_C.weight",
        "layers.0.W_H.weight",
        "layers.0.norm.weight",
        "layers.0.norm.bias",
        "layers.0.mlp.0.weight",
        "layers.0.mlp.0.bias",
        "layers.0.mlp.2.weight",
        "layers.0.mlp.2.bias",
        "classifier.weight",
        "classifier.bias",
    }


def test_a_missing_file_is_named(saved):
    directory, _ = saved
    (directory / "template.json").unlink()
    with pytest.raises(CheckpointError, match="template.json"):
        load_adu(directory)


def test_another_template_is_refused(saved):
    directory, adu = saved
    write_graph(adu.template.replicate(2), directory / "template.json")
    with pytest.raises(CheckpointError, match="not the template these weights were made for"):
        load_adu(directory)


def test_weights_of_another_shape_are_refused(saved):
    directory, _ = saved
    save_file(ADU(loop_template(), in_features=4).state_dict(), directory / "model.safetensors")
    with pytest.raises(CheckpointError, match="do not fit config.json"):
        load_adu(directory)


def test_truncated_and_non_finite_weights_are_refused(saved):
    directory, _ = saved
    weights = directory / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-10])
    with pytest.raises(CheckpointError, match="cannot be loaded"):
        load_adu(directory)
    weights.write_bytes(whole)
    state = load_file(weights)
    state["classifier.bias"][0] = torch.nan
    save_file(state, weights)
    with pytest.raises(CheckpointError, match="classifier.bias"):
        load_adu(directory)


def test_a_model_cast_by_hand_is_saved_in_the_precision_its_config_names(tmp_path):
    adu = ADU(loop_template(), in_features=3).half()
    save_adu(adu, tmp_path)
    assert load_adu(tmp_path).classifier.weight.dtype == torch.float32


def test_a_config_from_another_version_is_refused(saved):
    directory, _ = saved
    path = directory / "config.json"
    config = json.loads(path.read_text())
    config["config"]["colour"] = "blue"
    path.write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match="colour"):
        load_adu(directory)


def test_an_adu_is_rebuilt_from_its_configuration_and_arrays():
    adu = ADU(loop_template(), in_features=3, width=16, heads=2).eval()
    arrays = {name: tensor.numpy() for name, tensor in adu.state_dict().items()}
    again = adu_from_arrays(adu.template, adu.config.to_dict(), arrays)
    x = torch.randn(adu.template.num_nodes, 3)
    assert not again.training and torch.equal(again(x, adu.template), adu(x, adu.template))
