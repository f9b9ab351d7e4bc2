"""Train a model: simulate buildings, fit preprocessing and network, calibrate, find thresholds, write the directory.

Every intermediate result is kept in a work directory, so that a run that was killed continues where it stopped.
"""

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import torch
from safetensors.numpy import load_file, save_file

from graphghha._util.files import atomic_path
from graphghha._version import __version__
from graphghha.engine import EngineConfig
from graphghha.errors import ConfigError
from graphghha.graph import NeighborRule
from graphghha.lab.runs import Run, split_cases
from graphghha.lab.training.cache import check_settings, reading
from graphghha.lab.training.calibrate import CalibrationConfig, TrainedNetwork, calibrate_and_threshold
from graphghha.lab.training.fit import FitConfig, Progress, fit
from graphghha.lab.training.new_network import new_network
from graphghha.lab.training.preprocessing import fit_preprocessing
from graphghha.lab.training.recipe import NOT_DATA, Recipe
from graphghha.lab.training.validation import Validation
from graphghha.lab.training.windows import FIELDS, LabelledWindows, labelled_windows
from graphghha.lab.training.workers import OnPart, no_parts, worker_processes
from graphghha.lab.training.zone_fit import ZoneFitConfig
from graphghha.lab.training.zone_recipe import ZoneRecipe
from graphghha.lab.training.zone_train import train_zone_model
from graphghha.models import Model, check_destination, save_model
from graphghha.nn.dtype import DtypeName
from graphghha.plants import load_plant
from graphghha.windows import FEATURE_NAMES, Preprocessing

# A cap of eight neighbors affects only the hubs of the fan-coil template and halves the time of training.
DEFAULT = Recipe(
    fit=FitConfig(epochs=2),
    adu={"neighbors": NeighborRule(max_neighbors=8)},
)
ZONES = ZoneRecipe(adu={"neighbors": NeighborRule(max_neighbors=8)})
# further buildings for a network that was trained by ZONES: more of them, and a third of them small
REFINE = replace(
    ZONES,
    attacked_buildings=600,
    zone_shares=(0.12, 0.10, 0.12, 0.15, 0.22, 0.12, 0.17),
    least_stride_min=12,
    fit=ZoneFitConfig(epochs=2, learning_rate=1e-3),
)
# to try a layer or a change: the same steps on few and small buildings, in minutes; not a model to rely on
QUICK = replace(
    DEFAULT,
    zones=4,
    normal_runs=4,
    normal_days=10,
    attacked_runs=6,
    attacked_days=12,
    validation_runs=2,
    validation_days=8,
    stride_min=30,
    keep_zones=4,
    fit=FitConfig(epochs=1),
)
QUICK_VALIDATION = Validation(attacked_runs=3, attacked_days=10, normal_runs=2, normal_days=6)
PRESETS = ("default", "quick", "zones")
BUDGETS = {"default": 0.2, "quick": 1.0, "zones": 0.1}  # false alarms a day, if none are given


