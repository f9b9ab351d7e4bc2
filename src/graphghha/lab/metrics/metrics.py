"""Precision, recall, F1 and the precision-recall curve, with the undefined named instead of hidden.

`zero_division` is what a ratio without a denominator is: 0.0, 1.0, or NaN, which means leave out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import DataError, SchemaError

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """Precision, recall and F1 of one yes-or-no question."""

    p: float
    r: float
    f1: float


@dataclass(frozen=True, slots=True)
class ClassScores:
    """The same per class [c], with the number of true samples."""

    p: Floats
    r: Floats
    f1: Floats
    support: NDArray[np.int64]

    def macro(self, classes: Sequence[int] | None = None) -> Scores:
        """Plain mean over classes, or over some of them; NaN entries are left out."""
        chosen = slice(None) if classes is None else list(classes)
        means = [_mean(column[chosen]) for column in (self.p, self.r, self.f1)]
        return Scores(*means)


def confusion(truth: NDArray[Any], predicted: NDArray[Any], num_classes: int) -> NDArray[np.int64]:
    """Counts [c c + 1], row = true class, column = predicted; the last column is "unknown" (negative)."""
    truth, predicted = np.ravel(truth), np.ravel(predicted)
    if truth.shape != predicted.shape:
        raise SchemaError(f"metrics: {truth.size} labels and {predicted.size} predictions")
    if truth.size and not (truth.min() >= 0 and max(truth.max(), predicted.max()) < num_classes):
        raise SchemaError(f"metrics: classes must lie in 0 to {num_classes - 1}; only a prediction may be unknown")
    column = np.where(predicted < 0, num_classes, predicted)
    counts = np.bincount(truth.astype(np.int64) * (num_classes + 1) + column, minlength=num_classes * (num_classes + 1))
    return counts.reshape(num_classes, num_classes + 1)


def class_scores(counts: NDArray[np.int64], *, zero_division: float) -> ClassScores:
    """Scores per class from a confusion matrix. An unknown prediction is a miss, never a false one."""
    num_classes = len(counts)
    hits = np.diagonal(counts).astype(np.float64)
    support = counts.sum(axis=1)
    claimed = counts[:, :num_classes].sum(axis=0)
    return ClassScores(
        _ratio(hits, claimed, zero_division),
        _ratio(hits, support, zero_division),
        _ratio(2 * hits, claimed + support, zero_division),
        support,
    )


def binary_scores(truth: Bools, alarmed: Bools, *, zero_division: float) -> Scores:
    """Scores of "is attacked"."""
    hits = float(np.count_nonzero(truth & alarmed))
    claimed, support = np.count_nonzero(alarmed), np.count_nonzero(truth)
    ratios = ((hits, claimed), (hits, support), (2 * hits, claimed + support))
    return Scores(*(over / under if under else zero_division for over, under in ratios))


@dataclass(frozen=True, slots=True)
class Detection:
    """Node-minute scores of one test, and what was left out of them."""

    scores: Scores  # without unobservable node-minutes
    raw: Scores  # with them
    f1_ceiling: float  # raw F1 of a perfect detector of the observable
    prevalence: float  # attacked share of the node-minutes in `raw`
    unobservable: int  # node-minutes attacked but not observable
    recovering: int  # node-minutes after an attack, in neither figure
    recovering_alarmed: float  # share of them in alarm


def counted(truth: Bools, observable: Bools, recovering: Bools) -> tuple[Bools, Bools]:
    """Which node-minutes count: in raw figures, and in those without the unobservable ones.

    Attacked wins over recovering: a second attack during recovery is an attack.
    """
    raw = truth | ~recovering
    return raw, raw & ~(truth & ~observable)


def detection(
    truth: Bools, alarmed: Bools, observable: Bools, recovering: Bools, *, zero_division: float = float("nan")
) -> Detection:
    """All arrays have one shape: truth, the detector's word, and the two marks of the labels."""
    if not truth.shape == alarmed.shape == observable.shape == recovering.shape:
        raise SchemaError("metrics: truth, alarmed, observable and recovering must have one shape")
    in_raw, kept = counted(truth, observable, recovering)
    ceiling = binary_scores(truth[in_raw], (truth & observable)[in_raw], zero_division=zero_division)
    num_apart = int(np.count_nonzero(~in_raw))
    return Detection(
        scores=binary_scores(truth[kept], alarmed[kept], zero_division=zero_division),
        raw=binary_scores(truth[in_raw], alarmed[in_raw], zero_division=zero_division),
        f1_ceiling=ceiling.f1,
        prevalence=_mean(truth[in_raw].astype(np.float64)),
        unobservable=int(np.count_nonzero(in_raw & ~kept)),
        recovering=num_apart,
        recovering_alarmed=np.count_nonzero(alarmed & ~in_raw) / num_apart if num_apart else float("nan"),
    )


