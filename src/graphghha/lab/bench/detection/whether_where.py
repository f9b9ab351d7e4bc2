"""Whether a zone is attacked, and through which node: a model that judges zones beside other methods.

All methods see the same features of the same commissioned buildings, which nothing was trained or tuned on. The attacks
are the catalogue. Those methods that learn from attacks are taught on the windows of the model's own training.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from graphghha.engine import Engine, EngineConfig
from graphghha.engine.zone_scorer import zone_odds
from graphghha.errors import ConfigError, DataError
from graphghha.lab.baselines.zone_networks import (
    MLP_FIT,
    MOST_ROWS,
    Bools,
    Floats,
    Locator,
    fit_zone_boosting,
    fit_zone_mlp,
    torch_locator,
)
from graphghha.lab.bench.detection.zone_statistics import (
    conformal_tail,
    evidence_cusum,
    first_cause,
    gumbel_tail,
    largest_evidence,
    largest_relative_evidence,
    odds_cusum,
    with_witness,
)
from graphghha.lab.bench.detection.zone_trials import (
    AtEqual,
    Trial,
    at_equal_alarms,
    averaged_odds,
    evidence,
    make_trial,
)
from graphghha.lab.bench.results import make_result, write_result
from graphghha.lab.evaluation import without_nan
from graphghha.lab.runs import Schedule
from graphghha.lab.training.workers import worker_processes
from graphghha.lab.training.zone_calibrate import calibrate_zones
from graphghha.lab.training.zone_fit import HIDDEN_NODE, ZoneFitConfig, adu_odds, fit_zones
from graphghha.lab.training.zone_recipe import ZONE_SHARES, ZoneRecipe
from graphghha.lab.training.zone_train import assemble, collect_zone_windows
from graphghha.lab.training.zone_windows import ZoneWindows
from graphghha.models import Model, load_model, log_probabilities, save_model
from graphghha.nn import ADU, AduConfig
from graphghha.plants import load_plant

SEED_BASE = 600_000_000  # far from every seed that training, validation or other figures use
PER_SEED, PER_GROUP = 100_000, 1000
MODEL = "graphghha"
ROUNDING = 0.005  # processors round differently, so that some attacks are visible for a window more or less


@dataclass(frozen=True, slots=True)
class Group:
    """Buildings of one size with about the same number of points."""

    name: str
    zones: int
    points: tuple[int, int]  # at least and at most
    buildings: int


BUILDINGS = 5  # of a group with twelve zones


def groups_of(buildings: int) -> tuple[Group, ...]:
    """Return the groups with so many buildings of twelve zones in each, and more of smaller ones."""
    return (
        Group("29 points", 12, (29, 29), buildings),
        Group("13 to 15 points", 12, (13, 15), buildings),
        Group("1 zone", 1, (29, 29), 4 * buildings),
        Group("8 or 9 points", 12, (8, 9), buildings),
        Group("3 zones", 3, (29, 29), 2 * buildings),
        Group("18 to 22 points", 12, (18, 22), buildings),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class WhetherWhereConfig:
    """The test buildings, and what the other methods are taught on."""

    seed: int = 0
    groups: tuple[Group, ...] = groups_of(BUILDINGS)
    days: int = 6
    commission_days: int = 14
    quiet_per_day: float = 0.25  # false alarms in zones not under attack, per twelve zones, for every method
    training_buildings: int | None = None  # None: all that the model was taught on
    mlp: ZoneFitConfig = MLP_FIT
    boosting_rows: int = MOST_ROWS
    networks: int = 0  # further models, whose networks are trained on the same windows with other seeds
    falsify_share: float | None = None  # of their attacked windows; None: as many as the model was taught


QUICK = WhetherWhereConfig(
    groups=(Group("29 points", 2, (29, 29), 1),),
    days=2,
    commission_days=7,
    training_buildings=1,
    mlp=replace(MLP_FIT, epochs=2),
    boosting_rows=500,
    networks=1,
)


def whether_where(
    model: Model, config: WhetherWhereConfig, work: Path, *, progress: Callable[[str], None] = lambda line: None
) -> dict[str, Any]:
    """Return a row for each question, method and group of buildings.

    `work` keeps the windows of the training, the models with other seeds, and the result of the groups that are done.
    """
    if model.commissioning is not None:
        raise ConfigError("whether-where: give the model that a site's model was derived from")
    _ = model.zone_preprocessing  # refuses other models now, and not after a simulation
    locators, taught = _locators(model, config, work, progress)
    rows: list[dict[str, Any]] = []
    everything: list[tuple[Trial, dict[str, Floats]]] = []
    for number, group in enumerate(config.groups):
        scored = []
        for building in range(group.buildings):
            progress(f"whether-where: {group.name}, building {building + 1} of {group.buildings}")
            trial = _trial(model, config, number, building)
            scored.append((trial, {name: averaged_odds(trial, locate) for name, locate in locators.items()}))
        rows += _rows(group.name, scored, config.quiet_per_day)
        everything += scored
        done = config.groups[: number + 1]
        about = {**asdict(replace(config, groups=done)), "model": model.fingerprint, "taught": taught}
        together = _rows("all", everything, config.quiet_per_day) if number else []
        result: dict[str, Any] = without_nan(make_result("whether-where", about, [*rows, *together]))
        write_result(result, work / "whether-where.json")
    return result


def training_recipe(model: Model) -> ZoneRecipe:
    """Return the recipe that a model was trained by; its network plays no part."""
    stored = dict(model.provenance["recipe"])
    schedule = dict(stored["schedule"])
    schedule["lasting_min"] = tuple(schedule["lasting_min"])
    return ZoneRecipe(
        **{
            **stored,
            "schedule": Schedule(**schedule),
            "fit": ZoneFitConfig(**stored["fit"]),
            "without": tuple(stored["without"]),
            "zone_shares": tuple(stored.get("zone_shares", ZONE_SHARES)),
            "adu": {},
        }
    )


def training_windows(
    model: Model, buildings: int | None, work: Path, progress: Callable[[str], None] = lambda line: None
) -> ZoneWindows:
    """Return the windows that a model was taught on, or those of its first buildings, from `work` if they are there."""
    recipe = training_recipe(model)
    work.mkdir(parents=True, exist_ok=True)
    parts = []
    for number in range(recipe.attacked_buildings if buildings is None else buildings):
        parts.append(collect_zone_windows(recipe, model.zone_preprocessing, work, number))
        if (number + 1) % 40 == 0:
            progress(f"windows: {number + 1} buildings")
    windows = ZoneWindows.concatenate(parts)
    taught = model.provenance["windows"]
    if buildings is None and abs(len(windows) - taught) > ROUNDING * taught:
        raise DataError(
            f"{work}: holds {len(windows)} windows, but the model was taught on {taught}; "
            "give a folder of its own training, or an empty one"
        )
    return windows


def model_locator(model: Model) -> Locator:
    """Return the log-odds of a model's network on single zones."""
    engine = Engine.from_config(model, model.template, EngineConfig())

    def locate(features: Floats, known: Bools) -> Floats:
        parts = [np.zeros(known[:0].shape)]
        for at in range(0, len(features), 512):
            seen = known[at : at + 512]
            logits = log_probabilities(engine.score(features[at : at + 512].astype(np.float32), seen).astype(float))
            parts.append(np.where(seen, logits[..., 1] - logits[..., 0], HIDDEN_NODE))
        return np.concatenate(parts)

    return locate


