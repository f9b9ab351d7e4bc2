"""What each signal of a zone should read, given the signals near it and what the other zones read.

Each signal of the template has a small network that predicts the mean of its last minutes and a spread. It reads recent
means of the signals near it, without its own, and what the other zones read of these and of itself. It is learned from
normal data of many buildings, so that it does not depend on the numbers of one.

n zone-rows, S signals of a zone, C channels of a signal, I = S C inputs, h hidden units.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.graph import CpsGraph
from graphghha.windows.expectation import BLOCK_ROWS, LOG_SPREAD, check_shapes, reach, require_weights, silu
from graphghha.windows.row_product import padded, row_product

Floats = NDArray[np.floating[Any]]

WEIGHTS = ("W0", "W1", "b1", "W2", "b2", "W3", "b3")
OWN_CHANNELS = 5  # four recent means of a signal in the zone itself, and the share of rows without a reading
PEER_CHANNELS = 2  # what the other zones read, and whether there are any
CHANNELS = OWN_CHANNELS + PEER_CHANNELS


def input_mask(template: CpsGraph) -> NDArray[np.bool_]:
    """Return which inputs each signal's network reads, [S I].

    These are all channels of the signals within two hops, and of the signal itself only what the other zones read.
    """
    near = reach(template)  # [S S]
    mask = np.repeat(near[..., None], CHANNELS, axis=2)
    own = np.arange(len(near))
    mask[own, own, OWN_CHANNELS:] = True
    return mask.reshape(len(near), -1)


@dataclass(frozen=True)
class ZoneExpectation:
    """The trained networks, evaluated with numpy, so that the monitor does not need torch."""

    weights: Mapping[str, Floats]  # W0 [S I 2], W1 [S I h], W2 [S h h], W3 [S h 2]; b* [S 1 ..]
    floor: Floats  # [S] the least spread of each signal

    def __post_init__(self) -> None:
        require_weights(self.weights, WEIGHTS)
        inputs, hidden = len(self.floor) * CHANNELS, self.weights["W1"].shape[-1]
        shapes = {
            "W0": (inputs, 2),
            "W1": (inputs, hidden),
            "b1": (1, hidden),
            "W2": (hidden, hidden),
            "b2": (1, hidden),
            "W3": (hidden, 2),
            "b3": (1, 2),
        }
        check_shapes(self.weights, shapes, self.floor)

    @property
    def num_signals(self) -> int:
        """The number of signals S."""
        return len(self.floor)

    @cached_property
    def _first(self) -> tuple[Floats, Floats]:
        """The linear paths [I S*2] and the first layers [I S*h] of all networks, since they read the same inputs."""
        linear, first = (self.weights[name].transpose(1, 0, 2) for name in ("W0", "W1"))
        return np.ascontiguousarray(linear.reshape(len(linear), -1)), np.ascontiguousarray(
            first.reshape(len(first), -1)
        )

    def predict(self, inputs: Floats) -> tuple[Floats, Floats]:
        """Return the expected mean and spread [n S] of inputs [n I]. A row gives the same bytes in any portion."""
        mean = np.empty((len(inputs), self.num_signals), np.float32)
        spread = np.empty_like(mean)
        for start in range(0, len(inputs), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            count = len(inputs[rows])
            block_mean, block_spread = self._predict(padded(inputs[rows]))
            mean[rows], spread[rows] = block_mean[:count], block_spread[:count]
        return mean, spread

    def _predict(self, block: Floats) -> tuple[Floats, Floats]:
        w, (linear, first) = self.weights, self._first
        signals = self.num_signals
        hidden = silu(
            row_product(block, first).reshape(len(block), signals, -1).transpose(1, 0, 2) + w["b1"]
        )  # [S n h]
        hidden = silu(row_product(hidden, w["W2"]) + w["b2"])
        straight = row_product(block, linear).reshape(len(block), signals, 2).transpose(1, 0, 2)
        mean, log_spread = (row_product(hidden, w["W3"]) + w["b3"] + straight).transpose(2, 1, 0)  # [n S] each
        spread = np.exp(np.clip(log_spread, *LOG_SPREAD))
        return mean, np.sqrt(spread * spread + self.floor * self.floor)
