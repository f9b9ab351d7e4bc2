"""Evaluate a model in buildings unlike those it was trained on: one row per condition of the plant's testbed.

The attacks are the whole catalogue. Every condition has two buildings, one scored in winter and one in summer, with
the same seeds in all conditions, so that rows differ in the condition only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from graphghha.engine import EngineConfig, Scorer
from graphghha.errors import ConfigError, NotFoundError
from graphghha.lab.metrics import report_card
from graphghha.lab.runs import Recording, Run, Schedule, attacked_run, record, simulated_run
from graphghha.models import Model
from graphghha.plants import Plant, load_plant, load_testbed
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
    schedule: Schedule = Schedule(mean_gap_days=2.5, lasting_share=0.1, rest_min=600)

    def __post_init__(self) -> None:
        if min(self.days, self.zones) < 1 or self.seed < 0:
            raise ConfigError("shift: give days and zones of at least 1, and a seed of at least 0")


def shift_rows(
    model: Model,
    config: ShiftConfig,
    *,
    engine: EngineConfig = EngineConfig(),
    progress: Callable[[str], None] = lambda line: None,
) -> list[dict[str, Any]]:
    """Return one row per condition, with the model's detections and false alarms in it."""
    plant = load_plant(model.plant)
    known = load_testbed(plant.name).conditions
    if unknown := [name for name in config.conditions if name not in known]:
        raise NotFoundError(f"shift: no condition is named {unknown[0]!r}; known: {', '.join(known)}")
    rows = []
    for name in config.conditions or known:
        progress(f"condition {name}")
        recordings = [_recorded(model, plant, name, number, config, engine) for number in range(len(FIRST_DAYS))]
        rows.append(_row(model, name, recordings))
    return rows


def _recorded(
    model: Model, plant: Plant, condition: str, number: int, config: ShiftConfig, engine: EngineConfig
) -> Recording:
    normal = Run(
        seed=SEED_BASE + 100 * config.seed + number,
        start=FIRST_DAYS[number] - timedelta(days=HISTORY_DAYS),
        days=HISTORY_DAYS + config.days,
        zones=config.zones,
        condition=condition,
    )
    run = attacked_run(normal, tuple(plant.cases), config.schedule)
    return record(plant, simulated_run(plant, run), Scorer(model, plant.template.replicate(run.zones), engine))


def _row(model: Model, condition: str, recordings: Sequence[Recording]) -> dict[str, Any]:
    card = report_card(recordings, model.thresholds.rule, model.thresholds.group)
    events = card.events
    return {
        "condition": condition,
        "commissioned": False,
        "false_alarms_per_day": events.false_alarms_per_day,
        "quiet_false_alarms_per_day": events.false_alarms_per_day - events.misplaced_per_day,
        "event_recall": events.event_recall,
        "hit_at_1": events.hit_at_1,
        "precision": float(card.p),
        "events": events.observable_events,
        "days": events.days,
    }
