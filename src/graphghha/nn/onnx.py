"""An ADU as ONNX, with the number of nodes and of neighbours left open.

b windows in a batch, s nodes, f features per node, d padded neighbours, c classes.
"""

import copy
import warnings
from pathlib import Path

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from graphghha.errors import ConfigError
from graphghha.nn.adu import ADU
from graphghha.nn.inputs import GraphTensors
from graphghha.nn.padded import Neighbors

INPUTS = ("x", "mask", "nbr", "nbr_mask", "kinds", "roles")


class _Flat(nn.Module):
    """ONNX knows tensors only: the graph arrives as its parts."""

    def __init__(self, adu: ADU) -> None:
        super().__init__()
        self.adu = adu

    def forward(
        self,
        x: Float[Tensor, "b s f"],
        mask: Bool[Tensor, "b s"],
        nbr: Int[Tensor, "s d"],
        nbr_mask: Bool[Tensor, "s d"],
        kinds: Float[Tensor, "s 3"],
        roles: Int[Tensor, " s"],
    ) -> Float[Tensor, "b s c"]:
        probs: Tensor = self.adu(x, GraphTensors(Neighbors(nbr, nbr_mask), kinds, roles), mask)
        return probs


def export_onnx(adu: ADU, path: Path) -> None:
    """Write the ADU with inputs `INPUTS` and output `probs`; s, d and the batch stay dynamic."""
    if adu.config.dtype != "fp32":
        raise ConfigError(f"ONNX export is for fp32 models; this one is {adu.config.dtype}")
    adu = copy.deepcopy(adu).cpu().eval()
    # two zones and two windows: an export must not mistake a size for a constant 1
    graph = adu.tensors(adu.template.replicate(2))
    s, f = graph.num_nodes, adu.config.in_features
    inputs = (
        torch.zeros(2, s, f),
        torch.ones(2, s, dtype=torch.bool),
        graph.neighbors.nbr,
        graph.neighbors.nbr_mask,
        graph.kinds,
        graph.roles,
    )
    b, nodes, width = torch.export.Dim("b"), torch.export.Dim("s"), torch.export.Dim("d")
    shapes = ({0: b, 1: nodes}, {0: b, 1: nodes}, {0: nodes, 1: width}, {0: nodes, 1: width}, {0: nodes}, {0: nodes})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter's own deprecations say nothing about this model
        program = torch.onnx.export(
            _Flat(adu),
            inputs,
            input_names=list(INPUTS),
            output_names=["probs"],
            dynamic_shapes=shapes,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    program.save(str(path))
