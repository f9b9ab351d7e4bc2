"""Class = node kind: always in alarm, of the class that bears the name of the node's kind. How much the class tells."""

from graphghha.evaluation.baselines.base import TrainingData, kind_classes
from graphghha.evaluation.baselines.chance import Constant
from graphghha.plants import Plant


def fit_kind(plant: Plant, data: TrainingData) -> Constant:
    return Constant(1.0, kind_classes(plant.template))