def _locators(
    model: Model, config: WhetherWhereConfig, work: Path, progress: Callable[[str], None]
) -> tuple[dict[str, Locator], dict[str, Any]]:
    windows = training_windows(model, config.training_buildings, work, progress)
    fit = replace(config.mlp, seed=config.seed)
    progress(f"zone MLP: {fit.epochs} passes over {len(windows)} windows")
    mlp = fit_zone_mlp(windows, fit)
    progress(f"zone boosting: {min(config.boosting_rows, len(windows))} windows")
    boosting = fit_zone_boosting(windows, config.seed, config.boosting_rows)
    own = model.provenance["recipe"]["fit"]["epochs"]
    taught = {
        MODEL: {"windows": model.provenance["windows"], "passes": own},
        "zone_mlp": {"windows": len(windows), "passes": fit.epochs},
        "zone_boosting": {"windows": boosting.rows, "passes": None},
    }
    locators: dict[str, Locator] = {
        MODEL: model_locator(model),
        "zone_mlp": torch_locator(mlp),
        "zone_boosting": boosting,
    }
    for seed in range(1, config.networks + 1):
        name = f"seed-{seed}" if config.falsify_share is None else f"falsified-{seed}"
        if not (work / name).exists():
            progress(f"GraphGHHA, {name}: {len(windows)} windows")
            save_model(_trained_anew(model, windows, config, seed, progress), work / name)
        locators[f"{MODEL}-{name}"] = model_locator(load_model(work / name))
    return locators, taught


