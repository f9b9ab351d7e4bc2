"""Trials of commissioning: few days, another season, attacks in the days that are learned from, small buildings.

Every trial commissions buildings that nothing else uses, random ones or those of some conditions, and judges them under
attacks of the whole catalogue, or of the cases that no training saw, as rare as the calibration assumes. In the weekly
trial a building is commissioned again every week, as a monitor does it: on its newest two weeks, with the
attacks that were in them, but without the rows of zones in which an incident was announced.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import NONE
from graphghha.commissioning.commission import commission
from graphghha.commissioning.levels import DayCollector
from graphghha.engine import EngineConfig, open_scorer
from graphghha.errors import ConfigError, NotFoundError
from graphghha.lab.evaluation.protocols import unseen_cases
from graphghha.lab.metrics import EventMatches, event_scores, expected_calibration_error, match_events, zone_samples
from graphghha.lab.runs import Run, Schedule, attacked_run, record, simulated_run
from graphghha.lab.training.windows import flat_values
from graphghha.lab.training.workers import worker_processes
from graphghha.models import Model
from graphghha.models.site import DAYS_PER_ATTACK
from graphghha.plants import Plant, load_plant, load_testbed
from graphghha.windows import HISTORY_DAYS

SEED_BASE = 820_000_000  # far from every seed that training, validation, the report card or `bench shift` may use
FIRST_DAYS = (datetime(2018, 1, 22), datetime(2018, 7, 16))
WEEK = 7
SAMPLED_MIN = 5  # minutes between two samples of the calibration
CALIBRATED = ("attacked", "probability")
FEW_ATTACKS = Schedule(mean_gap_days=10.0, lasting_share=0.0, rest_min=600)
OPERATION = Schedule(mean_gap_days=DAYS_PER_ATTACK, lasting_share=0.1)
NEW_DAYS = 14  # that are judged under new cases, which are rare
MANY_ATTACKS = Schedule(mean_gap_days=3.0, lasting_share=0.2, rest_min=600)


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """How the buildings of a trial are commissioned."""

    name: str
    zones: int = 12
    days: int = 14  # of commissioning; 0: as shipped
    pause_days: int = 0  # between commissioning and judging
    attacks: Schedule | None = None  # in the days that are learned from
    weeks: int = 0  # that are judged, each after a new commissioning
    is_everywhere: bool = False  # attacks hit all zones at once and alike
    is_new: bool = False  # attacks are the cases that no training saw


TRIALS = (
    Trial(name="as shipped", days=0),
    Trial(name="14 days"),
    Trial(name="7 days", days=7),
    Trial(name="a season later", pause_days=91),
    Trial(name="half a year later", pause_days=182),
    Trial(name="few attacks in the 14 days", attacks=FEW_ATTACKS),
    Trial(name="attacks on every zone in the 14 days", attacks=MANY_ATTACKS),
    Trial(name="3 zones", zones=3),
    Trial(name="2 zones", zones=2),
    Trial(name="1 zone", zones=1),
    Trial(name="the same attacks on all zones at once", is_everywhere=True),
    Trial(name="commissioned every week", weeks=8),
    Trial(name="new cases, as shipped", days=0, is_new=True),
    Trial(name="new cases, 14 days", is_new=True),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialConfig:
    """The buildings of every trial. `days` are judged days of each building."""

    seed: int = 0
    buildings: int = 4  # one half judged in winter, the other in summer
    days: int = 6
    trials: tuple[str, ...] = ()  # empty: all of them
    conditions: tuple[str, ...] = ()  # of the buildings, in turn; empty: every building is a random one
    schedule: Schedule = field(default=Schedule(mean_gap_days=2.5, lasting_share=0.1, rest_min=600))

    def __post_init__(self) -> None:
        known = [trial.name for trial in TRIALS]
        if unknown := [name for name in self.trials if name not in known]:
            names = ", ".join(f'"{name}"' for name in known)  # with quotes, since some have a comma
            raise ConfigError(f"trials: none is named {unknown[0]!r}; known: {names}")
        if min(self.buildings, self.days) < 1:
            raise ConfigError("trials: give at least one building and one day")


def trial_rows(
    model: Model,
    config: TrialConfig,
    *,
    engine: EngineConfig = EngineConfig(),
    workers: int = 2,
    progress: Callable[[str], None] = lambda line: None,
) -> list[dict[str, Any]]:
    """Return one row per trial, over all its buildings."""
    if not model.judges_zones:
        raise ConfigError(
            "trials: only a model that judges zones can be commissioned; give one, such as --model fcu-zones"
        )
    chosen = [trial for trial in TRIALS if not config.trials or trial.name in config.trials]
    known = load_testbed(model.plant).conditions
    if unknown := [name for name in config.conditions if name not in known]:
        raise NotFoundError(f"trials: no condition is named {unknown[0]!r}; known: {', '.join(known)}")
    jobs = [(trial, number) for trial in chosen for number in range(_buildings(trial, config))]
    found: dict[str, list[_Judged]] = {}
    with worker_processes(workers) as pool:
        for (trial, number), judged in zip(jobs, pool.map(partial(_tried, model, config, engine), jobs), strict=True):
            progress(f"{trial.name}, building {number + 1}")
            found.setdefault(trial.name, []).extend(judged)
    return [_row(trial, found[trial.name]) for trial in chosen]


@dataclass(frozen=True, slots=True)
class _Judged:
    """What is kept of one judged building: its events, and whether its zones were attacked, with their P(attack)."""

    matches: EventMatches
    attacked: NDArray[np.bool_]
    probability: NDArray[np.float64]


def _buildings(trial: Trial, config: TrialConfig) -> int:
    """Return how many buildings a trial needs: some have fewer attacks, and a weekly trial has many days."""
    if trial.zones < 4:
        return config.buildings * 4
    if trial.is_new:
        return config.buildings * 2
    return max(1, config.buildings // 2) if trial.weeks else config.buildings


def _building(trial: Trial, config: TrialConfig, number: int) -> Run:
    """Return a building on its first judged day; conditions take turns, each of them in both seasons."""
    seed = SEED_BASE + 1000 * config.seed + 100 * min(trial.zones, 12) + number
    conditions = config.conditions or (str(seed),)
    condition = conditions[(number + 1) // 2 % len(conditions)]
    return Run(seed=seed, start=FIRST_DAYS[number % 2], days=1, zones=trial.zones, condition=condition)


def _tried(model: Model, config: TrialConfig, engine: EngineConfig, job: tuple[Trial, int]) -> list[_Judged]:
    trial, number = job
    plant, building = load_plant(model.plant), _building(trial, config, number)
    start = building.start
    if trial.weeks:
        return _weekly(model, plant, building, trial, config.schedule, engine)
    if trial.days:
        first = start - timedelta(days=HISTORY_DAYS + trial.pause_days + trial.days)
        learned = replace(building, start=first, days=trial.days)
        if trial.attacks:
            learned = attacked_run(learned, tuple(plant.cases), trial.attacks)
        model = _commissioned(model, plant, learned)
    days = NEW_DAYS if trial.is_new else config.days
    judged = replace(building, start=start - timedelta(days=HISTORY_DAYS), days=HISTORY_DAYS + days)
    cases = unseen_cases(model, plant) if trial.is_new else tuple(plant.cases)
    schedule = OPERATION if trial.is_new else config.schedule
    judged = (_attacked_everywhere if trial.is_everywhere else attacked_run)(judged, cases, schedule)
    return [_judged(model, plant, judged, engine)]


def _attacked_everywhere(run: Run, cases: Sequence[str], schedule: Schedule) -> Run:
    """Return the run with the attacks of one zone on all of them."""
    one = attacked_run(replace(run, zones=1), cases, schedule)
    zones = [str(zone + 1) for zone in range(run.zones)]
    return replace(run, cases=tuple(replace(spec, zone=zone) for spec in one.cases for zone in zones))


def _weekly(
    model: Model, plant: Plant, building: Run, trial: Trial, schedule: Schedule, engine: EngineConfig
) -> list[_Judged]:
    """Judge week after week, each with levels of the two weeks before it."""
    whole = replace(building, days=trial.days + WEEK * trial.weeks)
    whole = attacked_run(whole, tuple(plant.cases), schedule, warm_up_s=trial.days * 86_400)
    judged: list[_Judged] = []
    hidden: list[tuple[int, datetime, datetime]] = []  # zones in which an incident was open
    for week in range(trial.weeks):
        first = whole.start + timedelta(days=WEEK * week)
        own = _commissioned(model, plant, _part(whole, first, trial.days), hidden)
        begin = first + timedelta(days=trial.days - HISTORY_DAYS)
        judged.append(_judged(own, plant, _part(whole, begin, HISTORY_DAYS + WEEK), engine))
        hidden += _announced(judged[-1].matches, begin + timedelta(days=HISTORY_DAYS), plant)
    return judged


def _part(whole: Run, start: datetime, days: int) -> Run:
    """Return some days of a run, with the attacks that begin in them but not at their very start.

    A replayed day must lie within the run.
    """
    first, end = start + timedelta(days=HISTORY_DAYS), start + timedelta(days=days)
    return replace(whole, start=start, days=days, cases=tuple(c for c in whole.cases if first <= c.start < end))


def _announced(matches: EventMatches, start: datetime, plant: Plant) -> list[tuple[int, datetime, datetime]]:
    """Return the zones of announced incidents, with the times between which they were open."""
    incidents = {outcome.incident for outcome in matches.outcomes if outcome.incident} | {*matches.false_alarms}
    last = round(matches.days * 86_400 / matches.step_s)

    def at(step: int) -> datetime:
        return start + timedelta(seconds=(last if step == NONE else step) * matches.step_s)

    return [(each.root // plant.template.num_nodes, at(each.since), at(each.closed)) for each in incidents]


def _commissioned(
    model: Model, plant: Plant, learned: Run, hidden: Sequence[tuple[int, datetime, datetime]] = ()
) -> Model:
    graph = plant.template.replicate(learned.zones)
    collector = DayCollector(graph, plant.template, model.zone_preprocessing)
    points = len(plant.template.points)
    for number, day in enumerate(learned.simulate(plant)):
        values = flat_values(day).copy()
        begin = learned.start + timedelta(days=number)
        minutes = np.array([begin + timedelta(minutes=at) for at in range(len(values))])
        for zone, since, closed in hidden:
            open_rows = (minutes >= since) & (minutes <= closed)
            values[open_rows, zone * points : (zone + 1) * points] = np.nan
        collector.push(values, np.isfinite(values))
    days = collector.days(plant.steps_per_day)
    last = learned.start + timedelta(days=learned.days)
    return commission(model, graph, days, data=learned.source, first=learned.start, last=last)


def _judged(model: Model, plant: Plant, run: Run, engine: EngineConfig) -> _Judged:
    scorer = open_scorer(model, plant.template.replicate(run.zones), engine)
    recording = record(plant, simulated_run(plant, run), scorer)
    matches = match_events(recording, model.thresholds.rule, model.thresholds.group)
    return _Judged(matches, *zone_samples(recording, every=SAMPLED_MIN))


def _row(trial: Trial, judged: Sequence[_Judged]) -> dict[str, Any]:
    events = event_scores([each.matches for each in judged])
    attacked, probability = (np.concatenate([getattr(each, name) for each in judged]) for name in CALIBRATED)
    return {
        **asdict(trial),
        "trial": trial.name,
        "buildings": len(judged) // max(1, trial.weeks),
        "false_alarms_per_day": events.false_alarms_per_day * 12 / trial.zones,
        "quiet_false_alarms_per_day": (events.false_alarms_per_day - events.misplaced_per_day) * 12 / trial.zones,
        "event_recall": events.event_recall,
        "hit_at_1": events.hit_at_1,
        "events": events.observable_events,
        "days": events.days,
        # elsewhere attacks are denser than a probability assumes
        "zone_ece": expected_calibration_error(attacked, probability) if trial.is_new else None,
    }
