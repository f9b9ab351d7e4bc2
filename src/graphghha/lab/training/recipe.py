"""The whole way from a testbed to a trained detector, in stages that are kept: a killed run goes on where it was."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.numpy import load_file, save_file

from graphghha._version import __version__
from graphghha.lab.runs.case_split import split_cases
from graphghha.lab.runs.run import Run, Schedule, attacked_run
from graphghha.lab.training.cache import same_as_before, stored, whole
from graphghha.lab.training.fit import FitConfig, Progress, fit
from graphghha.lab.training.preprocessing import fit_preprocessing
from graphghha.lab.training.windows import FIELDS, LabelledWindows, labelled_windows
from graphghha.lab.training.workers import worker_processes
from graphghha.nn import ADU
from graphghha.plants import Plant, load_plant
from graphghha.windows.features import FEATURE_NAMES, Preprocessing

FIRST_DAY = datetime(2018, 1, 1)
ROWS_PER_DAY = 1440

# seeds of a recipe's runs lie apart by purpose, so that nothing is ever seen twice
NORMAL, ATTACKED, VALIDATION = 1, 2, 3

NOT_DATA = ("adu", "fit", "workers")  # of a recipe's settings, those that do not change its windows


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """What is simulated, how it is sampled, and how the network is fitted."""

    plant: str = "fcu"
    seed: int = 0
    zones: int = 12
    normal_runs: int = 24  # many short runs instead of few long ones: every building has other zones and weather
    normal_days: int = 33
    attacked_runs: int = 36
    attacked_days: int = 33
    validation_runs: int = 4
    validation_days: int = 16
    stride_min: int = 20
    extra_at_onset: int = 4
    keep_zones: int = 6  # of every window
    expectation_rows_per_day: int = 40
    # slow attacks pass through every severity: what training sees of one helps with those it does not
    schedule: Schedule = Schedule(mean_gap_days=2.0, ramp_share=0.5)
    fit: FitConfig = FitConfig()
    adu: dict[str, Any] = field(default_factory=dict)  # settings of the ADU
    workers: int = 2  # processes that simulate, and threads that train

    def run_seed(self, purpose: int, number: int) -> int:
        return 1_000_000 * self.seed + 10_000 * purpose + number

    @classmethod
    def of(cls, provenance: Mapping[str, Any]) -> "Recipe":
        """What a model was taught: its buildings and windows, not how the network was fitted."""
        stored = provenance.get("recipe", {})
        plain = {name: stored[name] for name in cls.__slots__ if name in stored and name not in (*NOT_DATA, "schedule")}
        return cls(**plain, schedule=Schedule(**stored["schedule"])) if stored else cls()

    def normal(self) -> list[Run]:
        return self.runs(NORMAL, self.normal_runs, self.normal_days)

    def attacked(self, cases: Sequence[str]) -> list[Run]:
        runs = self.runs(ATTACKED, self.attacked_runs, self.attacked_days)
        return [attacked_run(run, cases, self.schedule) for run in runs]

    def runs(self, purpose: int, count: int, days: int, first: int = 0) -> list[Run]:
        """Buildings of their own, their first days spread over the year so that every season is there."""
        starts = [FIRST_DAY + timedelta(days=15 + n * 365 // count) for n in range(count)]
        seeds = [self.run_seed(purpose, first + n) for n in range(count)]
        return [
            Run(seed=seed, start=start, days=days, zones=self.zones) for seed, start in zip(seeds, starts, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Trained:
    """A fitted network with everything that turns readings into its input."""

    plant: Plant
    adu: ADU
    preprocessing: Preprocessing
    provenance: dict[str, Any]


Say = Callable[[str], None]


def train(
    recipe: Recipe, work: Path, *, say: Say, on_step: Callable[[Progress], None], snapshot: Path | None = None
) -> Trained:
    """Simulate, learn what is normal, learn what attacks look like. `work` keeps what is done."""
    torch.set_num_threads(recipe.workers)  # an engine that was built before may have set another count
    plant = load_plant(recipe.plant)
    cases = split_cases(plant, recipe.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        adu = ADU(plant.template, in_features=len(FEATURE_NAMES), **recipe.adu)
    work.mkdir(parents=True, exist_ok=True)  # now that the network can be built
    snapshot = snapshot or work / "snapshot.pt"
    settings = asdict(recipe)
    data_settings = {name: settings[name] for name in settings if name not in NOT_DATA}
    same_as_before(work / "recipe.json", {**data_settings, "cases": cases.seen, "version": __version__})
    same_as_before(snapshot.with_suffix(".json"), {"adu": settings["adu"], "fit": settings["fit"]})
    normal, attacked = recipe.normal(), recipe.attacked(cases.seen)
    # the far end of the validation seeds: calibration and threshold come from buildings of their own
    spare = recipe.runs(VALIDATION, recipe.validation_runs, recipe.validation_days, first=500)
    validation = [attacked_run(run, cases.seen, recipe.schedule) for run in spare]

    with worker_processes(recipe.workers) as pool:
        preprocessing = fit_preprocessing(
            plant, normal, work, pool, rows_per_day=recipe.expectation_rows_per_day, seed=recipe.seed, say=say
        )
        say(f"windows: {len(normal)} normal and {len(attacked)} attacked buildings")
        windows = list(pool.map(partial(collect, recipe, preprocessing, work), (*normal, *attacked, *validation)))
    data = LabelledWindows.joined(windows[: -len(validation)])
    unseen = LabelledWindows.joined(windows[-len(validation) :])
    del windows
    say(f"network: {len(data)} windows of {recipe.keep_zones} zones")
    fit(adu, data, recipe.fit, validation=unseen, snapshot=snapshot, on_step=on_step)
    provenance = {
        "recipe": settings,
        "cases_seen": list(cases.seen),
        "unseen_severities": list(cases.unseen_severities),
        "unseen_cases": list(cases.unseen_cases),
        "windows": len(data),
        "runs_seen": [run.source for run in (*normal, *attacked, *validation)],
    }
    return Trained(plant, adu, preprocessing, provenance)


def collect(recipe: Recipe, preprocessing: Preprocessing, work: Path, run: Run) -> LabelledWindows:
    """The windows of one run, from disk if they are there."""
    file = work / f"windows-{run.seed}.safetensors"
    if not file.exists():
        found = labelled_windows(
            load_plant(recipe.plant),
            run,
            preprocessing,
            stride_min=recipe.stride_min if run.cases else 3 * recipe.stride_min,
            extra_at_onset=recipe.extra_at_onset,
            keep_zones=recipe.keep_zones,
        )
        with whole(file) as fresh:
            save_file({name: getattr(found, name) for name in FIELDS}, fresh)
    with stored(file):
        return LabelledWindows(**load_file(file))
