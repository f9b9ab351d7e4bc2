"""Per-signal range: a reading outside of what its signal did in normal operation. What most plants have today."""

from dataclasses import dataclass

import numpy as np

from graphghha.graph import CpsGraph
from graphghha.lab.baselines.base import Floats, TrainingData, View, as_probs, on_nodes, suspicion
from graphghha.lab.metrics.equivalence import kind_classes
from graphghha.plants import Plant
from graphghha.plants.rules import now

TAIL = 0.0005


@dataclass(frozen=True, slots=True)
class SignalRange:
    template: CpsGraph
    middle: Floats  # [S]
    half: Floats  # [S] half the width of the normal range

    def score(self, view: View) -> Floats:
        ratio = np.abs(now(view.readings) - self.middle) / self.half
        attack = on_nodes(self.template, suspicion(np.nan_to_num(ratio)))
        return as_probs(attack, kind_classes(self.template))


def fit_range(plant: Plant, data: TrainingData) -> SignalRange:
    """The central 99.9 % of normal readings; a signal that never moves gets a hundredth of its instrument's span."""
    low, high = np.quantile(data.readings, [TAIL, 1 - TAIL], axis=0)
    spans = [plant.signal(name) for name in plant.template.point_signals]
    floor = np.array([0.01 * (signal.high - signal.low) for signal in spans])
    return SignalRange(plant.template, (low + high) / 2, np.maximum((high - low) / 2, floor))
