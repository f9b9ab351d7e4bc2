"""The detection studies: Table II, Table III, head counts, and ablations with an attacker."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphghha.errors import ConfigError
from graphghha.lab.baselines import BaselineConfig
from graphghha.lab.bench.detection import deploy
from graphghha.lab.bench.detection.attacker import DEFAULT_ATTACKER, QUICK_ATTACKER, robustness
from graphghha.lab.bench.detection.paper_protocol import QUICK, PaperBench, detection, unseen_families
from graphghha.lab.bench.detection.variants import ABLATIONS, BASELINES, GRAPHGHHA, HEADS, METHODS
from graphghha.lab.bench.harness import DEFAULT_EFFORT, QUICK_EFFORT
from graphghha.lab.bench.results import make_result
from graphghha.lab.bench.speed.methods import Setup
from graphghha.lab.bench.speed.scaling import heads_latency
from graphghha.lab.training import CalibrationConfig, FitConfig, Recipe, Validation
from graphghha.models import load_model

TABLE_II_SIZES = (32, 64, 128, 256, 512, 1024, 1536)
QUICK_SIZES = (32, 128)
QUICK_SIZE = (128,)
QUICK_RECIPE = Recipe(attacked_runs=1, attacked_days=8, normal_runs=1, normal_days=6)
QUICK_VALIDATION = Validation(attacked_runs=1, attacked_days=6, normal_runs=1, normal_days=6)
QUICK_BASELINES = BaselineConfig(recipe=QUICK_RECIPE, validation=QUICK_VALIDATION)
QUICK_SETUP = deploy.TrainingSetup(
    recipe=replace(QUICK_RECIPE, validation_runs=1, validation_days=5, fit=FitConfig(epochs=1, batch=16)),
    calibration=CalibrationConfig(validation=QUICK_VALIDATION, budget_per_day=1.0),
    baselines=("rules",),
)


def table_ii(bench: PaperBench, sizes: Sequence[int] | None, seeds: Sequence[int]) -> dict[str, Any]:
    """Return the four methods and the baselines at every size. In all studies, `None` means the default sizes."""
    sizes = _sizes(bench, sizes, TABLE_II_SIZES, QUICK_SIZES)
    return _result("detection", detection(bench, (*METHODS, *BASELINES), sizes, seeds))


def deploy_shipped(bench: PaperBench, sizes: Sequence[int] | None, seed: int, model: Path) -> dict[str, Any]:
    """Return a model and the baselines under the deploy protocol, by default in buildings of twelve zones."""
    is_quick = _is_quick(bench)
    return deploy.deploy_study(
        _deploy_sizes(bench, sizes),
        model=model,
        config=replace(deploy.QUICK if is_quick else deploy.FULL, seed=seed),
        work=bench.work / "deploy",
        baselines=QUICK_BASELINES if is_quick else BaselineConfig(),
        progress=bench.progress,
    )


def deploy_retrained(bench: PaperBench, sizes: Sequence[int] | None, seeds: Sequence[int]) -> dict[str, Any]:
    """Return the four methods, all trained alike, under the deploy protocol."""
    is_quick = _is_quick(bench)
    comparison = deploy.Comparison(
        bench.work / "deploy-retrained",
        deploy.QUICK if is_quick else deploy.COMPARISON,
        QUICK_SETUP if is_quick else deploy.TrainingSetup(),
        progress=bench.progress,
        on_step=bench.on_step,
    )
    return comparison.run(_deploy_sizes(bench, sizes), seeds)


def table_iii(bench: PaperBench, sizes: Sequence[int] | None, seeds: Sequence[int]) -> dict[str, Any]:
    """Return GraphGHHA by attack family and case, and each family by a network that was trained without it."""
    sizes = _sizes(bench, sizes, (1024,), QUICK_SIZE)
    study = detection(bench, [GRAPHGHHA], sizes, seeds)
    families = list(study["families"][0]["families"])[: 2 if _is_quick(bench) else None]
    return _result("scenarios", {**study, "unseen": unseen_families(bench, families, sizes[-1], seeds[0])})


def head_counts(bench: PaperBench, sizes: Sequence[int] | None, seeds: Sequence[int]) -> dict[str, Any]:
    """Return F1 and latency for 2, 4, 8 and 16 heads."""
    study = detection(bench, HEADS, _sizes(bench, sizes, (1024,), QUICK_SIZE), seeds)
    counts = [int(variant.adu["heads"]) for variant in HEADS]
    setup = Setup(template=bench.plant.template, effort=QUICK_EFFORT if _is_quick(bench) else DEFAULT_EFFORT)
    latency = heads_latency(setup, counts)
    return _result("heads", {**study, "latency": latency})


def ablations(bench: PaperBench, sizes: Sequence[int] | None, seeds: Sequence[int], model: Path) -> dict[str, Any]:
    """Return F1 without single parts of the layer, and the recall of a model against an attacker who knows it."""
    variants = ABLATIONS[:4] if _is_quick(bench) else ABLATIONS
    study = detection(bench, variants, _sizes(bench, sizes, (32, 1024), QUICK_SIZES), seeds)
    trained, attacker = load_model(model), QUICK_ATTACKER if _is_quick(bench) else DEFAULT_ATTACKER
    if trained.judges_zones:  # its attacker changes readings, in a benchmark of its own
        return _result("ablation", {**study, "attacker": None})
    evaded = robustness(bench.plant, trained, seed=seeds[0], config=attacker, progress=bench.progress)
    return _result("ablation", {**study, "attacker": evaded})


def _deploy_sizes(bench: PaperBench, sizes: Sequence[int] | None) -> list[int]:
    default = (deploy.ZONES * bench.plant.template.num_nodes,)
    return _sizes(bench, sizes, default, default)


def _is_quick(bench: PaperBench) -> bool:
    return bench.effort == QUICK


def _sizes(bench: PaperBench, given: Sequence[int] | None, full: Sequence[int], quick: Sequence[int]) -> list[int]:
    """Return the given sizes, or the default ones; every size must be a number of whole zones."""
    nodes = bench.plant.template.num_nodes
    if odd := [size for size in given or () if size < nodes or size % nodes]:
        raise ConfigError(f"bench: {odd[0]} nodes are not a multiple of the template's {nodes}")
    return list(given or (quick if _is_quick(bench) else full))


def _result(name: str, study: dict[str, Any]) -> dict[str, Any]:
    return make_result(name, **study)
