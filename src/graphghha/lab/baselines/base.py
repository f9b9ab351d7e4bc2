"""The interface of baselines: they read the same windows as the model and return the same kind of probabilities.

Shapes: w minutes, Z zones, n nodes and S signals of the template, f features, c classes.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.graph import CpsGraph

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class BaselineInput:
    """Consecutive minutes of a building: the model's windows, and readings that begin an hour (HISTORY_MIN) earlier."""

    readings: Floats  # [h + w Z S] in SI units, NaN where unknown; h = HISTORY_MIN of `plants.rules`
    features: Floats  # [w Z n f]
    known: Bools  # [w Z n]


@dataclass(frozen=True, slots=True)
class TrainingData:
    """The data that baselines are fitted on: normal readings, and labelled windows of attacked and normal zones."""

    readings: Floats  # [m S] of normal minutes
    means: Floats  # [m S] means over the MEAN_MIN minutes that end with these
    features: Floats  # [k n f] one row per window of a zone
    labels: NDArray[np.uint8]  # [k n] class
    counts: Bools  # [k n] False where the label is not used: an attack not yet visible, or recovery from one
    seed: int


class Baseline(Protocol):
    """A fitted baseline. It keeps no state between calls."""

    def score(self, inputs: BaselineInput) -> Floats:
        """Return class probabilities [w Z n c]."""


MEAN_MIN = 15


def as_probs(attack: Floats, classes: NDArray[np.int64]) -> Floats:
    """Turn P(attack) [.. n] into class probabilities [.. n c], with one attack class per node."""
    probs = np.zeros((*attack.shape, len(CLASSES)), np.float32)
    probs[..., 0] = 1.0 - attack
    np.put_along_axis(
        probs, np.broadcast_to(classes[..., None], (*attack.shape, 1)), attack[..., None].astype(np.float32), axis=-1
    )
    return probs


def on_nodes(template: CpsGraph, by_signal: Floats) -> Floats:
    """Spread values by signal [.. S] over the nodes [.. n]; a node without a signal gets 0."""
    by_node = np.zeros((*by_signal.shape[:-1], template.num_nodes), np.float32)
    by_node[..., template.signal_nodes] = by_signal
    return by_node


def attack_score(ratio: Floats) -> Floats:
    """Map the ratio of a deviation to its limit to a score between 0 and 1 that rises with it and is 0.5 at 1."""
    fourth = np.square(np.square(np.clip(ratio, 0.0, 30.0)))
    score: Floats = fourth / (1.0 + fourth)
    return score
