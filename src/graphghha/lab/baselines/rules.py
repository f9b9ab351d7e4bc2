"""The plant's engineering rules as a detector: the score of a node is that of its most violated rule."""

from dataclasses import dataclass

import numpy as np

from graphghha.errors import NotFoundError
from graphghha.graph import CpsGraph
from graphghha.lab.baselines.base import BaselineInput, Floats, TrainingData, as_probs, attack_score
from graphghha.lab.metrics import kind_classes
from graphghha.plants import Plant, Rule, load_rules


@dataclass(frozen=True, slots=True)
class Rules:
    template: CpsGraph
    rules: tuple[Rule, ...]

    def score(self, inputs: BaselineInput) -> Floats:
        signals = self.template.point_signals
        readings = {signal: inputs.readings[..., number] for number, signal in enumerate(signals)}
        worst = np.zeros(inputs.known.shape)
        for rule in self.rules:
            node = self.template.index(rule.node)
            worst[..., node] = np.maximum(worst[..., node], np.nan_to_num(rule.ratio(readings)))
        return as_probs(attack_score(worst), kind_classes(self.template))


def fit_rules(plant: Plant, data: TrainingData) -> Rules:
    """Load the rules of the plant; nothing is fitted, because they contain their limits."""
    rules = load_rules(plant.name)
    if not rules:
        raise NotFoundError(f"plant {plant.name!r} has no rules; leave the baseline 'rules' out")
    return Rules(plant.template, rules)
