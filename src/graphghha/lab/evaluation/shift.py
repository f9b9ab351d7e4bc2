"""Evaluate a model in buildings unlike those it was trained on: one row per condition of the plant's testbed.

The attacks are the whole catalogue. Every condition has two buildings, one scored in winter and one in summer, with
the same seeds in all conditions, so that rows differ in the condition only. With `commission_days`, the model is also
commissioned on the days before the scored ones, and each condition has a second row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from graphghha.commissioning.commission import commission
from graphghha.engine import EngineConfig, open_scorer
from graphghha.errors import ConfigError, NotFoundError
from graphghha.lab.metrics import EventMatches, evaluate_recording, event_scores
from graphghha.lab.runs import Run, Schedule, attacked_run, record, simulated_run
from graphghha.lab.training.workers import worker_processes
from graphghha.lab.training.zone_windows import compared_days
from graphghha.models import Model
from graphghha.plants import load_plant, load_testbed
from graphghha.windows import HISTORY_DAYS

SEED_BASE = 800_000_000  # far from every seed that training, validation or the report card may use
FIRST_DAYS = (datetime(2018, 1, 8), datetime(2018, 7, 9))


@dataclass(frozen=True, kw_only=True, slots=True)
class ShiftConfig:
    """The buildings of every condition. `days` are scored days of each building; the warm-up comes before them."""

    seed: int = 0
    days: int = 6
    zones: int = 12
    conditions: tuple[str, ...] = ()  # empty: all of them
    commission_days: int = 0  # 0: as shipped only
    pause_days: int = 0  # between commissioning and scoring, for another season
    schedule: Schedule = Schedule(mean_gap_days=2.5, lasting_share=0.1, rest_min=600)

    def __post_init__(self) -> None:
        if min(self.days, self.zones) < 1 or self.seed < 0:
            raise ConfigError("shift: give days and zones of at least 1, and a seed of at least 0")
        if min(self.commission_days, self.pause_days) < 0:
            raise ConfigError("shift: commission_days and pause_days must not be negative")


def shift_rows(
    model: Model,
    config: ShiftConfig,
    *,
    engine: EngineConfig = EngineConfig(),
    workers: int = 2,
    progress: Callable[[str], None] = lambda line: None,
) -> list[dict[str, Any]]:
    """Return one or two rows per condition, with the model's detections and false alarms in it."""
    plant = load_plant(model.plant)
    known = load_testbed(plant.name).conditions
    if unknown := [name for name in config.conditions if name not in known]:
        raise NotFoundError(f"shift: no condition is named {unknown[0]!r}; known: {', '.join(known)}")
    if config.commission_days and not model.judges_zones:
        raise ConfigError("shift: only a model that judges zones can be commissioned; leave commission_days out")
    jobs = [(name, number) for name in config.conditions or known for number in range(len(FIRST_DAYS))]
    rows: dict[tuple[str, bool], list[_Judged]] = {}
    with worker_processes(workers) as pool:
        for (name, number), found in zip(jobs, pool.map(partial(_evaluated, model, config, engine), jobs), strict=True):
            progress(f"condition {name}, building {number + 1}")
            for is_commissioned, judged in found.items():
                rows.setdefault((name, is_commissioned), []).append(judged)
    return [_row(*key, judged) for key, judged in rows.items()]


@dataclass(frozen=True, slots=True)
class _Judged:
    """What is kept of one building: its events, and its node-minutes in alarm."""

    matches: EventMatches
    alarmed: int
    rightly: int


def _evaluated(model: Model, config: ShiftConfig, engine: EngineConfig, job: tuple[str, int]) -> dict[bool, _Judged]:
    """Evaluate one building as shipped and, if wanted, commissioned."""
    condition, number = job
    plant = load_plant(model.plant)
    normal = Run(
        seed=SEED_BASE + 100 * config.seed + number,
        start=FIRST_DAYS[number] - timedelta(days=HISTORY_DAYS),
        days=HISTORY_DAYS + config.days,
        zones=config.zones,
        condition=condition,
    )
    run = attacked_run(normal, tuple(plant.cases), config.schedule)
    models = {False: model}
    if config.commission_days:
        models[True] = _commissioned(model, normal, config)
    judged = {}
    for is_commissioned, each in models.items():
        scorer = open_scorer(each, plant.template.replicate(run.zones), engine)
        recording = record(plant, simulated_run(plant, run), scorer)
        evaluated = evaluate_recording(recording, each.thresholds.rule, each.thresholds.group)
        alarmed = evaluated.predictions.alarmed & evaluated.kept
        rightly = int((alarmed & evaluated.attacked).sum())
        judged[is_commissioned] = _Judged(evaluated.matches, int(alarmed.sum()), rightly)
    return judged


def _commissioned(model: Model, judged: Run, config: ShiftConfig) -> Model:
    """Commission a model on quiet days of the building before those that are judged."""
    plant = load_plant(model.plant)
    start = judged.start - timedelta(days=config.commission_days + config.pause_days)
    days = replace(judged, start=start, days=config.commission_days)
    compared = compared_days(plant, days, model.zone_preprocessing)
    graph = plant.template.replicate(days.zones)
    last = start + timedelta(days=config.commission_days)
    return commission(model, graph, compared, data=days.source, first=start, last=last)


def _row(condition: str, is_commissioned: bool, judged: Sequence[_Judged]) -> dict[str, Any]:
    events = event_scores([each.matches for each in judged])
    alarmed = sum(each.alarmed for each in judged)
    return {
        "condition": condition,
        "commissioned": is_commissioned,
        "false_alarms_per_day": events.false_alarms_per_day,
        "quiet_false_alarms_per_day": events.false_alarms_per_day - events.misplaced_per_day,
        "event_recall": events.event_recall,
        "hit_at_1": events.hit_at_1,
        "precision": sum(each.rightly for each in judged) / alarmed if alarmed else float("nan"),
        "events": events.observable_events,
        "days": events.days,
    }
