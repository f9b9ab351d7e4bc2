"""Node scores under equivalence sets: a hit on any node of the set is a hit on the target.

t minutes, s nodes.
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
class NodeVerdicts:
    """What a detector said of every node-minute, and which of them stand for themselves."""

    alarmed: Bools  # [t s]
    shown: NDArray[np.int64]  # [t s] class shown, 0 = normal, negative = unknown
    attack: NDArray[np.floating[Any]]  # [t s] P(attack)
    own: Bools  # [t s] False where a node's word is the word of an attacked node that looks like it

    @classmethod
    def of(cls, active: Bools, probs: NDArray[Any]) -> "NodeVerdicts":
        """A node in alarm shows its likeliest attack, an unknown one no class at all."""
        shown = np.where(active, 1 + probs[..., 1:].argmax(axis=-1), 0)
        shown[np.isnan(probs[..., 0])] = UNKNOWN
        return cls(active, shown, 1.0 - probs[..., 0], np.ones(active.shape, np.bool_))


def as_sets(
    verdicts: NodeVerdicts, truth: NDArray[np.uint8], attacks: Sequence[AttackEvent], kinds: NDArray[np.int64]
) -> NodeVerdicts:
    """Move what was said of a look-alike to the target it looks like, for as long as that is attacked.

    The class moves too: a look-alike shown under the class of its own kind `kinds` [s] is as right as it can be.
    """
    alarmed, shown = verdicts.alarmed.copy(), verdicts.shown.copy()
    attack, own = verdicts.attack.copy(), verdicts.own.copy()
    for event in attacks:
        steps, target = slice(event.start, event.stop), event.targets[0]
        for node in event.equivalent:
            free = truth[steps, node] == 0  # attacked itself, it speaks for itself
            hit = verdicts.alarmed[steps, node] & free
            said = verdicts.shown[steps, node]
            meant = np.where(said == kinds[node], truth[steps, target], said)
            shown[steps, target] = np.where(hit & ~alarmed[steps, target], meant, shown[steps, target])
            alarmed[steps, target] |= hit
            attack[steps, target] = np.where(
                free, np.fmax(attack[steps, target], verdicts.attack[steps, node]), attack[steps, target]
            )
            alarmed[steps, node] &= ~free
            shown[steps, node] = np.where(free, np.minimum(said, 0), shown[steps, node])
            own[steps, node] &= ~free
    return NodeVerdicts(alarmed, shown, attack, own)


def kind_classes(template: CpsGraph) -> NDArray[np.int64]:
    """[n] the attack class that bears the name of each node's kind."""
    return np.array([CLASSES.index(str(node.kind)) for node in template.nodes], np.int64)
