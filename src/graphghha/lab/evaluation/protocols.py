"""What a model is evaluated on: new buildings of the deploy protocol, or labelled telemetry files.

The deploy protocol simulates buildings that the model has never seen. Attacks have an onset and an end, and every
minute is scored. If the model was fitted on any of the data, the evaluation fails with a LeakError.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from graphghha.engine import AnyScorer, EngineConfig, open_scorer
from graphghha.errors import CheckpointError, ConfigError, LeakError
from graphghha.lab.runs import (
    LabelledRun,
    Run,
    Schedule,
    attacked_run,
    never_seen,
    read_labelled_run,
    simulated_run,
    telemetry_files,
)
from graphghha.models import Model
from graphghha.plants import Plant, load_plant
from graphghha.windows import HISTORY_DAYS, HISTORY_S, check_held_out, check_seen

FULL_HISTORY_HOURS = HISTORY_S // 3600
FIRST_DAY = datetime(2018, 1, 1)
SEED_BASE = 900_000_000  # far from every seed that training or validation may use
UNSEEN = 500  # the number of the first run with whole cases that training never saw


@dataclass(frozen=True, kw_only=True, slots=True)
class DeployConfig:
    """The buildings of the deploy protocol. `days` are scored days; the warm-up comes before them.

    Attacks are drawn from the cases seen in training and from unseen severities. Whole cases that training never saw
    happen in `unseen_runs` further buildings and are reported separately. With fewer `history_hours` than the windows
    hold, the detector is connected only that long before the first scored minute.
    """

    seed: int = 0
    runs: int = 4
    days: int = 14
    zones: int = 12
    unseen_runs: int = 1
    history_hours: int = FULL_HISTORY_HOURS
    schedule: Schedule = Schedule(mean_gap_days=10.0, lasting_share=0.1)

    def __post_init__(self) -> None:
        for name, least in (("runs", 1), ("days", 1), ("zones", 1), ("seed", 0), ("unseen_runs", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"deploy protocol: {name} {getattr(self, name)}; give at least {least}")
        if not 0 <= self.history_hours <= FULL_HISTORY_HOURS:
            raise ConfigError(f"deploy protocol: history_hours is {self.history_hours}; give 0 to {FULL_HISTORY_HOURS}")


@dataclass(frozen=True, slots=True)
class EvaluationTask:
    """A model and the labelled runs that it is evaluated on."""

    model: Model
    plant: Plant
    protocol: str
    config: dict[str, Any]
    runs: tuple[LabelledRun, ...]
    unseen: tuple[LabelledRun, ...]  # runs with whole cases that training never saw; may be empty

    @property
    def method(self) -> str:
        """The name of the model in tables: its attention layer."""
        return str(self.model.adu_config["layer"])

    @property
    def held_out(self) -> dict[str, Sequence[str]]:
        """The cases that training never saw, by kind."""
        return {kind: _unseen(self.model, self.plant, kind) for kind in ("severities", "cases")}

    @property
    def total_days(self) -> int:
        """The number of days in all runs."""
        return sum(each.run.days for each in (*self.runs, *self.unseen))

    def open_scorer(self, labelled: LabelledRun, engine: EngineConfig = EngineConfig()) -> AnyScorer:
        """Return a scorer of the model for the building of one run."""
        return open_scorer(self.model, self.plant.template.replicate(labelled.run.zones), engine)


def deploy_task(model: Model, config: DeployConfig) -> EvaluationTask:
    """Return the buildings of the deploy protocol for a model; LeakError if it was fitted on one of them."""
    plant = load_plant(model.plant)
    if model.commissioning is not None:
        raise ConfigError(
            "deploy protocol: the model was commissioned at a site and fits no other building; evaluate the model that "
            "it was derived from, or give labelled telemetry of the site"
        )
    if "cases_seen" not in model.provenance:
        raise CheckpointError(
            "the model's provenance lacks the cases it was trained on; evaluate it on labelled telemetry instead"
        )
    cases = [*model.provenance["cases_seen"], *model.provenance["unseen_severities"]]
    cases = cases or [name for name in plant.cases if name not in unseen_cases(model, plant)]
    runs = tuple(_deploy_run(config, plant, cases, n, config.runs, n) for n in range(config.runs))
    new_cases = unseen_cases(model, plant)
    numbers = range(config.unseen_runs if new_cases else 0)
    unseen = tuple(_deploy_run(config, plant, new_cases, n, config.unseen_runs, UNSEEN + n) for n in numbers)
    for each in (*runs, *unseen):
        check_leaks(model, each.run)
    return EvaluationTask(model, plant, "deploy", asdict(config), runs, unseen)


def files_task(model: Model, data: Path) -> EvaluationTask:
    """Return a labelled telemetry file, or all of a folder; LeakError if the model was fitted on their building."""
    plant = load_plant(model.plant)
    files = telemetry_files(data)
    runs = tuple(read_labelled_run(path, plant, any_reporting=model.judges_zones) for path in files)
    for path, each in zip(files, runs, strict=True):
        check_leaks(model, each.run)
        if model.commissioning and each.identity.startswith(model.commissioning.data):
            raise LeakError(f"{path}: the model was commissioned on this file; evaluate it on another recording")
    if len({each.run.zones for each in runs}) > 1:
        raise ConfigError(f"{data}: its files have different numbers of zones; evaluate them one at a time")
    return EvaluationTask(
        model, plant, "files", {"files": [str(path) for path in files], "history_days": HISTORY_DAYS}, runs, ()
    )


def _unseen(model: Model, plant: Plant, kind: str) -> tuple[str, ...]:
    provenance = model.provenance
    return never_seen(plant, provenance.get(f"unseen_{kind}", ()), provenance.get("cases_seen", ()))


def _deploy_run(
    config: DeployConfig, plant: Plant, cases: Sequence[str], n: int, runs: int, number: int
) -> LabelledRun:
    """Return building n of several that are spread over the year; `number` decides its seed."""
    normal = Run(
        seed=SEED_BASE + 1000 * config.seed + number,
        start=FIRST_DAY + timedelta(days=(20 + n * 365 // runs) % 365),
        days=config.days + HISTORY_DAYS,
        zones=config.zones,
    )
    history_rows = config.history_hours * plant.steps_per_day // 24
    return simulated_run(plant, attacked_run(normal, cases, config.schedule), history_rows)


def unseen_cases(model: Model, plant: Plant) -> tuple[str, ...]:
    """Return the cases that training never saw and that are kept for this question."""
    return _unseen(model, plant, "cases")


def check_leaks(model: Model, run: Run) -> None:
    """Raise LeakError if any part of the model was fitted on this run, or training saw a held-out case."""
    fitted = {"scaler": model.scaler.seen, "calibration": model.calibration.seen}
    if model.thresholds.search is not None:
        fitted["threshold"] = model.thresholds.search.seen
    test = [run.span(load_plant(model.plant))]
    for what, seen in fitted.items():
        check_seen(what, seen, test)
    sources = [span.source for seen in fitted.values() for span in seen.spans]
    sources += model.provenance.get("runs_seen", ())
    if run.building in {source.split(",")[0] for source in sources}:
        raise LeakError(
            f"{run.source}: the model was trained on a building of this seed, which has the same weather, zones and "
            "noise on every date; evaluate it with another seed"
        )
    if any(first <= run.seed < end for first, end in model.provenance.get("seeds_seen", ())):
        raise LeakError(
            f"{run.source}: the model was trained on buildings of such seeds; evaluate it with another seed"
        )
    seen_cases = model.provenance.get("cases_seen", ())
    for kind in ("severities", "cases"):
        check_held_out(kind, model.provenance.get(f"unseen_{kind}", ()), seen_cases)
