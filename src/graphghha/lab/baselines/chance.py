"""What no knowledge at all scores: at random, always, never."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.lab.baselines.base import Floats, TrainingData, View, as_probs
from graphghha.plants import Plant


@dataclass(frozen=True, slots=True)
class Constant:
    """The same word for every node and minute."""

    attack: float
    classes: NDArray[np.int64]  # [n]

    def score(self, view: View) -> Floats:
        return np.broadcast_to(
            as_probs(np.full(len(self.classes), self.attack, np.float32), self.classes),
            (*view.known.shape, len(CLASSES)),
        )


class Random:
    """A number of the generator; successive minutes know nothing of each other."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng([seed, 5])

    def score(self, view: View) -> Floats:
        attack = self._rng.random(view.known.shape, np.float32)
        return as_probs(attack, self._rng.integers(1, len(CLASSES), view.known.shape))


def fit_random(plant: Plant, data: TrainingData) -> Random:
    return Random(data.seed)


def fit_always(plant: Plant, data: TrainingData) -> Constant:
    """Every node, always, of the class that is attacked most."""
    counts = np.bincount(data.labels[data.counts], minlength=len(CLASSES))
    return Constant(1.0, np.full(plant.template.num_nodes, 1 + int(np.argmax(counts[1:])), np.int64))


def fit_never(plant: Plant, data: TrainingData) -> Constant:
    return Constant(0.0, np.ones(plant.template.num_nodes, np.int64))
