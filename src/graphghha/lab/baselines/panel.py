"""The model and its baselines before the same rows: windows are made once, and everybody looks at them.

r rows, p points, w rows that are judged, Z zones, n nodes and S signals of the template.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.engine.scorer import Scorer
from graphghha.lab.baselines.base import Baseline, Bools, View
from graphghha.lab.runs.recording import Probs
from graphghha.plants.rules import HISTORY_MIN
from graphghha.windows.features import Featurizer, Windows

PORTION = 360  # minutes judged at once: the features of a day of a large building weigh a lot


class BaselinePanel:
    """Scores of every baseline, and of models by name that share the featurizer."""

    def __init__(
        self,
        featurizer: Featurizer,
        baselines: Mapping[str, Baseline],
        num_zones: int,
        models: Mapping[str, Scorer] | None = None,
    ) -> None:
        self._featurizer, self._baselines, self._zones = featurizer, baselines, num_zones
        self._models = models or {}
        self._tail = np.full((HISTORY_MIN, len(featurizer.points)), np.nan)

    def push(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> Mapping[str, Probs]:
        """Readings [r p]; probabilities [w s c] by name, unknown nodes NaN."""
        parts: list[Mapping[str, Probs]] = []
        for begin in range(0, len(values), PORTION):
            rows = slice(begin, begin + PORTION)
            parts.append(self._portion(values[rows], fresh[rows], wanted[rows]))
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _portion(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> Mapping[str, Probs]:
        windows = self._featurizer.push(values, fresh, wanted)
        readings = np.concatenate([self._tail, np.where(fresh, values, np.nan)])
        self._tail = readings[-HISTORY_MIN:]
        if not wanted.any():
            nothing = np.empty((0, windows.known.shape[1], len(CLASSES)), np.float16)
            return dict.fromkeys((*self._models, *self._baselines), nothing)
        # rows that are judged are the last ones: a warm-up, then everything
        first = len(wanted) - int(wanted.sum())
        assert wanted[first:].all(), "a panel judges a run from some row on"
        features = windows.features.reshape(len(windows.rows), self._zones, -1, windows.features.shape[-1])
        view = View(
            readings[first:].reshape(len(readings) - first, self._zones, -1),
            features,
            windows.known.reshape(features.shape[:-1]),
        )
        return self._opinions(windows, view)

    def _opinions(self, windows: Windows, view: View) -> dict[str, Probs]:
        """[w s c] each; half precision is plenty for a baseline."""
        found: dict[str, Probs] = {name: scorer.score(windows).probs for name, scorer in self._models.items()}
        nodes = windows.known.shape[1]
        for name, baseline in self._baselines.items():
            probs = baseline.score(view).reshape(len(windows.rows), nodes, -1).astype(np.float16)
            found[name] = np.where(windows.known[..., None], probs, np.float16(np.nan))
        return found
