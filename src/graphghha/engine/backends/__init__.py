"""The backends of the engine by name, and the protocol they share."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphghha.engine.frozen import Floats, FrozenModel
from graphghha.errors import ConfigError
from graphghha.graph import CpsGraph


class Backend(Protocol):
    """Scores windows of one graph with one model. Safe to call from several threads."""

    def score(self, x: Floats, mask: NDArray[np.bool_] | None) -> Floats:
        """Return the probabilities [b s c] of contiguous features [b s f]; NaN where the mask [b s] is False."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return how it runs, for people and logs."""
        ...

    def close(self) -> None:
        """Undo what opening it changed in this process. Called on a backend that is not kept."""
        ...


def _torch(model: FrozenModel, graph: CpsGraph, dtype: str, threads: int) -> Backend:
    from graphghha.engine.backends.eager import TorchBackend

    return TorchBackend(model, graph, dtype, threads)


def _native(model: FrozenModel, graph: CpsGraph, dtype: str, threads: int) -> Backend:
    from graphghha.engine.backends.native import NativeBackend

    return NativeBackend(model, graph, dtype, threads)


def _onnx(model: FrozenModel, graph: CpsGraph, dtype: str, threads: int) -> Backend:
    from graphghha.engine.backends.onnx import OnnxBackend

    return OnnxBackend(model, graph, dtype, threads)


BACKENDS: dict[str, Callable[[FrozenModel, CpsGraph, str, int], Backend]] = {
    "native": _native,
    "torch": _torch,
    "onnx": _onnx,
}


def open_backend(name: str, model: FrozenModel, graph: CpsGraph, dtype: str, threads: int) -> Backend:
    """Open a backend by name; EngineError says why it cannot run here or cannot run this model."""
    if name not in BACKENDS:
        raise ConfigError(f"unknown backend {name!r}; use auto | {' | '.join(BACKENDS)}")
    return BACKENDS[name](model, graph, dtype, threads)
