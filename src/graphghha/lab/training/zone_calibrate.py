"""Calibration, limits and thresholds of a model that judges zones, from random validation buildings.

Every building is commissioned, attacked as rarely as in operation, and scored with its own levels and with the shipped
ones. t minutes, Z zones, m nodes of a zone.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import AlarmRule, BuildingRule, GroupRule, node_shares
from graphghha.classes import BINARY_CLASSES
from graphghha.commissioning.commission import own_days, thresholds_at
from graphghha.commissioning.levels import KEEP_EVERY, fit_levels
from graphghha.commissioning.threshold import ZONES_OF_BUDGET, own_threshold
from graphghha.engine import EngineConfig
from graphghha.engine.zone_scorer import ZoneScorer
from graphghha.lab.metrics import EventMatches, match_events, zone_samples
from graphghha.lab.runs import Recording, Schedule, record, simulated_run
from graphghha.lab.training.temperature_scaling import fit_calibration
from graphghha.lab.training.zone_recipe import ZoneRecipe
from graphghha.lab.training.zone_windows import compared_days
from graphghha.models import BudgetSearch, Calibration, Limits, Model, Thresholds
from graphghha.models.site import DAYS_PER_ATTACK
from graphghha.plants import load_plant
from graphghha.windows import Fingerprint, Span, fingerprint

IDENTITY = Calibration(1.0, (0.0,) * len(BINARY_CLASSES), Fingerprint((), ""))
OPERATION = Schedule(mean_gap_days=DAYS_PER_ATTACK, lasting_share=0.1)
TRIED = (3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 8.0, 9.0, 10.0)  # log-odds of a zone
QUIET_PER_DAY = 0.15  # false alarms a day in zones not under attack, over all commissioned validation buildings
QUIET_PER_DAY_SHIPPED = 0.3
CAP_ABOVE_FLOOR = 1.5  # what is higher in the days of commissioning is left out of them
COVERAGE = 0.9  # of the sets of suspects
STRIDE = 5  # minutes between two samples of the calibration
HIGHEST = 16.0  # log-odds beyond which fp32 probabilities are 1

# One incident of a zone stays one while its attack lasts and for four hours after, in which long averages recover.
ZONE_RULE = AlarmRule(votes=3, window=5, clear_after=30)
ZONE_GROUP = GroupRule(max_hops=32, join_within=10_080, linger=240, building=BuildingRule())


@dataclass(frozen=True, slots=True)
class ValidatedView:
    """A validation building, scored with its own or with the shipped levels."""

    odds: NDArray[np.float32]  # [k] log-odds of zones at some minutes
    attacked: NDArray[np.bool_]  # [k]
    quiet: tuple[int, ...]  # false alarms in zones not under attack, at each threshold tried
    misplaced: tuple[int, ...]  # false alarms in attacked zones
    detected: tuple[int, ...]
    suspects: tuple[float, ...]  # share of probability needed to include the attacked node, at each announcement
    events: int
    building_days: float  # in units of a building with twelve zones


@dataclass(frozen=True, slots=True)
class ValidatedBuilding:
    """The scores and alarms of a model in one validation building."""

    own: ValidatedView
    shipped: ValidatedView
    own_threshold: float
    span: Span


def calibrate_zones(model: Model, recipe: ZoneRecipe, pool: Executor, *, progress: Callable[[str], None]) -> Model:
    """Fit calibration and limits on validation buildings and return the complete model."""
    progress(f"limits: {recipe.validation_buildings} commissioned random buildings with generic attacks")
    validate = partial(_validate, model, recipe)
    buildings = list(pool.map(validate, range(recipe.validation_buildings)))
    floor = _least(TRIED, [b.own for b in buildings], QUIET_PER_DAY)
    shipped = _least(TRIED, [b.shipped for b in buildings], QUIET_PER_DAY_SHIPPED)
    calibration = _calibrate(buildings)
    at = TRIED.index(floor)
    rates = [(b.own.quiet[at] + b.own.misplaced[at]) / b.own.building_days for b in buildings]
    limits = Limits(
        floor=floor,
        cap=floor + CAP_ABOVE_FLOOR,
        shipped=shipped,
        budget_per_day=recipe.budget_per_day,
        set_share=_set_share([b.own for b in buildings]),
        coverage=COVERAGE,
        false_low=float(np.quantile(rates, 0.25)),
        false_high=float(np.quantile(rates, 0.9)),
    )
    progress(summary_line("own levels", [b.own for b in buildings], at))
    progress(summary_line("shipped levels", [b.shipped for b in buildings], TRIED.index(shipped)))
    return replace(
        model, calibration=calibration, limits=limits, thresholds=_thresholds(buildings, calibration, limits)
    )


def summary_line(name: str, views: Sequence[ValidatedView], at: int) -> str:
    """Return the figures of some views at one threshold, for people."""
    days, events = sum(v.building_days for v in views), sum(v.events for v in views)
    quiet, misplaced, found = (sum(getattr(v, each)[at] for v in views) for each in ("quiet", "misplaced", "detected"))
    return (
        f"limits: {name}, threshold {TRIED[at]:g}: {quiet / days:.2f} quiet and {misplaced / days:.2f} misplaced false "
        f"alarms a day, {found} of {events} attacks found"
    )


def _validate(model: Model, recipe: ZoneRecipe, number: int) -> ValidatedBuilding:
    plant = load_plant(recipe.plant)
    normal, judged = recipe.validation(number, OPERATION)
    graph = plant.template.replicate(judged.zones)
    days = compared_days(plant, normal, model.zone_preprocessing)
    fitted = fit_levels(days, model.zone_preprocessing, plant.template)
    own = own_days(model, graph, days.compared, fitted.residuals, fitted.levels)
    wanted = own_threshold(own.odds, recipe.budget_per_day, plant.steps_per_day // KEEP_EVERY)
    commissioned = replace(model, preprocessing=model.zone_preprocessing.with_levels(fitted.levels))

    def view(of: Model, least: float) -> ValidatedView:
        recording = record(plant, simulated_run(plant, judged), ZoneScorer(of, graph, EngineConfig()))
        return _view(recording, of, least)

    return ValidatedBuilding(view(commissioned, wanted), view(model, -np.inf), wanted, judged.span(plant))


def _view(recording: Recording, model: Model, least: float) -> ValidatedView:
    """Judge a recording at all thresholds; `least` is what the site's own days ask for."""
    zones = recording.attack.reshape(recording.num_steps, -1, model.template.num_nodes)  # [t Z m]
    matches = [_matches(recording, max(threshold, least)) for threshold in TRIED]
    odds, attacked = _samples(recording)
    return ValidatedView(
        odds=odds,
        attacked=attacked,
        quiet=tuple(len(m.false_alarms) - len(m.misplaced) for m in matches),
        misplaced=tuple(len(m.misplaced) for m in matches),
        detected=tuple(sum(o.is_detected and o.is_observable for o in m.outcomes) for m in matches),
        suspects=_suspects(recording, zones, matches[TRIED.index(4.0)]),
        events=sum(o.is_observable for o in matches[0].outcomes),
        building_days=matches[0].days * zones.shape[1] / ZONES_OF_BUDGET,
    )


