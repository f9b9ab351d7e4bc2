"""Training under the paper's protocol: one unit, and graphs of every size made of segments of its years.

b samples, z zones of a sample, n nodes and f features of the template.
"""

import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from graphghha._util.files import atomic_path
from graphghha.classes import CLASSES
from graphghha.engine import Engine, FrozenModel
from graphghha.lab.paper.protocol import NORMAL, YEAR_DAYS, Score, Year, featurize_year, year_run
from graphghha.lab.runs import canonical_cases
from graphghha.lab.training import Progress, finite_loss, fit_preprocessing, reading
from graphghha.nn import ADU
from graphghha.plants import Plant
from graphghha.windows import Preprocessing

FRONT_DAYS = 120  # days of each normal year on which the preprocessing is fitted
FRONT_YEARS = 3
FRONT_SEED = 7_000  # differs from the seeds of the years of training and test
# zones of a graph -> relative frequency of training steps on such graphs; small graphs carry less information
ZONES = {1: 3, 2: 2, 4: 1, 8: 1, 16: 1, 32: 1, 48: 1}


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperFit:
    """Settings of the training."""

    steps: int = 1600
    batch_zones: int = 288  # zones per step at every graph size
    learning_rate: float = 3e-3
    weight_decay: float = 1e-2
    attack_weight: float = 3.0
    hidden_weight: float = 0.5  # of a zone in which the attack is not visible while it is in another zone
    seed: int = 0


def paper_preprocessing(plant: Plant, work: Path, pool: Executor, *, progress: Callable[[str], None]) -> Preprocessing:
    """Fit the preprocessing of the reference unit on parts of normal years that cover all seasons."""
    runs = []
    for number in range(FRONT_YEARS):
        run = year_run((NORMAL,) * 2, FRONT_SEED + number)
        runs.append(replace(run, start=run.start + timedelta(days=number * FRONT_DAYS), days=FRONT_DAYS + 5))
    return fit_preprocessing(plant, runs, work, pool, rows_per_day=300, seed=0, progress=progress)


def kept_year(
    plant: Plant,
    cases: Sequence[str],
    seed: int,
    preprocessing: Preprocessing,
    work: Path,
    *,
    days: int = YEAR_DAYS,
    stride_min: int = 60,
    on_day: Callable[[], None] = lambda: None,
) -> Year:
    """Return a year of every case; read it from the work folder if it has been simulated before."""
    file = work / f"year-{seed}-{len(cases)}-{days}-{stride_min}.safetensors"
    if not file.exists():
        year = featurize_year(plant, cases, seed, preprocessing, days=days, stride_min=stride_min, on_day=on_day)
        with atomic_path(file) as partial_file:
            save_file({"features": year.features, "observable": year.observable}, partial_file)
    with reading(file):
        return Year(tuple(cases), **load_file(file))


def fit_paper(
    adu: ADU,
    plant: Plant,
    years: Sequence[Year],
    config: PaperFit,
    *,
    left_out: Collection[str] = (),
    on_step: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Train in place on graphs of all sizes: one size per step, half of the samples normal, no case of `left_out`."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        optimizer = torch.optim.AdamW(adu.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, config.learning_rate, total_steps=max(2, config.steps), pct_start=0.1
        )
        draw = TrainingSamples(plant, years, config, left_out)
        started = time.perf_counter()
        adu.train()
        for step in range(config.steps):
            features, labels, weights = draw(np.random.default_rng([config.seed, step]))
            logits = adu.logits(features, adu.template.replicate(features.shape[1] // adu.template.num_nodes))
            losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
            loss = (losses * weights.flatten()).sum() / weights.sum()
            reached = finite_loss(loss, step)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(adu.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            elapsed = time.perf_counter() - started
            on_step(Progress(step + 1, config.steps, reached, float("nan"), elapsed))
    adu.eval()


class TrainingSamples:
    """Draws random samples of one size from the years."""

    def __init__(self, plant: Plant, years: Sequence[Year], config: PaperFit, left_out: Collection[str] = ()) -> None:
        self._years, self._config, self._nodes = years, config, plant.template.num_nodes
        shortest = min(len(year) for year in years)
        self._sizes = [zones for zones, times in ZONES.items() for _ in range(times) if zones <= shortest]
        canonical = canonical_cases(plant)
        places = [(y, z, case) for y, year in enumerate(years) for z, case in enumerate(year.cases)]
        self._attacked = [(y, z) for y, z, case in places if case and case not in left_out]
        self._normal = [(y, z) for y, z, case in places if not case]
        self._labels = {
            case: self._label(plant, canonical[case].targets, canonical[case].attack_class)
            for year in years
            for case in year.cases
            if case
        } | {NORMAL: np.zeros(self._nodes, np.int64)}

    def _label(self, plant: Plant, targets: Sequence[str], attack_class: str) -> NDArray[np.int64]:
        label = np.zeros(self._nodes, np.int64)
        label[[plant.template.index(node) for node in targets]] = CLASSES.index(attack_class)
        return label

    def __call__(self, rng: np.random.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Return features [b z*n f], labels and weights [b z*n]."""
        config = self._config
        zones = int(rng.choice(self._sizes))
        features, labels, weights = [], [], []
        for number in range(max(2, config.batch_zones // zones)):
            pool = self._attacked if number % 2 else self._normal
            y, z = pool[int(rng.integers(len(pool)))]
            year = self._years[y]
            length = len(year) // zones
            rows = int(rng.integers(length)) + length * np.arange(zones)
            case = year.cases[z]
            label = np.tile(self._labels[case], (zones, 1))  # [z n]
            seen = year.observable[rows, z]
            weight = np.where(seen, 1.0, config.hidden_weight if seen.any() else 0.0) if case else np.ones(zones)
            features.append(year.features[rows, z].reshape(zones * self._nodes, -1))
            labels.append(label.ravel())
            weights.append((weight[:, None] * np.where(label > 0, config.attack_weight, 1.0)).ravel())
        return (
            torch.as_tensor(np.stack(features)).float(),
            torch.as_tensor(np.stack(labels)),
            torch.as_tensor(np.stack(weights)).float(),
        )


def make_score(adu: ADU) -> Score:
    """Return the score of a trained network: in the engine for GraphGHHA, in torch for the other layers."""
    return _engine_score(adu) if adu.config.layer == "graphghha" else _zone_score(adu)


def _engine_score(adu: ADU) -> Score:
    frozen = FrozenModel.from_adu(adu)
    engine_for = cache(lambda zones: Engine(frozen, adu.template.replicate(zones), threads=torch.get_num_threads()))

    def score(features: NDArray[np.float32]) -> NDArray[np.float32]:
        b, zones, nodes, f = features.shape
        probs: NDArray[np.float32] = engine_for(zones).score(features.reshape(b, zones * nodes, f))
        return probs.reshape(b, zones, nodes, -1)

    return score


def _zone_score(adu: ADU) -> Score:
    adu.train()  # the form that works within zones: same values, without an s x s matrix for dense GAT

    @torch.inference_mode()
    def score(features: NDArray[np.float32]) -> NDArray[np.float32]:
        graph = adu.template.replicate(features.shape[1])
        probs = adu(torch.as_tensor(features).flatten(1, 2), graph)
        by_zone: NDArray[np.float32] = probs.reshape(*features.shape[:3], -1).numpy()
        return by_zone

    return score
