"""Class = node kind: always in alarm, of the class that bears the name of the node's kind. How much the class tells."""

from graphghha.lab.baselines.base import TrainingData
from graphghha.lab.baselines.chance import Constant
from graphghha.lab.metrics.equivalence import kind_classes
from graphghha.plants import Plant


def fit_kind(plant: Plant, data: TrainingData) -> Constant:
    return Constant(1.0, kind_classes(plant.template))
