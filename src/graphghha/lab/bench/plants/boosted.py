"""Boosting in the place of the network: the same inputs and data, node by node and without the graph."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphghha.engine.own_second import RunningOdds
from graphghha.exports.recordings import Recording
from graphghha.graph import CpsGraph
from graphghha.lab.evaluation.own_evaluate import Outcome
from graphghha.lab.training.own_attacks import synthetic_windows
from graphghha.lab.training.own_labels import Labelled, held_out_threshold, labelled_windows, taught_parts
from graphghha.lab.training.own_train import NormalFit, OwnRecipe
from graphghha.lab.training.zone_windows import ZoneWindows
from graphghha.windows.own_features import Judged, OwnFeaturizer, node_features

Floats = NDArray[np.float64]
OTHERS = 6  # nodes of a window that were not attacked
ROUNDS = 100
BLOCK = 2048  # judged rows at once


class BoostedDetector:
    """Boosting on the statistics of single nodes, with a threshold that keeps the whole alert budget."""

    def __init__(self, normal: NormalFit, recipe: OwnRecipe, labelled: Labelled) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        self._graph, self._own = normal.plant.template, normal.preprocessing
        parts = taught_parts(normal.parts)
        windows = [
            synthetic_windows(self._graph, self._own, parts, recipe.synthetic, recipe.seed),
            labelled_windows(self._graph, self._own, labelled, recipe.seed),
        ]
        features, targets = _nodes(ZoneWindows.concatenate(windows), self._graph, recipe.seed)
        self._model = HistGradientBoostingClassifier(max_iter=ROUNDS, random_state=recipe.seed)
        self._model.fit(features, targets)
        self.threshold, _ = held_out_threshold(self._odds, self._own, normal.parts, recipe.budget_per_day)

    def outcome(self, recordings: Sequence[Recording]) -> Outcome:
        """Return what it says of recordings."""
        scores, places = [], []
        for recording in recordings:
            judged = OwnFeaturizer(self._own).push(recording.values, np.isfinite(recording.values))
            odds = self._odds(judged, judged.statistics / self._own.levels)
            running = RunningOdds(odds.shape[1], self._own.plan.smooth)
            score, mean = running.push(np.where(judged.known, odds, np.nan))
            latest = np.searchsorted(judged.rows, np.arange(len(recording.values)), side="right") - 1
            place = np.full((len(mean), self._graph.num_nodes), -1e3, np.float32)
            place[:, self._graph.signal_nodes] = mean
            scores.append(score[latest] / self.threshold)
            places.append(place[latest])
        score = np.concatenate(scores)
        return Outcome(score, score >= 1.0, np.concatenate(places))

    def _odds(self, judged: Judged, in_levels: Floats) -> Floats:
        """Return the log-odds of every node with a signal [e p]."""
        found = np.empty(judged.scaled.shape)
        for at in range(0, len(found), BLOCK):
            rows = np.arange(at, min(at + BLOCK, len(found)))
            features, _ = node_features(judged, in_levels, self._graph, rows)
            own = features[:, self._graph.signal_nodes]
            chance = self._model.predict_proba(own.reshape(-1, own.shape[-1]))[:, 1].reshape(own.shape[:2])
            clear = np.clip(chance, 1e-6, 1 - 1e-6)
            found[rows] = np.log(clear) - np.log1p(-clear)
        return found


def _nodes(windows: ZoneWindows, graph: CpsGraph, seed: int) -> tuple[NDArray[np.float16], NDArray[np.bool_]]:
    """Return features and truth of all attacked nodes of windows, and of some others."""
    rng = np.random.default_rng([seed, 2])
    known = windows.known.copy()
    chance = rng.random(known.shape) < OTHERS / len(graph.points)
    chosen = known & (windows.targets | chance)
    return windows.features[chosen], windows.targets[chosen]
