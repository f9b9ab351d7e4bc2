"""What it costs when a family of effects was never seen in training: how building management systems report readings.

Two small models are trained by the same recipe. One sees readings as the systems of random buildings report them, the
other sees every reading of every point once a minute, unrounded. Both are commissioned and judged in buildings that
report in ways of their own.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from graphghha.graph import NeighborRule
from graphghha.lab.bench.results import make_result
from graphghha.lab.evaluation import without_nan
from graphghha.lab.evaluation.shift import ShiftConfig, shift_rows
from graphghha.lab.training.zone_fit import ZoneFitConfig
from graphghha.lab.training.zone_recipe import ZoneRecipe
from graphghha.lab.training.zone_train import train_zone_model

RECIPE_SEED = 60  # of the training buildings, which no other study uses
TAUGHT = {"with all effects": "bms", "without effects of reporting": "ideal"}
REPORTING = ("reference", "cov", "rounded-0.5", "samples-5-min", "samples-15-min", "loss-10-percent")
SMALL = ZoneRecipe(
    seed=RECIPE_SEED,
    expectation_buildings=80,
    expectation_epochs=8,
    level_buildings=20,
    attacked_buildings=60,
    validation_buildings=12,
    adu={"neighbors": NeighborRule(max_neighbors=8)},
    fit=ZoneFitConfig(epochs=3),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class EffectsConfig:
    """The sizes of the study."""

    seed: int = 0
    recipe: ZoneRecipe = SMALL
    days: int = 6
    zones: int = 12
    commission_days: int = 14
    conditions: tuple[str, ...] = REPORTING


QUICK = EffectsConfig(
    recipe=replace(
        SMALL,
        expectation_buildings=5,
        expectation_days=1,
        expectation_epochs=1,
        level_buildings=1,
        level_days=2,
        attacked_buildings=4,
        attacked_days=4,
        commissioning_days=4,
        validation_buildings=2,
        validation_days=1,
        fit=ZoneFitConfig(epochs=4, batch=32),
    ),
    days=1,
    zones=2,
    commission_days=7,
    conditions=("cov",),
)


def effects_study(
    plant: str,
    config: EffectsConfig,
    work: Path,
    *,
    workers: int = 2,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Return a row for every model and condition, as shipped and commissioned. `work` keeps intermediate results."""
    shift = ShiftConfig(
        seed=config.seed,
        days=config.days,
        zones=config.zones,
        conditions=config.conditions,
        commission_days=config.commission_days,
    )
    rows = []
    for taught, observe in TAUGHT.items():
        recipe = replace(config.recipe, plant=plant, observe=observe, workers=workers)
        progress(f"effects: a model {taught}")
        model = train_zone_model(recipe, work / observe, progress=progress)
        found = shift_rows(model, shift, workers=workers, progress=progress)
        rows += [{"taught": taught, **row} for row in found]
    about = asdict(config)
    return dict(without_nan(make_result("effects", {**about, "plant": plant}, rows)))
