"""Tables II and III, head counts and ablations under the paper's protocol: train and score at every size.

Every (variant, seed) leaves one JSON file, so a run that was stopped goes on where it was.
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
from graphghha.lab.paper.fit import PaperFit, fit_paper, kept_year, paper_preprocessing, scorer_of
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
from graphghha.windows.features import Preprocessing

NODES = 32  # of one zone
TRAINING, EXTRA, VALIDATION, TEST = 8_000, 8_100, 8_500, 9_202  # seeds of years, far apart
FIGURES = ("p", "r", "f1", "f1_raw", "f1_ceiling", "false_rate")
PUBLIC_CASES = 48  # the first ones of the catalogue
# of the fields that rows of every protocol have: a sample of the paper is a yes or no, without minutes and incidents
UNDEFINED = dict.fromkeys(
    (
        *("macro_f1", "auc_pr", "event_recall", "median_ttd_min", "p90_ttd_min", "false_alarms_per_day", "hit_at_1"),
        *("hit_at_1_strict", "hit_at_3", "mean_rank", "ece", "brier_skill"),
    )
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DetectionEffort:
    """How much is simulated, learned and scored."""

    days: int = YEAR_DAYS
    stride_min: int = 60
    steps: int = 1600
    normal_years: int = 8  # beside the cases, in every simulated building
    extra_years: int = 2  # further weather years of normal operation to train on
    quiet_years: int = 6  # of weather, in normal operation, for the thresholds: years differ more than their days
    most_samples: int = 240  # of one case at one size
    most_zones: int = 1920  # and of zones in them: samples of large graphs hardly differ
    batch_zones: int = 288


FULL = DetectionEffort()
QUICK = DetectionEffort(days=40, stride_min=120, steps=120, extra_years=0, quiet_years=1, most_samples=24)


class PaperBench:
    """Years on disk, trained variants, and their scores at every size."""

    def __init__(
        self,
        work: Path,
        effort: DetectionEffort,
        *,
        plant: str = "fcu",
        cases: Sequence[str] | None = None,
        preprocessing: Preprocessing | None = None,
        say: Callable[[str], None] = lambda text: None,
        on_step: Callable[[str, Progress], None] = lambda name, progress: None,
    ) -> None:
        self.work, self.effort, self.say, self.on_step = work, effort, say, on_step
        self.plant: Plant = load_plant(plant)
        self.cases = tuple(cases or tuple(self.plant.cases)[:PUBLIC_CASES])
        work.mkdir(parents=True, exist_ok=True)
        years = {"training": TRAINING, "extra": EXTRA, "validation": VALIDATION, "test": TEST}
        kept = {"cases": self.cases, "years": years, "threshold": "worst quiet year", "version": __version__}
        check_settings(work / "effort.json", asdict(effort) | kept)
        self._preprocessing = preprocessing  # fitted on normal years of the unit where none is given
        self._training: list[Year] | None = None

    @property
    def preprocessing(self) -> Preprocessing:
        if self._preprocessing is None:
            with worker_processes(1) as pool:
                self._preprocessing = paper_preprocessing(self.plant, self.work, pool, say=self.say)
        return self._preprocessing

    def year(self, seed: int, *, attacked: bool) -> Year:
        self.say(f"year {seed}: {'all cases' if attacked else 'normal operation'}")
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
        """Scores by node count of one variant and seed; the seed seeds the weights, the draws and the test year."""
        stored = self.work / f"scores-{_file_name(variant.name)}-{seed}.json"
        done: dict[int, dict[str, Any]] = {}
        if stored.exists():
            done = {int(size): row for size, row in json.loads(stored.read_text(encoding="utf-8")).items()}
        if missing := [size for size in sizes if size not in done]:
            done |= self._score(variant, seed, missing)
            atomic_write(stored, json.dumps(done))
        return {size: done[size] for size in sizes}

    def _score(self, variant: Variant, seed: int, sizes: Sequence[int]) -> dict[int, dict[str, Any]]:
        try:
            score = self._scorer(variant, seed)
        except DivergedError as exc:
            self.say(f"{variant.name}, seed {seed}: {exc}")
            return {size: {"diverged_at": exc.step} for size in sizes}
        quiet = [self.year(VALIDATION + number, attacked=False) for number in range(self.effort.quiet_years)]
        test = self.year(TEST + seed, attacked=True)
        found = {}
        for size in sizes:
            self.say(f"{variant.name}, seed {seed}: {size} nodes")
            zones = size // NODES
            most = min(self.effort.most_samples, self.effort.most_zones // zones)
            normal = [score_year(year, score, zones, most=most)[0] for year in quiet]
            scores, observable = score_year(test, score, zones, most=most)
            found[size] = _row(paper_scores(test.cases, scores, observable, threshold_at(normal)))
        return found

    def _scorer(self, variant: Variant, seed: int) -> Score:
        if variant.baseline:
            return variant.baseline(self.training)
        return scorer_of(variant.cast(self._trained(variant, seed)))

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
        # together with the cases that cannot be told apart from them, which share their label
        canonical = canonical_cases(self.plant)
        names = {canonical[case].name for case in self.cases if self.plant.cases[case].family == variant.without_family}
        left_out = [case for case in self.cases if canonical[case].name in names]
        fit_paper(
            adu,
            self.plant,
            self.training,
            config,
            left_out=left_out,
            on_step=lambda progress: self.on_step(name, progress),
        )
        with atomic_path(file) as partial_file:
            torch.save(adu.state_dict(), partial_file)
        return adu


def _row(found: PaperScores) -> dict[str, Any]:
    return {
        "p": found.scores.p,
        "r": found.scores.r,
        "f1": found.scores.f1,
        "f1_raw": found.raw.f1,
        "f1_ceiling": found.ceiling,
        "false_rate": found.false_rate,
        "samples": found.samples,
        "by_case": {case: scores.f1 for case, scores in found.by_case.items()},
    }


def pooled(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Mean over seeds, with the spread of F1; nothing but the step where one of them did not train."""
    if steps := [row["diverged_at"] for row in rows if "diverged_at" in row]:
        return dict.fromkeys((*FIGURES, "f1_std", "samples")) | {"seeds": len(rows), "diverged_at": min(steps)}
    means = {name: float(np.mean([row[name] for row in rows])) for name in FIGURES}
    spread = float(np.std([row["f1"] for row in rows], ddof=1)) if len(rows) > 1 else None
    return means | {"f1_std": spread, "seeds": len(rows), "samples": rows[0]["samples"]}


