"""PCA residual: what a linear model of all signals of a zone cannot explain, signal by signal."""

from dataclasses import dataclass

import numpy as np

from graphghha.graph import CpsGraph
from graphghha.lab.baselines.base import MEAN_MIN, Floats, TrainingData, View, as_probs, on_nodes, suspicion
from graphghha.lab.metrics.equivalence import kind_classes
from graphghha.plants import Plant
from graphghha.plants.rules import mean

KEPT = 0.95  # of the variance
TAIL = 0.001


@dataclass(frozen=True, slots=True)
class PcaResidual:
    template: CpsGraph
    center: Floats  # [S]
    scale: Floats  # [S]
    axes: Floats  # [k S] orthonormal
    limit: Floats  # [S] of the residual

    def score(self, view: View) -> Floats:
        ratio = np.abs(self.residual(mean(view.readings, MEAN_MIN))) / self.limit
        attack = on_nodes(self.template, suspicion(np.nan_to_num(ratio)))
        return as_probs(attack, kind_classes(self.template))

    def residual(self, readings: Floats) -> Floats:
        """[.. S] in standard deviations; an unknown reading counts as the mean."""
        standard = np.nan_to_num((readings - self.center) / self.scale)
        left: Floats = standard - (standard @ self.axes.T) @ self.axes
        return left


def fit_pca(plant: Plant, data: TrainingData) -> PcaResidual:
    """On quarter-hour means of normal operation; limits are what one residual in a thousand exceeds."""
    center, scale = data.means.mean(axis=0), np.maximum(data.means.std(axis=0), 1e-3)
    _, spread, axes = np.linalg.svd((data.means - center) / scale, full_matrices=False)
    share = np.cumsum(spread**2) / np.sum(spread**2)
    axes = axes[: int(np.searchsorted(share, KEPT)) + 1]
    unlimited = PcaResidual(plant.template, center, scale, axes, np.ones_like(center))
    limit = np.quantile(np.abs(unlimited.residual(data.means)), 1 - TAIL, axis=0)
    return PcaResidual(plant.template, center, scale, axes, np.maximum(limit, 0.05))
