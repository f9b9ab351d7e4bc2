"""Attack probabilities as bytes: 0 to 254 for probabilities from 0 to 1, and 255 where a node's state is unknown."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

UNKNOWN, MOST = 255, 254


def quantize(attack: NDArray[Any]) -> NDArray[np.uint8]:
    """Return probabilities as bytes, rounded down, so that none seems to reach a threshold that it does not reach."""
    known = np.isfinite(attack)
    scaled = np.floor(np.clip(np.where(known, attack, 0.0), 0.0, 1.0) * MOST + 1e-6)
    return np.where(known, scaled, UNKNOWN).astype(np.uint8)


def probabilities(scores: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the probabilities of bytes, NaN where the state is unknown."""
    return np.where(scores == UNKNOWN, np.nan, scores / MOST)
