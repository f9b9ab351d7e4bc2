"""Features: from rows of readings to the inputs of a model, for training, batch and live scoring alike.

Readings are scaled, and the expectation turns them into residuals. Both are summarized over minutes, hours and days,
and each summary is divided by its spread in normal operation.

r rows, Z zones, S signals of a zone, s nodes, w windows, f features per node.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import CheckpointError, GraphError, SchemaError
from graphghha.graph import CpsGraph, NeighborRule, neighborhood
from graphghha.windows.expectation import Expectation
from graphghha.windows.multiscale import DAY, HOUR, MINUTE, STEP_S, MultiScaleConfig, Summarizer
from graphghha.windows.scale import Scaler

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

# The window plan of the fan-coil plant, in seconds; only `MultiScaleConfig` and HISTORY_* convert it to rows.
# What the expectation reads of the signals near by: the current value, and means of the last minutes.
RECENT = MultiScaleConfig(means_s=(5 * MINUTE, 20 * MINUTE, HOUR))
# What the model reads of the values of a signal: the last hours.
VALUES = MultiScaleConfig(
    means_s=(5 * MINUTE, 20 * MINUTE, HOUR, 4 * HOUR), stds_s=(20 * MINUTE, HOUR), missings_s=(HOUR,)
)
# What the model reads of its residuals: up to three days, since small disagreements show in long means.
RESIDUALS = MultiScaleConfig(means_s=(5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 24 * HOUR, 72 * HOUR))
SIZES = MultiScaleConfig(lags_s=(), means_s=(15 * MINUTE, HOUR, 24 * HOUR))

FEATURE_NAMES = (
    *(f"value_{name}" for name in VALUES.feature_names),
    *(f"residual_{name}" for name in RESIDUALS.feature_names),
    *(f"abs_residual_{name}" for name in SIZES.feature_names),
)
HISTORY_ROWS = max(config.history_rows for config in (RECENT, VALUES, RESIDUALS, SIZES))
HISTORY_S = HISTORY_ROWS * STEP_S
HISTORY_DAYS = -(-HISTORY_S // DAY)  # whole days of readings that fill every window
# Rows that restore a featurizer to the last bit: the oldest residual in a window depends on earlier rows.
REBUILD_ROWS = HISTORY_ROWS + RECENT.history_rows
CLIP = 100.0  # in spreads
FEATURE_RANGE = math.log1p(CLIP)  # every feature lies within +- this


@dataclass(frozen=True, slots=True)
class FeatureNorm:
    """Center and spread of every feature of every signal in normal operation."""

    center: NDArray[np.float64]  # [S f]
    scale: NDArray[np.float64]  # [S f]

    @classmethod
    def fit(cls, features: NDArray[Any]) -> Self:
        """Fit on raw features [n S f] of normal windows: median, and central 98 % as 4.65 standard deviations."""
        low, middle, high = np.quantile(features.astype(np.float64), [0.01, 0.5, 0.99], axis=0)
        return cls(middle, np.maximum((high - low) / 4.65, 0.02))

    def __call__(self, features: Floats) -> Floats:
        """Return features in units of spread, with a signed logarithm so that large values do not dominate."""
        units = np.clip((features - self.center) / self.scale, -CLIP, CLIP)
        squashed: Floats = (np.sign(units) * np.log1p(np.abs(units))).astype(np.float32)
        return squashed

    def to_dict(self) -> dict[str, Any]:
        """Return what features.json holds."""
        return {"features": list(FEATURE_NAMES), "center": self.center.tolist(), "scale": self.scale.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` writes; CheckpointError if it is of other features or not numbers."""
        try:
            if tuple(data["features"]) != FEATURE_NAMES:
                raise CheckpointError(
                    "the model was trained on other features than this version computes; train it again"
                )
            return cls(np.array(data["center"], np.float64), np.array(data["scale"], np.float64))
        except (KeyError, TypeError, ValueError) as exc:
            raise CheckpointError(f"feature norm: a field is missing or is not a number: {exc}") from exc


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """What turns readings into features, learned from normal operation."""

    scaler: Scaler
    expectation: Expectation
    norm: FeatureNorm | None = None  # None gives raw summaries, which a norm is fitted on


@dataclass(frozen=True, slots=True)
class Windows:
    """The inputs of a model: features of every node, and which nodes are known."""

    features: Floats  # [w s f]; zero where a node has no signal or no fresh data
    known: Bools  # [w s]
    rows: NDArray[np.int64]  # [w] number of the row each window ends with


def check_rows(values: NDArray[Any], fresh: Bools, rows: int, points: int) -> None:
    """Raise SchemaError unless readings and their freshness are [rows points]."""
    if values.shape != fresh.shape or values.shape != (rows, points):
        raise SchemaError(
            f"windows: values {values.shape} and mask {fresh.shape} do not fit {rows} rows of {points} points"
        )