def parse_budget(text: str) -> float:
    """Return the false alarms per day of a text such as '1/day' or '0.5/day'."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)/day", text.strip())
    if match is None or float(match.group(1)) <= 0:
        raise ConfigError(f"alert budget {text!r}: write a positive number per day, such as 1/day")
    return float(match.group(1))


def train_model(
    preset: str,
    out: Path,
    work: Path | None = None,
    *,
    layer: str = "graphghha",
    dtype: DtypeName = "fp32",
    seed: int = 0,
    threads: int = 2,
    budget_per_day: float | None = None,
    base: Model | None = None,
    progress: Callable[[str], None] = lambda line: None,
    on_step: Callable[[Progress], None] = lambda progress: None,
    on_part: OnPart = no_parts,
) -> None:
    """Train a model by a recipe of PRESETS and write its directory `out`.

    `work` (by default `out` with .work appended) keeps the intermediate results, so that a killed run continues. With
    `base`, the network of a model that judges zones is refined on further buildings.
    """
    if preset not in PRESETS:
        raise ConfigError(f"train: unknown preset {preset!r}; use {' | '.join(PRESETS)}")
    if base is not None and preset != "zones":
        raise ConfigError("train: only a model that judges zones can be refined; use the preset zones")
    check_destination(out)  # now, and not after half an hour of training
    work = work or out.resolve().with_name(out.resolve().name + ".work")
    budget_per_day = budget_per_day or BUDGETS[preset]
    if preset == "zones":
        zones = ZONES if base is None else REFINE
        zones = replace(
            zones,
            seed=seed,
            workers=threads,
            adu={**zones.adu, "layer": layer},
            fit=replace(zones.fit, dtype=dtype, seed=seed),
            budget_per_day=budget_per_day,
        )
        model = train_zone_model(zones, work, base=base, progress=progress, on_step=on_step, on_part=on_part)
        save_model(model, out)
        return
    recipe = QUICK if preset == "quick" else DEFAULT
    recipe = replace(
        recipe,
        seed=seed,
        workers=threads,
        adu={**recipe.adu, "layer": layer},
        fit=replace(recipe.fit, seed=seed, dtype=dtype),
    )
    trained = train_network(recipe, work, progress=progress, on_step=on_step, on_part=on_part)
    engine = EngineConfig(dtype=dtype)  # calibrate in the arithmetic that the model is meant for
    config = CalibrationConfig(budget_per_day=budget_per_day, engine=engine)
    if preset == "quick":
        config = replace(config, validation=QUICK_VALIDATION)
    save_model(calibrate_and_threshold(trained, recipe, config, progress=progress, on_part=on_part), out)


def train_network(
    recipe: Recipe,
    work: Path,
    *,
    progress: Callable[[str], None],
    on_step: Callable[[Progress], None],
    snapshot: Path | None = None,
    on_part: OnPart = no_parts,
) -> TrainedNetwork:
    """Fit the preprocessing on normal buildings, and the network on normal and attacked ones.

    `work` keeps the intermediate results, `snapshot` (by default in `work`) the state of the network's fit.
    """
    torch.set_num_threads(recipe.workers)  # an engine that was built before may have set another count
    plant = load_plant(recipe.plant)
    cases = split_cases(plant, recipe.seed)
    adu = new_network(plant.template, recipe.seed, in_features=len(FEATURE_NAMES), **recipe.adu)
    work.mkdir(parents=True, exist_ok=True)  # only after the network could be built
    snapshot = snapshot or work / "snapshot.pt"
    settings = asdict(recipe)
    data_settings = {name: settings[name] for name in settings if name not in NOT_DATA}
    check_settings(work / "recipe.json", {**data_settings, "cases": cases.seen, "version": __version__})
    check_settings(snapshot.with_suffix(".json"), {"adu": settings["adu"], "fit": settings["fit"]})
    normal, attacked, selection = recipe.normal(), recipe.attacked(cases.seen), recipe.selection(cases.seen)
    with worker_processes(recipe.workers, on_part) as pool:
        preprocessing = fit_preprocessing(
            plant,
            normal,
            work,
            pool,
            rows_per_day=recipe.expectation_rows_per_day,
            seed=recipe.seed,
            progress=progress,
            on_part=on_part,
        )
        progress(f"windows: {len(normal)} normal and {len(attacked)} attacked buildings")
        collect = partial(collect_windows, recipe, preprocessing, work)
        windows = list(pool.map(collect, (*normal, *attacked, *selection)))
    data = LabelledWindows.concatenate(windows[: -len(selection)])
    validation = LabelledWindows.concatenate(windows[-len(selection) :])
    del windows
    progress(f"network: {len(data)} windows of {recipe.keep_zones} zones")
    fit(adu, data, recipe.fit, validation=validation, snapshot=snapshot, on_step=on_step)
    provenance = {
        "recipe": settings,
        "cases_seen": list(cases.seen),
        "unseen_severities": list(cases.unseen_severities),
        "unseen_cases": list(cases.unseen_cases),
        "windows": len(data),
        "runs_seen": [run.source for run in (*normal, *attacked, *selection)],
    }
    return TrainedNetwork(plant, adu, preprocessing, provenance)


def collect_windows(recipe: Recipe, preprocessing: Preprocessing, work: Path, run: Run) -> LabelledWindows:
    """Return the windows of one run, from `work` if they are there."""
    file = work / f"windows-{run.seed}.safetensors"
    if not file.exists():
        windows = labelled_windows(
            load_plant(recipe.plant),
            run,
            preprocessing,
            stride_min=recipe.stride_min if run.cases else 3 * recipe.stride_min,
            extra_at_onset=recipe.extra_at_onset,
            keep_zones=recipe.keep_zones,
        )
        with atomic_path(file) as partial_file:
            save_file({name: getattr(windows, name) for name in FIELDS}, partial_file)
    with reading(file):
        return LabelledWindows(**load_file(file))
