"""Detection under the deploy protocol: the shipped model, or all methods trained anew, on buildings nobody has seen."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from graphghha.bench.evaluate import evaluate
from graphghha.bench.harness import machine_info
from graphghha.bench.variants import METHODS, Variant
from graphghha.evaluation.protocols import DeployConfig, deploy_trial
from graphghha.models import save_model
from graphghha.training.baselines import RivalConfig
from graphghha.training.finish import FinishConfig, finish
from graphghha.training.fit import Progress
from graphghha.training.presets import DEFAULT
from graphghha.training.recipe import Recipe, train

NODES = 32  # of one zone
SIZE = 384  # twelve zones
FULL = DeployConfig(runs=4, days=14)
QUICK = DeployConfig(runs=1, days=2, unseen_runs=0)

Say = Callable[[str], None]
OnStep = Callable[[str, Progress], None]


def deploy_study(
    sizes: Sequence[int],
    *,
    model: Path,
    config: DeployConfig,
    work: Path,
    retrain: bool = False,
    recipe: Recipe = DEFAULT,
    finishing: FinishConfig | None = None,
    baselines: RivalConfig | None = None,
    say: Say = lambda text: None,
    on_step: OnStep = lambda name, progress: None,
) -> dict[str, Any]:
    """Rows of every method at every size, and the baselines'. Buildings differ by size; their spread is `f1_std`."""
    models: dict[str, tuple[Path, str]] = {"graphghha": (model, "fp32")}
    if retrain:
        models = _trained_models(work, recipe, finishing or FinishConfig(), say, on_step)
    rows = []
    for size in sizes:
        for name, (directory, dtype) in models.items():
            say(f"{name}: {size} nodes")
            trial = deploy_trial(directory, replace(config, zones=size // NODES))
            rivals = baselines if name == "graphghha" else None
            found = evaluate(trial, baselines=rivals, work=work / f"rivals-{size}", say=say, dtype=dtype)
            first, *others = found["rows"]
            rows += [{**first, "method": name}, *others]
    settings = {"protocol": "deploy", **asdict(config), "zones": [size // NODES for size in sizes]}
    return {"bench": "detection", "machine": machine_info(), "config": settings, "rows": rows}


def _trained_models(
    work: Path, recipe: Recipe, finishing: FinishConfig, say: Say, on_step: OnStep
) -> dict[str, tuple[Path, str]]:
    """A model directory and a precision per method; all of them learn from the same windows."""
    for variant in METHODS:
        if variant.trained_as is None and not (_home(work, variant.name) / "manifest.json").exists():
            _train(variant, work, recipe, finishing, say, on_step)
    return {variant.name: (_home(work, variant.trained_as or variant.name), variant.dtype) for variant in METHODS}


def _train(variant: Variant, work: Path, recipe: Recipe, finishing: FinishConfig, say: Say, on_step: OnStep) -> None:
    say(f"{variant.name}: training")
    own = replace(recipe, adu=dict(variant.adu))
    snapshot = work / f"snapshot-{variant.name}.pt"
    trained = train(own, work, snapshot=snapshot, say=say, on_step=lambda progress: on_step(variant.name, progress))
    save_model(finish(trained, own, finishing, say=say), _home(work, variant.name))


def _home(work: Path, name: str) -> Path:
    return work / "models" / name
