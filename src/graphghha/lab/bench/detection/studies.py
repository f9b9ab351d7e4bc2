"""The four studies of detection, as JSON: Table II, Table III, head counts, ablations with an attacker."""

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
from graphghha.lab.bench.harness import machine_info
from graphghha.lab.bench.speed.heads import heads_latency
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
    """The four methods and the plain ones at every size. In all studies, no sizes mean the usual ones."""
    sizes = _sizes(bench, sizes, TABLE_II_SIZES, QUICK_SIZES)
    return _result("detection", detection(bench, (*METHODS, *BASELINES), sizes, seeds))


def deploy_of(bench: PaperBench, sizes: Sequence[int] | None, seed: int, model: Path) -> dict[str, Any]:
    """The deploy protocol with the baselines in the same table; by default in buildings of twelve zones."""
    is_quick = _is_quick(bench)
    return deploy.deploy_study(
        _sizes(bench, sizes, (deploy.SIZE,), (deploy.SIZE,)),
        model=model,
        config=replace(deploy.QUICK if is_quick else deploy.FULL, seed=seed),
        work=bench.work / "deploy",
        baselines=QUICK_BASELINES if is_quick else BaselineConfig(),
        say=bench.say,
    )


def deploy_retrained(bench: PaperBench, sizes: Sequence[int] | None, seeds: Sequence[int]) -> dict[str, Any]:
    """The four methods trained alike, under the deploy protocol."""
    is_quick = _is_quick(bench)
    comparison = deploy.Comparison(
        bench.work / "deploy-retrained",
        deploy.QUICK if is_quick else deploy.ALIKE,
        QUICK_SETUP if is_quick else deploy.TrainingSetup(),
        say=bench.say,
        on_step=bench.on_step,
    )
    return comparison.run(_sizes(bench, sizes, (deploy.SIZE,), (deploy.SIZE,)), seeds)


def table_iii(bench: PaperBench, sizes: Sequence[int] | None, seeds: Sequence[int]) -> dict[str, Any]:
    """GraphGHHA by family of attacks, and every case; and each family by a network that never saw it."""
    sizes = _sizes(bench, sizes, (1024,), QUICK_SIZE)
    found = detection(bench, [GRAPHGHHA], sizes, seeds)
    families = list(found["families"][0]["families"])[: 2 if _is_quick(bench) else None]
    return _result("scenarios", {**found, "unseen": unseen_families(bench, families, sizes[-1], seeds[0])})


def head_counts(bench: PaperBench, sizes: Sequence[int] | None, seeds: Sequence[int]) -> dict[str, Any]:
    """F1 and latency for 2, 4, 8 and 16 heads."""
    found = detection(bench, HEADS, _sizes(bench, sizes, (1024,), QUICK_SIZE), seeds)
    counts = [int(variant.adu["heads"]) for variant in HEADS]
    latency = heads_latency(counts, bench.plant.template, quick=_is_quick(bench))
    return _result("heads", {**found, "latency": latency})


def ablations(bench: PaperBench, sizes: Sequence[int] | None, seeds: Sequence[int], model: Path) -> dict[str, Any]:
    """What each part of the layer is worth; recall of a model against an attacker who knows it."""
    variants = ABLATIONS[:4] if _is_quick(bench) else ABLATIONS
    found = detection(bench, variants, _sizes(bench, sizes, (32, 1024), QUICK_SIZES), seeds)
    attacker = QUICK_ATTACKER if _is_quick(bench) else DEFAULT_ATTACKER
    evaded = robustness(bench.plant, load_model(model), seed=seeds[0], config=attacker, say=bench.say)
    return _result("ablation", {**found, "attacker": evaded})


def _is_quick(bench: PaperBench) -> bool:
    return bench.effort == QUICK


def _sizes(bench: PaperBench, given: Sequence[int] | None, usual: Sequence[int], quick: Sequence[int]) -> list[int]:
    """What was asked for, if anything; every size is a number of whole zones."""
    nodes = bench.plant.template.num_nodes
    if odd := [size for size in given or () if size < nodes or size % nodes]:
        raise ConfigError(f"bench: {odd[0]} nodes are no multiple of the template's {nodes}")
    return list(given or (quick if _is_quick(bench) else usual))


def _result(name: str, found: dict[str, Any]) -> dict[str, Any]:
    return {"bench": name, "machine": machine_info(), **found}
