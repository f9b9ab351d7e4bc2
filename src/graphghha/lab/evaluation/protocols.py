"""What a model is judged on: unseen buildings of the deploy protocol, or somebody's own labelled telemetry.

Deploy: buildings nobody has seen, attacks with onset and end, every minute judged. A leak fails the run.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from graphghha.alarms import AlarmRule, GroupRule
from graphghha.engine import EngineConfig
from graphghha.engine.scorer import Scorer
from graphghha.errors import CheckpointError, ConfigError, LeakError
from graphghha.lab.baselines.panel import BaselinePanel
from graphghha.lab.evaluation.latency import live_latency
from graphghha.lab.evaluation.report import findings
from graphghha.lab.runs.case_split import never_seen
from graphghha.lab.runs.labelled_files import read_labelled_run, telemetry_files
from graphghha.lab.runs.recording import DetectorPanel, LabelledRun, Recording, record_panel, simulated_run
from graphghha.lab.runs.run import Run, Schedule, attacked_run
from graphghha.models import Model, load_model
from graphghha.plants import Plant, load_plant
from graphghha.windows.features import HISTORY_ROWS
from graphghha.windows.leaks import check_held_out, check_seen
from graphghha.windows.provenance import Span

ROWS_PER_DAY = 1440
FULL_HISTORY_HOURS = HISTORY_ROWS // 60
FIRST_DAY = datetime(2018, 1, 1)
SEED_BASE = 900_000_000  # far from every seed that training or validation may use
UNSEEN = 500  # numbers of the runs that hold whole cases nobody trained on


@dataclass(frozen=True, kw_only=True, slots=True)
class DeployConfig:
    """`days` are judged days; the warm-up comes on top. Cases: those seen in training, plus unseen severities.

    Whole cases that training never saw happen in `unseen_runs` buildings of their own and are reported apart. With
    fewer `history_hours` than the windows hold, the detector is one that was connected so short a time before.
    """

    seed: int = 0
    runs: int = 4
    days: int = 14
    zones: int = 12
    unseen_runs: int = 1
    history_hours: int = FULL_HISTORY_HOURS
    schedule: Schedule = Schedule(mean_gap_days=10.0, lasting_share=0.1)

    def __post_init__(self) -> None:
        if min(self.runs, self.days, self.zones) < 1 or min(self.seed, self.unseen_runs) < 0:
            raise ConfigError("deploy: runs, days and zones must be at least 1, the seed and unseen runs not negative")
        if not 0 <= self.history_hours <= FULL_HISTORY_HOURS:
            raise ConfigError(f"deploy: history_hours {self.history_hours} is not within 0 to {FULL_HISTORY_HOURS}")


@dataclass(frozen=True, slots=True)
class Trial:
    """What one model is judged on; the unseen runs may be none."""

    model: Model
    plant: Plant
    protocol: str
    config: dict[str, Any]
    runs: tuple[LabelledRun, ...]
    unseen: tuple[LabelledRun, ...]

    @property
    def method(self) -> str:
        return str(self.model.adu_config["layer"])

    @property
    def rules(self) -> tuple[AlarmRule, GroupRule]:
        """The thresholds the model was shipped with."""
        return self.model.thresholds.rule, self.model.thresholds.group

    @property
    def held_out(self) -> dict[str, Sequence[str]]:
        """Cases that training never saw, by kind."""
        return {kind: _never_seen(self.model, self.plant, kind) for kind in ("severities", "cases")}

    @property
    def total_days(self) -> int:
        return sum(each.run.days for each in (*self.runs, *self.unseen))


def deploy_trial(directory: Path, config: DeployConfig) -> Trial:
    """Unseen buildings; fails when they are not unseen."""
    return deploy_trial_of(load_model(directory), config)


def deploy_trial_of(model: Model, config: DeployConfig) -> Trial:
    plant = load_plant(model.plant)
    if "cases_seen" not in model.provenance:
        raise CheckpointError("the model's provenance does not say which cases it was trained on")
    cases = [*model.provenance["cases_seen"], *model.provenance["unseen_severities"]]
    seen = tuple(_deploy_run(config, plant, cases, n, config.runs, n) for n in range(config.runs))
    strange = _never_seen(model, plant, "cases")
    runs = range(config.unseen_runs if strange else 0)
    unseen = tuple(_deploy_run(config, plant, strange, n, config.unseen_runs, UNSEEN + n) for n in runs)
    for each in (*seen, *unseen):
        refuse_leaks(model, each.run)
    return Trial(model, plant, "deploy", asdict(config), seen, unseen)


def file_trial(directory: Path, data: Path) -> Trial:
    """Labelled telemetry files; fails when their seed is that of a building the model has seen."""
    model = load_model(directory)
    plant = load_plant(model.plant)
    files = telemetry_files(data)
    runs = tuple(read_labelled_run(path, plant) for path in files)
    for each in runs:
        refuse_leaks(model, each.run)
    if len({each.run.zones for each in runs}) > 1:
        raise ConfigError(f"{data}: files of buildings of different sizes; judge them one at a time")
    return Trial(model, plant, "files", {"files": [str(path) for path in files]}, runs, ())


def _never_seen(model: Model, plant: Plant, kind: str) -> tuple[str, ...]:
    known = model.provenance
    return never_seen(plant, known.get(f"unseen_{kind}", ()), known.get("cases_seen", ()))


def _deploy_run(
    config: DeployConfig, plant: Plant, cases: Sequence[str], n: int, runs: int, number: int
) -> LabelledRun:
    plain = Run(
        seed=SEED_BASE + 1000 * config.seed + number,
        start=FIRST_DAY + timedelta(days=(20 + n * 365 // runs) % 365),
        days=config.days - (-HISTORY_ROWS // ROWS_PER_DAY),
        zones=config.zones,
    )
    return simulated_run(plant, attacked_run(plain, cases, config.schedule), config.history_hours * 60)


def scorer_of(trial: Trial, labelled: LabelledRun, engine: EngineConfig = EngineConfig()) -> Scorer:
    """The model on the building of one run."""
    return Scorer(trial.model, trial.plant.template.replicate(labelled.run.zones), engine)


def watch_trial(
    trial: Trial,
    runs: Sequence[LabelledRun],
    *,
    on_day: Callable[[], None] = lambda: None,
    engine: EngineConfig = EngineConfig(),
) -> list[Recording]:
    """The model alone on some runs."""
    recordings = []
    for labelled in runs:
        scorer = scorer_of(trial, labelled, engine)
        panel: DetectorPanel = BaselinePanel(scorer.featurizer, {}, labelled.run.zones, {trial.method: scorer})
        recordings.append(record_panel(trial.plant, labelled, panel, on_day=on_day)[trial.method])
    return recordings


def judge_trial(
    trial: Trial, recordings: Sequence[Recording], unseen: Sequence[Recording], price_per_day: float | None = None
) -> dict[str, Any]:
    """The findings about the model; runs of unseen cases stand apart."""
    rule, group = trial.rules
    words: dict[str, Any] = {"method": trial.method, "protocol": trial.protocol}
    found = {"config": trial.config} | findings(
        recordings, rule, group, **words, held_out=trial.held_out, price_per_day=price_per_day
    )
    if unseen:
        apart = findings(unseen, rule, group, **words, held_out={}, with_budget=False)
        found["unseen_cases"] = {key: apart[key] for key in ("card", "families", "cases", "confusion")}
    first = trial.runs[0]
    values = next(iter(first.days())).values
    found["latency"] = live_latency(scorer_of(trial, first), values.reshape(len(values), -1))
    return found


def refuse_leaks(model: Model, run: Run) -> None:
    """Fail when anything of the model was fitted on this run, or a held-out case was trained on."""
    test = [Span(run.source, 0, run.days * ROWS_PER_DAY)]
    fitted = {"scaler": model.scaler.seen, "calibration": model.calibration.seen}
    if model.thresholds.search is not None:
        fitted["threshold"] = model.thresholds.search.seen
    for what, seen in fitted.items():
        check_seen(what, seen, test)
    learnt = (*model.provenance.get("runs_seen", ()), *(span.source for seen in fitted.values() for span in seen.spans))
    if run.building in {source.split(",")[0] for source in learnt}:
        raise LeakError(
            f"{run.source}: the model has learnt from a building of this seed, which has the same weather, zones and "
            "noise on every date; judge it on another seed"
        )
    seen_cases = model.provenance.get("cases_seen", ())
    for kind in ("severities", "cases"):
        check_held_out(kind, model.provenance.get(f"unseen_{kind}", ()), seen_cases)
