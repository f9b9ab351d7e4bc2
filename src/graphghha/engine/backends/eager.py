"""The torch backend: runs the ADU itself, with every layer and on every device. Other backends are tested against it.

It runs on the device of the given ADU; on CUDA, small windows are recorded as CUDA graphs.
"""

import threading
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine.checks import finite, readable
from graphghha.engine.frozen import Floats, FrozenModel
from graphghha.errors import EngineError
from graphghha.graph import CpsGraph

try:
    import torch

    from graphghha.engine.backends.cuda import RecordedCall
    from graphghha.nn import ADU, adu_from_arrays, load_adu
except (ImportError, EngineError) as exc:
    raise EngineError("the torch backend needs torch; run: pip install 'graphghha[torch]'") from exc

LARGEST_RECORDED = 4096  # nodes of a call; in larger ones the launches hardly matter


class TorchBackend:
    """Runs a copy of the model in the wanted precision."""

    def __init__(self, model: FrozenModel, graph: CpsGraph, dtype: str, threads: int) -> None:
        source = model.adu
        if source is None and model.directory is not None:
            source = load_adu(model.directory)
        if source is None and model.template is not None:
            source = adu_from_arrays(model.template, model.config, model.weights)
        if source is None:
            raise EngineError(
                "the torch backend needs an ADU, a template or a model directory; the model has only arrays"
            )
        self._device = source.role_embedding.weight.device
        config = replace(source.config, dtype=dtype)  # type: ignore[arg-type]  # checked by AduConfig
        self._adu = ADU.from_config(source.template, config)
        self._adu.load_state_dict(source.state_dict())
        self._adu.eval().to(self._device)
        self._tensors = self._adu.tensors(graph)
        self._measured = self._tensors.measured.cpu().numpy()
        self._recorded: dict[tuple[int, ...], RecordedCall] = {}
        self._lock = threading.Lock()
        # Once and for the whole process: setting it round every score would change it under other threads' scores.
        self._threads_before = torch.get_num_threads()
        torch.set_num_threads(threads)

    def score(self, x: Floats, mask: NDArray[np.bool_] | None) -> Floats:
        with torch.inference_mode():
            probs: Floats = self._probs(x, mask).numpy()
        return finite(probs, mask)

    def _probs(self, x: Floats, mask: NDArray[np.bool_] | None) -> torch.Tensor:
        if self._device.type != "cuda" or x.shape[0] * x.shape[1] > LARGEST_RECORDED:
            present = None if mask is None else self._tensor(mask)
            probs: torch.Tensor = self._adu(self._tensor(x), self._tensors, present).cpu()
            return probs
        # a recording cannot inspect values, so the features are checked here
        inputs = (
            self._tensor(readable(x, mask, self._measured)),
            self._tensor(_all_present(x) if mask is None else mask),
        )
        with self._lock:
            if x.shape not in self._recorded:
                self._recorded[x.shape] = RecordedCall(lambda x, mask: self._adu(x, self._tensors, mask), inputs)
            return self._recorded[x.shape](*inputs)

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        # torch warns about read-only arrays although inference never writes
        return torch.from_numpy(np.require(array, requirements="W")).to(self._device)

    def describe(self) -> dict[str, Any]:
        return {"torch": torch.__version__, "device": str(self._device)}

    def close(self) -> None:
        torch.set_num_threads(self._threads_before)


def _all_present(x: Floats) -> NDArray[np.bool_]:
    return np.ones(x.shape[:2], np.bool_)
