"""Detection under the deploy protocol: the shipped model, or all methods trained alike, in unseen buildings."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from graphghha._util.files import atomic_write
from graphghha._version import __version__
from graphghha.engine import EngineConfig
from graphghha.errors import DataError, DivergedError, LeakError
from graphghha.lab.baselines import BASELINES, BaselineConfig
from graphghha.lab.bench.detection.variants import METHODS, Variant
from graphghha.lab.bench.results import make_result
from graphghha.lab.bench.speed.methods import half_dtype
from graphghha.lab.evaluation import DeployConfig, deploy_task, evaluate_task
from graphghha.lab.training import (
    DEFAULT,
    CalibrationConfig,
    Progress,
    Recipe,
    Validation,
    calibrate_and_threshold,
    check_settings,
    train_network,
)
from graphghha.models import load_model, save_model
from graphghha.nn.dtype import DtypeName
from graphghha.plants import load_plant

ZONES = 12
FULL = DeployConfig(runs=4, days=14)
COMPARISON = DeployConfig(seed=20, runs=4, days=14, unseen_runs=0)  # buildings that influenced no design choice
QUICK = DeployConfig(runs=1, days=2, unseen_runs=0)

OnStep = Callable[[str, Progress], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingSetup:
    """How methods are trained for a comparison: all alike, on a third of what the shipped model learns from, once."""

    recipe: Recipe = replace(DEFAULT, attacked_runs=12, normal_runs=8, fit=replace(DEFAULT.fit, epochs=1))
    calibration: CalibrationConfig = CalibrationConfig(validation=Validation(attacked_runs=5, normal_runs=2))
    baselines: tuple[str, ...] = BASELINES
    false_alarm_rate: float = 0.5  # false alarms a day that operators accept; methods are compared at this rate


def deploy_study(
    sizes: Sequence[int],
    *,
    model: Path,
    config: DeployConfig,
    work: Path,
    baselines: BaselineConfig | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Return rows of a model and of the baselines at every size. `f1_std` is the spread over the buildings."""
    trained = load_model(model)
    nodes, rows = trained.template.num_nodes, []
    for size in sizes:
        progress(f"{size} nodes")
        task = deploy_task(trained, replace(config, zones=size // nodes))
        report = evaluate_task(task, baselines=baselines, work=work / f"baselines-{size}", progress=progress)
        first, *others = report["rows"]
        rows += [{**first, "method": "graphghha"}, *others]
    settings = {"protocol": "deploy", **asdict(config), "zones": [size // nodes for size in sizes]}
    return make_result("detection", settings, rows)


class Comparison:
    """Compares methods trained alike; each seed has training, validation and test buildings of its own.

    Every (method, seed, size) leaves one JSON file, so that a stopped run resumes where it was.
    """

    def __init__(
        self,
        work: Path,
        config: DeployConfig,
        setup: TrainingSetup,
        *,
        methods: Sequence[Variant] = METHODS,
        progress: Callable[[str], None] = lambda line: None,
        on_step: OnStep = lambda name, step: None,
    ) -> None:
        self.work, self.config, self.setup, self.methods = work, config, setup, methods
        self.progress, self.on_step = progress, on_step
        self.nodes = load_plant(setup.recipe.plant).template.num_nodes
        work.mkdir(parents=True, exist_ok=True)
        self.half = half_dtype()
        networks = {variant.name: (repr(variant.adu), self._dtype(variant)) for variant in methods}
        kept = {"config": asdict(config), "setup": asdict(setup), "networks": networks, "version": __version__}
        check_settings(work / "comparison.json", json.loads(json.dumps(kept)))

    def run(self, sizes: Sequence[int], seeds: Sequence[int]) -> dict[str, Any]:
        """Return means over seeds, and the spread of F1 over them."""
        by_method: dict[tuple[str, int], list[dict[str, Any]]] = {}
        for seed in seeds:
            for size in sizes:
                for variant in self.methods:
                    for row in self._rows(variant, seed, size):
                        by_method.setdefault((row["method"], size), []).append(row)
        rows = [
            {"nodes": size, "method": method, "protocol": "deploy", **mean(of)}
            for (method, size), of in by_method.items()
        ]
        settings = {**asdict(self.config), "zones": [size // self.nodes for size in sizes], "seeds": list(seeds)}
        recipe, calibration = self.setup.recipe, self.setup.calibration
        training = {
            "attacked_runs": recipe.attacked_runs,
            "normal_runs": recipe.normal_runs,
            "epochs": recipe.fit.epochs,
            "budget_per_day": calibration.budget_per_day,
            "price_per_day": self.setup.false_alarm_rate,
            "half_dtype": self.half,
        }
        return make_result("detection", {"protocol": "deploy", "retrain": training, **settings}, rows)

    def _dtype(self, variant: Variant) -> DtypeName:
        return "fp32" if variant.dtype == "fp32" else self.half

    def _rows(self, variant: Variant, seed: int, size: int) -> list[dict[str, Any]]:
        """Return the row of a method; for GraphGHHA also those of the baselines."""
        file = self.work / f"rows-{variant.name}-{seed}-{size}.json"
        if not file.exists():
            try:
                results = self._evaluate(variant, seed, size)
            except LeakError:
                raise  # no figure of such a run may be published
            except (DivergedError, DataError) as exc:  # it diverged, or no threshold meets the budget
                self.progress(f"{variant.name}, seed {seed}: {exc}")
                results = [{"f1": None, "failed": str(exc)}]
            first, *others = results
            atomic_write(file, json.dumps([{**first, "method": variant.name}, *others]))
        rows: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
        return rows

    def _evaluate(self, variant: Variant, seed: int, size: int) -> list[dict[str, Any]]:
        model = self._model(variant, seed)
        self.progress(f"{variant.name}, seed {seed}: {size} nodes")
        task = deploy_task(
            load_model(model), replace(self.config, zones=size // self.nodes, seed=self.config.seed + seed)
        )
        baselines = None
        if variant.name == "graphghha" and self.setup.baselines:
            baselines = BaselineConfig(names=self.setup.baselines, validation=self.setup.calibration.validation)
        rows: list[dict[str, Any]] = evaluate_task(
            task,
            baselines=baselines,
            work=self.work / "baselines",
            false_alarm_rate=self.setup.false_alarm_rate,
            progress=self.progress,
            engine=EngineConfig(dtype=self._dtype(variant)),
        )["rows"]
        return rows

    def _model(self, variant: Variant, seed: int) -> Path:
        name = variant.trained_as or variant.name
        own = self.work / f"seed-{seed}"
        home = own / name
        if not (home / "manifest.json").exists():
            self.progress(f"{name}, seed {seed}: training")
            common = self.setup.recipe
            recipe = replace(common, seed=seed, adu=dict(variant.adu), fit=replace(common.fit, seed=seed))
            trained = train_network(
                recipe,
                own,
                snapshot=own / f"snapshot-{name}.pt",
                progress=self.progress,
                on_step=lambda step: self.on_step(f"{name}, seed {seed}", step),
            )
            save_model(calibrate_and_threshold(trained, recipe, self.setup.calibration, progress=self.progress), home)
        return home


def mean(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the mean of every figure over the rows that have it, and the spread of F1; or the reason of a failure.

    The intervals of single rows are left out: they say nothing of a mean.
    """
    if failed := [row["failed"] for row in rows if "failed" in row]:
        return {"f1": None, "f1_std": None, "seeds": len(rows), "failed": failed[0]}
    figures: dict[str, Any] = {}
    for name in rows[0].keys() - {"nodes", "method", "protocol"}:
        if name.endswith("_interval"):
            continue
        values = [row[name] for row in rows if row[name] is not None]
        figures[name] = float(np.mean(values)) if values else None
    spread = float(np.std([row["f1"] for row in rows], ddof=1)) if len(rows) > 1 else None
    return dict(sorted(figures.items())) | {"f1_std": spread, "seeds": len(rows)}
