"""The paper's protocol: one unit, one case for a whole year, large graphs made of segments of that year.

A year is cut into z equal segments; a sample is the graph of all z segments at one offset. Training, validation and
test use different years, with other weather and noise. With blocks of one year, as in the paper, a row could be in the
test set of one graph size and in the training set of another (docs/decisions/paper-protocol.md).

w windows of a year, Z zones = years, z segments of a sample, n nodes and f features of the template.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError
from graphghha.lab.metrics import Scores, balanced_scores, macro_over_cases
from graphghha.lab.runs import Run
from graphghha.plants import CaseSpec, Plant
from graphghha.windows import HISTORY_DAYS, Featurizer, Preprocessing

FIRST_DAY = datetime(2018, 1, 1)
YEAR_DAYS = 365
WARM_DAYS = HISTORY_DAYS + 1
NORMAL = ""  # the case of a year without attack
FALSE_RATE = 0.01  # share of normal validation samples above the threshold
MIN_PROBABILITY = 1e-7


def year_run(cases: Sequence[str], seed: int, days: int = YEAR_DAYS) -> Run:
    """Return a run of the same unit once per case, attacked on all days; quick runs use fewer days than a year."""
    attacked = [CaseSpec(name=case, zone=str(zone), start=FIRST_DAY) for zone, case in enumerate(cases, 1) if case]
    return Run(
        seed=seed,
        start=FIRST_DAY,
        days=WARM_DAYS + days,
        zones=len(cases),
        cases=tuple(attacked),
        nominal=True,
    )


@dataclass(frozen=True, slots=True)
class Year:
    """Windows of years that differ in their attack case only."""

    cases: tuple[str, ...]  # [Z]
    features: NDArray[np.float16]  # [w Z n f]
    observable: NDArray[np.bool_]  # [w Z]

    def __len__(self) -> int:
        return len(self.features)

    def segments(self, num_zones: int, most: int | None = None) -> NDArray[np.int64]:
        """Return window numbers [samples z]: each row is one offset into all segments, at most `most` rows."""
        length = len(self) // num_zones
        if length < 1:
            raise ConfigError(f"paper protocol: {len(self)} windows cannot be cut into {num_zones} segments")
        offsets = np.arange(length)
        if most is not None and length > most:
            offsets = np.linspace(0, length - 1, most).astype(np.int64)
        return offsets[:, None] + length * np.arange(num_zones)


def featurize_year(
    plant: Plant,
    cases: Sequence[str],
    seed: int,
    preprocessing: Preprocessing,
    *,
    days: int = YEAR_DAYS,
    stride_min: int = 60,
    on_day: Callable[[], None] = lambda: None,
) -> Year:
    """Simulate a year of every case and keep a window every `stride_min` minutes."""
    run = year_run(cases, seed, days)
    graph = plant.template.replicate(run.zones)
    featurizer = Featurizer(graph, plant.template, preprocessing)
    features, observable = [], []
    for number, day in enumerate(run.simulate(plant)):
        wanted = np.zeros(len(day.times), np.bool_)
        if number >= WARM_DAYS:
            wanted[stride_min - 1 :: stride_min] = True
        values = day.values.reshape(len(day.times), -1)
        windows = featurizer.push(values, np.ones(values.shape, np.bool_), wanted).features
        shape = (len(windows), run.zones, plant.template.num_nodes, windows.shape[-1])
        features.append(windows.reshape(shape).astype(np.float16))
        observable.append(np.asarray(day.observable.any(axis=2))[wanted])
        on_day()
    return Year(tuple(cases), np.concatenate(features), np.concatenate(observable))


def sample_scores(probs: NDArray[Any]) -> NDArray[np.float64]:
    """Return one score per sample of class probabilities [b z n c]: the worst node's log-odds averaged over zones."""
    attack = np.clip(1.0 - probs[..., 0].astype(np.float64), MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    return np.asarray(np.log(attack / (1 - attack)).mean(axis=1).max(axis=1))


Score = Callable[[NDArray[np.float32]], NDArray[Any]]  # features [b z n f] to probabilities [b z n c]


def score_year(
    year: Year, score: Score, num_zones: int, *, most: int | None = None, batch_zones: int = 384
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return scores and observability [Z samples] of the samples of every case at one size."""
    rows = year.segments(num_zones, most)
    batch = max(1, batch_zones // num_zones)
    scores = np.empty((len(year.cases), len(rows)))
    for zone in range(len(year.cases)):
        for at in range(0, len(rows), batch):
            part = year.features[rows[at : at + batch], zone].astype(np.float32)  # [b z n f]
            scores[zone, at : at + batch] = sample_scores(score(part))
    return scores, np.asarray(year.observable[rows].any(axis=1)).T


@dataclass(frozen=True, slots=True)
class PaperScores:
    """Means over cases, each against as many normal samples, and the scores of every case."""

    scores: Scores
    raw: Scores
    ceiling: float
    false_rate: float
    by_case: Mapping[str, Scores]
    samples: int  # per case


def paper_scores(
    cases: Sequence[str], scores: NDArray[np.float64], observable: NDArray[np.bool_], threshold: float
) -> PaperScores:
    """Evaluate samples [Z samples] of all cases at a threshold; `scores` leaves out those without a visible attack."""
    is_normal = np.array([case == NORMAL for case in cases])
    quiet = (scores[is_normal] >= threshold).ravel()
    alarmed = scores >= threshold
    attacked = [zone for zone, case in enumerate(cases) if case != NORMAL]
    raw = {cases[zone]: balanced_scores(alarmed[zone], quiet) for zone in attacked}
    visible = {
        cases[zone]: balanced_scores(alarmed[zone][observable[zone]], quiet)
        for zone in attacked
        if observable[zone].any()
    }
    silence = np.zeros(1, np.bool_)
    perfect = {cases[zone]: balanced_scores(observable[zone], silence) for zone in attacked}
    return PaperScores(
        macro_over_cases(visible),
        macro_over_cases(raw),
        macro_over_cases(perfect).f1,
        float(quiet.mean()),
        visible,
        scores.shape[1],
    )


def threshold_at(normal_years: Sequence[NDArray[np.float64]], false_rate: float = FALSE_RATE) -> float:
    """Return the score that a share of `false_rate` of normal samples reaches in the worst validation year.

    In large graphs the normal scores of a year lie so close together that a quantile over all years would be decided by
    their weather, and another year could lie above it as a whole.
    """
    return max(float(np.quantile(scores, 1.0 - false_rate, method="higher")) for scores in normal_years) + 1e-9
