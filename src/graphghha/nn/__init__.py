"""The attention layers and the Attack Detection Unit (ADU), with the paper's symbols. Needs torch."""

try:
    import jaxtyping  # noqa: F401
    import torch  # noqa: F401
except ImportError as exc:
    from graphghha.errors import EngineError

    raise EngineError(f"{exc.name} is not installed; run: pip install 'graphghha[torch]'") from exc

from graphghha.nn.adu import ADU, AduConfig
from graphghha.nn.checkpoint import adu_from_arrays, load_adu, save_adu
from graphghha.nn.conv import GraphGHHAConv
from graphghha.nn.explain import AttendedEdge, Explanation
from graphghha.nn.gat import QuantizedGAT, SparsifiedGAT, VanillaGAT
from graphghha.nn.ghha import GHHA
from graphghha.nn.graph_ghha import GraphGHHA
from graphghha.nn.graph_tensors import GraphTensors
from graphghha.nn.padded_neighbors import Neighbors
from graphghha.nn.reference import reference_layer
from graphghha.nn.registry import LAYERS
from graphghha.nn.sdpa import ScaledDotProduct

__all__ = [
    "ADU",
    "GHHA",
    "LAYERS",
    "AduConfig",
    "AttendedEdge",
    "Explanation",
    "GraphGHHA",
    "GraphGHHAConv",
    "GraphTensors",
    "Neighbors",
    "QuantizedGAT",
    "ScaledDotProduct",
    "SparsifiedGAT",
    "VanillaGAT",
    "adu_from_arrays",
    "load_adu",
    "reference_layer",
    "save_adu",
]
