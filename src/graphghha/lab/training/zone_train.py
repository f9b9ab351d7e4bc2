"""Train a model that judges zones, from random buildings under generic attacks.

With a base model, its network is refined on further buildings: its preprocessing stays, and its weights are the start.
"""

import platform
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from graphghha._util.files import atomic_path
from graphghha._version import __version__
from graphghha.commissioning.levels import fit_levels
from graphghha.engine import Engine, FrozenModel
from graphghha.errors import ConfigError
from graphghha.lab.runs import split_cases
from graphghha.lab.training.cache import check_settings, reading
from graphghha.lab.training.fit import Progress
from graphghha.lab.training.new_network import new_network
from graphghha.lab.training.workers import OnPart, no_parts, worker_processes
from graphghha.lab.training.zone_calibrate import IDENTITY, calibrate_zones
from graphghha.lab.training.zone_fit import adu_odds, fit_zones
from graphghha.lab.training.zone_preprocessing import fit_zone_preprocessing
from graphghha.lab.training.zone_recipe import NOT_DATA, ZoneRecipe
from graphghha.lab.training.zone_windows import FIELDS, ZoneWindows, compared_days, zone_windows
from graphghha.models import Model, Thresholds
from graphghha.nn import ADU, adu_from_arrays
from graphghha.plants import load_plant
from graphghha.windows import EvidencePreprocessing
from graphghha.windows.evidence import FEATURES

SHIPPED_VIEW_SHARE = 0.5  # of the buildings are also seen with the shipped levels
ADU_FILE = "network.safetensors"


def train_zone_model(
    recipe: ZoneRecipe,
    work: Path,
    *,
    base: Model | None = None,
    progress: Callable[[str], None],
    on_step: Callable[[Progress], None] = lambda progress: None,
    on_part: OnPart = no_parts,
) -> Model:
    """Train a model by a recipe; `work` keeps the intermediate results, so that a killed run continues."""
    torch.set_num_threads(recipe.workers)
    adu = _new(recipe) if base is None else _copy(base, recipe)
    work.mkdir(parents=True, exist_ok=True)  # only after the network could be built
    settings = asdict(recipe)
    data_settings = {name: settings[name] for name in settings if name not in NOT_DATA}
    start = {} if base is None else {"base": base.fingerprint}
    check_settings(work / "recipe.json", {**data_settings, **start, "version": __version__})
    with worker_processes(recipe.workers, on_part) as pool:
        if base is None:
            preprocessing = fit_zone_preprocessing(recipe, work, pool, progress=progress)
        else:
            preprocessing = base.zone_preprocessing
        progress(f"windows: {recipe.attacked_buildings} random buildings under generic attacks")
        collect = partial(collect_zone_windows, recipe, preprocessing, work)
        windows = []
        for number, part in enumerate(pool.map(collect, range(recipe.attacked_buildings))):
            windows.append(part)
            if (number + 1) % 40 == 0:
                progress(f"windows: {number + 1} buildings")
        data = ZoneWindows.concatenate(windows)
        del windows
        progress(f"network: {len(data)} windows of a zone")
        _fit(adu, recipe, data, work, on_step)
        model = assemble(recipe, adu, preprocessing, len(data), base)
        return calibrate_zones(model, recipe, pool, progress=progress)


def _new(recipe: ZoneRecipe) -> ADU:
    template = load_plant(recipe.plant).template
    return new_network(template, recipe.seed, in_features=len(FEATURES), head="binary", **recipe.adu)


def _copy(base: Model, recipe: ZoneRecipe) -> ADU:
    """Return the network of a base model; ConfigError if it cannot be refined by this recipe."""
    if not base.judges_zones or base.commissioning is not None or base.plant != recipe.plant:
        raise ConfigError(
            f"refine: the base must be a model that judges zones of {recipe.plant!r}, not of a commissioned site"
        )
    if any(first < recipe.seeds[1] and recipe.seeds[0] < end for first, end in base.provenance["seeds_seen"]):
        raise ConfigError(f"refine: the base has seen the buildings of seed {recipe.seed}; give another seed")
    layer = base.adu_config["layer"]
    if recipe.adu.get("layer", layer) != layer:
        raise ConfigError(f"refine: the base has the layer {layer!r}, which cannot be exchanged")
    return adu_from_arrays(base.template, base.adu_config, base.weights)


def collect_zone_windows(
    recipe: ZoneRecipe, preprocessing: EvidencePreprocessing, work: Path, number: int
) -> ZoneWindows:
    """Return the windows of one attacked building, from `work` if they are there."""
    file = work / f"windows-{number}.safetensors"
    if not file.exists():
        plant = load_plant(recipe.plant)
        normal, judged = recipe.attacked(number)
        rng = np.random.default_rng([judged.seed, 3])
        fitted = fit_levels(compared_days(plant, normal, preprocessing), preprocessing, plant.template)
        stride = recipe.stride(judged.zones)
        views = [(preprocessing.with_levels(fitted.levels), stride)]
        if rng.random() < SHIPPED_VIEW_SHARE:
            views.append((preprocessing, 2 * stride))
        parts = [zone_windows(plant, judged, view, stride_min=stride, rng=rng) for view, stride in views]
        windows = ZoneWindows.concatenate(parts)
        with atomic_path(file) as partial_file:
            save_file({name: np.ascontiguousarray(getattr(windows, name)) for name in FIELDS}, partial_file)
    with reading(file):
        return ZoneWindows(**load_file(file))


def _fit(adu: ADU, recipe: ZoneRecipe, data: ZoneWindows, work: Path, on_step: Callable[[Progress], None]) -> None:
    file = work / ADU_FILE
    check_settings(file.with_suffix(".json"), {"adu": asdict(recipe)["adu"], "fit": asdict(recipe.fit)})
    if not file.exists():
        fit_zones(adu, adu_odds(adu), data, replace(recipe.fit, seed=recipe.seed), on_step=on_step)
        with atomic_path(file) as partial_file:
            save_file({name: np.array(value.numpy()) for name, value in adu.state_dict().items()}, partial_file)
    with reading(file):
        adu.load_state_dict({name: torch.as_tensor(value) for name, value in load_file(file).items()})
    adu.eval()


def assemble(
    recipe: ZoneRecipe, adu: ADU, preprocessing: EvidencePreprocessing, windows: int, base: Model | None = None
) -> Model:
    """Return a model without calibration, limits and thresholds."""
    frozen, template, plant = FrozenModel.from_adu(adu), adu.template, load_plant(recipe.plant)
    held_out = split_cases(plant).unseen_cases
    features = np.random.default_rng(0).normal(0, 1, (template.num_nodes, len(FEATURES))).astype(np.float32)
    answer: dict[str, NDArray[Any]] = {
        "features": features,
        "probabilities": Engine(frozen, template, backend="torch").score(features),
    }
    return Model(
        plant=recipe.plant,
        template=template,
        adu_config=adu.config.to_dict(),
        weights=dict(frozen.weights),
        preprocessing=preprocessing,
        calibration=IDENTITY,
        thresholds=Thresholds(),
        known_answer=answer,
        provenance={
            "recipe": asdict(recipe),
            "cases_seen": [name for name in plant.cases if name not in held_out] if recipe.catalogue_share else [],
            "unseen_severities": [],
            "unseen_cases": list(held_out),
            "seeds_seen": [*(base.provenance["seeds_seen"] if base else ()), recipe.seeds],
            "windows": windows,
            "versions": {"graphghha": __version__, "numpy": np.__version__, "python": platform.python_version()},
            **({"base": {"fingerprint": base.fingerprint, **base.provenance}} if base else {}),
        },
    )
