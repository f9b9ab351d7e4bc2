"""Fit the levels of a site on its own days: what the expectation gets wrong there, and what is usual.

The correction is a ridge regression for every zone and signal. It is fitted twice, on every other day each, and judged
on the days it was not fitted on, so that widths and quantiles are not too small.

n rows, k of them kept, Z zones, S signals, P predictors.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.graph import CpsGraph
from graphghha.windows.evidence import (
    LEAST_STEP,
    Compared,
    Comparer,
    EvidencePreprocessing,
    Predictors,
    Summaries,
    Summary,
)
from graphghha.windows.expectation import reach
from graphghha.windows.levels import CLIP, Levels, apply_slopes
from graphghha.windows.multiscale import HOUR, STEP_S
from graphghha.windows.typical import TypicalZone

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

ROWS_PER_HOUR = HOUR // STEP_S
KEEP_EVERY = 5  # rows; neighboring rows hardly differ
SLOPE_PENALTY = 0.03  # of every slope, per row; the constant is not penalized
RARE = 0.002  # the share of time in which a level is exceeded
LEAST_OF_ZONES = 0.7  # of the median level of all zones: one quiet zone does not cause alarms
LEAST_OF_SHIPPED = 0.3
LEAST_UNREST = 0.2  # in logarithms
LEAST_GAP = 0.01  # in scaled units
RESTING = 0.1  # of all hours without any change: a point with more of them rests at times
LARGEST_BAND = 0.02  # of an instrument's range; larger steps are decisions, such as those of a setpoint
EXCLUDED = 1e9  # penalty of predictors that a signal must not use


@dataclass(frozen=True, slots=True)
class SiteDays:
    """The days a site is commissioned on, compared with the expectation."""

    compared: Compared  # [n Z S] each
    day: NDArray[np.int64]  # [n] number of the day
    typical: Compared | None = None  # [n 1 S] each, of the typical zone if the site has enough zones

    @property
    def fold(self) -> NDArray[np.int64]:
        """The fold of every row: days alternate."""
        return self.day % 2


@dataclass(frozen=True, slots=True)
class FittedLevels:
    """The levels of a site, and its own days as they look to a correction that was not fitted on them."""

    levels: Levels
    residuals: Floats  # [n Z S] corrected out of fold, in units of the width


class DayCollector:
    """Compares rows of a site with the expectation, portion by portion, and joins them to its days."""

    def __init__(self, graph: CpsGraph, template: CpsGraph, preprocessing: EvidencePreprocessing) -> None:
        self._comparer = Comparer(graph, template, preprocessing)
        self._read_typical = TypicalZone.of(graph, template)
        self._typical_comparer = Comparer(template, template, preprocessing)
        self._parts: list[Compared] = []
        self._typical: list[Compared] = []

    def push(self, values: NDArray[Any], fresh: Bools) -> None:
        """Take readings [r p] in SI units and their freshness."""
        self._parts.append(self._comparer.push(values, fresh))
        if self._read_typical:
            self._typical.append(self._typical_comparer.push(*self._read_typical(values, fresh)))

    def __bool__(self) -> bool:
        return bool(self._parts)

    def days(self, rows_per_day: int) -> SiteDays:
        """Return all rows so far; the first one begins a day."""
        joined = _joined(self._parts)
        day = np.arange(len(joined.fresh)) // rows_per_day
        return SiteDays(joined, day, _joined(self._typical) if self._typical else None)


def _joined(parts: list[Compared]) -> Compared:
    names = Compared.__dataclass_fields__
    return Compared(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def without_rows(days: SiteDays, left_out: Bools) -> SiteDays:
    """Return days in which some rows of some zones [n Z] are unknown."""
    compared, kept = days.compared, ~left_out[..., None]
    return replace(
        days,
        compared=replace(
            compared,
            fresh=compared.fresh & kept,
            residuals=np.where(kept, compared.residuals, np.float32(0.0)),
            has_others=compared.has_others & kept,
            has_steps=compared.has_steps & kept,
        ),
    )


def fit_levels(days: SiteDays, preprocessing: EvidencePreprocessing, template: CpsGraph) -> FittedLevels:
    """Fit the levels of a site; `preprocessing` has the shipped ones, which stay for points that are never heard."""
    shipped, compared = preprocessing.levels, days.compared
    predictors = Predictors(preprocessing, template)(compared.recent)
    slopes = [_fit_slopes(days, predictors, fold, allowed_predictors(preprocessing, template)) for fold in (0, 1)]
    bounds = _bounds(slopes, predictors, compared.fresh)
    corrected = np.empty_like(compared.residuals)
    for fold in (0, 1):
        rows = days.fold == fold
        corrected[rows] = compared.residuals[rows] - apply_slopes(slopes[1 - fold], bounds, predictors[rows])
    heard: Bools = np.asarray(compared.fresh.any(axis=0))  # [Z S]
    width = _width(corrected, compared.fresh, heard, shipped.width)
    residuals = np.clip(corrected / width, -CLIP, CLIP)
    summary, kept = summarize_days(residuals, compared)
    fresh = compared.fresh[kept]
    band = dead_bands(compared, rests(summary.restlessness[..., 0], fresh), Predictors(preprocessing, template).scale)
    narrow = np.quantile(compared.spreads[::KEEP_EVERY], 0.05, axis=0)  # what is expected of a point at rest is sure
    held = (band / narrow / width).astype(np.float32)  # the residual that a dead band can hide
    return FittedLevels(
        Levels(
            slopes=np.mean(slopes, axis=0, dtype=np.float32),
            bounds=bounds,
            width=width,
            spans=np.maximum(_rare(summary.spans, fresh, heard, shipped.spans), held[..., None]),
            sizes=np.maximum(_rare(summary.sizes, fresh, heard, shipped.sizes), held[..., None]),
            restlessness=_unrest(summary.restlessness[..., 0], fresh, heard, shipped.restlessness, band),
            gap=_gap(summary.gaps[..., 0], compared.has_others[kept], shipped.gap, band),
            heard=heard,
        ),
        residuals,
    )


def pooled_levels(summaries: list[tuple[Summary, Bools, Bools]], width: Floats, num_predictors: int) -> Levels:
    """Return levels for any zone of any building: those of all zones of many buildings together.

    Each building gives summaries [k Z S ..], freshness [k Z S] and where there are other zones [k Z S].
    """

    def together(column: str) -> Floats:
        parts = [getattr(summary, column) for summary, _, _ in summaries]
        return np.concatenate([part.reshape(-1, 1, *part.shape[2:]) for part in parts])

    signals = width.shape[1]
    fresh = np.concatenate([fresh.reshape(-1, 1, signals) for _, fresh, _ in summaries])
    others = np.concatenate([others.reshape(-1, 1, signals) for _, _, others in summaries])
    heard, spans = np.ones((1, signals), np.bool_), together("spans")
    none, no_band = np.full((1, signals), np.float32(1e-3)), np.zeros((1, signals), np.float32)
    return Levels(
        slopes=np.zeros((1, signals, num_predictors), np.float32),
        bounds=np.zeros((1, signals, 2), np.float32),
        width=width,
        spans=_rare(spans, fresh, heard, np.repeat(none[..., None], spans.shape[-1], axis=-1)),
        sizes=_rare(together("sizes"), fresh, heard, np.repeat(none[..., None], 2, axis=-1)),
        restlessness=_unrest(
            together("restlessness")[..., 0], fresh, heard, np.zeros((1, signals, 3), np.float32), no_band
        ),
        gap=_gap(together("gaps")[..., 0], others, np.tile(np.array([0.0, 1.0], np.float32), (1, signals, 1)), no_band),
        heard=heard,
    )


def summarize_days(residuals: Floats, compared: Compared) -> tuple[Summary, Bools]:
    """Return the summaries of every fifth row, and which rows these are [n]."""
    kept = np.zeros(len(residuals), np.bool_)
    kept[KEEP_EVERY - 1 :: KEEP_EVERY] = True
    return Summaries(*residuals.shape[1:]).push(residuals, compared, kept), kept


def allowed_predictors(preprocessing: EvidencePreprocessing, template: CpsGraph) -> Bools:
    """Return which predictors [S P] a signal's correction may use: the constant and the signals near it."""
    near = reach(template)
    return np.concatenate([np.ones((len(near), 1), np.bool_), near, near[:, list(preprocessing.switches)]], axis=1)


