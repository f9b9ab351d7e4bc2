"""Commission a site: from a base model and the site's own days to a model of that site.

n rows, k kept rows, Z zones, m nodes of a zone.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.commissioning.levels import KEEP_EVERY, FittedLevels, SiteDays, fit_levels, summarize_days, without_rows
from graphghha.commissioning.reporting import reporting_of
from graphghha.commissioning.threshold import ZONES_OF_BUDGET, own_threshold
from graphghha.engine import EngineConfig
from graphghha.engine.zone_scorer import TYPICAL_MARGIN, ZoneScorer, zone_odds
from graphghha.errors import DataError
from graphghha.graph import CpsGraph
from graphghha.models import CommissioningRecord, Limits, Model, StandingFault, Thresholds
from graphghha.models.calibration import Calibration
from graphghha.models.thresholds import HIGHEST_RAISE_AT
from graphghha.windows import Levels
from graphghha.windows.evidence import HISTORY, Compared, Layout
from graphghha.windows.levels import CLIP

Floats = NDArray[np.floating[Any]]

LEAST_DAYS = 7
STANDING_SHARE = 0.2  # of the time that a zone looks abnormal to the shipped levels
MOST_LEFT_OUT = 0.4  # of a zone's time: what is abnormal for longer is how the zone is, or a fault to be listed
ROUNDS = 2  # of leaving out and fitting again
LEAD = 60  # rows before the first abnormal one that are left out as well
HYSTERESIS = 2.0  # in log-odds, from raising to clearing
HIGHEST_CLEAR_AT = 0.9999  # below HIGHEST_RAISE_AT


@dataclass(frozen=True, slots=True)
class OwnDays:
    """How a site's own days look to a model."""

    rows: NDArray[np.int64]  # [k] of all rows, those that were scored
    odds: Floats  # [k Z] log-odds of every zone
    leading: NDArray[np.int64]  # [k Z] node of the template with the highest log-odds


@dataclass(frozen=True, slots=True)
class _Learned:
    """The levels of a site, and what its days looked like."""

    levels: Levels
    own: OwnDays  # to these levels, out of fold
    view: OwnDays  # to the shipped levels
    abnormal: NDArray[np.bool_]  # [k Z] what was not learned from, or is listed


def commission(
    model: Model,
    graph: CpsGraph,
    days: SiteDays,
    *,
    data: str,
    first: datetime,
    last: datetime,
    held_days: int | None = None,
    engine: EngineConfig = EngineConfig(),
) -> Model:
    """Return a model of the site whose days, compared with the base model's expectation, are given.

    `held_days` is how many of them hold usable readings, if that is not all of them.
    """
    limits = model.limits
    if limits is None:
        raise DataError("commission: the model has no limits for thresholds; use a model that judges zones")
    count = int(days.day[-1] - days.day[0]) + 1
    held = count if held_days is None else held_days
    if held < LEAST_DAYS:
        raise DataError(
            f"commission: the data covers {held} days, and fewer than {LEAST_DAYS} make a model worse than the "
            "shipped one; give 14 days"
        )
    zones = graph.zone_names or ("",)
    learned = _learn(model, graph, days, limits, engine)
    odds, typical = learned.own.odds, None
    if days.typical is not None:
        alone = _learn(model, model.template, SiteDays(days.typical, days.day), limits, engine)
        odds, typical = np.concatenate([odds, alone.own.odds - TYPICAL_MARGIN], axis=1), alone.levels
    rows_per_day = len(days.day) // count // KEEP_EVERY
    wanted = own_threshold(odds, limits.budget_per_day * (held / count), rows_per_day)  # gaps raise no alarms
    threshold = limits.clamp(wanted)
    view, abnormal, levels = learned.view, learned.abnormal, learned.levels
    share = abnormal.mean(axis=0)  # [Z]
    left_out = (share > 0) & (share <= MOST_LEFT_OUT)
    scale = len(zones) / ZONES_OF_BUDGET
    return replace(
        model,
        preprocessing=model.zone_preprocessing.with_levels(levels, typical),
        thresholds=thresholds_at(model.thresholds, model.calibration, threshold),
        commissioning=CommissioningRecord(
            base=model.fingerprint,
            data=data,
            first=first.isoformat(),
            last=last.isoformat(),
            days=held,
            zones=tuple(zones),
            threshold=threshold,
            own_threshold=wanted,
            expected_false_per_day=(limits.false_low * scale, limits.false_high * scale),
            standing=_faults(view, abnormal, share >= STANDING_SHARE, zones, model.template),
            left_out=_faults(view, abnormal, left_out, zones, model.template),
            missing_points=_missing(graph, levels, zones, model.template),
            reporting=reporting_of(days.compared, model.zone_preprocessing, model.template),
        ),
    )


def _learn(model: Model, graph: CpsGraph, days: SiteDays, limits: Limits, engine: EngineConfig) -> _Learned:
    """Fit levels to days without what looked abnormal in them."""
    view = shipped_view(model, graph, days, engine)
    abnormal = episodes_above(view.odds, limits.shipped)  # [k Z]
    days = without_rows(days, _left_out(view, abnormal, len(days.day)))
    fitted, own = _fitted(model, graph, days, engine)
    for _ in range(ROUNDS):
        # what is left out no longer hides the rest: more stands out to levels of the site than to the shipped ones
        again = episodes_above(own.odds, limits.cap) & ~abnormal
        if not again.any():
            break
        abnormal |= again
        days = without_rows(days, _left_out(view, abnormal, len(days.day)))
        fitted, own = _fitted(model, graph, days, engine)
    return _Learned(fitted.levels, own, view, abnormal)


