"""The expectation: what a signal should read, given the others. Residuals show where readings disagree.

Each signal of the template has a small network that predicts its mean and spread from recent means of the signals near
it in the graph, without its own. It is learned from normal data; residuals are in units of the spread.

n rows, S signals of one zone, L recent means per signal, h hidden units.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import CheckpointError
from graphghha.graph import CpsGraph, NeighborRule, neighborhood
from graphghha.windows.row_product import padded, row_product

Floats = NDArray[np.floating[Any]]

BLOCK_ROWS = 64  # rows at once; any number gives the same bytes, this one fits in the cache
REACH_HOPS = 2  # two sensors at one coil are two hops apart
LOG_SPREAD = (-6.0, 3.0)
CLIP = 8.0
WEIGHTS = ("W1", "b1", "W2", "b2", "W3", "b3")


def reach(template: CpsGraph) -> NDArray[np.bool_]:
    """Return which signals may explain a signal, [S S]: those within two hops, without itself."""
    near = neighborhood(template, NeighborRule())
    rows, cols = near.rows, near.idx
    reached = {(int(i), int(j)) for i, j in zip(rows, cols, strict=True)}
    for _ in range(REACH_HOPS - 1):
        reached |= {(i, int(k)) for i, j in reached for k in near.neighbors(j)}
    nodes = {int(node): number for number, node in enumerate(template.signal_nodes)}
    mask = np.zeros((len(nodes), len(nodes)), np.bool_)
    for i, j in reached:
        if i != j and i in nodes and j in nodes:
            mask[nodes[i], nodes[j]] = True
    return mask


def require_weights(weights: Mapping[str, Floats], names: Sequence[str]) -> None:
    """Raise CheckpointError if one of the arrays is missing."""
    if missing := [name for name in names if name not in weights]:
        raise CheckpointError(f"expectation: weights {', '.join(missing)} are missing")


def check_shapes(weights: Mapping[str, Floats], shapes: Mapping[str, tuple[int, ...]], floor: Floats) -> None:
    """Raise CheckpointError unless the arrays have these shapes for each signal and all numbers are finite."""
    for name, shape in shapes.items():
        if weights[name].shape != (len(floor), *shape):
            raise CheckpointError(
                f"expectation: {name} has shape {weights[name].shape}, which does not fit the other weights"
            )
    if not all(np.isfinite(array).all() for array in (*weights.values(), floor)):
        raise CheckpointError("expectation: weights are not finite")


@dataclass(frozen=True)
class Expectation:
    """The trained networks, evaluated with numpy, so that the monitor does not need torch."""

    weights: Mapping[str, Floats]  # W1 [S S*L h], W2 [S h h], W3 [S h 2]; b* [S 1 ..]
    floor: Floats  # [S] least spread of each signal: half its noise

    def __post_init__(self) -> None:
        require_weights(self.weights, WEIGHTS)
        h = self.weights["W1"].shape[-1]
        inputs = self.weights["W1"].shape[1:2]
        shapes = {"W1": (*inputs, h), "b1": (1, h), "W2": (h, h), "b2": (1, h), "W3": (h, 2), "b3": (1, 2)}
        check_shapes(self.weights, shapes, self.floor)

    @property
    def num_signals(self) -> int:
        """The number of signals S."""
        return len(self.floor)

    @cached_property
    def _first(self) -> Floats:
        """The first layers of all networks as one matrix [S*L S*h], since they read the same inputs."""
        first = self.weights["W1"]
        return np.ascontiguousarray(first.transpose(1, 0, 2).reshape(first.shape[1], -1))

    def residuals(self, inputs: Floats, values: Floats) -> Floats:
        """Return residuals [n S] in units of the spread, clipped, of scaled values [n S] given recent means [n S*L]."""
        out = np.empty_like(values)
        for start in range(0, len(values), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            mean, spread = self.expected(inputs[rows])
            out[rows] = np.clip((values[rows] - mean) / spread, -CLIP, CLIP)
        return out

    def expected(self, inputs: Floats) -> tuple[Floats, Floats]:
        """Return the expected mean and spread, [n S] each, given recent means [n S*L] of at most 64 rows."""
        assert len(inputs) <= BLOCK_ROWS
        mean, spread = self._predict(padded(inputs))
        return mean[: len(inputs)], spread[: len(inputs)]

    def _predict(self, block: Floats) -> tuple[Floats, Floats]:
        w = self.weights
        first = row_product(block, self._first).reshape(len(block), self.num_signals, -1).transpose(1, 0, 2)  # [S n h]
        hidden = silu(first + w["b1"])
        hidden = silu(row_product(hidden, w["W2"]) + w["b2"])
        mean, log_spread = (row_product(hidden, w["W3"]) + w["b3"]).transpose(2, 1, 0)  # [n S] each
        spread = np.exp(np.clip(log_spread, *LOG_SPREAD))
        return mean, np.sqrt(spread * spread + self.floor * self.floor).astype(np.float32)


def silu(x: Floats) -> Floats:
    """Return x times its logistic function."""
    with np.errstate(over="ignore"):  # exp(-x) may be infinite; the quotient is then 0, which is right
        gated: Floats = x / (np.float32(1.0) + np.exp(-x))
    return gated


def noise_floor(noise: Sequence[float], scale: NDArray[Any]) -> Floats:
    """Return the least spread [S]: half the noise of a signal in scaled units, and at least 0.0005."""
    floor: NDArray[np.float64] = 0.5 * np.asarray(noise, np.float64) / scale
    return np.maximum(floor, 5e-4).astype(np.float32)