def _fit_slopes(days: SiteDays, predictors: Floats, fold: int, allowed: Bools) -> Floats:
    """Return the ridge regression [Z S P] of raw residuals on the days of one fold."""
    rows = np.flatnonzero(days.fold == fold)[::KEEP_EVERY]
    compared = days.compared
    zones, signals, count = (*compared.residuals.shape[1:], predictors.shape[-1])
    slopes = np.zeros((zones, signals, count), np.float32)
    for zone in range(zones):
        x = predictors[rows, zone].astype(np.float64)
        whole = x.T @ x
        for signal in range(signals):
            fresh = compared.fresh[rows, zone, signal]
            known = int(fresh.sum())
            if known < count:
                continue
            gram = whole if known == len(rows) else x[fresh].T @ x[fresh]
            target = np.clip(compared.residuals[rows, zone, signal][fresh], -CLIP * 4, CLIP * 4)
            penalty = np.where(allowed[signal], SLOPE_PENALTY * known, EXCLUDED * known)
            penalty[0] = 1e-6 * known
            slopes[zone, signal] = np.linalg.solve(gram + np.diag(penalty), x[fresh].T @ target)
    return slopes


def _bounds(slopes: list[Floats], predictors: Floats, fresh: Bools) -> Floats:
    """Return the least and largest corrections that occur [Z S 2]."""
    rows = slice(None, None, KEEP_EVERY)
    free = np.tile(np.array([-np.inf, np.inf], np.float32), (*slopes[0].shape[:2], 1))
    both = [apply_slopes(each, free, predictors[rows]) for each in slopes]
    low = np.min([np.where(fresh[rows], each, np.inf).min(axis=0) for each in both], axis=0)
    high = np.max([np.where(fresh[rows], each, -np.inf).max(axis=0) for each in both], axis=0)
    heard = np.isfinite(low)
    return np.stack([np.where(heard, low, 0.0), np.where(heard, high, 0.0)], axis=-1).astype(np.float32)