class Featurizer:
    """Turns rows of readings of one building into windows. Portions of any size give the same bytes."""

    def __init__(self, graph: CpsGraph, template: CpsGraph, preprocessing: Preprocessing) -> None:
        self.graph, self.norm = graph, preprocessing.norm
        self.points = graph.points
        self._nodes = graph.signal_nodes  # [p]
        roles = [template.roles[node] for node in template.signal_nodes]
        self._num_signals = len(roles)
        self._num_zones, self._order = zone_layout(graph, roles)
        self._scale = preprocessing.scaler.columns(graph.point_signals)
        self._expectation = preprocessing.expectation
        self._num_rows = 0
        count = len(self._nodes)
        self._recent, self._values = Summarizer(count, RECENT), Summarizer(count, VALUES)
        self._residuals, self._sizes = Summarizer(count, RESIDUALS), Summarizer(count, SIZES)
        self._unmeasured = unmeasured_neighbors(graph, self._nodes)

    @property
    def num_rows(self) -> int:
        """The number of rows so far."""
        return self._num_rows

    def push(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> Windows:
        """Take readings [r p] in SI units and their freshness; return the windows of the wanted rows [r]."""
        check_rows(values, fresh, len(wanted), len(self.points))
        fresh = fresh & np.isfinite(values)  # a value that is not finite is unknown
        first, self._num_rows = self._num_rows, self._num_rows + len(wanted)
        scaled = self._scale(values, fresh)
        residuals = self._residual(scaled, fresh)
        summaries = (
            self._values.push(scaled, fresh, wanted),
            self._residuals.push(residuals, fresh, wanted),
            self._sizes.push(np.abs(residuals), fresh, wanted),
        )
        return Windows(
            self._lay_out(*summaries, fresh[wanted]),
            known_nodes(fresh[wanted], self._nodes, self.graph.num_nodes, self._unmeasured),
            first + np.flatnonzero(wanted),
        )

    def _residual(self, scaled: Floats, fresh: Bools) -> Floats:
        every = np.ones(len(scaled), np.bool_)
        recent = self._recent.push(scaled, fresh, every)  # [r p L]
        by_zone = recent[:, self._order].reshape(len(scaled) * self._num_zones, -1)  # [r*Z S*L]
        values = scaled[:, self._order].reshape(len(scaled) * self._num_zones, -1)
        residuals = np.empty_like(scaled)
        residuals[:, self._order] = self._expectation.residuals(by_zone, values).reshape(len(scaled), -1)
        return residuals

    def _lay_out(self, values: Floats, residuals: Floats, sizes: Floats, fresh: Bools) -> Floats:
        """Return summaries of the points [w p ..] as features of the nodes [w s f]."""
        points = np.concatenate([values, residuals, sizes], axis=-1)
        if self.norm is not None:
            shape = (len(points), self._num_zones, self._num_signals, points.shape[-1])
            by_zone = points[:, self._order].reshape(shape)
            points[:, self._order] = self.norm(by_zone).reshape(points.shape)
        features = np.zeros((len(points), self.graph.num_nodes, points.shape[-1]), np.float32)
        features[:, self._nodes] = np.where(fresh[..., None], points, np.float32(0.0))
        return features


def unmeasured_neighbors(graph: CpsGraph, measured: NDArray[np.int64]) -> dict[int, NDArray[np.int64]]:
    """Return the neighbors of every node that is not measured."""
    near = neighborhood(graph, NeighborRule(self_loops=False))
    unmeasured = np.setdiff1d(np.arange(graph.num_nodes), measured)
    return {int(node): near.neighbors(int(node)) for node in unmeasured}


def known_nodes(
    fresh: Bools, nodes: NDArray[np.int64], num_nodes: int, unmeasured: Mapping[int, NDArray[np.int64]]
) -> Bools:
    """Return which nodes are known [w s]: those with a fresh signal, and unmeasured ones with a known neighbor."""
    known = np.zeros((len(fresh), num_nodes), np.bool_)
    known[:, nodes] = fresh
    for node, neighbors in unmeasured.items():
        known[:, node] = known[:, neighbors].any(axis=1)
    return known


def zone_layout(graph: CpsGraph, roles: list[str]) -> tuple[int, NDArray[np.int64]]:
    """Return the number of zones, and the column of every (zone, role), zone after zone."""
    columns = [(graph.zones[node], graph.roles[node]) for node in graph.signal_nodes]
    place = {column: number for number, column in enumerate(columns)}
    zones = tuple(dict.fromkeys(zone for zone, _ in columns))
    wanted = [(zone, role) for zone in zones for role in roles]
    missing = [f"{zone or 'the plant'}: {role}" for zone, role in wanted if (zone, role) not in place]
    if missing or len(wanted) != len(columns):
        raise GraphError(
            f"every zone must have exactly the {len(roles)} signals of the template: "
            f"{missing[0] + ' is missing' if missing else 'a zone has more'} (zones must not share nodes)"
        )
    return len(zones), np.array([place[column] for column in wanted])
