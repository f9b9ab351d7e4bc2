"""Detectors that read no data: at random, always, never, and always with the class of the node's kind."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.lab.baselines.base import BaselineInput, Floats, TrainingData, as_probs
from graphghha.lab.metrics import kind_classes
from graphghha.plants import Plant


@dataclass(frozen=True, slots=True)
class Constant:
    """Gives every minute the same P(attack), with a fixed class for each node."""

    attack: float
    classes: NDArray[np.int64]  # [n]

    def score(self, inputs: BaselineInput) -> Floats:
        return np.broadcast_to(
            as_probs(np.full(len(self.classes), self.attack, np.float32), self.classes),
            (*inputs.known.shape, len(CLASSES)),
        )


class Random:
    """Gives every node and minute an independent random P(attack) and class."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng([seed, 5])

    def score(self, inputs: BaselineInput) -> Floats:
        attack = self._rng.random(inputs.known.shape, np.float32)
        return as_probs(attack, self._rng.integers(1, len(CLASSES), inputs.known.shape))


def fit_random(plant: Plant, data: TrainingData) -> Random:
    """Return random scores drawn from the seed of the data."""
    return Random(data.seed)


def fit_always(plant: Plant, data: TrainingData) -> Constant:
    """Return a constant alarm at every node, of the class that is attacked most often."""
    counts = np.bincount(data.labels[data.counts], minlength=len(CLASSES))
    return Constant(1.0, np.full(plant.template.num_nodes, 1 + int(np.argmax(counts[1:])), np.int64))


def fit_never(plant: Plant, data: TrainingData) -> Constant:
    """Return a detector that never alarms."""
    return Constant(0.0, np.ones(plant.template.num_nodes, np.int64))


def fit_node_kind(plant: Plant, data: TrainingData) -> Constant:
    """Return a constant alarm at every node, of the class named like its kind, to show what the kind alone gives."""
    return Constant(1.0, kind_classes(plant.template))
