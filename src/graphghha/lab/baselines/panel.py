"""Score the same rows with several detectors that share one featurizer, so that windows are computed once.

Shapes: r rows, p points, w wanted rows, Z zones, n nodes and S signals of the template.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.engine import Scorer
from graphghha.lab.baselines.base import Baseline, BaselineInput, Bools
from graphghha.lab.runs import Probs
from graphghha.plants.rules import HISTORY_MIN
from graphghha.windows import Featurizer, Windows

PORTION = 360  # minutes scored at once; the features of a whole day of a large building take much memory


class BaselinePanel:
    """Baselines and models, by name, that share a featurizer."""

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
        """Take readings [r p]; return the probabilities [w s c] of the wanted rows by name, NaN for unknown nodes."""
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
            empty = np.empty((0, windows.known.shape[1], len(CLASSES)), np.float16)
            return dict.fromkeys((*self._models, *self._baselines), empty)
        first = len(wanted) - int(wanted.sum())
        assert wanted[first:].all(), "the wanted rows must be the last ones, after the warm-up"
        features = windows.features.reshape(len(windows.rows), self._zones, -1, windows.features.shape[-1])
        inputs = BaselineInput(
            readings[first:].reshape(len(readings) - first, self._zones, -1),
            features,
            windows.known.reshape(features.shape[:-1]),
        )
        return self._scores(windows, inputs)

    def _scores(self, windows: Windows, inputs: BaselineInput) -> dict[str, Probs]:
        """Return probabilities [w s c] by name; those of baselines in half precision, to save memory."""
        scores: dict[str, Probs] = {name: scorer.score(windows).probs for name, scorer in self._models.items()}
        nodes = windows.known.shape[1]
        for name, baseline in self._baselines.items():
            probs = baseline.score(inputs).reshape(len(windows.rows), nodes, -1).astype(np.float16)
            scores[name] = np.where(windows.known[..., None], probs, np.float16(np.nan))
        return scores
