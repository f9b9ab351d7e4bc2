"""The native backend: the whole ADU in one call of compiled C.

b windows in a batch, s nodes, f features per node, c classes.
"""

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine.checks import features_error, scores_error
from graphghha.engine.frozen import Floats, FrozenGraph, FrozenModel
from graphghha.engine.native.plan import PackedModel, graph_arrays
from graphghha.engine.native.weights import aligned
from graphghha.graph import CpsGraph


class NativeBackend:
    """Keeps the plan (packed weights, CSR graph) and a pool of workspaces, one per concurrent call."""

    def __init__(self, model: FrozenModel, graph: CpsGraph, dtype: str, threads: int) -> None:
        self._packed = PackedModel(model, dtype)
        self._kernel = self._packed.kernel
        self._threads = threads
        frozen = FrozenGraph.from_graph(graph, model)
        self._graph = graph_arrays(frozen)
        self._plan = self._packed.plan(frozen.num_nodes, frozen.neighborhood.max_degree, self._graph)
        self._score = self._kernel.function("ghha_score", "pppiiipp")
        self._workspace_bytes = self._kernel.function("ghha_workspace_bytes", "pii")
        # list.pop and list.append are atomic, so callers need no lock
        self._free: dict[int, list[NDArray[np.uint8]]] = {threads: [], 1: [self._workspace(1)]}

    def _workspace(self, windows: int) -> NDArray[np.uint8]:
        size = self._workspace_bytes(ctypes.addressof(self._plan), windows, self._threads)
        return aligned(np.zeros(size, np.uint8))

    def score(self, x: Floats, mask: NDArray[np.bool_] | None) -> Floats:
        batch, nodes = x.shape[:2]
        # with enough windows each thread scores its own; otherwise the threads share the tiles of one window
        windows = self._threads if batch >= self._threads else 1
        free = self._free[windows]
        try:
            workspace = free.pop()
        except IndexError:
            workspace = self._workspace(windows)
        probs = np.empty((batch, nodes, self._packed.num_classes), np.float32)
        status = self._score(
            ctypes.addressof(self._plan),
            x.ctypes.data,
            None if mask is None else mask.ctypes.data,
            batch,
            windows,
            self._threads,
            workspace.ctypes.data,
            probs.ctypes.data,
        )
        free.append(workspace)
        if status > 0:
            raise features_error((status - 1) % nodes)
        if status < 0:
            raise scores_error()
        return probs

    def describe(self) -> dict[str, Any]:
        kernel = self._kernel
        return {
            "lanes": kernel.lanes,
            "weights": kernel.weight_format,
            "amx": kernel.uses_amx,
            "tile": kernel.tile,
            "library": str(kernel.path),
            "compiled_in_s": round(kernel.compiled_in_s, 2),
            "max_degree": int(self._plan.max_degree),
        }

    def close(self) -> None:
        pass
