"""Limit values, as most plants have them today: a reading outside the normal range of its signal."""

from dataclasses import dataclass

import numpy as np

from graphghha.graph import CpsGraph
from graphghha.lab.baselines.base import BaselineInput, Floats, TrainingData, as_probs, attack_score, on_nodes
from graphghha.lab.metrics import kind_classes
from graphghha.plants import Plant
from graphghha.plants.rules import now

TAIL = 0.0005  # share of normal readings beyond either end of the range


@dataclass(frozen=True, slots=True)
class SignalRange:
    template: CpsGraph
    middle: Floats  # [S]
    half_width: Floats  # [S] half the width of the normal range

    def score(self, inputs: BaselineInput) -> Floats:
        ratio = np.abs(now(inputs.readings) - self.middle) / self.half_width
        attack = on_nodes(self.template, attack_score(np.nan_to_num(ratio)))
        return as_probs(attack, kind_classes(self.template))


def fit_range(plant: Plant, data: TrainingData) -> SignalRange:
    """Fit the range of the central 99.9 % of normal readings, but at least a hundredth of the instrument's span."""
    low, high = np.quantile(data.readings, [TAIL, 1 - TAIL], axis=0)
    spans = [plant.signal(name) for name in plant.template.point_signals]
    floor = np.array([0.01 * (signal.high - signal.low) for signal in spans])
    return SignalRange(plant.template, (low + high) / 2, np.maximum((high - low) / 2, floor))
