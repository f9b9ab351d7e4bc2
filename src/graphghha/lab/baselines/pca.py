"""PCA residual: what a linear model of all signals of a zone cannot explain, signal by signal."""

from dataclasses import dataclass

import numpy as np

from graphghha.graph import CpsGraph
from graphghha.lab.baselines.base import MEAN_MIN, BaselineInput, Floats, TrainingData, as_probs, attack_score, on_nodes
from graphghha.lab.metrics import kind_classes
from graphghha.plants import Plant
from graphghha.plants.rules import mean

KEPT = 0.95  # share of the variance that the components explain
TAIL = 0.001  # share of normal residuals beyond the limit


@dataclass(frozen=True, slots=True)
class PcaResidual:
    template: CpsGraph
    center: Floats  # [S]
    scale: Floats  # [S]
    axes: Floats  # [k S] orthonormal
    limit: Floats  # [S] the largest normal residual

    def score(self, inputs: BaselineInput) -> Floats:
        ratio = np.abs(self.residual(mean(inputs.readings, MEAN_MIN))) / self.limit
        attack = on_nodes(self.template, attack_score(np.nan_to_num(ratio)))
        return as_probs(attack, kind_classes(self.template))

    def residual(self, readings: Floats) -> Floats:
        """Return the unexplained part [.. S] in standard deviations; unknown readings count as the mean."""
        standard = np.nan_to_num((readings - self.center) / self.scale)
        left: Floats = standard - (standard @ self.axes.T) @ self.axes
        return left


def fit_pca(plant: Plant, data: TrainingData) -> PcaResidual:
    """Fit on quarter-hour means of normal operation; one normal residual in a thousand exceeds its limit."""
    center, scale = data.means.mean(axis=0), np.maximum(data.means.std(axis=0), 1e-3)
    _, spread, axes = np.linalg.svd((data.means - center) / scale, full_matrices=False)
    share = np.cumsum(spread**2) / np.sum(spread**2)
    axes = axes[: int(np.searchsorted(share, KEPT)) + 1]
    unlimited = PcaResidual(plant.template, center, scale, axes, np.ones_like(center))
    limit = np.quantile(np.abs(unlimited.residual(data.means)), 1 - TAIL, axis=0)
    return PcaResidual(plant.template, center, scale, axes, np.maximum(limit, 0.05))
