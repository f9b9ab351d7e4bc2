"""Check that weights fit the network a configuration describes, before anything is built from them. No torch.

k width, f features per node, K heads, m units of the MLP, c classes.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from graphghha.classes import BINARY_CLASSES, CLASSES
from graphghha.errors import CheckpointError
from graphghha.graph import NODE_KINDS

Shape = tuple[int, ...]
_NUMBERS = ("width", "in_features", "layers", "heads")


def check_network(config: Any, weights: Mapping[str, NDArray[Any]], num_roles: int) -> None:
    """Raise CheckpointError on the first weight that is missing, unexpected, or of another shape."""
    if not isinstance(config, Mapping):
        raise CheckpointError(f"ADU config: expected an object, got {type(config).__name__}")
    if missing := [name for name in (*_NUMBERS, "layer", "head", "mlp_ratio") if name not in config]:
        raise CheckpointError(f"ADU config: the field {missing[0]!r} is missing")
    for name in _NUMBERS:
        if type(config[name]) is not int or config[name] < 1:
            raise CheckpointError(f"ADU config: {name} must be a positive whole number, got {config[name]!r}")
    if config["width"] % config["heads"]:
        raise CheckpointError(f"ADU config: width {config['width']} is not a multiple of {config['heads']} heads")
    numbers = {name.split(".")[1] for name in weights if name.startswith("layers.")}
    if numbers != set(map(str, range(len(numbers)))) or len(numbers) != config["layers"]:
        raise CheckpointError(f"ADU config: {config['layers']} layers, but there are weights of {len(numbers)}")
    shapes = {**_ends(config, num_roles), **_blocks(config)}
    for name in sorted({*shapes, *weights}):
        if name not in shapes:
            raise CheckpointError(f"weights {name!r} do not belong to this network")
        if name not in weights:
            raise CheckpointError(f"weights {name!r} are missing; the file is of another network")
        if weights[name].shape != shapes[name] or weights[name].dtype.kind != "f":
            given = f"{weights[name].dtype} {weights[name].shape}"
            raise CheckpointError(f"weights {name!r}: got {given}, but the config needs floats {shapes[name]}")


def _ends(config: Mapping[str, Any], num_roles: int) -> dict[str, Shape]:
    """Return the shapes of the weights before and after the layers."""
    k, f = config["width"], config["in_features"]
    c = len(CLASSES if config["head"] == "classes" else BINARY_CLASSES)
    kinds = {f"kind_projection.{kind}.weight": (k, f) for kind in range(len(NODE_KINDS))}
    return {"role_embedding.weight": (num_roles, k), **kinds, "classifier.weight": (c, k), "classifier.bias": (c,)}


def _blocks(config: Mapping[str, Any]) -> dict[str, Shape]:
    """Return the shapes of the weights of all layers."""
    k, heads, m = config["width"], config["heads"], _units(config)
    block: dict[str, Shape] = {
        "W_H.weight": (k, k),
        "norm.weight": (k,),
        "norm.bias": (k,),
        "mlp.0.weight": (m, k),
        "mlp.0.bias": (m,),
        "mlp.2.weight": (k, m),
        "mlp.2.bias": (k,),
    }
    if config["layer"] not in LAYER_WEIGHTS:
        known = " | ".join(LAYER_WEIGHTS)
        raise CheckpointError(
            f"ADU config: the weights of layer {config['layer']!r} are not described in LAYER_WEIGHTS; use {known}"
        )
    block |= LAYER_WEIGHTS[config["layer"]](k, heads)
    return {f"layers.{n}.{name}": shape for n in range(config["layers"]) for name, shape in block.items()}


def _dot_product_weights(k: int, heads: int) -> dict[str, Shape]:
    return {"W_QKV.weight": (3 * k, k)}


def _gated_weights(k: int, heads: int) -> dict[str, Shape]:
    return {"W_QKV.weight": (3 * k, k), "W_C.weight": (2, k)}


def _gat_weights(k: int, heads: int) -> dict[str, Shape]:
    return {"W_GAL.weight": (k, k), "a_i": (heads, k // heads), "a_j": (heads, k // heads)}


# layer -> the shapes of the weights that it adds to those of every block, from the width and the number of heads
LAYER_WEIGHTS: dict[str, Callable[[int, int], dict[str, Shape]]] = {
    "graphghha": _gated_weights,
    "ghha": _gated_weights,
    "scaled_dot_product": _dot_product_weights,
    "vanilla_gat": _gat_weights,
    "sparsified_gat": _gat_weights,
    "quantized_gat": _gat_weights,
}


def _units(config: Mapping[str, Any]) -> int:
    """Return the number of hidden units of the MLP."""
    ratio = config["mlp_ratio"]
    if not isinstance(ratio, int | float) or not 0 < ratio < math.inf:
        raise CheckpointError(f"ADU config: mlp_ratio must be a positive number, got {ratio!r}")
    return int(max(1, round(config["width"] * ratio)))
