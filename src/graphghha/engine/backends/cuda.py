"""CUDA graphs for the torch backend: a small pass, recorded once, is one launch instead of dozens.

This module is not covered by tests, which run without a GPU.
"""

from collections.abc import Callable

import torch
from torch import Tensor

WARM_UP = 3  # calls before the recording, in which libraries choose their kernels


class RecordedCall:
    """A recorded function of tensors of fixed shapes on one GPU. Calls share its memory: make one at a time."""

    def __init__(self, function: Callable[..., Tensor], inputs: tuple[Tensor, ...]) -> None:
        self._inputs = tuple(value.clone() for value in inputs)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                function(*self._inputs)
        torch.cuda.current_stream().wait_stream(side)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._output = function(*self._inputs)

    def __call__(self, *inputs: Tensor) -> Tensor:
        for kept, value in zip(self._inputs, inputs, strict=True):
            kept.copy_(value)
        self._graph.replay()
        return self._output.cpu()
