"""The rules an engineer of the plant would write, as a detector: a node is as suspect as its most violated rule."""

from dataclasses import dataclass

import numpy as np

from graphghha.errors import NotFoundError
from graphghha.graph import CpsGraph
from graphghha.lab.baselines.base import Floats, TrainingData, View, as_probs, suspicion
from graphghha.lab.metrics.equivalence import kind_classes
from graphghha.plants import Plant, Rule, load_rules


@dataclass(frozen=True, slots=True)
class Rules:
    template: CpsGraph
    rules: tuple[Rule, ...]

    def score(self, view: View) -> Floats:
        signals = self.template.point_signals
        readings = {signal: view.readings[..., number] for number, signal in enumerate(signals)}
        worst = np.zeros(view.known.shape)
        for rule in self.rules:
            node = self.template.index(rule.node)
            worst[..., node] = np.maximum(worst[..., node], np.nan_to_num(rule.ratio(readings)))
        return as_probs(suspicion(worst), kind_classes(self.template))


def fit_rules(plant: Plant, data: TrainingData) -> Rules:
    """Nothing is fitted: limits stand in the rules."""
    rules = load_rules(plant.name)
    if not rules:
        raise NotFoundError(f"plant {plant.name!r} has no rules; leave this baseline out")
    return Rules(plant.template, rules)
