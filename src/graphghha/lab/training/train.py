"""Recipes by name, and the whole of `graphghha train`."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from graphghha.engine import EngineConfig
from graphghha.errors import ConfigError
from graphghha.graph import NeighborRule
from graphghha.lab.training.calibrate import FinishConfig, finish
from graphghha.lab.training.fit import FitConfig, Progress
from graphghha.lab.training.recipe import Recipe, train
from graphghha.models import save_model
from graphghha.models.directory import check_place
from graphghha.nn.dtype import DtypeName

# Eight neighbours: the cap binds on the hubs of the fan-coil template only, and halves the cost of training.
DEFAULT = Recipe(
    fit=FitConfig(epochs=2),
    adu={"neighbors": NeighborRule(max_neighbors=8)},
)
PRESETS = {"default": DEFAULT}


def parse_budget(text: str) -> float:
    """'1/day' or '0.5/day' as false alarms per day."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)/day", text.strip())
    if found is None or float(found.group(1)) <= 0:
        raise ConfigError(f"alert budget {text!r}: write a positive number per day, such as 1/day")
    return float(found.group(1))


def train_model(
    preset: str,
    out: Path,
    work: Path,
    *,
    layer: str,
    dtype: DtypeName,
    seed: int,
    threads: int,
    budget_per_day: float,
    say: Callable[[str], None],
    on_step: Callable[[Progress], None],
) -> None:
    """Train by a recipe and write the model directory."""
    check_place(out)  # better now than after half an hour
    recipe = PRESETS[preset]
    recipe = replace(
        recipe,
        seed=seed,
        workers=threads,
        adu={**recipe.adu, "layer": layer},
        fit=replace(recipe.fit, seed=seed, dtype=dtype),
    )
    trained = train(recipe, work, say=say, on_step=on_step)
    engine = EngineConfig(dtype=dtype)  # calibrated in the arithmetic it is made for
    save_model(finish(trained, recipe, FinishConfig(budget_per_day=budget_per_day, engine=engine), say=say), out)