def _matches(recording: Recording, threshold: float) -> EventMatches:
    rules = thresholds_at(Thresholds(rule=ZONE_RULE, group=ZONE_GROUP), IDENTITY, threshold)
    return match_events(recording, rules.rule, rules.group)


def _samples(recording: Recording) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return log-odds and truth of zones at some minutes, without those whose attack is invisible or over."""
    attacked, p = zone_samples(recording, every=STRIDE)
    limit = 1.0 / (1.0 + np.exp(HIGHEST))
    p = np.clip(p, limit, 1.0 - limit)
    return np.log(p / (1.0 - p)).astype(np.float32), attacked


def _suspects(recording: Recording, zones: NDArray[np.float32], matches: EventMatches) -> tuple[float, ...]:
    """Return for every announced attack the share of the probability that its likeliest attacked node had."""
    nodes = zones.shape[2]
    shares = []
    for outcome in matches.outcomes:
        if outcome.incident is None or not outcome.is_observable:
            continue
        step, zone = outcome.incident.annunciated, outcome.incident.root // nodes
        share = node_shares(zones[step, zone])
        hits = [node % nodes for node in outcome.attack.hits if node // nodes == zone]
        shares.append(float(share[hits].max()) if hits else 0.0)
    return tuple(shares)


def _least(tried: Sequence[float], views: Sequence[ValidatedView], per_day: float) -> float:
    """Return the least threshold at which quiet false alarms stay within a rate, or the highest one tried."""
    days = sum(view.building_days for view in views)
    for at, threshold in enumerate(tried):
        if sum(view.quiet[at] for view in views) / days <= per_day:
            return threshold
    return tried[-1]


def _set_share(views: Sequence[ValidatedView]) -> float:
    """Return the share of probability from which on a node belongs to the set of suspects (split conformal)."""
    shares = np.sort([share for view in views for share in view.suspects])
    place = int(np.floor((1.0 - COVERAGE) * (len(shares) + 1))) - 1
    return float(np.clip(shares[place] if place >= 0 else 0.0, 1e-3, 1.0))


def _calibrate(buildings: Sequence[ValidatedBuilding]) -> Calibration:
    odds = np.concatenate([b.own.odds for b in buildings]).astype(np.float64)
    attacked = np.concatenate([b.own.attacked for b in buildings])
    logits = np.stack([np.zeros_like(odds), odds], axis=1)
    return fit_calibration(logits, attacked.astype(np.int64), [b.span for b in buildings])


def _thresholds(buildings: Sequence[ValidatedBuilding], calibration: Calibration, limits: Limits) -> Thresholds:
    """Return the shipped rules, with the search that found them."""
    views = [b.shipped for b in buildings]
    days = sum(view.building_days for view in views)
    quiet = [sum(view.quiet[at] for view in views) for at in range(len(TRIED))]
    at = TRIED.index(limits.shipped)
    search = BudgetSearch(
        budget_per_day=QUIET_PER_DAY_SHIPPED,
        false_alarms=quiet[at],
        days=days,
        curve=tuple(
            (float(calibration(np.array([0.0, odds]))[1]), count / days)
            for odds, count in sorted(zip(TRIED, quiet, strict=True), reverse=True)
        ),
        seen=fingerprint([b.span for b in buildings], np.array(quiet)),
    )
    return thresholds_at(Thresholds(rule=ZONE_RULE, group=ZONE_GROUP, search=search), calibration, limits.shipped)
