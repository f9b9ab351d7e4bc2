"""Export of an ADU to ONNX, for any number of nodes and neighbors.

b windows in a batch, s nodes, f features per node, d padded neighbors, c classes.
"""

import copy
import logging
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from graphghha.errors import ConfigError
from graphghha.nn.adu import ADU
from graphghha.nn.graph_tensors import GraphTensors
from graphghha.nn.padded_neighbors import Neighbors

INPUTS = ("x", "mask", "nbr", "nbr_mask", "kinds", "roles")


class _Flat(nn.Module):
    """An ADU that takes the graph as single tensors, since ONNX has no other inputs."""

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


def export_onnx(adu: ADU, path: Path | str) -> None:
    """Write the ADU with inputs `INPUTS` and output `probs`; the sizes s, d and b are dynamic."""
    if adu.config.dtype != "fp32":
        raise ConfigError(f"ONNX export needs an fp32 model, got {adu.config.dtype}")
    adu = copy.deepcopy(adu).cpu().eval()
    # two zones and two windows, since the export would treat a size of 1 as a constant
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
    as_program(_Flat(adu), inputs, INPUTS, ("probs",), shapes).save(str(path))


def as_program(
    module: nn.Module,
    inputs: tuple[Tensor, ...],
    input_names: Sequence[str],
    output_names: Sequence[str],
    dynamic_shapes: tuple[dict[int, Any], ...],
) -> torch.onnx.ONNXProgram:
    """Return a module as an ONNX program. Log lines and warnings of the exporter are suppressed."""
    exporter_log = logging.getLogger("torch.onnx")
    level = exporter_log.level
    exporter_log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                module,
                inputs,
                input_names=list(input_names),
                output_names=list(output_names),
                dynamic_shapes=dynamic_shapes,
                dynamo=True,
                verbose=False,
            )
    finally:
        exporter_log.setLevel(level)
    assert program is not None
    return program
