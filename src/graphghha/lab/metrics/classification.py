"""Precision, recall, F1 and the precision-recall curve of node-minutes.

`zero_division` is the value of a ratio whose denominator is zero: 0.0, 1.0, or NaN, which means undefined.
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
    """Precision, recall and F1 per class [c], with the number of true samples of each."""

    p: Floats
    r: Floats
    f1: Floats
    support: NDArray[np.int64]

    def macro(self, classes: Sequence[int] | None = None) -> Scores:
        """Return the unweighted mean over all or some classes; NaN entries are left out."""
        chosen = slice(None) if classes is None else list(classes)
        means = [_mean(column[chosen]) for column in (self.p, self.r, self.f1)]
        return Scores(*means)


def confusion(truth: NDArray[Any], predicted: NDArray[Any], num_classes: int) -> NDArray[np.int64]:
    """Return counts [c c + 1] by true class (row) and prediction (column); negative predictions count as unknown."""
    truth, predicted = np.ravel(truth), np.ravel(predicted)
    if truth.shape != predicted.shape:
        raise SchemaError(f"metrics: {truth.size} labels and {predicted.size} predictions")
    if truth.size and not (truth.min() >= 0 and max(truth.max(), predicted.max()) < num_classes):
        raise SchemaError(f"metrics: classes must lie in 0 to {num_classes - 1}; only predictions may be negative")
    column = np.where(predicted < 0, num_classes, predicted)
    counts = np.bincount(truth.astype(np.int64) * (num_classes + 1) + column, minlength=num_classes * (num_classes + 1))
    return counts.reshape(num_classes, num_classes + 1)


def class_scores(counts: NDArray[np.int64], *, zero_division: float) -> ClassScores:
    """Return the scores per class of a confusion matrix. An unknown prediction is a miss and not a false alarm."""
    num_classes = len(counts)
    hits = np.diagonal(counts).astype(np.float64)
    support = counts.sum(axis=1)
    predicted = counts[:, :num_classes].sum(axis=0)
    return ClassScores(
        _ratio(hits, predicted, zero_division),
        _ratio(hits, support, zero_division),
        _ratio(2 * hits, predicted + support, zero_division),
        support,
    )


def binary_scores(truth: Bools, alarmed: Bools, *, zero_division: float) -> Scores:
    """Return the scores of the question "is this node attacked?"."""
    hits = float(np.count_nonzero(truth & alarmed))
    predicted, support = np.count_nonzero(alarmed), np.count_nonzero(truth)
    ratios = ((hits, predicted), (hits, support), (2 * hits, predicted + support))
    return Scores(*(over / under if under else zero_division for over, under in ratios))


@dataclass(frozen=True, slots=True)
class Detection:
    """Scores of the node-minutes of one test, and how many node-minutes were left out."""

    scores: Scores  # without unobservable node-minutes
    raw: Scores  # with them
    f1_ceiling: float  # raw F1 of a detector that finds exactly the observable node-minutes
    prevalence: float  # attacked share of the node-minutes in `raw`
    unobservable: int  # node-minutes attacked but not observable
    recovering: int  # node-minutes after an attack, counted in neither
    recovering_alarmed: float  # share of the recovering ones that are in alarm


def counted(truth: Bools, observable: Bools, recovering: Bools) -> tuple[Bools, Bools]:
    """Return which node-minutes count in raw scores, and which in scores without the unobservable ones.

    A node that is attacked again while it recovers counts as attacked.
    """
    raw = truth | ~recovering
    return raw, raw & ~(truth & ~observable)


def detection(
    truth: Bools, alarmed: Bools, observable: Bools, recovering: Bools, *, zero_division: float = float("nan")
) -> Detection:
    """Compare what is in alarm with the labels; all arrays have the same shape."""
    if not truth.shape == alarmed.shape == observable.shape == recovering.shape:
        raise SchemaError("metrics: truth, alarmed, observable and recovering must have the same shape")
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
    """Return the scores of one case against equally many normal samples.

    Normal samples are weighted instead of drawn at random. With recall r and false-positive rate q: p = r / (r + q),
    F1 = 2r / (1 + r + q). A detector that always alarms scores 2/3.
    """
    if not (alarmed.size and normal_alarmed.size):
        raise DataError("metrics: balanced scores need samples of the case and normal ones")
    recall, false_rate = float(alarmed.mean()), float(normal_alarmed.mean())
    alarms = recall + false_rate
    return Scores(recall / alarms if alarms else zero_division, recall, 2 * recall / (1 + alarms))


def macro_over_cases(scores: Mapping[str, Scores]) -> Scores:
    """Return the unweighted mean over cases."""
    return Scores(*(_mean(np.array([getattr(s, name) for s in scores.values()])) for name in ("p", "r", "f1")))


def thin_pr_curve(truth: Bools, score: NDArray[Any], points: int = 200) -> tuple[Floats, Floats, NDArray[Any]]:
    """Return precision, recall and threshold, highest score first, at about `points` evenly spaced recalls.

    A NaN score (an unknown node) is ranked below all others.
    """
    if not truth.any():
        raise DataError("metrics: a precision-recall curve needs at least one attacked sample")
    every, attacked = _sorted_scores(truth, score)
    places = np.unique(np.linspace(0, attacked.size - 1, points).round().astype(np.int64))
    return _curve_at(np.unique(attacked[places])[::-1], every, attacked)


def average_precision(truth: Bools, score: NDArray[Any]) -> float:
    """Return AUC-PR: the sum of precision times gain in recall, without interpolation; NaN without attacked samples."""
    if not truth.any():
        return float("nan")
    every, attacked = _sorted_scores(truth, score)
    # recall grows only at the scores of attacked samples; the other points of the curve add nothing
    precision, recall, _ = _curve_at(np.unique(attacked)[::-1], every, attacked)
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def _sorted_scores(truth: Bools, score: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return all scores and those of attacked samples, ascending. Sorting values instead of indices is much faster."""
    truth, score = np.ravel(truth), np.ravel(score)
    score = np.where(np.isnan(score), -np.inf, score).astype(score.dtype, copy=False)
    return np.sort(score), np.sort(score[truth])


def _curve_at(
    thresholds: NDArray[Any], every: NDArray[Any], attacked: NDArray[Any]
) -> tuple[Floats, Floats, NDArray[Any]]:
    predicted = every.size - np.searchsorted(every, thresholds)
    hits = attacked.size - np.searchsorted(attacked, thresholds)
    return hits / predicted, hits / attacked.size, thresholds


def _ratio(over: Floats, under: NDArray[Any], zero_division: float) -> Floats:
    under = np.asarray(under, np.float64)
    return np.where(under > 0, over / np.where(under > 0, under, 1.0), zero_division)


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
