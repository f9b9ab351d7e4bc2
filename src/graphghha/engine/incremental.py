"""Incremental scoring: from one window to the next, recompute only what the nodes that changed can reach.

s nodes, f features per node, c classes.
"""

import ctypes
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine.checks import as_mask, as_numpy, as_windows, features_error, scores_error
from graphghha.engine.frozen import Floats, FrozenGraph, FrozenModel, freeze
from graphghha.engine.native.plan import PackedModel, graph_arrays
from graphghha.engine.native.weights import aligned
from graphghha.errors import ConfigError, SchemaError
from graphghha.graph import CpsGraph

if TYPE_CHECKING:
    from graphghha.models import Model
    from graphghha.nn import ADU

FULL_PASS_SHARE = 0.5  # share of changed nodes above which a full pass is no slower


@dataclass(frozen=True, slots=True)
class UpdateStats:
    """What one call recomputed."""

    changed: int  # nodes whose features were read again
    share: float  # of the rows that a full pass computes
    drift: float  # relative change of the global state since the last full pass, largest over layers
    full: bool


class IncrementalEngine:
    """Scores a stream of windows of one graph, reusing everything that changed nodes do not reach.

    A node counts as changed when a feature has moved by more than `tolerance` from the value that was last *used*,
    so slow drifts are not missed. Two errors are bounded: features of unchanged nodes are off by up to
    `tolerance`, and a node that no change reaches was scored under a global state that has moved by less than
    `state_tolerance` (relative, Frobenius) since; beyond that, a full pass is made. With `tolerance=0` and
    `state_tolerance=0` scores equal the engine's. Needs the native backend; one stream per object.
    """

    def __init__(
        self,
        model: "ADU | FrozenModel | Model | Path | str",
        graph: CpsGraph,
        *,
        tolerance: float = 0.0,
        state_tolerance: float = 0.0,
        dtype: str = "fp32",
    ) -> None:
        if not tolerance >= 0 or not state_tolerance >= 0:
            raise ConfigError(
                f"incremental engine: tolerance {tolerance} and state_tolerance {state_tolerance} must not be negative"
            )
        self.graph, self.tolerance, self.state_tolerance = graph, tolerance, state_tolerance
        frozen = freeze(model)
        self._packed = PackedModel(frozen, dtype)
        on_graph = FrozenGraph.from_graph(graph, frozen)
        self._arrays = graph_arrays(on_graph)
        self._plan = self._packed.plan(on_graph.num_nodes, on_graph.neighborhood.max_degree, self._arrays)
        self._update = self._packed.kernel.function("ghha_update", "pppppppp")
        size = self._packed.kernel.function("ghha_memory_bytes", "p")(ctypes.addressof(self._plan))
        self._memory = aligned(np.zeros(size, np.uint8))
        self._measured = on_graph.kinds >= 0
        self._used = np.zeros((graph.num_nodes, frozen.in_features), np.float32)
        self._mask: NDArray[np.bool_] | None = None
        self._probs = np.zeros((graph.num_nodes, self._packed.num_classes), np.float32)
        self._is_fresh = False  # whether the memory holds a complete earlier pass
        self._lock = threading.Lock()
        self.last: UpdateStats | None = None

    def score(self, window: Any, mask: Any = None, changed: Any = None) -> Floats:
        """Return the class probabilities [s c] of features [s f].

        `changed`, bool [s], overrides the comparison with `tolerance`.
        """
        nodes, features = self._used.shape
        x = as_windows(window, nodes, features)
        if len(x) != 1:
            raise SchemaError(f"incremental engine: give one window at a time, got {len(x)}")
        present = None if mask is None else as_mask(mask, 1, nodes)[0]
        moved = None if changed is None else as_mask(as_numpy(changed), 1, nodes)[0]
        with self._lock:
            return self._step(x[0], present, moved)

    def _step(self, x: Floats, mask: NDArray[np.bool_] | None, changed: NDArray[np.bool_] | None) -> Floats:
        if not self._is_fresh or not _same(mask, self._mask):
            return self._full(x, mask)
        if changed is None:
            # written so that NaN counts as changed, and is then refused
            changed = ~(np.abs(x - self._used) <= self.tolerance).all(axis=1) & self._measured
            changed = changed if mask is None else changed & mask
            if changed.any() and (self.state_tolerance == 0 or changed.mean() > FULL_PASS_SHARE):
                return self._full(x, mask)
        if not changed.any():
            self.last = UpdateStats(0, 0.0, self.last.drift if self.last else 0.0, False)
            return self._probs.copy()
        self._used[changed] = x[changed]
        drift, work = self._run(changed)
        if drift > self.state_tolerance:
            return self._full(x, mask)
        self.last = UpdateStats(int(changed.sum()), work / self._full_work, drift, False)
        return self._probs.copy()

    def _full(self, x: Floats, mask: NDArray[np.bool_] | None) -> Floats:
        self._used[...] = x
        self._mask = None if mask is None else mask.copy()  # the caller may change the given one
        self._run(np.ones(len(x), np.bool_))
        self._is_fresh = True
        self.last = UpdateStats(len(x), 1.0, 0.0, True)
        return self._probs.copy()

    @property
    def _full_work(self) -> int:
        return len(self._used) * (int(self._plan.layers) + 1)

    def _run(self, changed: NDArray[np.bool_]) -> tuple[float, int]:
        active = changed.astype(np.uint8)
        drift, work = ctypes.c_double(), ctypes.c_int64()
        self._is_fresh, was_fresh = False, self._is_fresh
        status = self._update(
            ctypes.addressof(self._plan),
            self._used.ctypes.data,
            None if self._mask is None else self._mask.ctypes.data,
            active.ctypes.data,
            self._memory.ctypes.data,
            self._probs.ctypes.data,
            ctypes.addressof(drift),
            ctypes.addressof(work),
        )
        # after an error the memory is half updated, so the next call must make a full pass
        if status > 0:
            raise features_error(status - 1)
        if status < 0:
            raise scores_error()
        self._is_fresh = was_fresh
        return drift.value, work.value


def _same(a: NDArray[np.bool_] | None, b: NDArray[np.bool_] | None) -> bool:
    return a is b if a is None or b is None else bool(np.array_equal(a, b))
