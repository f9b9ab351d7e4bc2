"""A detector that is cheap and can be followed by eye, on a building with two attacks: what is tried is the monitor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import AlarmRule, GroupRule
from graphghha.graph import CpsGraph
from graphghha.monitor import Detector
from graphghha.plants import load_plant
from graphghha.plants.points import Points
from graphghha.sources import Batch, points_of

SITE = "site"
STEP_MS = 60_000
START_MS = 1_531_180_800_000  # 2018-07-10
WINDOW = 10  # rows a score looks back on
CALM, CERTAIN = 0.1, 0.2  # mean deviation from mid-scale, in spans of the instrument


@dataclass(frozen=True, slots=True)
class Telemetry:
    """A stretch of a building: r rows, p points, in SI."""

    names: tuple[str, ...]
    times_ms: NDArray[np.int64]  # [r]
    values: NDArray[np.float64]  # [r p]

    def __len__(self) -> int:
        return len(self.times_ms)

    def batch(self, begin: int, end: int) -> Batch:
        times = self.times_ms[begin:end]
        return Batch(SITE, int(times[-1]) + 5, times, self.values[begin:end])

    def batches(self) -> list[Batch]:
        return [self.batch(row, row + 1) for row in range(len(self))]


@dataclass(frozen=True, slots=True)
class Scored:
    probs: NDArray[np.float32]  # [w s c]


class PlainScorer:
    """Believes in an attack on a node whose signal has stood off mid-scale, on the mean of ten rows."""

    def __init__(self, graph: CpsGraph, points: Points) -> None:
        self._nodes = np.array([at for at, signal in enumerate(graph.signals) if signal is not None])
        self._num_nodes = graph.num_nodes
        self._middle, self._span = (points.low + points.high) / 2, points.high - points.low
        self._kept = np.full((0, len(points)), np.nan)

    def push(self, values: NDArray[Any], fresh: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Scored:
        found = []
        for row, is_fresh, is_wanted in zip(values, fresh, wanted, strict=True):
            self._kept = np.concatenate([self._kept, np.where(is_fresh, row, np.nan)[None]])[-WINDOW:]
            if is_wanted:
                found.append(self._score(is_fresh))
        return Scored(np.array(found, np.float32).reshape(-1, self._num_nodes, 4))

    def _score(self, fresh: NDArray[np.bool_]) -> NDArray[np.float64]:
        known = np.isfinite(self._kept)
        off = np.where(known, np.abs(self._kept - self._middle) / self._span, 0.0)
        mean = off.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        attack = np.clip((mean - CALM) / (CERTAIN - CALM), 0.01, 0.99)
        scores = np.tile((0.99, 0.01, 0.0, 0.0), (self._num_nodes, 1))
        own = np.stack([1 - attack, attack * 0.8, attack * 0.1, attack * 0.1], axis=1)
        scores[self._nodes] = np.where(fresh[:, None], own, np.nan)
        return scores


def plain_detector(zones: int) -> Detector:
    plant = load_plant("fcu")
    graph = plant.template.replicate(zones)
    points = Points.of(plant, points_of(graph))
    return Detector(
        model="plain@1",
        plant=plant,
        graph=graph,
        make_scorer=lambda: PlainScorer(graph, points),
        rule=AlarmRule(raise_at=0.9, clear_at=0.5, votes=3, window=5, clear_after=5),
        group_rule=GroupRule(linger=5),
        history_rows=WINDOW,
    )


Attack = tuple[int, int, str]  # first row, end, point


def usual_attacks(rows: int) -> tuple[Attack, ...]:
    """A valve, a sensor in another zone meanwhile, and the valve once more."""
    return (
        (rows // 8, rows // 3, "zone-02/FCU_CVLV"),
        (rows // 4, rows // 2, "zone-01/RM_TEMP"),
        (2 * rows // 3, 5 * rows // 6, "zone-02/FCU_CVLV"),
    )


def plain_building(zones: int, rows: int, attacks: Sequence[Attack] = (), seed: int = 0) -> Telemetry:
    """Every signal at mid-scale with a little noise, but for those under attack."""
    plant = load_plant("fcu")
    names = points_of(plant.template.replicate(zones))
    points = Points.of(plant, names)
    middle, span = (points.low + points.high) / 2, points.high - points.low
    values = middle + 0.01 * span * np.random.default_rng(seed).standard_normal((rows, len(names)))
    for first, end, name in attacks:
        column = names.index(name)
        values[first:end, column] += 0.35 * span[column]
    times = START_MS + STEP_MS * np.arange(rows, dtype=np.int64)
    return Telemetry(names, times, np.round(values, 4))
