"""What a model that judges zones owes to the attacks it was taught on: one family of mechanisms left out at a time.

Every training building is attacked by one family of the generator, or by the catalogue. A diet is a choice of such
buildings, all of the same number. Small networks (the zone-wide perceptron) are taught on each diet and judged on
attacks of every family, on the catalogue, and on the cases of the catalogue that no diet contains.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from graphghha.engine.zone_scorer import zone_odds
from graphghha.errors import ConfigError
from graphghha.lab.baselines.zone_networks import MLP_FIT, Floats, fit_zone_mlp, torch_locator
from graphghha.lab.bench.detection.zone_trials import AtEqual, Trial, at_equal_alarms, averaged_odds, make_trial
from graphghha.lab.bench.results import make_result
from graphghha.lab.evaluation import without_nan
from graphghha.lab.runs import Schedule, split_cases
from graphghha.lab.training.cache import check_settings
from graphghha.lab.training.zone_fit import ZoneFitConfig
from graphghha.lab.training.zone_recipe import ZoneRecipe
from graphghha.lab.training.zone_train import collect_zone_windows
from graphghha.lab.training.zone_windows import ZoneWindows
from graphghha.models import Model
from graphghha.plants import Plant, load_plant, load_testbed

SEED_BASE = 650_000_000  # of the test buildings, far from every other one
RECIPE_SEED = 50  # of the training buildings
PER_SEED, PER_EXAM, PER_FAMILY = 100_000, 1000, 1000
CATALOGUE, NEW = "catalogue", "new cases"
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "shifted readings": ("bias", "ramp", "scale"),
    "replaced readings": ("hold", "replay", "extreme"),
    "swings": ("noise", "swing", "setpoint_swing", "gains"),
    "several nodes": ("together", "concealment"),
    "commands": ("stuck", "leak", "command_offset", "setpoint"),
    "equipment": ("airflow", "outdoor_air", "heat_transfer"),
}
DENSE = Schedule(mean_gap_days=1.0, lasting_share=0.1, rest_min=480)


@dataclass(frozen=True, kw_only=True)
class DietConfig:
    """The sizes of the study."""

    seed: int = 0
    buildings: int = 60  # of every diet
    fits: int = 3  # networks of every diet, with different seeds
    exam_buildings: int = 2  # of every family; the catalogue and the new cases have twice as many
    zones: int = 12
    days: int = 6
    commission_days: int = 14
    quiet_per_day: float = 0.25  # false alarms in zones not under attack, over all exams, for every network
    families: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: FAMILIES)
    fit: ZoneFitConfig = MLP_FIT

    def __post_init__(self) -> None:
        if self.buildings < len(self.families):
            raise ConfigError(f"diets: give at least {len(self.families)} buildings, one for each family")

    @cached_property
    def diets(self) -> dict[str, dict[str, int]]:
        """How many buildings of each family every diet has."""
        names = list(self.families)
        third = self.buildings // 3
        return {
            "all families": _spread(self.buildings, names),
            **{f"without {left}": _spread(self.buildings, [n for n in names if n != left]) for left in names},
            "catalogue a third": {**_spread(self.buildings - third, names), CATALOGUE: third},
        }


QUICK = DietConfig(
    buildings=2,
    fits=1,
    exam_buildings=1,
    zones=2,
    days=2,
    commission_days=7,
    families={"shifted readings": ("bias",), "commands": ("stuck",)},
    fit=replace(MLP_FIT, epochs=2, batch=64),
)


def diet_study(
    model: Model, config: DietConfig, work: Path, *, progress: Callable[[str], None] = lambda line: None
) -> dict[str, Any]:
    """Return a row for every diet and exam. `work` keeps the windows; the model gives the preprocessing only."""
    plant, preprocessing = load_plant(model.plant), model.zone_preprocessing
    _check(plant, config)
    work.mkdir(parents=True, exist_ok=True)
    check_settings(work / "diets.json", {"families": dict(config.families), "seed": config.seed})
    windows = {}
    for number, name in enumerate((*config.families, CATALOGUE)):
        most = max(diet.get(name, 0) for diet in config.diets.values())
        recipe = _recipe(plant, config, name)
        windows[name] = [
            collect_zone_windows(recipe, preprocessing, work, PER_FAMILY * number + at) for at in range(most)
        ]
        progress(f"diets: {most} buildings under {name}")
    exams = _exams(plant, model, config, progress)
    rows: list[dict[str, Any]] = []
    for diet, counts in config.diets.items():
        data = ZoneWindows.concatenate([part for name, count in counts.items() for part in windows[name][:count]])
        progress(f"diets: {diet}, {len(data)} windows")
        judged = [
            _judge(exams, data, replace(config.fit, seed=config.seed + fit), config) for fit in range(config.fits)
        ]
        rows += [_row(diet, exam, len(data), [each[exam] for each in judged]) for exam in exams]
    about = {**asdict(config), "diets": config.diets, "model": model.fingerprint, "network": "zone_mlp"}
    result: dict[str, Any] = without_nan(make_result("diets", about, rows))
    return result


def _check(plant: Plant, config: DietConfig) -> None:
    known = load_testbed(plant.name).mechanisms
    if unknown := [name for family in config.families.values() for name in family if name not in known]:
        raise ConfigError(f"diets: the generator has no mechanism named {unknown[0]!r}; known: {', '.join(known)}")


def _spread(total: int, names: Sequence[str]) -> dict[str, int]:
    return {name: total // len(names) + (at < total % len(names)) for at, name in enumerate(names)}


def _recipe(plant: Plant, config: DietConfig, family: str) -> ZoneRecipe:
    """Return a recipe whose buildings are attacked by one family, or by the catalogue without its new cases."""
    recipe = ZoneRecipe(plant=plant.name, seed=RECIPE_SEED + config.seed)
    if family == CATALOGUE:
        return replace(recipe, catalogue_share=1.0)
    kept, known = config.families[family], load_testbed(plant.name).mechanisms
    return replace(recipe, without=tuple(name for name in known if name not in kept))


def _exams(plant: Plant, model: Model, config: DietConfig, progress: Callable[[str], None]) -> dict[str, list[Trial]]:
    new = split_cases(plant).unseen_cases
    rng = np.random.default_rng([SEED_BASE, config.seed])
    cases: dict[str, tuple[str, ...]] = {
        **{name: _recipe(plant, config, name).cases(rng) for name in config.families},
        CATALOGUE: tuple(name for name in plant.cases if name not in new),
        NEW: tuple(new),
    }
    exams: dict[str, list[Trial]] = {}
    for number, (exam, names) in enumerate(cases.items()):
        progress(f"diets: buildings with {exam}")
        exams[exam] = [
            make_trial(
                plant,
                model,
                seed=SEED_BASE + PER_SEED * config.seed + PER_EXAM * number + building,
                number=building + number,
                zones=config.zones,
                points=(len(plant.template.points), len(plant.template.points)),
                cases=names,
                days=config.days,
                commission_days=config.commission_days,
                schedule=DENSE,
            )
            for building in range(config.exam_buildings * (1 if exam in config.families else 2))
        ]
    return exams


@dataclass(frozen=True, slots=True)
class _Counts:
    visible: int
    found: int
    named: int
    quiet_per_day: float


def _judge(
    exams: Mapping[str, list[Trial]], data: ZoneWindows, fit: ZoneFitConfig, config: DietConfig
) -> dict[str, _Counts]:
    """Teach one network and count, for every exam, the attacks that it finds and names."""
    locate = torch_locator(fit_zone_mlp(data, fit))
    trials = [(exam, trial) for exam, of in exams.items() for trial in of]
    odds = [averaged_odds(trial, locate) for _, trial in trials]
    equal = at_equal_alarms([trial for _, trial in trials], [zone_odds(each) for each in odds], config.quiet_per_day)
    counts = {}
    for exam in exams:
        own = [at for at, (name, _) in enumerate(trials) if name == exam]
        part = replace(equal, matches=tuple(equal.matches[at] for at in own))
        named = sum(_named(trials[at][1], odds[at], equal, at) for at in own)
        counts[exam] = _Counts(part.visible, part.found, named, equal.quiet / equal.days)
    return counts


def _named(trial: Trial, odds: Floats, equal: AtEqual, at: int) -> int:
    """Count the visible attacks of one building whose node has the highest log-odds when they are announced."""
    nodes, count = trial.shape[2], 0
    for outcome in equal.matches[at].outcomes:
        if outcome.incident is None or not outcome.is_observable:
            continue
        zone = outcome.incident.root // nodes
        leading = zone * nodes + int(odds[outcome.incident.annunciated, zone].argmax())
        count += leading in outcome.attack.hits
    return count


def _row(diet: str, exam: str, windows: int, fits: Sequence[_Counts]) -> dict[str, Any]:
    visible = fits[0].visible
    found, named = ([getattr(fit, name) for fit in fits] for name in ("found", "named"))
    total = visible * len(fits)
    return {
        "diet": diet,
        "exam": exam,
        "windows": windows,
        "events": visible,
        "found": found,
        "named_first": named,
        "event_recall": sum(found) / total if total else float("nan"),
        "hit_at_1": sum(named) / total if total else float("nan"),
        "quiet_false_alarms_per_day": sum(fit.quiet_per_day for fit in fits) / len(fits),
    }
