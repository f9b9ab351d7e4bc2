"""The fused native path: the whole ADU in one C call, two buffers ahead of the arithmetic.

b windows in a batch, s nodes, f features per node, c classes.
"""

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine.build import load_kernel
from graphghha.engine.checks import refuse_features, refuse_scores
from graphghha.engine.frozen import Floats, FrozenGraph, FrozenModel
from graphghha.engine.pack import Sizes, aligned, layer_arrays, padded, panels, rounded
from graphghha.errors import EngineError
from graphghha.graph import CpsGraph

_POINTERS = ("W_Q", "W_KV", "W_K1V1", "W_H", "W_1", "W_2", "W_C", "b_1", "b_2")
_NUMBERS = (
    *("nodes", "features", "layers", "classes", "heads", "max_degree"),
    *("width", "D", "head_width", "wp", "G", "F", "rms"),
)
_ARRAYS = ("start", "degree", "idx", "roles", "kinds", "role_embedding", "projection", "layer", "W_out", "b_out")


class _Layer(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in _POINTERS]


class _Plan(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in _NUMBERS] + [(name, ctypes.c_void_p) for name in _ARRAYS]


class NativeBackend:
    """Owns the plan (packed weights, CSR graph) and a pool of workspaces, one per call in flight."""

    def __init__(self, model: FrozenModel, graph: CpsGraph, dtype: str, threads: int) -> None:
        if model.config["layer"] != "graphghha":
            raise EngineError(f"the native backend runs graphghha layers only, not {model.config['layer']!r}")
        self._kernel = load_kernel(dtype)
        if threads > 1 and not self._kernel.has_threads:
            raise EngineError("the native kernel was compiled without OpenMP and runs one thread only")
        self._threads = threads
        self._classes = len(model.classes)
        self._keep: list[Any] = []  # the arrays behind the plan's pointers
        self._plan = self._build_plan(model, FrozenGraph.of(graph, model), dtype)
        self._score = self._kernel.library.ghha_score
        self._score.restype = ctypes.c_int64
        self._score.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 3 + [ctypes.c_void_p] * 2
        self._workspace_bytes = self._kernel.library.ghha_workspace_bytes
        self._workspace_bytes.restype = ctypes.c_int64
        self._workspace_bytes.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
        # list.pop and list.append are atomic: no lock between callers
        self._free: dict[int, list[NDArray[np.uint8]]] = {1: [self._workspace(1)], threads: []}

    def _build_plan(self, model: FrozenModel, graph: FrozenGraph, dtype: str) -> _Plan:
        kernel, config = self._kernel, model.config
        lanes = kernel.lanes
        weights = {name: rounded(W, dtype) for name, W in model.weights.items()}
        frozen = FrozenModel(config, model.role_names, weights)
        layers = [frozen.layer(number) for number in range(config["layers"])]
        sizes = Sizes(config["width"], config["heads"], layers[0]["mlp.0.weight"].shape[0], lanes)
        D, f = sizes.D, model.in_features

        projection = np.zeros((3, f, D), np.float32)
        for kind in range(3):
            projection[kind, :, : sizes.width] = weights[f"kind_projection.{kind}.weight"].T
        W_out = padded(weights["classifier.weight"].T, D, lanes)
        records = (_Layer * len(layers))()
        for record, layer in zip(records, layers, strict=True):
            for name, array in layer_arrays(layer, sizes, kernel.panel, kernel.weight_format).items():
                setattr(record, name, self._pointer(array))
        self._keep.append(records)
        neighbors = graph.neighborhood
        return _Plan(
            nodes=graph.num_nodes,
            features=f,
            layers=len(layers),
            classes=self._classes,
            heads=sizes.heads,
            max_degree=neighbors.max_degree,
            width=sizes.width,
            D=D,
            head_width=sizes.head_width,
            wp=sizes.wp,
            G=sizes.G,
            F=sizes.F,
            rms=int(config["options"].get("global_norm", "rms") == "rms"),
            start=self._pointer(neighbors.ptr[:-1].astype(np.int64)),
            degree=self._pointer(neighbors.degrees.astype(np.int32)),
            idx=self._pointer(neighbors.idx.astype(np.int32)),
            roles=self._pointer(graph.roles),
            kinds=self._pointer(graph.kinds),
            role_embedding=self._pointer(
                padded(weights["role_embedding.weight"], len(weights["role_embedding.weight"]), D)
            ),
            projection=self._pointer(projection),
            layer=ctypes.addressof(records),
            W_out=self._pointer(panels(W_out, kernel.panel, kernel.weight_format)),
            b_out=self._pointer(padded(weights["classifier.bias"][None], 1, lanes)),
        )

    def _pointer(self, array: NDArray[Any]) -> int:
        array = aligned(array)
        self._keep.append(array)
        return int(array.ctypes.data)

    def _workspace(self, windows: int) -> NDArray[np.uint8]:
        size = self._workspace_bytes(ctypes.addressof(self._plan), windows, self._threads)
        return aligned(np.zeros(size, np.uint8))

    def score(self, x: Floats, mask: NDArray[np.bool_] | None) -> Floats:
        batch, nodes = x.shape[:2]
        # enough windows for every thread: each scores its own; else the threads share the tiles of one
        windows = self._threads if batch >= self._threads else 1
        free = self._free[windows]
        try:
            workspace = free.pop()
        except IndexError:
            workspace = self._workspace(windows)
        probs = np.empty((batch, nodes, self._classes), np.float32)
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
            raise refuse_features((status - 1) % nodes)
        if status < 0:
            raise refuse_scores()
        return probs

    def describe(self) -> dict[str, Any]:
        kernel = self._kernel
        return {
            "lanes": kernel.lanes,
            "weights": kernel.weight_format,
            "tile": kernel.tile,
            "library": str(kernel.path),
            "compiled_in_s": round(kernel.compiled_in_s, 2),
            "max_degree": int(self._plan.max_degree),
        }