def by_family(plant: Plant, rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Mean F1 of each family and case over seeds: Table III with its appendix."""
    found = [row.get("by_case", {}) for row in rows]
    names = dict.fromkeys(case for row in found for case in row)
    cases = {case: [row[case] for row in found if case in row] for case in names}
    families: dict[str, dict[str, Any]] = {}
    for case, values in cases.items():
        family = families.setdefault(plant.cases[case].family, {"cases": {}})
        family["cases"][case] = float(np.mean(values))
    for family in families.values():
        family["f1"] = float(np.mean(list(family["cases"].values())))
    return families


def unseen_families(bench: PaperBench, families: Sequence[str], size: int, seed: int) -> list[dict[str, Any]]:
    """F1 of each family by a network that was trained without it, and what it was before."""
    rows = []
    seen = by_family(bench.plant, [bench.run(GRAPHGHHA, seed, [size])[size]])
    for family in families:
        row = bench.run(without_family(family), seed, [size])[size]
        found = by_family(bench.plant, [row]).get(family, {"f1": None, "cases": {}})  # none of a network that diverged
        rows.append({"family": family, "nodes": size, "f1_seen": seen[family]["f1"], **found})
    return rows


def detection(
    bench: PaperBench, variants: Sequence[Variant], sizes: Sequence[int], seeds: Sequence[int]
) -> dict[str, Any]:
    """All variants at all sizes: the rows of Table II, and the families at every size."""
    rows, families = [], []
    for variant in variants:
        runs = [bench.run(variant, seed, sizes) for seed in seeds]
        for size in sizes:
            of_size = [run[size] for run in runs]
            words = {"nodes": size, "method": variant.name, "protocol": "paper"}
            rows.append({**words, **pooled(of_size), **UNDEFINED})
            families.append({"nodes": size, "method": variant.name, "families": by_family(bench.plant, of_size)})
    return {
        "config": asdict(bench.effort) | {"seeds": list(seeds)},
        "networks": [_network(variant, bench.plant) for variant in variants if not variant.baseline],
        "rows": rows,
        "families": families,
    }


def _network(variant: Variant, plant: Plant) -> dict[str, Any]:
    """Its size, for a fair look at the others'."""
    adu = variant.build(plant)
    return {
        "method": variant.name,
        "parameters": sum(weight.numel() for weight in adu.parameters()),
        "max_neighbors": adu.config.neighbors.max_neighbors,
    }


def _file_name(text: str) -> str:
    return text.replace(" ", "-")
