"""Whether a plant of the user's own is attacked, and where, from what is unusual about its nodes.

Whether: the most unusual node of a row counts, up to a cap, averaged over some judged rows; at the threshold the plant
is in alarm. A node that has been in alarm for half a day stands: it is no longer counted until it has been quiet for a
day. Where: a node began to be unusual with a strength and at a time; the plant's leading node is strong and early.

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
STRENGTH_CAP = 10.0
WARN = 1.0
FORGET = 4  # judged rows without a warning
FIRST = 8  # judged rows of an alarm or a warning that its strength is computed from
GRACE = 2  # judged rows that a node may begin later and still be first
AHEAD = 128  # judged rows that the first move of a signal counts as begun earlier, if it never moved in normal data
HOLD = 8  # judged rows of silence after which an alarm is over, and the next one is an alarm of its own
STANDING, QUIET = 0.5, 0.05  # shares of a day


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
        self._ahead = np.where(is_constant, AHEAD, 0)
        self._cap = np.where(is_constant, CONSTANT_CAP, CAP)
        self._capped = np.zeros((smooth, nodes))  # the last rows
        self._filled = 0
        self._over = np.zeros((day, nodes), np.bool_)  # of the last day
        self._total = np.zeros(nodes, np.int64)
        self._row = 0
        self._muted = np.zeros(nodes, np.bool_)
        self._began = np.full(nodes, -1, np.int64)
        self._peak = np.zeros(nodes)
        self._warnings = np.zeros(nodes, np.int64)
        self._calm = np.zeros(nodes, np.int64)
        self._alarm_began = -1
        self._silent = 0  # judged rows since the present alarm was last heard
        self._mean = np.zeros(nodes)  # of the first rows of the present alarm
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
        self._filled = min(self._filled + 1, self._smooth)
        rows = self._capped[: self._filled]
        smoothed = rows.mean(axis=0)
        self._stand(smoothed >= rule.threshold)
        heard = np.where(self._muted, 0.0, rows)
        score = float(heard.max(axis=1).mean()) if rows.shape[1] else 0.0
        self._remember(np.where(self._muted, 0.0, row), score >= rule.threshold)
        self._row += 1
        return score

    def _stand(self, over: Bools) -> None:
        slot = self._row % self._day
        self._total += over.astype(np.int64) - self._over[slot]
        self._over[slot] = over
        self._muted |= self._total >= STANDING * self._day
        self._muted &= self._total > QUIET * self._day

    def _remember(self, row: Floats, is_alarm: bool) -> None:
        """Keep when each node began to warn and how strongly, and the mean over the present alarm."""
        warns = row > WARN
        self._calm = np.where(warns, 0, self._calm + 1)
        fresh = warns & (self._began < 0)
        self._began[fresh] = self._row
        self._peak[fresh] = 0.0
        self._warnings[fresh] = 0
        self._warnings += warns
        young = (self._began >= 0) & (self._row - self._began < FIRST)
        self._peak = np.where(young, np.maximum(self._peak, np.minimum(row, STRENGTH_CAP)), self._peak)
        self._silent = 0 if is_alarm else self._silent + 1
        if is_alarm or (self._alarm_began >= 0 and self._silent <= HOLD):
            if self._alarm_began < 0:
                self._alarm_began = self._row
                recent = self._capped[: self._filled]
                self._mean = np.where(self._muted, 0.0, recent).sum(axis=0)
                self._evidence = self._filled
            elif self._row - self._alarm_began < FIRST:  # later, consequences outgrow the cause
                self._mean = self._mean + np.minimum(row, STRENGTH_CAP)
                self._evidence += 1
        else:
            self._alarm_began = -1
            over = self._calm >= FORGET
            self._began[over] = -1
            self._peak[over] = 0.0

    def _strength(self) -> Floats:
        """Return how strongly each node is the place: its mean over the alarm, less if it began late."""
        if self._alarm_began < 0:
            return np.minimum(np.where(self._muted, 0.0, self._capped[(self._row - 1) % self._smooth]), CAP)
        mean = self._mean / max(1, self._evidence)
        began = np.where((self._began >= 0) & (self._warnings >= 2), self._began - self._ahead, self._row)
        first = int(began.min(initial=self._row))
        late = np.maximum(began - first - GRACE, 0)
        return np.asarray((mean + self._peak * 1e-3) * np.exp(-self._rule.early * late))
