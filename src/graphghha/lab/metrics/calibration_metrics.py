"""How well probabilities are calibrated: calibration error, Brier score and reliability diagram."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import SchemaError

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

NUM_BINS = 15
LOWEST = 0.05  # almost all node-minutes lie below it and are normal: they would hide any error


@dataclass(frozen=True, slots=True)
class ReliabilityCurve:
    """Count, mean probability and observed frequency of each bin of equal width; NaN where a bin is empty."""

    edges: Floats  # [b + 1]
    counts: NDArray[np.int64]  # [b]
    confidence: Floats  # [b]
    frequency: Floats  # [b]


def reliability_curve(
    truth: Bools, prob: NDArray[Any], *, lowest: float = LOWEST, num_bins: int = NUM_BINS
) -> ReliabilityCurve:
    """Sort probabilities into equal bins between `lowest` and 1; unknown (NaN) and smaller ones are left out.

    The bins have equal width and not equal mass, so that no bin splits equal scores, the order of samples does not
    matter, and the diagram and the error use the same bins.
    """
    truth, prob = _paired(truth, prob)
    truth, prob = truth[prob >= lowest], prob[prob >= lowest]
    edges = np.linspace(lowest, 1.0, num_bins + 1)
    bins = np.clip(np.searchsorted(edges, prob, side="right") - 1, 0, num_bins - 1)
    counts = np.bincount(bins, minlength=num_bins)
    some = np.where(counts > 0, counts, np.nan)
    confidence = np.bincount(bins, prob, num_bins) / some
    frequency = np.bincount(bins, truth, num_bins) / some
    return ReliabilityCurve(edges, counts, confidence, frequency)


def expected_calibration_error(
    truth: Bools, prob: NDArray[Any], *, lowest: float = LOWEST, num_bins: int = NUM_BINS
) -> float:
    """Return the mean gap between probability and frequency, weighted by count; NaN if every sample is left out."""
    curve = reliability_curve(truth, prob, lowest=lowest, num_bins=num_bins)
    total = curve.counts.sum()
    if not total:
        return float("nan")
    gaps = np.where(curve.counts > 0, np.abs(curve.confidence - curve.frequency), 0.0)
    return float(np.sum(gaps * curve.counts) / total)


def brier_score(truth: Bools, prob: NDArray[Any]) -> float:
    """Return the mean squared error of the probabilities; unknown ones are left out."""
    truth, prob = _paired(truth, prob)
    return float(np.mean((prob - truth) ** 2)) if prob.size else float("nan")


def brier_skill(truth: Bools, prob: NDArray[Any]) -> float:
    """Return 1 - Brier score / Brier score of the constant prevalence; NaN if all samples have the same label."""
    truth, prob = _paired(truth, prob)
    if not 0 < np.count_nonzero(truth) < truth.size:
        return float("nan")
    prevalence = float(truth.mean())
    return 1.0 - brier_score(truth, prob) / (prevalence * (1.0 - prevalence))


def _paired(truth: Bools, prob: NDArray[Any]) -> tuple[Bools, Floats]:
    truth, prob = np.ravel(truth), np.ravel(prob).astype(np.float64)
    if truth.shape != prob.shape:
        raise SchemaError(f"metrics: {truth.size} labels and {prob.size} probabilities")
    known = ~np.isnan(prob)
    if (prob[known] < 0).any() or (prob[known] > 1).any():
        raise SchemaError("metrics: a probability lies outside 0 to 1; give probabilities, not logits")
    return truth[known], prob[known]
