"""Packed weights and a graph as the C structures of kernels/plan.h.

s nodes, e attended pairs, f features per node, D padded width.
"""

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine.frozen import FrozenGraph, FrozenModel
from graphghha.engine.native.build import Kernel, load_kernel
from graphghha.engine.native.weights import Sizes, aligned, layer_arrays, padded, panels, rounded, with_gate
from graphghha.errors import EngineError

_NUMBERS = (
    *("nodes", "features", "layers", "classes", "heads", "max_degree"),
    *("width", "D", "head_width", "wp", "G", "F", "rms"),
)
_GRAPH = ("start", "degree", "idx", "roles", "kinds")
_MODEL = ("role_embedding", "projection", "layer", "W_out", "b_out")


class _Layer(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("W_Q", "W_KV", "W_K1V1", "W_H", "W_1", "W_2", "W_C", "b_1", "b_2")]


class Plan(ctypes.Structure):
    """A model on a graph. The caller must keep the arrays behind its pointers alive."""

    _fields_ = [(name, ctypes.c_int64) for name in _NUMBERS] + [(name, ctypes.c_void_p) for name in _GRAPH + _MODEL]


class PackedModel:
    """A model in the layout of the kernel, packed once for any number of graphs."""

    def __init__(self, model: FrozenModel, dtype: str) -> None:
        if model.config["layer"] != "graphghha":
            raise EngineError(f"the native backend runs graphghha layers only, not {model.config['layer']!r}")
        self.model = model
        self.kernel: Kernel = load_kernel(dtype)
        self.num_classes = len(model.classes)
        self._keep: list[Any] = []
        self._fields = self._pack(dtype)

    def _pack(self, dtype: str) -> dict[str, int]:
        kernel, config, lanes = self.kernel, self.model.config, self.kernel.lanes
        cast = {name: rounded(W, dtype) for name, W in self.model.weights.items()}
        frozen = FrozenModel(config, self.model.role_names, cast)
        weights = frozen.weights
        gate = config["options"].get("gate", "learned")
        layers = [with_gate(frozen.layer(number), gate) for number in range(config["layers"])]
        sizes = Sizes(config["width"], config["heads"], layers[0]["mlp.0.weight"].shape[0], lanes)
        D = sizes.D
        projection = np.stack(
            [padded(weights[f"kind_projection.{kind}.weight"].T, self.model.in_features, D) for kind in range(3)]
        )
        records = (_Layer * len(layers))()
        for record, layer in zip(records, layers, strict=True):
            for name, array in layer_arrays(layer, sizes, kernel.panel, kernel.weight_format).items():
                setattr(record, name, self._pointer(array))
        self._keep.append(records)
        W_out = padded(weights["classifier.weight"].T, D, lanes)
        embedding = weights["role_embedding.weight"]
        return {
            "features": self.model.in_features,
            "layers": len(layers),
            "classes": self.num_classes,
            "heads": sizes.heads,
            "width": sizes.width,
            "D": D,
            "head_width": sizes.head_width,
            "wp": sizes.wp,
            "G": sizes.G,
            "F": sizes.F,
            "rms": int(config["options"].get("global_norm", "rms") == "rms"),
            "role_embedding": self._pointer(padded(embedding, len(embedding), D)),
            "projection": self._pointer(projection),
            "layer": ctypes.addressof(records),
            "W_out": self._pointer(panels(W_out, kernel.panel, kernel.weight_format)),
            "b_out": self._pointer(padded(weights["classifier.bias"][None], 1, lanes)),
        }

    def _pointer(self, array: NDArray[Any]) -> int:
        array = aligned(array)
        self._keep.append(array)
        return int(array.ctypes.data)

    def plan(self, num_nodes: int, max_degree: int, graph: dict[str, NDArray[Any]]) -> Plan:
        """Return the plan on a graph given as arrays `start`, `degree`, `idx`, `roles`, `kinds`; keep them alive."""
        pointers = {name: int(graph[name].ctypes.data) for name in _GRAPH}
        return Plan(nodes=num_nodes, max_degree=max_degree, **pointers, **self._fields)


def graph_arrays(graph: FrozenGraph) -> dict[str, NDArray[Any]]:
    """Return the arrays of a frozen graph in the types of kernels/plan.h."""
    neighbors = graph.neighborhood
    return {
        "start": np.ascontiguousarray(neighbors.ptr[:-1], np.int64),
        "degree": neighbors.degrees.astype(np.int32),
        "idx": neighbors.idx.astype(np.int32),
        "roles": graph.roles,
        "kinds": graph.kinds,
    }
