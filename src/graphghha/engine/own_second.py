"""The second opinion on a plant of the user's own: its network, where labelled attacks have taught it.

The log-odds of every node are averaged over some judged rows. The highest of them is the score, with a threshold and a
share of the alert budget of its own. While only the statistics are in alarm and the network would name another node,
the attack is unlike those of the labels: it is unclassified.

e judged rows, p nodes with a signal, s nodes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.graph import CpsGraph
from graphghha.models.own import Taught

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Classes = NDArray[np.int64]  # 0: unclassified
LOWEST = -20.0  # log-odds of a node that is unknown


class RunningOdds:
    """Averages log-odds in the order of time, in portions of any size."""

    def __init__(self, nodes: int, smooth: int) -> None:
        self._before = np.full((smooth - 1, nodes), np.nan)  # the last rows

    def push(self, odds: Floats) -> tuple[Floats, Floats]:
        """Take log-odds [e p], NaN where a node is unknown; return the score [e], above 0, and the means [e p]."""
        joined = np.concatenate([self._before, odds])
        smooth = len(self._before) + 1
        total, count = np.zeros(odds.shape), np.zeros(odds.shape)
        for back in range(smooth):
            rows = joined[back : back + len(odds)]
            total += np.nan_to_num(rows)
            count += np.isfinite(rows)
        mean = np.where(np.isfinite(odds), total / np.maximum(count, 1), LOWEST)
        self._before = joined[len(joined) - (smooth - 1) :]
        return np.logaddexp(0.0, mean.max(axis=1, initial=LOWEST)), mean


class Opinion(NamedTuple):
    """What the network makes of the judged rows [e]."""

    chance: Floats
    in_thresholds: Floats  # its score
    place: Floats  # [e p] the higher, the more a node is the place of the attack
    classes: Classes  # [e s]


class SecondOpinion:
    """Raises alarms beside the statistics, and names the node if it is one that labels taught."""

    def __init__(self, taught: Taught, graph: CpsGraph, smooth: int) -> None:
        self._rule = taught.rule
        self._odds = RunningOdds(len(graph.points), smooth)
        self._nodes = graph.signal_nodes
        self._is_taught = np.array([name in taught.classes for name in graph.points])
        stated = [taught.classes.get(name) for name in graph.points]
        self._stated = np.array([CLASSES.index(each) if each else 0 for each in stated])

    def push(self, odds: Floats, place: Floats, in_alarm: Bools, classes: Classes) -> Opinion:
        """Take log-odds [e p], and place [e p], alarm [e] and classes [e s] by the statistics."""
        score, mean = self._odds.push(odds)
        rows = np.arange(len(mean))
        best, first = mean.argmax(axis=1), place.argmax(axis=1)
        raises = score >= self._rule.threshold
        names = raises & self._is_taught[best]
        stated = np.array(classes)
        labelled = np.flatnonzero(names & (self._stated[best] > 0))
        stated[labelled, self._nodes[best[labelled]]] = self._stated[best[labelled]]
        new = rows[in_alarm & ~raises & (best != first)]
        stated[new, self._nodes[first[new]]] = 0
        in_thresholds = score / self._rule.threshold
        return Opinion(self._rule.probability(score), in_thresholds, np.where(names[:, None], mean, place), stated)
