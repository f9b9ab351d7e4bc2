"""What every point of a building should read now, in SI: the expectation of a model, for explanations to people.

n recent rows, p points, Z zones, S signals of a zone.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphghha.graph import CpsGraph
from graphghha.windows.evidence import RECENT as ZONE_RECENT
from graphghha.windows.evidence import Comparer, EvidencePreprocessing, Predictors
from graphghha.windows.expectation import BLOCK_ROWS, Expectation
from graphghha.windows.features import RECENT, Preprocessing, zone_layout
from graphghha.windows.levels import apply_slopes
from graphghha.windows.multiscale import summarize
from graphghha.windows.scale import Scaler

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]

TYPICAL_ROWS = 5  # a single row is too noisy
RECENT_ROWS = max(RECENT.history_rows, ZONE_RECENT.history_rows)


class Forecast(Protocol):
    """Gives what the points of one building should read."""

    def expected(self, values: Floats, fresh: Bools) -> tuple[Floats, Floats]:
        """Return mean and spread [p], in SI, over the last rows of recent readings [n p]."""

    def series(self, values: Floats, fresh: Bools) -> tuple[Floats, Floats]:
        """Return mean and spread [n p], in SI, for every row; the first rows have little history."""


class NodeForecast:
    """The forecast of a model that judges every node alone: each zone is predicted by itself."""

    def __init__(self, graph: CpsGraph, template: CpsGraph, scaler: Scaler, expectation: Expectation) -> None:
        roles = [template.roles[node] for node in template.signal_nodes]
        self._zones, self._order = zone_layout(graph, roles)
        self._scale, self._expectation = scaler.columns(graph.point_signals), expectation

    def expected(self, values: Floats, fresh: Bools) -> tuple[Floats, Floats]:
        """Return mean and spread [p], in SI, over the last rows of recent readings [n p]."""
        mean, spread = self._rows(values, fresh, min(TYPICAL_ROWS, len(values)))
        return _in_si(mean.mean(axis=0), spread.mean(axis=0), self._order, self._scale.center, self._scale.scale)

    def series(self, values: Floats, fresh: Bools) -> tuple[Floats, Floats]:
        """Return mean and spread [n p], in SI, for every row; the first rows have little history."""
        mean, spread = self._rows(values, fresh, len(values))
        return _in_si(mean, spread, self._order, self._scale.center, self._scale.scale)

    def _rows(self, values: Floats, fresh: Bools, count: int) -> tuple[Floats, Floats]:
        """Return mean and spread [count p] of the last rows, scaled, by zone and signal."""
        means = summarize(self._scale(values, fresh), fresh, RECENT, first=len(values) - count)  # [count p L]
        by_zone = means[:, self._order].reshape(count * self._zones, -1)
        parts = [self._expectation.expected(by_zone[at : at + BLOCK_ROWS]) for at in range(0, len(by_zone), BLOCK_ROWS)]
        mean, spread = (np.concatenate(each).reshape(count, -1) for each in zip(*parts, strict=True))
        return mean, spread


class ZoneForecast:
    """The forecast of a model that judges zones: other zones and the levels of the site are taken into account."""

    def __init__(self, graph: CpsGraph, template: CpsGraph, preprocessing: EvidencePreprocessing) -> None:
        roles = [template.roles[node] for node in template.signal_nodes]
        self._graph, self._template, self._preprocessing = graph, template, preprocessing
        _, self._order = zone_layout(graph, roles)
        self._scale = preprocessing.scaler.columns(graph.point_signals)
        self._predictors = Predictors(preprocessing, template)

    def expected(self, values: Floats, fresh: Bools) -> tuple[Floats, Floats]:
        """Return mean and spread [p], in SI, over the last rows of recent readings [n p]."""
        mean, spread = (each[-TYPICAL_ROWS:].mean(axis=0) for each in self._rows(values, fresh))
        return _in_si(mean, spread, self._order, self._scale.center, self._scale.scale)

    def series(self, values: Floats, fresh: Bools) -> tuple[Floats, Floats]:
        """Return mean and spread [n p], in SI, for every row; the first rows have little history."""
        return _in_si(*self._rows(values, fresh), self._order, self._scale.center, self._scale.scale)

    def _rows(self, values: Floats, fresh: Bools) -> tuple[Floats, Floats]:
        """Return mean and spread [n p], scaled, by zone and signal."""
        comparer = Comparer(self._graph, self._template, self._preprocessing)
        recent, mean, spread = comparer.predict(values, fresh)
        levels = self._preprocessing.levels
        correction = apply_slopes(levels.slopes, levels.bounds, self._predictors(recent))
        mean, spread = mean + correction * spread, spread * levels.width
        return mean.reshape(len(mean), -1), spread.reshape(len(spread), -1)


def open_forecast(
    preprocessing: Preprocessing | EvidencePreprocessing, graph: CpsGraph, template: CpsGraph
) -> Forecast:
    """Return the forecast that belongs to a preprocessing."""
    if isinstance(preprocessing, EvidencePreprocessing):
        return ZoneForecast(graph, template, preprocessing)
    return NodeForecast(graph, template, preprocessing.scaler, preprocessing.expectation)


def _in_si(
    mean: Floats, spread: Floats, order: NDArray[np.int64], center: Floats, scale: Floats
) -> tuple[Floats, Floats]:
    """Return scaled numbers in the order of zones and signals as SI numbers in the order of points."""
    means, spreads = np.empty(mean.shape), np.empty(mean.shape)
    means[..., order], spreads[..., order] = mean, spread
    return means * scale + center, spreads * scale