def _trained_anew(
    model: Model, windows: ZoneWindows, config: WhetherWhereConfig, seed: int, progress: Callable[[str], None]
) -> Model:
    """Return a model that differs from the given one in weights at the start and in the order of windows."""
    recipe = training_recipe(model)
    epochs = min(recipe.fit.epochs, config.mlp.epochs)
    fit = replace(recipe.fit, seed=seed, epochs=epochs)
    if config.falsify_share is not None:
        fit = replace(fit, falsify_share=config.falsify_share)
    validated = min(recipe.validation_buildings, config.training_buildings or recipe.validation_buildings)
    recipe = replace(recipe, fit=fit, validation_buildings=validated)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        adu = ADU.from_config(model.template, AduConfig.from_dict(model.adu_config))
    fit_zones(adu, adu_odds(adu), windows, fit)
    anew = assemble(recipe, adu, model.zone_preprocessing, len(windows))
    with worker_processes(recipe.workers) as pool:
        return calibrate_zones(anew, recipe, pool, progress=progress)


def _trial(model: Model, config: WhetherWhereConfig, group: int, building: int) -> Trial:
    plant, of = load_plant(model.plant), config.groups[group]
    return make_trial(
        plant,
        model,
        seed=SEED_BASE + PER_SEED * config.seed + PER_GROUP * group + building,
        number=building,
        zones=of.zones,
        points=of.points,
        cases=tuple(plant.cases),
        days=config.days,
        commission_days=config.commission_days,
    )


def _rows(group: str, scored: Sequence[tuple[Trial, Mapping[str, Floats]]], per_day: float) -> list[dict[str, Any]]:
    trials = [trial for trial, _ in scored]
    zones = {name: [zone_odds(odds[name]) for _, odds in scored] for name in scored[0][1]}
    scores: dict[str, list[Floats]] = {
        **zones,
        "odds_cusum": [odds_cusum(each) for each in zones[MODEL]],
        "evidence_witness": [with_witness(each, trial) for each, trial in zip(zones[MODEL], trials, strict=True)],
        "largest_evidence": [largest_evidence(trial) for trial in trials],
        "largest_relative_evidence": [largest_relative_evidence(trial) for trial in trials],
        "gumbel_tail": [gumbel_tail(trial) for trial in trials],
        "conformal_tail": [conformal_tail(trial) for trial in trials],
        "evidence_cusum": [evidence_cusum(trial) for trial in trials],
    }
    equal = {name: at_equal_alarms(trials, own, per_day) for name, own in scores.items()}
    rows = [_whether_row(group, name, at) for name, at in equal.items()]
    return rows + _where_rows(group, scored, equal[MODEL])


def _whether_row(group: str, method: str, at: AtEqual) -> dict[str, Any]:
    return {
        "question": "whether",
        "group": group,
        "method": method,
        "quiet_false_alarms_per_day": at.quiet / at.days,
        "event_recall": at.found / at.visible if at.visible else float("nan"),
        "found": at.found,
        "events": at.visible,
        "days": at.days,
        "threshold": at.threshold,
    }


def _where_rows(
    group: str, scored: Sequence[tuple[Trial, Mapping[str, Floats]]], alarms: AtEqual
) -> list[dict[str, Any]]:
    """Return how often each method names the right node at the alarms of the model."""
    ranks: dict[str, list[int]] = {}
    for (trial, odds), matches in zip(scored, alarms.matches, strict=True):
        nodes = trial.shape[2]
        for outcome in matches.outcomes:
            if outcome.incident is None or not outcome.is_observable:
                continue
            row, zone = outcome.incident.annunciated, outcome.incident.root // nodes
            hits = [node % nodes for node in outcome.attack.hits if node // nodes == zone]
            candidates = {
                **{name: own[row, zone] for name, own in odds.items()},
                "largest_evidence": evidence(trial.features[row, zone]),
                "first_cause": first_cause(trial, row, zone),
            }
            for name, scores in candidates.items():
                best = max((float(scores[node]) for node in hits), default=-np.inf)
                ranks.setdefault(name, []).append(1 + int((scores > best).sum()))
    return [
        {
            "question": "where",
            "group": group,
            "method": name,
            "hit_at_1": sum(rank == 1 for rank in of) / alarms.visible,
            "hit_at_3": sum(rank <= 3 for rank in of) / alarms.visible,
            "named_first": sum(rank == 1 for rank in of),
            "named_third": sum(rank <= 3 for rank in of),
            "found": len(of),
            "events": alarms.visible,
        }
        for name, of in ranks.items()
    ]
