"""Methods without a graph that answer the questions of a model that judges zones, taught on its own windows.

Both read all features of a zone at once. Like the model, they give every node its log-odds against "the zone is
normal". w windows, n nodes of the template, f features.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from graphghha.errors import EngineError
from graphghha.lab.training.fit import Progress
from graphghha.lab.training.zone_fit import HIDDEN_NODE, NodeOdds, ZoneFitConfig, fit_zones
from graphghha.lab.training.zone_windows import ZoneWindows

WIDTH = 256
MLP_FIT = ZoneFitConfig(epochs=5, learning_rate=2e-3, weight_decay=0.05)
BATCH = 4096  # windows
NOWHERE = 0  # the place of a zone without an attack; an attack on node i has place i + 1
LEAST_PROBABILITY = 1e-6
MOST_ROWS = 20_000
TREES = {
    "max_iter": 40,
    "learning_rate": 0.15,
    "max_leaf_nodes": 16,
    "max_bins": 32,
    "min_samples_leaf": 20,
    "max_features": 0.15,
    "l2_regularization": 5.0,
}

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]
Locator = Callable[[Floats, Bools], Floats]  # features [w n f] and known nodes [w n] to log-odds [w n]


class ZoneMlp(nn.Module):
    """A multilayer perceptron over all features of a zone."""

    def __init__(self, num_nodes: int, num_features: int, width: int = WIDTH) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(num_nodes * (num_features + 1), width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, num_nodes),
        )

    def forward(self, features: Tensor, known: Tensor) -> Tensor:
        """Return the log-odds [w n] of every node."""
        odds: Tensor = self.layers(torch.cat([features.flatten(1), known.float()], dim=1))
        return odds


def fit_zone_mlp(
    data: ZoneWindows, config: ZoneFitConfig = MLP_FIT, on_step: Callable[[Progress], None] = lambda progress: None
) -> ZoneMlp:
    """Fit the perceptron with the loss, the schedule and the hidden points of the model."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        network = ZoneMlp(data.known.shape[1], data.features.shape[2])
    fit_zones(network, network, data, config, on_step=on_step)
    return network


def torch_locator(odds: NodeOdds) -> Locator:
    """Return a locator that evaluates a network in batches; unknown nodes get no share."""

    def locate(features: Floats, known: Bools) -> Floats:
        parts = [np.zeros(known[:0].shape, np.float32)]
        with torch.no_grad():
            for at in range(0, len(features), BATCH):
                seen = torch.as_tensor(known[at : at + BATCH])
                values = odds(torch.as_tensor(np.asarray(features[at : at + BATCH], np.float32)), seen)
                parts.append(values.masked_fill(~seen, HIDDEN_NODE).numpy())
        return np.concatenate(parts)

    return locate


@dataclass(frozen=True, slots=True)
class ZoneBoosting:
    """Boosted trees that choose among the places of a zone: nowhere, or one of its nodes."""

    trees: Any
    columns: NDArray[np.int64]  # the flattened features that are not constant
    rows: int  # that it was fitted on

    def __call__(self, features: Floats, known: Bools) -> Floats:
        """Return the log-odds [w n] of every node."""
        places = np.full((len(features), known.shape[1] + 1), LEAST_PROBABILITY)
        if len(features):
            places[:, self.trees.classes_] = self.trees.predict_proba(_flat(features, known)[:, self.columns])
        logs = np.log(np.maximum(places, LEAST_PROBABILITY))
        return np.where(known, logs[:, 1:] - logs[:, :1], HIDDEN_NODE)


def fit_zone_boosting(data: ZoneWindows, seed: int, most_rows: int = MOST_ROWS) -> ZoneBoosting:
    """Fit on a sample of the windows; each counts for one of its attacked nodes."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError as exc:
        raise EngineError("zone boosting needs scikit-learn: pip install 'graphghha[bench]'") from exc
    rng = np.random.default_rng([seed, 7])
    chosen = np.sort(rng.permutation(len(data))[:most_rows])
    part = data.select(chosen)
    draw = rng.random(part.targets.shape) * part.targets
    places = np.where(part.targets.any(axis=1), 1 + draw.argmax(axis=1), NOWHERE)
    inputs = _flat(part.features, part.known)
    columns = np.flatnonzero(np.nanstd(inputs, axis=0) > 0)
    trees = HistGradientBoostingClassifier(**TREES, early_stopping=False, random_state=seed)
    trees.fit(inputs[:, columns], places)
    return ZoneBoosting(trees, columns, len(part))


def _flat(features: Floats, known: Bools) -> NDArray[np.float32]:
    """Flatten features [w n f] to [w n*f]; unknown nodes become NaN, which the trees accept."""
    shown = np.where(known[..., None], features, np.float32(np.nan)).astype(np.float32)
    return shown.reshape(len(shown), -1)
