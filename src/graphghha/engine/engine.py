"""The engine: a frozen model on a frozen graph, scored by the fastest backend that runs here.

b windows in a batch, s nodes, f features per node, c classes.
"""

import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np

from graphghha.engine.backends import BACKENDS, Backend, open_backend
from graphghha.engine.checks import as_mask, as_windows
from graphghha.engine.frozen import Floats, FrozenModel, freeze
from graphghha.errors import ConfigError, EngineError
from graphghha.graph import CpsGraph

if TYPE_CHECKING:
    from graphghha.models import Model
    from graphghha.nn import ADU

log = logging.getLogger(__name__)

Dtype = Literal["fp32", "fp16", "bf16"]
MAX_THREADS = 1024
_MEASURE_S = 0.03  # per backend, when `auto` compares them


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineConfig:
    """How an engine computes; its scores change with `dtype` and, in the last bits, with the other two."""

    dtype: Dtype = "fp32"  # of weights and of the inputs of matrix products
    threads: int = 1
    backend: str = "auto"  # `auto` keeps the fastest of those that run here

    def __post_init__(self) -> None:
        if self.dtype not in get_args(Dtype):
            raise ConfigError(f"engine: unknown dtype {self.dtype!r}; use {' | '.join(get_args(Dtype))}")
        if not isinstance(self.threads, int) or not 1 <= self.threads <= MAX_THREADS:
            raise ConfigError(f"engine: threads must be 1 to {MAX_THREADS}, got {self.threads!r}")
        if self.backend != "auto" and self.backend not in BACKENDS:
            raise ConfigError(f"engine: unknown backend {self.backend!r}; use auto | {' | '.join(BACKENDS)}")


class Engine:
    """Scores windows of one graph with one model.

    Safe to call from several threads; the same input gives the same bits for a given backend and thread count.
    `auto` measures the backends that run here on an empty window and keeps the fastest. A backend that cannot run
    is replaced by another; the reason is logged and is part of `describe()`. An engine that runs on the torch
    backend sets torch's thread count for the whole process when it is built; scores change nothing in the process.
    """

    def __init__(
        self,
        model: "ADU | FrozenModel | Model | Path | str",
        graph: CpsGraph,
        dtype: Dtype = "fp32",
        threads: int = 1,
        backend: str = "auto",
    ) -> None:
        self.graph, self.config = graph, EngineConfig(dtype=dtype, threads=threads, backend=backend)
        frozen = freeze(model)
        self.classes, self.in_features = frozen.classes, frozen.in_features
        self._notes: dict[str, str] = {}  # backend -> its time, or why it was not used
        self.backend, self._run = self._choose(frozen, backend)

    @classmethod
    def from_config(
        cls, model: "ADU | FrozenModel | Model | Path | str", graph: CpsGraph, config: EngineConfig
    ) -> Self:
        """Build the engine that a configuration describes."""
        return cls(model, graph, dtype=config.dtype, threads=config.threads, backend=config.backend)

    @property
    def dtype(self) -> Dtype:
        """The number format of weights and matrix products."""
        return self.config.dtype

    @property
    def threads(self) -> int:
        """The number of threads of one score."""
        return self.config.threads

    @property
    def num_nodes(self) -> int:
        """The number of nodes s of the graph."""
        return self.graph.num_nodes

    def score(self, window: Any, mask: Any = None) -> Floats:
        """Return the class probabilities [s c] or [b s c], fp32, of features [s f] or [b s f], numpy or torch.

        Where `mask` ([s] or [b s], bool) is False, the node is absent and its probabilities are NaN.
        """
        x = as_windows(window, self.num_nodes, self.in_features)
        probs = self._run.score(x, None if mask is None else as_mask(mask, len(x), self.num_nodes))
        return probs if window.ndim == 3 else probs[0]

    def describe(self) -> dict[str, Any]:
        """Return which backend runs and how, and the others that were considered; ready for JSON."""
        return {
            "backend": self.backend,
            "dtype": self.dtype,
            "threads": self.threads,
            "nodes": self.num_nodes,
            "considered": dict(self._notes),
            **self._run.describe(),
        }

    def _choose(self, model: FrozenModel, wanted: str) -> tuple[str, Backend]:
        if wanted != "auto":
            opened = self._open(wanted, model)
            if opened is not None:
                return wanted, opened
            log.warning("engine: the %s backend is replaced by another: %s", wanted, self._notes[wanted])
        candidates = {name: backend for name in self._candidates(model, wanted) if (backend := self._open(name, model))}
        if not candidates:
            reasons = "; ".join(f"{name}: {note}" for name, note in self._notes.items())
            raise EngineError(f"no backend can run this model in {self.dtype}: {reasons}")
        took_ms = {name: self._measure_ms(backend) for name, backend in candidates.items()}
        self._notes |= {name: f"{ms:.3f} ms" for name, ms in took_ms.items()}
        best = min(took_ms, key=took_ms.__getitem__)
        for name, backend in candidates.items():
            if name != best:
                backend.close()
        considered = "; ".join(f"{name} {note}" for name, note in self._notes.items())
        log.debug("engine: %s chosen for %d nodes in %s (%s)", best, self.num_nodes, self.dtype, considered)
        return best, candidates[best]

    def _candidates(self, model: FrozenModel, wanted: str) -> list[str]:
        names = [name for name in BACKENDS if name != wanted]
        if "onnx" in names and model.onnx_file is None and (model.adu is not None or model.template is not None):
            names.remove("onnx")
            self._notes["onnx"] = "not tried: there is no model.onnx, and exporting one takes seconds"
        if "native" in names and model.config["layer"] != "graphghha":
            names.remove("native")
            self._notes["native"] = "not tried: it runs graphghha layers only"
        return names

    def _open(self, name: str, model: FrozenModel) -> Backend | None:
        try:
            return self._backend(name, model)
        except EngineError as exc:
            self._notes[name] = f"unavailable: {exc}"
            log.warning("engine: the %s backend cannot be used: %s", name, exc)
            return None

    def _backend(self, name: str, model: FrozenModel) -> Backend:
        return open_backend(name, model, self.graph, self.dtype, self.threads)

    def _measure_ms(self, backend: Backend) -> float:
        """Return the median time of a few calls after a warm-up."""
        x = np.zeros((1, self.num_nodes, self.in_features), np.float32)
        backend.score(x, None)
        took_s: list[float] = []
        while len(took_s) < 3 or (sum(took_s) < _MEASURE_S and len(took_s) < 50):
            started = time.perf_counter()
            backend.score(x, None)
            took_s.append(time.perf_counter() - started)
        return float(np.median(took_s)) * 1e3
