"""The attention layers that an ADU can be built of, by name."""

from typing import Any

from graphghha.errors import ConfigError
from graphghha.nn.block import AttentionBlock
from graphghha.nn.gat import QuantizedGAT, SparsifiedGAT, VanillaGAT
from graphghha.nn.ghha import GHHA
from graphghha.nn.graph_ghha import GraphGHHA
from graphghha.nn.sdpa import ScaledDotProduct

LAYERS: dict[str, type[AttentionBlock]] = {
    "graphghha": GraphGHHA,
    "ghha": GHHA,
    "scaled_dot_product": ScaledDotProduct,
    "vanilla_gat": VanillaGAT,
    "sparsified_gat": SparsifiedGAT,
    "quantized_gat": QuantizedGAT,
}


def layer_type(name: str) -> type[AttentionBlock]:
    """Return the class of a layer; ConfigError lists the known names."""
    if name not in LAYERS:
        raise ConfigError(f"unknown layer {name!r}; use {' | '.join(LAYERS)}")
    return LAYERS[name]


def make_layer(name: str, width: int, heads: int, **options: Any) -> AttentionBlock:
    """Return a new layer; ConfigError if it does not take an option."""
    try:
        return layer_type(name)(width, heads, **options)
    except TypeError as exc:
        raise ConfigError(f"layer {name!r}: {exc}") from exc
