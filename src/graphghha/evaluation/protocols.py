"""The deploy protocol: buildings nobody has seen, attacks with onset and end, every minute judged."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from graphghha.alarms import AlarmRule, GroupRule
from graphghha.engine.scorer import Scorer
from graphghha.errors import ConfigError
from graphghha.evaluation.card import judged, report_card
from graphghha.evaluation.events import event_scores_by
from graphghha.evaluation.plain import without_nan
from graphghha.evaluation.recording import record
from graphghha.evaluation.scenario import Run, Schedule, attacked_run
from graphghha.models import Model, load_model
from graphghha.plants import load_plant
from graphghha.windows.features import HISTORY_ROWS
from graphghha.windows.leaks import check_held_out, check_seen
from graphghha.windows.provenance import Span

ROWS_PER_DAY = 1440
FIRST_DAY = datetime(2018, 1, 1)
SEED_BASE = 900_000_000  # far from every seed that training or validation may use


@dataclass(frozen=True, kw_only=True, slots=True)
class DeployConfig:
    """`days` are judged days; the warm-up comes on top. Cases: those seen in training, plus unseen severities."""

    seed: int = 0
    runs: int = 4
    days: int = 14
    zones: int = 12
    schedule: Schedule = Schedule(mean_gap_days=10.0, lasting_share=0.1)

    def __post_init__(self) -> None:
        if min(self.runs, self.days, self.zones) < 1 or self.seed < 0:
            raise ConfigError("deploy: runs, days and zones must be at least 1, the seed not negative")


def deploy(
    directory: Path, config: DeployConfig, *, on_day: Callable[[], None] = lambda: None, **engine: Any
) -> dict[str, Any]:
    """The card of a model on unseen buildings, with its families beside it; fails when the data is not unseen."""
    model = load_model(directory)
    plant = load_plant(model.plant)
    graph = plant.template.replicate(config.zones)
    recordings = [
        record(plant, run, Scorer(model, graph, **engine), on_day=on_day) for run in deploy_runs(model, config)
    ]
    rule, group = AlarmRule(**model.thresholds["rule"]), GroupRule(**model.thresholds["group"])
    card = report_card(recordings, rule, group)
    judgements = [judged(recording, rule, group) for recording in recordings]
    families = {name: asdict(scores) for name, scores in event_scores_by(judgements, "family").items()}
    found = {
        "protocol": "deploy",
        "config": asdict(config),
        "raise_at": rule.raise_at,
        "card": card.row(),
        "confusion": card.confusion.tolist(),
        "families": families,
    }
    answer: dict[str, Any] = without_nan(found)
    return answer


def deploy_runs(model: Model, config: DeployConfig) -> list[Run]:
    """The attacked buildings of the protocol, spread over the year; LeakError when the model has seen one."""
    warm_days = -(-HISTORY_ROWS // ROWS_PER_DAY)
    cases = [*model.provenance["cases_seen"], *model.provenance["unseen_severities"]]
    plain = [
        Run(
            seed=SEED_BASE + 1000 * config.seed + number,
            start=FIRST_DAY + timedelta(days=(20 + number * 365 // config.runs) % 365),
            days=config.days + warm_days,
            zones=config.zones,
        )
        for number in range(config.runs)
    ]
    for run in plain:
        _refuse_leaks(model, run)
    return [attacked_run(run, cases, config.schedule) for run in plain]


def _refuse_leaks(model: Model, run: Run) -> None:
    test = [Span(run.source, 0, run.days * ROWS_PER_DAY)]
    check_seen("scaler", model.scaler.seen, test)
    check_held_out("severities", model.provenance["unseen_severities"], model.provenance["cases_seen"])
    check_held_out("cases", model.provenance["unseen_cases"], model.provenance["cases_seen"])