def balanced_scores(alarmed: Bools, normal_alarmed: Bools, *, zero_division: float = 0.0) -> Scores:
    """One case against as many normal samples: the normal ones are weighted, not drawn, so nothing is random.

    With recall r and false-positive rate q: p = r / (r + q), F1 = 2r / (1 + r + q). "Always" scores 2/3.
    """
    if not (alarmed.size and normal_alarmed.size):
        raise DataError("metrics: balanced scores need samples of the case and normal ones")
    recall, false_rate = float(alarmed.mean()), float(normal_alarmed.mean())
    claimed = recall + false_rate
    return Scores(recall / claimed if claimed else zero_division, recall, 2 * recall / (1 + claimed))


def macro_over_cases(scores: Mapping[str, Scores]) -> Scores:
    """The plain mean over cases."""
    return Scores(*(_mean(np.array([getattr(s, name) for s in scores.values()])) for name in ("p", "r", "f1")))


def thin_pr_curve(truth: Bools, score: NDArray[Any], points: int = 200) -> tuple[Floats, Floats, NDArray[Any]]:
    """Precision, recall and threshold, highest score first, at about evenly spaced recalls: enough to draw.

    A score that is NaN, a node that is unknown, comes last: no threshold reaches it before all others.
    """
    if not truth.any():
        raise DataError("metrics: a precision-recall curve needs at least one attacked sample")
    every, attacked = _sorted_scores(truth, score)
    places = np.unique(np.linspace(0, attacked.size - 1, points).round().astype(np.int64))
    return _curve_at(np.unique(attacked[places])[::-1], every, attacked)


def average_precision(truth: Bools, score: NDArray[Any]) -> float:
    """AUC-PR as the sum of precision x gain in recall, without interpolation; NaN without attacked samples."""
    if not truth.any():
        return float("nan")
    every, attacked = _sorted_scores(truth, score)
    # recall gains only at scores of attacked samples: the other points of the curve add nothing
    precision, recall, _ = _curve_at(np.unique(attacked)[::-1], every, attacked)
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def _sorted_scores(truth: Bools, score: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """All scores and those of attacked samples, ascending. Sorting values, not indices, is ten times faster."""
    truth, score = np.ravel(truth), np.ravel(score)
    score = np.where(np.isnan(score), -np.inf, score).astype(score.dtype, copy=False)
    return np.sort(score), np.sort(score[truth])


def _curve_at(
    thresholds: NDArray[Any], every: NDArray[Any], attacked: NDArray[Any]
) -> tuple[Floats, Floats, NDArray[Any]]:
    claimed = every.size - np.searchsorted(every, thresholds)
    hits = attacked.size - np.searchsorted(attacked, thresholds)
    return hits / claimed, hits / attacked.size, thresholds


def _ratio(over: Floats, under: NDArray[Any], zero_division: float) -> Floats:
    under = np.asarray(under, np.float64)
    return np.where(under > 0, over / np.where(under > 0, under, 1.0), zero_division)


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
