"""Predictions per node, and equivalence sets: an alarm at any node of a set counts as one at the attacked node.

Shapes: t minutes, s nodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES, UNKNOWN
from graphghha.graph import CpsGraph
from graphghha.lab.runs.recording import AttackEvent

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class NodePredictions:
    """What a detector predicted for every node and minute."""

    alarmed: Bools  # [t s]
    attack_class: NDArray[np.int64]  # [t s] 0 = normal, negative = unknown
    attack: NDArray[np.floating[Any]]  # [t s] P(attack)
    own: Bools  # [t s] False where the prediction was moved to an equivalent node that is attacked

    @classmethod
    def from_alarms(cls, alarmed: Bools, probs: NDArray[Any]) -> "NodePredictions":
        """Give a node in alarm the likeliest attack class, and an unknown node no class."""
        attack_class = np.where(alarmed, 1 + probs[..., 1:].argmax(axis=-1), 0)
        attack_class[np.isnan(probs[..., 0])] = UNKNOWN
        return cls(alarmed, attack_class, 1.0 - probs[..., 0], np.ones(alarmed.shape, np.bool_))


def merge_equivalent(
    predictions: NodePredictions, truth: NDArray[np.uint8], attacks: Sequence[AttackEvent], kinds: NDArray[np.int64]
) -> NodePredictions:
    """Move the predictions of equivalent nodes to the target of an attack, for as long as the attack lasts.

    The class is moved too: an equivalent node shown under the class of its own kind `kinds` [s] counts as right.
    """
    alarmed, attack_class = predictions.alarmed.copy(), predictions.attack_class.copy()
    attack, own = predictions.attack.copy(), predictions.own.copy()
    for event in attacks:
        steps, target = slice(event.start, event.stop), event.targets[0]
        for node in event.equivalent:
            free = truth[steps, node] == 0  # a node that is itself attacked keeps its own prediction
            hit = predictions.alarmed[steps, node] & free
            shown = predictions.attack_class[steps, node]
            moved = np.where(shown == kinds[node], truth[steps, target], shown)
            attack_class[steps, target] = np.where(hit & ~alarmed[steps, target], moved, attack_class[steps, target])
            alarmed[steps, target] |= hit
            attack[steps, target] = np.where(
                free, np.fmax(attack[steps, target], predictions.attack[steps, node]), attack[steps, target]
            )
            alarmed[steps, node] &= ~free
            attack_class[steps, node] = np.where(free, np.minimum(shown, 0), attack_class[steps, node])
            own[steps, node] &= ~free
    return NodePredictions(alarmed, attack_class, attack, own)


def kind_classes(template: CpsGraph) -> NDArray[np.int64]:
    """Return for every node [n] the attack class named like its kind."""
    return np.array([CLASSES.index(str(node.kind)) for node in template.nodes], np.int64)
