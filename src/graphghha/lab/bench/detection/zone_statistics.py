"""Statistics that need no attack to be taught: is a zone attacked, and at which node, from the evidence alone.

Evidence is the logarithm of how far a node is from what is expected, in units of what is rarely reached there. t judged
rows, k rows of the days of commissioning, Z zones, n nodes of a zone.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from graphghha.lab.bench.detection.zone_trials import Floats, Trial, evidence, recent_mean
from graphghha.windows.evidence import RELATIVE, SPAN_NAMES
from graphghha.windows.multiscale import DAY, HOUR

Evidence = TypeVar("Evidence", Tensor, Floats)
EULER = 0.5772156649
LEAST_SCALE = 0.05  # of a Gumbel distribution, in logarithms
SLACK = 0.5  # evidence per row that a sum forgets, in units of what is rarely reached
LARGEST_TERM = 3.0  # of evidence in one row of a sum
MOST = 60.0  # where sums stop growing, so that they forget an attack within hours
WARNING = float(np.log1p(4.0))  # evidence of one unit
# evidence of this size, in units of what is rarely exceeded, counts as much as these log-odds
ALARMING_EVIDENCE, ALARMING_ODDS, ODDS_PER_EVIDENCE = 3.0, 4.5, 6.0
LOOKED_BACK = 288  # judged rows: a day


def largest_evidence(trial: Trial) -> Floats:
    """Return the largest evidence [t Z] of any node and span."""
    return recent_mean(evidence(trial.features).max(axis=2))


def largest_relative_evidence(trial: Trial) -> Floats:
    """Return the largest evidence [t Z] that is also evidence against the other zones."""
    own = np.abs(trial.features[..., list(RELATIVE)])
    against = np.abs(trial.features[..., len(SPAN_NAMES) : len(SPAN_NAMES) + len(RELATIVE)])
    return recent_mean(np.minimum(own, against).max(axis=(2, 3)).astype(np.float32))


def gumbel_tail(trial: Trial) -> Floats:
    """Return how unlikely the largest evidence [t Z] is under a Gumbel fit to the daily maxima of each zone."""
    rows = int(DAY / trial.step_s)
    own = trial.own_evidence[: len(trial.own_evidence) // rows * rows]
    highest = own.reshape(-1, rows, own.shape[1]).max(axis=1)  # [days Z]
    scale = np.maximum(highest.std(axis=0, ddof=1) * np.sqrt(6.0) / np.pi, LEAST_SCALE)
    middle = highest.mean(axis=0) - EULER * scale
    tail: Floats = (largest_evidence(trial) - middle) / scale
    return tail


def conformal_tail(trial: Trial) -> Floats:
    """Return minus the logarithm of the conformal p-value of the largest evidence [t Z], averaged over an hour.

    The p-value compares with the days of commissioning of all zones. The average is needed because a p-value cannot be
    below one by the number of rows of those days.
    """
    own = np.sort(trial.own_evidence.ravel())
    now = evidence(trial.features).max(axis=2)
    above = len(own) - np.searchsorted(own, now, side="left")
    rows = HOUR // int(trial.step_s)
    return _trailing_mean(-np.log((1.0 + above) / (1.0 + len(own))), rows)


def evidence_cusum(trial: Trial) -> Floats:
    """Return the largest two-sided cumulative sum [t Z] of the evidence of any node in five minutes."""
    now = trial.features[..., 0].astype(np.float64)
    units = np.sign(now) * np.minimum(np.expm1(np.abs(now)) / 4.0, LARGEST_TERM)
    up, down = (_cusum(sign * units - SLACK) for sign in (1.0, -1.0))
    largest: Floats = np.log1p(np.maximum(up, down).max(axis=2))
    return largest


def odds_cusum(odds: Floats) -> Floats:
    """Return the cumulative sum [t Z] of the log-odds of zones [t Z]."""
    return _cusum(odds)


def with_witness(odds: Floats, trial: Trial) -> Floats:
    """Return the larger one of the log-odds of zones [t Z] and of those by their largest evidence alone."""
    witnessed: Floats = np.maximum(odds, witness_odds(largest_evidence(trial)))
    return witnessed


def witness_odds(largest: Evidence) -> Evidence:
    """Return the log-odds of zones by their largest evidence alone."""
    above: Evidence = largest - float(np.log1p(4 * ALARMING_EVIDENCE))
    return ALARMING_ODDS + ODDS_PER_EVIDENCE * above


def first_cause(trial: Trial, row: int, zone: int) -> NDArray[np.float64]:
    """Return a score for every node [n] at one row, highest where evidence rose first and has not ceased since."""
    start = max(0, row + 1 - LOOKED_BACK)
    size = evidence(trial.features[start : row + 1, zone])  # [rows n]
    warns = size >= WARNING
    quiet_since = np.where(warns.any(axis=0), np.argmax(~warns[::-1], axis=0), 0)
    age = np.where(warns.all(axis=0), len(warns), quiet_since).astype(np.float64)
    score: NDArray[np.float64] = age + size[-1] / 100.0  # of equally old ones the largest
    return score


def _cusum(terms: Floats) -> Floats:
    total = np.zeros(terms.shape)
    before = np.zeros(terms.shape[1:])
    for row, term in enumerate(terms):
        before = np.clip(before + term, 0.0, MOST)
        total[row] = before
    return total


def _trailing_mean(values: Floats, rows: int) -> Floats:
    padded = np.concatenate([np.repeat(values[:1], rows - 1, axis=0), values])
    total = np.concatenate([np.zeros_like(padded[:1]), padded.cumsum(axis=0)])
    mean: Floats = (total[rows:] - total[:-rows]) / rows
    return mean
