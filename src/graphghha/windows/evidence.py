"""Features of the evidence kind: how far each signal is from what its zone and the other zones imply.

Nothing in them depends on the absolute numbers of a building. Readings are compared with an expectation and with the
other zones, averaged over minutes to a day, and measured in units of what is usual there (`Levels`).

r rows, Z zones, S signals of a zone, s nodes, w windows, f features per node, P predictors of the correction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import CheckpointError, GraphError
from graphghha.graph import CpsGraph
from graphghha.plants import Signal
from graphghha.windows.features import Windows, check_rows, known_nodes, unmeasured_neighbors, zone_layout
from graphghha.windows.levels import Levels
from graphghha.windows.multiscale import DAY, HOUR, MINUTE, MultiScaleConfig, Summarizer
from graphghha.windows.peers import median_of_others
from graphghha.windows.scale import Scaler
from graphghha.windows.zone_expectation import CHANNELS, ZoneExpectation

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

RECENT = MultiScaleConfig(
    lags_s=(), means_s=(5 * MINUTE, 10 * MINUTE, 20 * MINUTE, HOUR), missings_s=(5 * MINUTE,)
)  # what the expectation reads of a signal
SPANS = MultiScaleConfig(lags_s=(0, 5 * MINUTE, 10 * MINUTE), means_s=(HOUR, 4 * HOUR, DAY))  # of residuals
SIZES = MultiScaleConfig(lags_s=(), means_s=(HOUR, DAY))  # of absolute residuals
STEPS = MultiScaleConfig(lags_s=(), means_s=(HOUR,))  # of absolute differences between two rows
GAPS = MultiScaleConfig(lags_s=(), means_s=(HOUR,))  # of differences to the other zones

SPAN_NAMES = ("5min", "15min", "1h", "4h", "24h")
RELATIVE = (2, 3, 4)  # the spans that are also compared with the other zones
FEATURES = (
    *(f"residual_{name}" for name in SPAN_NAMES),
    *(f"relative_{SPAN_NAMES[at]}" for at in RELATIVE),
    *("size_1h", "size_24h", "restlessness_1h", "gap_5min", "gap_1h", "state", "has_others"),
)
HISTORY = max(SPANS.history_rows, SIZES.history_rows)
REBUILD = HISTORY + RECENT.history_rows  # rows that restore a featurizer to the last bit
LEAST_STEP = 1e-4  # added to mean steps before the logarithm, in scaled units
OPEN = 0.05  # share of its range from which on a valve, damper or command counts as open
CLIP = 100.0
KIND = "evidence"  # how model directories call this preprocessing


@dataclass(frozen=True, slots=True)
class EvidencePreprocessing:
    """What turns readings into features of the evidence kind."""

    scaler: Scaler
    expectation: ZoneExpectation
    levels: Levels
    switches: tuple[int, ...]  # signals of the template whose range is the same in every plant: modes and positions
    ranges: NDArray[np.float64]  # [S 2] of the instruments, in SI
    typical: Levels | None = None  # of the typical zone of a site that was commissioned

    def with_levels(self, levels: Levels, typical: Levels | None = None) -> "EvidencePreprocessing":
        """Return the same preprocessing with the levels of a site."""
        return replace(self, levels=levels, typical=typical)

    @property
    def num_signals(self) -> int:
        """The number of signals of a zone."""
        return self.expectation.num_signals

    def to_dict(self) -> dict[str, Any]:
        """Return what features.json holds."""
        return {
            "kind": KIND,
            "features": list(FEATURES),
            "switches": list(self.switches),
            "ranges": self.ranges.tolist(),
        }

    @classmethod
    def from_parts(
        cls,
        scaler: Scaler,
        expectation: ZoneExpectation,
        levels: Levels,
        data: Mapping[str, Any],
        typical: Levels | None = None,
    ) -> "EvidencePreprocessing":
        """Join the parts of a model directory with what `to_dict` wrote; CheckpointError if they do not fit."""
        try:
            if tuple(data["features"]) != FEATURES:
                raise CheckpointError("the model was trained on other features than this version computes")
            switches = tuple(int(at) for at in data["switches"])
            ranges = np.array(data["ranges"], np.float64)
        except (KeyError, TypeError, ValueError) as exc:
            raise CheckpointError(f"features: a field is missing or is not a number: {exc}") from exc
        signals, predictors = expectation.num_signals, 1 + expectation.num_signals + len(switches)
        if ranges.shape != (signals, 2) or not (np.isfinite(ranges).all() and (ranges[:, 1] > ranges[:, 0]).all()):
            raise CheckpointError(f"features: ranges must be {signals} pairs of numbers, the lower one first")
        if any(not 0 <= at < signals for at in switches):
            raise CheckpointError(f"features: switches must be numbers of the {signals} signals")
        for each in (levels, typical):
            if each is not None and each.slopes.shape[1:] != (signals, predictors):
                raise CheckpointError(f"levels: slopes {each.slopes.shape} do not fit {signals} signals")
        if typical is not None and typical.num_zones != 1:
            raise CheckpointError(f"levels: those of the typical zone are of {typical.num_zones} zones")
        return cls(scaler, expectation, levels, switches, ranges, typical)


def switch_signals(signals: Sequence[Signal]) -> tuple[int, ...]:
    """Return the numbers of the signals that are modes or shares of a range."""
    return tuple(at for at, signal in enumerate(signals) if signal.states or signal.unit == "fraction")


@dataclass(frozen=True, slots=True)
class Compared:
    """Rows compared with what their zone and the other zones imply; the levels of a site are not used yet."""

    recent: Floats  # [r Z S] means of the last five minutes, scaled
    fresh: Bools  # [r Z S]
    residuals: Floats  # [r Z S] in units of the expected spread; 0 where not fresh
    spreads: Floats  # [r Z S] the expected spread, scaled
    gaps: Floats  # [r Z S] recent mean minus the median of the other zones
    has_others: Bools  # [r Z S] whether there is such a median
    steps: Floats  # [r Z S] absolute difference to the row before
    has_steps: Bools  # [r Z S] whether both rows were fresh


class Comparer:
    """Compares rows of one building with the expectation. Portions of any size give the same bytes."""

    def __init__(self, graph: CpsGraph, template: CpsGraph, preprocessing: EvidencePreprocessing) -> None:
        roles = [template.roles[node] for node in template.signal_nodes]
        self.num_zones, self._order = zone_layout(graph, roles)
        self.num_signals = len(roles)
        self._scale = preprocessing.scaler.columns(graph.point_signals)
        self._expectation = preprocessing.expectation
        self._recent = Summarizer(len(self._order), RECENT)
        self._before: tuple[Floats, Bools] | None = None  # the last row: scaled values [Z S], freshness

    def push(self, values: NDArray[Any], fresh: Bools) -> Compared:
        """Take readings [r p] in SI units and their freshness."""
        fresh = fresh & np.isfinite(values)
        scaled, recent, others, has_others, mean, spread = self._predict(values, fresh)
        fresh = self._by_zone(fresh)
        steps, has_steps = self._steps(scaled, fresh)
        return Compared(
            recent=recent,
            fresh=fresh,
            residuals=np.where(fresh, (recent - mean) / spread, np.float32(0.0)),
            spreads=spread,
            gaps=np.where(has_others, recent - others, np.float32(0.0)),
            has_others=has_others & fresh,
            steps=steps,
            has_steps=has_steps,
        )

    def predict(self, values: NDArray[Any], fresh: Bools) -> tuple[Floats, Floats, Floats]:
        """Take readings [r p]; return recent means, expected means and spreads, scaled, [r Z S] each."""
        _, recent, _, _, mean, spread = self._predict(values, fresh & np.isfinite(values))
        return recent, mean, spread

    def _predict(self, values: NDArray[Any], fresh: Bools) -> tuple[Floats, Floats, Floats, Bools, Floats, Floats]:
        """Return scaled values, recent means, those of the other zones and whether there are any, mean and spread."""
        scaled = self._scale(values, fresh)
        means = self._by_zone(self._recent.push(scaled, fresh, np.ones(len(values), np.bool_)))  # [r Z S 5]
        recent = np.ascontiguousarray(means[..., 0])
        others, has_others = median_of_others(recent, means[..., -1] < 1.0)
        inputs = np.concatenate([means, others[..., None], has_others[..., None]], axis=-1, dtype=np.float32)
        mean, spread = self._expectation.predict(
            inputs.reshape(len(values) * self.num_zones, self.num_signals * CHANNELS)
        )
        return (
            self._by_zone(scaled),
            recent,
            others,
            has_others,
            mean.reshape(recent.shape),
            spread.reshape(recent.shape),
        )

    def _by_zone(self, points: NDArray[Any]) -> NDArray[Any]:
        """Return an array [r p ..] as [r Z S ..]."""
        return points[:, self._order].reshape(len(points), self.num_zones, self.num_signals, *points.shape[2:])

    def _steps(self, scaled: Floats, fresh: Bools) -> tuple[Floats, Bools]:
        if not len(scaled):
            return scaled, fresh
        first = self._before or (scaled[0], np.zeros_like(fresh[0]))
        before = np.concatenate([first[0][None], scaled[:-1]])
        was_fresh = np.concatenate([first[1][None], fresh[:-1]])
        self._before = scaled[-1].copy(), fresh[-1].copy()
        return np.abs(scaled - before), fresh & was_fresh


class Summaries:
    """Averages over spans of what a `Comparer` returns, at the wanted rows."""

    def __init__(self, num_zones: int, num_signals: int) -> None:
        self._shape = (num_zones, num_signals)
        count = num_zones * num_signals
        self._spans, self._sizes = Summarizer(count, SPANS), Summarizer(count, SIZES)
        self._steps, self._gaps = Summarizer(count, STEPS), Summarizer(count, GAPS)

    def push(self, residuals: Floats, compared: Compared, wanted: Bools) -> "Summary":
        """Take corrected residuals [r Z S] with the rows they come from; return the averages of the wanted rows."""
        spans = self._push(self._spans, residuals, compared.fresh, wanted)
        return Summary(
            spans=np.concatenate(
                [spans[..., :1], np.median(spans[..., :3], axis=-1, keepdims=True), spans[..., 3:]], axis=-1
            ),
            sizes=self._push(self._sizes, np.abs(residuals), compared.fresh, wanted),
            restlessness=np.log(self._push(self._steps, compared.steps, compared.has_steps, wanted) + LEAST_STEP),
            gaps=np.concatenate(
                [
                    compared.gaps[wanted][..., None],
                    self._push(self._gaps, compared.gaps, compared.has_others, wanted),
                ],
                axis=-1,
            ),
        )

    def _push(self, summarizer: Summarizer, values: Floats, known: Bools, wanted: Bools) -> Floats:
        rows = len(values)
        count = summarizer.num_points
        summary = summarizer.push(values.reshape(rows, count), known.reshape(rows, count), wanted)
        return summary.reshape(len(summary), *self._shape, summary.shape[-1])


@dataclass(frozen=True, slots=True)
class Summary:
    """Averages at some rows, not yet in units of what is usual."""

    spans: Floats  # [w Z S spans]
    sizes: Floats  # [w Z S sizes]
    restlessness: Floats  # [w Z S 1]
    gaps: Floats  # [w Z S 2] of five minutes and of an hour


def features_of(summary: Summary, fresh: Bools, has_others: Bools, state: Floats, levels: Levels) -> Floats:
    """Return the features [w Z S f] of summaries, in units of what is usual."""
    units = np.clip(summary.spans / levels.spans, -CLIP, CLIP)
    relative = [units[..., at] - median_of_others(units[..., at], fresh)[0] for at in RELATIVE]
    low, middle, high = (levels.restlessness[..., at] for at in range(3))
    unrest = summary.restlessness[..., 0] - middle
    unrest = np.where(unrest > 0, unrest / (high - middle), unrest / (middle - low))
    gaps = np.where(has_others[..., None], (summary.gaps - levels.gap[..., :1]) / levels.gap[..., 1:], 0.0)
    columns = [
        *(squash(4 * units[..., at]) for at in range(len(SPAN_NAMES))),
        *(squash(4 * column) for column in relative),
        *(squash(4 * summary.sizes[..., at] / levels.sizes[..., at]) for at in range(summary.sizes.shape[-1])),
        squash(2 * unrest),
        *(squash(gaps[..., at]) for at in range(2)),
        state,
        has_others,
    ]
    return np.stack(columns, axis=-1).astype(np.float32)


def squash(units: NDArray[Any]) -> NDArray[Any]:
    """Return a signed logarithm, so that large values do not dominate."""
    clipped = np.clip(units, -CLIP, CLIP)
    squashed: NDArray[Any] = np.sign(clipped) * np.log1p(np.abs(clipped))
    return squashed


class EvidenceFeaturizer:
    """Turns rows of readings of one building into windows. Portions of any size give the same bytes."""

    def __init__(self, graph: CpsGraph, template: CpsGraph, preprocessing: EvidencePreprocessing) -> None:
        self.graph, self.levels = graph, preprocessing.levels
        self.points = graph.points
        self._comparer = Comparer(graph, template, preprocessing)
        zones = self._comparer.num_zones
        if not self.levels.fits(zones):
            raise GraphError(f"the model was commissioned for {self.levels.num_zones} zones, but the site has {zones}")
        self._summaries = Summaries(zones, self._comparer.num_signals)
        self._predictors = Predictors(preprocessing, template)
        self._layout = Layout(graph, template, preprocessing)
        self._num_rows = 0

    @property
    def num_rows(self) -> int:
        """The number of rows so far."""
        return self._num_rows

    def push(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> Windows:
        """Take readings [r p] in SI units and their freshness; return the windows of the wanted rows [r]."""
        check_rows(values, fresh, len(wanted), len(self.points))
        first, self._num_rows = self._num_rows, self._num_rows + len(wanted)
        compared = self._comparer.push(values, fresh)
        residuals = self.levels.correct(compared.residuals, self._predictors(compared.recent))
        summary = self._summaries.push(residuals, compared, wanted)
        return self._layout.windows(summary, compared, wanted, first + np.flatnonzero(wanted))


class Layout:
    """Lays out features of zones and signals as windows of the nodes of a building."""

    def __init__(self, graph: CpsGraph, template: CpsGraph, preprocessing: EvidencePreprocessing) -> None:
        roles = [template.roles[node] for node in template.signal_nodes]
        zones, order = zone_layout(graph, roles)
        self._levels, self._num_nodes = preprocessing.levels, graph.num_nodes
        self._predictors = Predictors(preprocessing, template)
        self._nodes = graph.signal_nodes[order]  # [Z*S] the node of every zone and signal
        heard = np.broadcast_to(self._levels.heard, (zones, len(roles))).ravel()
        self._unmeasured = unmeasured_neighbors(graph, self._nodes[heard])

    def windows(self, summary: Summary, compared: Compared, wanted: Bools, rows: NDArray[np.int64]) -> Windows:
        """Return the windows of summaries at the wanted rows of what they were made from."""
        known, recent = compared.fresh[wanted], compared.recent[wanted]
        state = self._predictors.state(recent)
        points = features_of(summary, known, compared.has_others[wanted], state, self._levels)
        shape = (len(points), len(self._nodes))
        features = np.zeros((len(points), self._num_nodes, len(FEATURES)), np.float32)
        features[:, self._nodes] = np.where(known[..., None], points, np.float32(0.0)).reshape(*shape, len(FEATURES))
        is_known = known_nodes(known.reshape(shape), self._nodes, self._num_nodes, self._unmeasured)
        return Windows(features, is_known, rows)


class Predictors:
    """What a site's correction is a linear function of: a constant, recent means, and which valves are open."""

    def __init__(self, preprocessing: EvidencePreprocessing, template: CpsGraph) -> None:
        scale = preprocessing.scaler.columns(template.point_signals)
        low, high = preprocessing.ranges.T
        self.center = ((scale.center - low) / (high - low)).astype(np.float32)
        self.scale = (scale.scale / (high - low)).astype(np.float32)
        self.is_switch = np.zeros(len(low), np.float32)
        self.is_switch[list(preprocessing.switches)] = 1.0
        self._switches = list(preprocessing.switches)

    def state(self, recent: Floats) -> Floats:
        """Return where modes and positions [.. S] stand in their range, from 0 to 1; 0 for other signals."""
        state: Floats = np.clip(recent * self.scale + self.center, 0.0, 1.0) * self.is_switch
        return state

    def __call__(self, recent: Floats) -> Floats:
        """Return the predictors [r Z P] of recent means [r Z S]."""
        is_open = np.clip(self.state(recent)[..., self._switches] / OPEN, 0.0, 1.0)
        return np.concatenate([np.ones_like(recent[..., :1]), recent, is_open], axis=-1, dtype=np.float32)
