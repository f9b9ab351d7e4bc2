"""Whether a plant of the user's own is attacked, and where, from what is unusual about its nodes.

Whether: the most unusual node of a row counts, up to a cap, averaged over some judged rows; at the threshold the plant
is in alarm. A node that was in alarm for a third of the last day stands: it is no longer counted until it has been
quiet. So a single node, whatever drifts, takes no more than that share of the time. Where: the node that was most
unusual on average since the alarm began.

e judged rows, p nodes with a signal.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphghha.models.own import JudgeRule

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
CAP = 3.0  # of one row's evidence: a single wild record makes no alarm
CONSTANT_CAP = 9.0  # of a signal that never moved in normal data: its first move needs no second row
STRENGTH_CAP = 6.0  # of one row's evidence for a place: what follows from an attack may grow without bound
HOLD = 8  # judged rows of silence after which an alarm is over, and the next one is an alarm of its own
MOST_EVIDENCE = 64  # judged rows that the mean of an alarm goes back
STANDING, QUIET = 0.35, 0.05  # shares of a day


class Verdict(NamedTuple):
    """What a judge says of each row [e]."""

    score: Floats
    strength: Floats  # [e p] of every node as the place of the attack
    muted: Bools  # [e p]


class OwnJudge:
    """Judges rows in the order of time, in portions of any size."""

    def __init__(self, is_constant: Bools, smooth: int, day: int, rule: JudgeRule) -> None:
        """`is_constant` [p] says which signals never moved in normal data."""
        nodes = len(is_constant)
        self._rule, self._smooth, self._day = rule, smooth, day
        self._cap = np.where(is_constant, CONSTANT_CAP, CAP)
        self._capped = np.zeros((smooth, nodes))  # the last rows
        self._strong = np.zeros((smooth, nodes))
        self._filled = 0
        self._over = np.zeros((day, nodes), np.bool_)  # of the last day
        self._total = np.zeros(nodes, np.int64)
        self._row = 0
        self._muted = np.zeros(nodes, np.bool_)
        self._in_alarm = False
        self._left_out = np.zeros(nodes, np.bool_)  # stood already when the present alarm began
        self._silent = 0  # judged rows since the present alarm was last heard
        self._mean = np.zeros(nodes)  # since the present alarm began
        self._evidence = 0

    def push(self, unusual: Floats) -> Verdict:
        """Take how unusual the nodes are [e p], in levels; return scores and strengths."""
        scores = np.empty(len(unusual))
        strengths = np.zeros(unusual.shape)
        muted = np.zeros(unusual.shape, np.bool_)
        for at, row in enumerate(unusual):
            scores[at] = self._take(row)
            strengths[at] = self._strength()
            muted[at] = self._muted
        return Verdict(scores, strengths, muted)

    def _take(self, row: Floats) -> float:
        rule, slot = self._rule, self._row % self._smooth
        self._capped[slot] = np.minimum(row, self._cap)
        self._strong[slot] = np.minimum(row, STRENGTH_CAP)
        self._filled = min(self._filled + 1, self._smooth)
        rows = self._capped[: self._filled]
        self._stand(rows.mean(axis=0) >= rule.threshold)
        heard = np.where(self._muted, 0.0, rows)
        score = float(heard.max(axis=1).mean()) if rows.shape[1] else 0.0
        self._remember(slot, score >= rule.threshold)
        self._row += 1
        return score

    def _stand(self, over: Bools) -> None:
        slot = self._row % self._day
        self._total += over.astype(np.int64) - self._over[slot]
        self._over[slot] = over
        self._muted |= self._total >= STANDING * self._day
        self._muted &= self._total > QUIET * self._day

    def _remember(self, slot: int, is_alarm: bool) -> None:
        """Keep the mean evidence of each node since the present alarm began, and of the rows that led to it."""
        self._silent = 0 if is_alarm else self._silent + 1
        if is_alarm and not self._in_alarm:
            self._in_alarm, self._left_out = True, self._muted.copy()
            self._mean, self._evidence = self._strong[: self._filled].mean(axis=0), self._filled
        elif is_alarm:
            self._evidence = min(self._evidence + 1, MOST_EVIDENCE)
            self._mean = self._mean + (self._strong[slot] - self._mean) / self._evidence
        elif self._silent > HOLD:
            self._in_alarm = False

    def _strength(self) -> Floats:
        """Return how strongly each node is the place; a node that comes to stand in an alarm remains its place."""
        if self._in_alarm:
            return np.asarray(np.where(self._left_out, 0.0, self._mean))
        return np.asarray(np.where(self._muted, 0.0, self._capped[(self._row - 1) % self._smooth]))