def _width(corrected: Floats, fresh: Bools, heard: Bools, shipped: Floats) -> Floats:
    width = central_width(corrected[::KEEP_EVERY], fresh[::KEEP_EVERY])
    least = LEAST_OF_SHIPPED * shipped
    return np.where(heard, np.maximum(width, least), shipped).astype(np.float32)


def rests(restlessness: Floats, fresh: Bools) -> Bools:
    """Return which points [Z S] rest at times, from the restlessness of an hour at kept rows [k Z S]."""
    unmoved = fresh & (restlessness <= np.log(LEAST_STEP) + 1e-3)
    resting: Bools = unmoved.sum(axis=0) > RESTING * np.maximum(fresh.sum(axis=0), 1)
    return resting


def dead_bands(compared: Compared, resting: Bools, range_per_unit: Floats) -> Floats:
    """Return the change that a resting point hides [Z S], scaled; 0 for points that move all the time.

    A point that is rounded or reports changes only stays within a dead band of the true value, often for days: a closed
    valve may be reported as 0.4 % open. Two weeks do not show all the values it may stop at.
    """
    moved = (compared.steps > 0) & compared.has_steps  # [n Z S]
    band = np.zeros(resting.shape, np.float32)
    for signal in range(moved.shape[-1]):
        chosen = resting[:, signal]
        steps = compared.steps[:, chosen, signal][moved[:, chosen, signal]]
        if len(steps):
            least = np.quantile(steps, 0.05)
            band[chosen, signal] = least if least * range_per_unit[signal] <= LARGEST_BAND else 0.0
    return band


def central_width(values: Floats, fresh: Bools) -> Floats:
    """Return the width of the central 98 % [Z S] as a standard deviation; 0 where nothing is known."""
    low, high = _quantiles(values, fresh, (0.01, 0.99))
    width: Floats = ((high - low) / 4.65).astype(np.float32)
    return width


def _rare(values: Floats, fresh: Bools, heard: Bools, shipped: Floats) -> Floats:
    """Return what the sizes of values [k Z S m] rarely exceed, [Z S m]."""
    columns = [_quantiles(np.abs(values[..., at]), fresh, (1 - RARE,))[0] for at in range(values.shape[-1])]
    level = np.stack(columns, axis=-1)
    anywhere: Bools = np.asarray(heard.any(axis=0))
    zones = np.where(heard[..., None], level, np.nan)
    middle = np.nanmedian(np.where(anywhere[..., None], zones, 0.0), axis=0, keepdims=True)
    level = np.maximum(level, LEAST_OF_ZONES * middle)
    return np.where(heard[..., None], np.maximum(level, 1e-3), shipped).astype(np.float32)


def _unrest(values: Floats, fresh: Bools, heard: Bools, shipped: Floats, band: Floats) -> Floats:
    low, middle, high = _quantiles(values, fresh, (RARE, 0.5, 1 - RARE))
    # a resting point may move there and back within an hour
    high = np.maximum(high, np.log(2 * band / ROWS_PER_HOUR + LEAST_STEP))
    levels = np.stack(
        [np.minimum(low, middle - LEAST_UNREST), middle, np.maximum(high, middle + LEAST_UNREST)], axis=-1
    )
    return np.where(heard[..., None], levels, shipped).astype(np.float32)


def _gap(values: Floats, known: Bools, shipped: Floats, band: Floats) -> Floats:
    low, middle, high = _quantiles(values, known, (0.01, 0.5, 0.99))
    levels = np.stack([middle, np.maximum((high - low) / 4.65, np.maximum(band, LEAST_GAP))], axis=-1)
    heard: Bools = np.asarray(known.any(axis=0))
    return np.where(heard[..., None], levels, shipped).astype(np.float32)


def _quantiles(values: Floats, known: Bools, shares: tuple[float, ...]) -> NDArray[np.float64]:
    """Return quantiles [shares Z S] of the known values [k Z S]; 0 where nothing is known."""
    zones, signals = values.shape[1:]
    out = np.zeros((len(shares), zones, signals))
    for zone in range(zones):
        for signal in range(signals):
            column = values[:, zone, signal][known[:, zone, signal]]
            if len(column):
                out[:, zone, signal] = np.quantile(column, shares)
    return out
