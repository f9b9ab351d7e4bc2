"""Tables II and III, head counts and ablations under the paper's protocol: train and score at every size.

Every (variant, seed) leaves one JSON file, so that a stopped run resumes where it was.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from graphghha._util.files import atomic_path, atomic_write
from graphghha._version import __version__
from graphghha.errors import DivergedError
from graphghha.lab.bench.detection.variants import GRAPHGHHA, Variant, without_family
from graphghha.lab.paper.fit import PaperFit, fit_paper, kept_year, make_score, paper_preprocessing
from graphghha.lab.paper.protocol import (
    NORMAL,
    YEAR_DAYS,
    PaperScores,
    Score,
    Year,
    paper_scores,
    score_year,
    threshold_at,
)
from graphghha.lab.runs import canonical_cases
from graphghha.lab.training import Progress, check_settings, worker_processes
from graphghha.plants import Plant, load_plant
from graphghha.windows import Preprocessing

PAPER_PLANT = "fcu"  # the paper's testbed is a fan-coil unit
TRAINING, EXTRA, VALIDATION, TEST = 8_000, 8_100, 8_500, 9_202  # first seeds of the years of each part
FIGURES = ("p", "r", "f1", "f1_raw", "f1_ceiling", "false_rate")
PUBLIC_CASES = 48  # the first ones of the catalogue
# fields that rows have in every protocol, but that need minutes and incidents, which a sample of the paper has not
UNDEFINED = dict.fromkeys(
    (
        *("macro_f1", "auc_pr", "event_recall", "median_ttd_min", "p90_ttd_min", "false_alarms_per_day", "hit_at_1"),
        *("hit_at_1_strict", "hit_at_3", "mean_rank", "ece", "brier_skill"),
    )
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DetectionEffort:
    """How much is simulated, trained and scored."""

    days: int = YEAR_DAYS
    stride_min: int = 60
    steps: int = 1600
    normal_years: int = 8  # simulated beside the cases
    extra_years: int = 2  # further weather years of normal operation for training
    quiet_years: int = 6  # weather years of normal operation for the thresholds; years differ more than days do
    most_samples: int = 240  # per case and size
    most_zones: int = 1920  # limit of zones in these samples: samples of large graphs hardly differ
    batch_zones: int = 288


FULL = DetectionEffort()
QUICK = DetectionEffort(days=40, stride_min=120, steps=120, extra_years=0, quiet_years=1, most_samples=24)


class PaperBench:
    """Simulates years, trains variants and scores them at every size; keeps all of it in a folder."""

    def __init__(
        self,
        work: Path,
        effort: DetectionEffort,
        *,
        plant: str = PAPER_PLANT,
        cases: Sequence[str] | None = None,
        preprocessing: Preprocessing | None = None,
        progress: Callable[[str], None] = lambda line: None,
        on_step: Callable[[str, Progress], None] = lambda name, step: None,
    ) -> None:
        self.work, self.effort, self.progress, self.on_step = work, effort, progress, on_step
        self.plant: Plant = load_plant(plant)
        self.cases = tuple(cases or tuple(self.plant.cases)[:PUBLIC_CASES])
        work.mkdir(parents=True, exist_ok=True)
        years = {"training": TRAINING, "extra": EXTRA, "validation": VALIDATION, "test": TEST}
        kept = {"cases": self.cases, "years": years, "threshold": "worst quiet year", "version": __version__}
        check_settings(work / "effort.json", asdict(effort) | kept)
        self._preprocessing = preprocessing  # None: fitted on normal years of the unit
        self._training: list[Year] | None = None

    @property
    def preprocessing(self) -> Preprocessing:
        if self._preprocessing is None:
            with worker_processes(1) as pool:
                self._preprocessing = paper_preprocessing(self.plant, self.work, pool, progress=self.progress)
        return self._preprocessing

    def year(self, seed: int, *, attacked: bool) -> Year:
        self.progress(f"year {seed}: {'all cases' if attacked else 'normal operation'}")
        cases = (*(self.cases if attacked else ()), *(NORMAL,) * self.effort.normal_years)
        return kept_year(
            self.plant,
            cases,
            seed,
            self.preprocessing,
            self.work,
            days=self.effort.days,
            stride_min=self.effort.stride_min,
        )

    @property
    def training(self) -> list[Year]:
        if self._training is None:
            extra = [self.year(EXTRA + number, attacked=False) for number in range(self.effort.extra_years)]
            self._training = [self.year(TRAINING, attacked=True), *extra]
        return self._training

    def run(self, variant: Variant, seed: int, sizes: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return the scores of a variant by node count; the seed determines weights, training samples and test year."""
        file = self.work / f"scores-{_file_name(variant.name)}-{seed}.json"
        done: dict[int, dict[str, Any]] = {}
        if file.exists():
            done = {int(size): row for size, row in json.loads(file.read_text(encoding="utf-8")).items()}
        if missing := [size for size in sizes if size not in done]:
            done |= self._score(variant, seed, missing)
            atomic_write(file, json.dumps(done))
        return {size: done[size] for size in sizes}

    def _score(self, variant: Variant, seed: int, sizes: Sequence[int]) -> dict[int, dict[str, Any]]:
        try:
            score = self._scorer(variant, seed)
        except DivergedError as exc:
            self.progress(f"{variant.name}, seed {seed}: {exc}")
            return {size: {"diverged_at": exc.step} for size in sizes}
        quiet = [self.year(VALIDATION + number, attacked=False) for number in range(self.effort.quiet_years)]
        test = self.year(TEST + seed, attacked=True)
        rows = {}
        for size in sizes:
            self.progress(f"{variant.name}, seed {seed}: {size} nodes")
            zones = size // self.plant.template.num_nodes
            most = min(self.effort.most_samples, self.effort.most_zones // zones)
            normal = [score_year(year, score, zones, most=most)[0] for year in quiet]
            scores, observable = score_year(test, score, zones, most=most)
            rows[size] = _row(paper_scores(test.cases, scores, observable, threshold_at(normal)))
        return rows

    def _scorer(self, variant: Variant, seed: int) -> Score:
        if variant.baseline:
            return variant.baseline(self.training)
        return make_score(variant.cast(self._trained(variant, seed)))

    def _trained(self, variant: Variant, seed: int) -> Any:
        name = variant.trained_as or variant.name
        file = self.work / f"weights-{_file_name(name)}-{seed}.pt"
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            adu = variant.build(self.plant)
        if file.exists():
            adu.load_state_dict(torch.load(file, weights_only=True))
            return adu
        config = PaperFit(steps=self.effort.steps, batch_zones=self.effort.batch_zones, seed=seed)
        # cases that cannot be distinguished from those of the family share their label, so they are left out too
        canonical = canonical_cases(self.plant)
        names = {canonical[case].name for case in self.cases if self.plant.cases[case].family == variant.without_family}
        left_out = [case for case in self.cases if canonical[case].name in names]
        fit_paper(
            adu,
            self.plant,
            self.training,
            config,
            left_out=left_out,
            on_step=lambda step: self.on_step(name, step),
        )
        with atomic_path(file) as partial_file:
            torch.save(adu.state_dict(), partial_file)
        return adu


def _row(result: PaperScores) -> dict[str, Any]:
    return {
        "p": result.scores.p,
        "r": result.scores.r,
        "f1": result.scores.f1,
        "f1_raw": result.raw.f1,
        "f1_ceiling": result.ceiling,
        "false_rate": result.false_rate,
        "samples": result.samples,
        "by_case": {case: scores.f1 for case, scores in result.by_case.items()},
    }


def pooled(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return means over seeds with the spread of F1; if a seed diverged, only the step at which it did."""
    if steps := [row["diverged_at"] for row in rows if "diverged_at" in row]:
        return dict.fromkeys((*FIGURES, "f1_std", "samples")) | {"seeds": len(rows), "diverged_at": min(steps)}
    means = {name: float(np.mean([row[name] for row in rows])) for name in FIGURES}
    spread = float(np.std([row["f1"] for row in rows], ddof=1)) if len(rows) > 1 else None
    return means | {"f1_std": spread, "seeds": len(rows), "samples": rows[0]["samples"]}


def by_family(plant: Plant, rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the mean F1 of each family and case over seeds: Table III with its appendix."""
    by_case = [row.get("by_case", {}) for row in rows]
    names = dict.fromkeys(case for row in by_case for case in row)
    cases = {case: [row[case] for row in by_case if case in row] for case in names}
    families: dict[str, dict[str, Any]] = {}
    for case, values in cases.items():
        family = families.setdefault(plant.cases[case].family, {"cases": {}})
        family["cases"][case] = float(np.mean(values))
    for family in families.values():
        family["f1"] = float(np.mean(list(family["cases"].values())))
    return families


def unseen_families(bench: PaperBench, families: Sequence[str], size: int, seed: int) -> list[dict[str, Any]]:
    """Return the F1 of each family by a network trained without it, and by the usual network."""
    rows = []
    seen = by_family(bench.plant, [bench.run(GRAPHGHHA, seed, [size])[size]])
    for family in families:
        row = bench.run(without_family(family), seed, [size])[size]
        scores = by_family(bench.plant, [row]).get(family, {"f1": None, "cases": {}})  # a diverged network has none
        rows.append({"family": family, "nodes": size, "f1_seen": seen[family]["f1"], **scores})
    return rows


def detection(
    bench: PaperBench, variants: Sequence[Variant], sizes: Sequence[int], seeds: Sequence[int]
) -> dict[str, Any]:
    """Score all variants at all sizes: the rows of Table II, and the families at every size."""
    rows, families = [], []
    for variant in variants:
        runs = [bench.run(variant, seed, sizes) for seed in seeds]
        for size in sizes:
            of_size = [run[size] for run in runs]
            key = {"nodes": size, "method": variant.name, "protocol": "paper"}
            rows.append({**key, **pooled(of_size), **UNDEFINED})
            families.append({"nodes": size, "method": variant.name, "families": by_family(bench.plant, of_size)})
    return {
        "config": asdict(bench.effort) | {"seeds": list(seeds)},
        "networks": [_network(variant, bench.plant) for variant in variants if not variant.baseline],
        "rows": rows,
        "families": families,
    }


def _network(variant: Variant, plant: Plant) -> dict[str, Any]:
    """Return the size of a network."""
    adu = variant.build(plant)
    return {
        "method": variant.name,
        "parameters": sum(weight.numel() for weight in adu.parameters()),
        "max_neighbors": adu.config.neighbors.max_neighbors,
    }


def _file_name(text: str) -> str:
    return text.replace(" ", "-")
