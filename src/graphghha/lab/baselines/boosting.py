"""Gradient boosting on all windows of a zone: is the zone attacked, and at which node? It uses no graph.

Shapes: k windows of one zone, n nodes of the template, f features.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.errors import EngineError
from graphghha.lab.baselines.base import BaselineInput, Floats, TrainingData, as_probs
from graphghha.lab.metrics import kind_classes
from graphghha.plants import Plant

NOWHERE = 0  # label of a zone without an attack; an attack on node i has label i + 1
MOST_ROWS = 100_000  # half of them attacked
# without regularization the leaves of rarely attacked nodes get huge values and every probability becomes 0 or 1
TREES = {
    "max_iter": 50,
    "learning_rate": 0.12,
    "max_leaf_nodes": 12,
    "min_samples_leaf": 20,
    "max_features": 0.15,
    "l2_regularization": 5.0,
}


@dataclass(frozen=True, slots=True)
class Boosting:
    """One classifier over places: nowhere, or one of the nodes."""

    trees: Any
    columns: NDArray[np.int64]  # the flattened features that are not constant
    classes: NDArray[np.int64]  # [n] the class that each node was attacked with most often

    def score(self, inputs: BaselineInput) -> Floats:
        minutes, zones, nodes, _ = inputs.features.shape
        rows = _flat(inputs.features, inputs.known)[:, self.columns]
        places = np.zeros((len(rows), nodes + 1), np.float32)
        places[:, self.trees.classes_] = self.trees.predict_proba(rows)
        return as_probs(places[:, 1:].reshape(minutes, zones, nodes), self.classes)


def fit_boosting(plant: Plant, data: TrainingData) -> Boosting:
    """Fit on windows whose label counts; a window with two attacked nodes gives two rows."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError as exc:
        raise EngineError("baseline boosting needs scikit-learn: pip install 'graphghha[bench]'") from exc
    rng = np.random.default_rng([data.seed, 6])
    attacked = (data.labels > 0) & data.counts
    normal = np.flatnonzero((data.labels == 0).all(axis=1) & data.counts.all(axis=1))
    windows, nodes = np.nonzero(attacked)
    chosen = rng.permutation(len(windows))[: MOST_ROWS // 2]
    windows, nodes = windows[chosen], nodes[chosen]
    normal = rng.permutation(normal)[: MOST_ROWS - len(windows)]
    rows = np.concatenate([windows, normal])
    places = np.concatenate([nodes + 1, np.full(len(normal), NOWHERE)])
    inputs = _flat(data.features[rows], np.ones(data.features[rows].shape[:-1], np.bool_))
    columns = np.flatnonzero(inputs.std(axis=0) > 0)
    trees = HistGradientBoostingClassifier(**TREES, early_stopping=False, random_state=data.seed)
    trees.fit(inputs[:, columns], places)
    return Boosting(trees, columns, _usual_classes(plant, data))


def _usual_classes(plant: Plant, data: TrainingData) -> NDArray[np.int64]:
    """Return the most frequent attack class of each node; a node that was never attacked gets the class of its kind."""
    counts = np.stack([((data.labels == label) & data.counts).sum(axis=0) for label in range(1, len(CLASSES))])
    return np.where(counts.any(axis=0), 1 + counts.argmax(axis=0), kind_classes(plant.template))


def _flat(features: Floats, known: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Flatten features [.. n f] to [k n*f]; unknown nodes become NaN, which the trees accept."""
    shown = np.where(known[..., None], features, np.float32(np.nan)).astype(np.float32)
    return shown.reshape(-1, shown.shape[-2] * shown.shape[-1])