def _fitted(model: Model, graph: CpsGraph, days: SiteDays, engine: EngineConfig) -> tuple[FittedLevels, OwnDays]:
    fitted = fit_levels(days, model.zone_preprocessing, model.template)
    return fitted, own_days(model, graph, days.compared, fitted.residuals, fitted.levels, engine)


def episodes_above(odds: Floats, threshold: float) -> NDArray[np.bool_]:
    """Return where zones [k Z] are in an episode: from a rise above the threshold until they are well below it."""
    inside = np.zeros(odds.shape, np.bool_)
    now = np.zeros(odds.shape[1], np.bool_)
    for row, value in enumerate(odds):
        now = (value >= threshold) | (now & ~(value < threshold - HYSTERESIS))
        inside[row] = now
    return inside


def own_days(
    model: Model,
    graph: CpsGraph,
    compared: Compared,
    residuals: NDArray[np.float32],
    levels: Levels,
    engine: EngineConfig = EngineConfig(),
) -> OwnDays:
    """Score a site's own days, every fifth row, with residuals that were corrected out of fold."""
    preprocessing = model.zone_preprocessing.with_levels(levels)
    scorer = ZoneScorer(replace(model, preprocessing=preprocessing), graph, engine)
    summary, kept = summarize_days(residuals, compared)
    rows = np.flatnonzero(kept)
    windows = Layout(graph, model.template, preprocessing).windows(summary, compared, kept, rows)
    odds = scorer.odds(windows).reshape(len(rows), -1, model.template.num_nodes)
    full = rows >= HISTORY
    mean = _mean_of_three(odds)[full]
    leading = np.where(np.isfinite(mean), mean, -np.inf).argmax(axis=-1)
    return OwnDays(rows[full], zone_odds(mean), leading)


def shipped_view(model: Model, graph: CpsGraph, days: SiteDays, engine: EngineConfig = EngineConfig()) -> OwnDays:
    """Score a site's own days with the levels of the base model."""
    levels, compared = model.zone_preprocessing.levels, days.compared
    corrected = np.clip(compared.residuals / levels.width, -CLIP, CLIP)
    return own_days(model, graph, compared, corrected, levels, engine)


def thresholds_at(base: Thresholds, calibration: Calibration, threshold: float) -> Thresholds:
    """Return thresholds that raise alarms at a zone's log-odds, or at the highest probability that a rule may ask for.

    Alarms clear a little below.
    """
    raise_at, clear_at = (float(calibration(np.array([0.0, odds]))[1]) for odds in (threshold, threshold - HYSTERESIS))
    raise_at, clear_at = min(raise_at, HIGHEST_RAISE_AT), min(clear_at, HIGHEST_CLEAR_AT)
    return replace(base, rule=replace(base.rule, raise_at=raise_at, clear_at=clear_at))


def _mean_of_three(odds: Floats) -> Floats:
    """Return means [k Z m] over the last three kept rows, a quarter of an hour; NaN where the row itself is unknown."""
    total, count = np.zeros_like(odds), np.zeros_like(odds)
    for back in range(3):
        part = odds[: len(odds) - back]
        known = np.isfinite(part)
        total[back:] += np.where(known, part, 0.0)
        count[back:] += known
    return np.where(np.isfinite(odds), total / np.maximum(count, 1), np.nan)


def _left_out(view: OwnDays, abnormal: NDArray[np.bool_], count: int) -> NDArray[np.bool_]:
    """Return which of all rows [n Z] are left out: around those that looked abnormal, in zones that are mostly normal.

    The attack of a few days that happens to fall into the commissioning would otherwise become usual.
    """
    out = np.zeros((count, abnormal.shape[1]), np.bool_)
    for zone in np.flatnonzero(abnormal.mean(axis=0) <= MOST_LEFT_OUT).tolist():
        for row in view.rows[abnormal[:, zone]].tolist():
            out[max(0, row - LEAD) : row + 1, zone] = True
    return out


def _faults(
    view: OwnDays, abnormal: NDArray[np.bool_], chosen: NDArray[np.bool_], zones: Sequence[str], template: CpsGraph
) -> tuple[StandingFault, ...]:
    """Return the chosen zones [Z] with the node that led most often while they looked abnormal."""
    faults = []
    for number in np.flatnonzero(chosen).tolist():
        rows = abnormal[:, number]
        [(node, _)] = Counter(view.leading[rows, number].tolist()).most_common(1)
        share = round(float(rows.mean()), 3)
        faults.append(StandingFault(zone=zones[number], node=template.names[node], share_of_time=share))
    return tuple(faults)


def _missing(graph: CpsGraph, levels: Levels, zones: Sequence[str], template: CpsGraph) -> tuple[str, ...]:
    names = [template.names[node] for node in template.signal_nodes]
    return tuple(
        f"{zone}/{name}" if zone else name
        for row, zone in enumerate(zones)
        for name, heard in zip(names, levels.heard[row], strict=True)
        if not heard
    )
