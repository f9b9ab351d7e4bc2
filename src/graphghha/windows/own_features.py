"""Readings of a plant of the user's own become statistics of its nodes, row by row, for files and live data alike.

r rows, e judged rows, p points, q statistics.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.graph import CpsGraph
from graphghha.windows.own_expectation import PARTS, OwnExpectation
from graphghha.windows.own_inputs import fill_forward, look_back
from graphghha.windows.own_plan import OwnPlan
from graphghha.windows.own_scale import OwnScale
from graphghha.windows.own_statistics import (
    RECENT,
    STATISTICS,
    Stays,
    assemble,
    frozen,
    range_excess,
    recent_mean,
    run_lengths,
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnPreprocessing:
    """Everything that turns readings into statistics in units of what is usual."""

    plan: OwnPlan
    scale: OwnScale
    expectation: OwnExpectation
    stays: Stays
    levels: Floats  # [p q] statistics that are reached once in a long while

    @property
    def num_signals(self) -> int:
        return len(self.scale.center)

    def to_arrays(self) -> dict[str, dict[str, NDArray[Any]]]:
        """Return the arrays by the name of their file."""
        return {
            "scale": self.scale.to_arrays(),
            "expectation": self.expectation.to_arrays(),
            "levels": {"levels": self.levels, **self.stays.to_arrays()},
        }

    @classmethod
    def from_arrays(cls, plan: OwnPlan, arrays: Mapping[str, Mapping[str, NDArray[Any]]]) -> Self:
        return cls(
            plan=plan,
            scale=OwnScale.from_arrays(arrays["scale"]),
            expectation=OwnExpectation.from_arrays(arrays["expectation"]),
            stays=Stays.from_arrays(arrays["levels"]),
            levels=arrays["levels"]["levels"],
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of the judged rows [e] of a portion."""

    rows: NDArray[np.int64]  # positions in the portion
    scaled: Floats  # [e p]
    known: Bools  # [e p]; nothing is known before the windows are filled
    residuals: Floats  # [e p 2]
    statistics: Floats  # [e p q], not yet in units of the levels


class OwnFeaturizer:
    """Takes rows in portions of any size; a row depends on the rows before it alone."""

    def __init__(self, preprocessing: OwnPreprocessing, member: int | None = None) -> None:
        """`member` is the one whose expectation counts, for rows that it was not fitted on."""
        self.preprocessing, self.member = preprocessing, member
        self._seen = 0
        self._past: Floats | None = None  # the last rows, filled
        self._runs = np.zeros(preprocessing.num_signals, np.int64)
        self._whole = np.zeros(1, np.int64)
        self._before = np.full((RECENT - 1, preprocessing.num_signals, 2), np.nan)

    def push(self, values: NDArray[Any], fresh: Bools) -> Judged:
        """Take readings [r p] and return their judged rows."""
        own, plan = self.preprocessing, self.preprocessing.plan
        scaled = own.scale(values)
        known = fresh & np.isfinite(scaled)
        if self._past is None:
            first = np.where(known, scaled, np.nan)[:1]
            self._past = np.nan_to_num(np.repeat(first, plan.history, axis=0))
        filled = fill_forward(scaled, known, self._past[-1])
        runs = run_lengths(filled, known, self._runs, self._past[-1])
        varying = ~own.scale.is_constant
        moved = (np.diff(np.concatenate([self._past[-1:], filled])[:, varying], axis=0) != 0).any(axis=1, keepdims=True)
        any_known = np.asarray(known[:, varying].any(axis=1, keepdims=True))
        whole = run_lengths(np.cumsum(moved, axis=0).astype(np.float64), any_known, self._whole, np.zeros(1))
        rows = np.flatnonzero((self._seen + np.arange(len(values))) % plan.stride == 0)
        long = np.concatenate([self._past, own.scale.inputs(filled)])
        looks = look_back(long, plan, rows + len(self._past))
        residuals = own.expectation.residuals(np.where(known, scaled, np.nan)[rows], looks, self.member)
        recent = recent_mean(residuals, self._before)
        stays = frozen(runs[rows], filled[rows], own.stays)
        if np.isfinite(own.stays.whole[0]):
            all_stand = whole[rows] / own.stays.whole
            stays = np.where(np.isfinite(own.stays.usual), np.maximum(stays, all_stand), stays)
        excess = range_excess(np.where(known, values, np.nan)[rows], own.scale)
        statistics = assemble(excess, stays, residuals, recent, own.scale.is_constant)
        cold = self._seen + rows < plan.warm_up
        statistics[cold] = 0.0
        self._seen += len(values)
        if len(values):
            self._past = long[-plan.history :]
            self._runs, self._whole = runs[-1], whole[-1]
            self._before = np.concatenate([self._before, residuals])[-(RECENT - 1) :]
        return Judged(rows, scaled[rows], known[rows] & ~cold[:, None], residuals, statistics)


def node_features(
    judged: Judged, in_levels: Floats, graph: CpsGraph, rows: NDArray[np.int64]
) -> tuple[NDArray[np.float32], Bools]:
    """Return the inputs of the network at some judged rows: features [w s f], and which nodes are known [w s]."""
    signed = np.clip(np.nan_to_num(judged.residuals[rows]), -12, 12) / 4.0
    state = np.clip(np.nan_to_num(judged.scaled[rows]), -10, 10)[..., None] / 4.0
    strongest = in_levels[rows].max(axis=-1, keepdims=True)
    relative = strongest - strongest.max(axis=1, keepdims=True)
    columns = [np.log1p(np.maximum(in_levels[rows], 0.0)), signed, state, np.maximum(relative, -10) / 3.0]
    own = np.concatenate(columns, axis=-1)
    features = np.zeros((len(rows), graph.num_nodes, own.shape[-1]), np.float32)
    known = np.zeros((len(rows), graph.num_nodes), np.bool_)
    features[:, graph.signal_nodes] = np.where(judged.known[rows][..., None], own, 0.0)
    known[:, graph.signal_nodes] = judged.known[rows]
    return features, known


class OwnForecast:
    """What every point should read now, in the unit of the plant file, for explanations to people."""

    def __init__(self, preprocessing: OwnPreprocessing) -> None:
        self._own = preprocessing

    def expected(self, values: NDArray[Any], fresh: Bools) -> tuple[Floats, Floats]:
        """Return mean and spread [p] after recent readings [n p]."""
        mean, spread = self._rows(values, fresh, np.array([len(values) - 1]))
        return mean[0], spread[0]

    def series(self, values: NDArray[Any], fresh: Bools) -> tuple[Floats, Floats]:
        """Return mean and spread [n p] for every row; the first rows have little history."""
        return self._rows(values, fresh, np.arange(len(values)))

    def _rows(self, values: NDArray[Any], fresh: Bools, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return mean and spread [r p] of some rows."""
        own, scale = self._own, self._own.scale
        filled = fill_forward(scale(values), fresh, np.zeros(own.num_signals))
        looks = look_back(scale.inputs(filled), own.plan, rows)
        mean = own.expectation.predict(looks)[:PARTS].mean(axis=0)[:, :, 0]
        spread = np.hypot(own.expectation.spread[0], own.expectation.floor)
        mean, spread = np.where(scale.is_constant, 0.0, mean), np.where(scale.is_constant, 1.0, spread)
        return mean * scale.width + scale.center, np.broadcast_to(spread * scale.width, mean.shape)


NODE_FEATURES = len(STATISTICS) + 4

__all__ = ["NODE_FEATURES", "STATISTICS", "Judged", "OwnFeaturizer", "OwnForecast", "OwnPreprocessing", "node_features"]
