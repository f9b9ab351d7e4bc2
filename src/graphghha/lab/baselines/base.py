"""What every baseline is given and what it gives back: the same windows as the model, the same kind of answer.

w minutes, Z zones, n nodes and S signals of the template, f features, c classes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.graph import CpsGraph
from graphghha.plants import Plant

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class View:
    """Some minutes of a building, in order: readings with an hour before them, and the model's windows."""

    readings: Floats  # [h + w Z S] in SI, NaN where unknown; h = HISTORY_MIN
    features: Floats  # [w Z n f]
    known: Bools  # [w Z n]


@dataclass(frozen=True, slots=True)
class TrainingData:
    """What a baseline may learn from: normal readings, and windows of attacked and normal zones with their labels."""

    readings: Floats  # [m S] of normal minutes
    means: Floats  # [m S] means of the MEAN_MIN minutes that end with them
    features: Floats  # [k n f] zone by zone
    labels: NDArray[np.uint8]  # [k n] class
    counts: Bools  # [k n] false where the label tells nothing: an attack nothing shows yet, or its aftermath
    seed: int


class Baseline(Protocol):
    """A fitted baseline. It has no memory: all it may know is in the view."""

    def score(self, view: View) -> Floats:
        """Class probabilities [w Z n c]."""


MEAN_MIN = 15
Fit = Callable[[Plant, TrainingData], Baseline]


def as_probs(attack: Floats, classes: NDArray[np.int64]) -> Floats:
    """P(attack) [.. n] as class probabilities [.. n c], all of it on one class per node."""
    probs = np.zeros((*attack.shape, len(CLASSES)), np.float32)
    probs[..., 0] = 1.0 - attack
    np.put_along_axis(
        probs, np.broadcast_to(classes[..., None], (*attack.shape, 1)), attack[..., None].astype(np.float32), axis=-1
    )
    return probs


def on_nodes(template: CpsGraph, by_signal: Floats) -> Floats:
    """[.. S] by signal to [.. n] by node; nobody measures the others, and nobody suspects them."""
    found = np.zeros((*by_signal.shape[:-1], template.num_nodes), np.float32)
    found[..., template.signal_nodes] = by_signal
    return found


def suspicion(ratio: Floats) -> Floats:
    """From a ratio to its limit to something that looks like a probability: 0.5 at the limit, monotone, below 1."""
    fourth = np.square(np.square(np.clip(ratio, 0.0, 30.0)))
    grown: Floats = fourth / (1.0 + fourth)
    return grown
