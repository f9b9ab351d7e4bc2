"""The onnxruntime backend: needs no torch if the model directory holds a `model.onnx`.

b windows in a batch, s nodes, d padded neighbors.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine.checks import finite, readable
from graphghha.engine.frozen import Floats, FrozenGraph, FrozenModel
from graphghha.errors import EngineError
from graphghha.graph import CpsGraph

try:
    import onnxruntime
except ImportError as exc:
    raise EngineError("the onnx backend needs onnxruntime; run: pip install 'graphghha[edge]'") from exc


class OnnxBackend:
    """Runs the network of a model in onnxruntime, in fp32."""

    def __init__(self, model: FrozenModel, graph: CpsGraph, dtype: str, threads: int) -> None:
        if dtype != "fp32":
            raise EngineError(f"the onnx backend runs fp32, not {dtype}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        network = _onnx_bytes(model)
        try:
            self._session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
        except Exception as exc:  # onnxruntime's errors have no common base class
            raise EngineError(f"model.onnx cannot be used ({exc}); run: graphghha export MODEL --for-engine") from exc
        frozen = FrozenGraph.from_graph(graph, model)
        nbr, nbr_mask = frozen.neighborhood.padded()
        self._measured = frozen.kinds >= 0
        self._graph_inputs = {
            "nbr": nbr,
            "nbr_mask": nbr_mask,
            "kinds": np.eye(3, dtype=np.float32)[frozen.kinds] * self._measured[:, None],
            "roles": frozen.roles.astype(np.int64),
        }

    def score(self, x: Floats, mask: NDArray[np.bool_] | None) -> Floats:
        inputs = {"x": readable(x, mask, self._measured), "mask": np.ones(x.shape[:2], np.bool_), **self._graph_inputs}
        if mask is not None:
            inputs["mask"] = mask
        probs: Floats = self._session.run(["probs"], inputs)[0]
        return finite(probs, mask)

    def describe(self) -> dict[str, Any]:
        return {"onnxruntime": onnxruntime.__version__}

    def close(self) -> None:
        pass


def _onnx_bytes(model: FrozenModel) -> bytes:
    if model.onnx_file is not None:
        return model.onnx_file.read_bytes()
    if model.adu is None:
        raise EngineError(
            "the onnx backend needs a model.onnx in the model directory; run: graphghha export MODEL --for-engine"
        )
    try:
        from graphghha.nn.onnx import export_onnx

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.onnx"
            export_onnx(model.adu, path)
            return path.read_bytes()
    except ImportError as exc:
        raise EngineError("exporting to ONNX needs more packages; run: pip install 'graphghha[onnx]'") from exc
