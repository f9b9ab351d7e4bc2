"""A detector simple enough to follow by eye, and telemetry for it: the trials test the monitor, not the model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import AlarmRule, GroupRule
from graphghha.graph import CpsGraph
from graphghha.monitor import Detector, Journal, Monitor, RowClockConfig, SiteConfig
from graphghha.plants import Points, load_plant
from graphghha.sources import Batch, RowBatch

SITE = "site"
IMMEDIATE = SiteConfig(clock=RowClockConfig(lateness_ms=0), warm_up_rows=0)  # no wait for late readings
STEP_MS = 60_000
START_MS = 1_531_180_800_000  # 2018-07-10
WINDOW = 10  # rows that a score averages
LOWEST, HIGHEST = 0.1, 0.2  # mean deviation from mid-scale at P(attack) 0.01 and 0.99, in instrument spans


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Readings of a building in SI units: r rows, p points."""

    names: tuple[str, ...]
    times_ms: NDArray[np.int64]  # [r]
    values: NDArray[np.float64]  # [r p]

    def __len__(self) -> int:
        return len(self.times_ms)

    def batch(self, begin: int, end: int) -> RowBatch:
        times = self.times_ms[begin:end]
        return RowBatch(SITE, int(times[-1]) + 5, times, self.values[begin:end])

    def batches(self) -> list[Batch]:
        return [self.batch(row, row + 1) for row in range(len(self))]


@dataclass(frozen=True, slots=True)
class Scored:
    """Class probabilities of some windows."""

    probs: NDArray[np.float32]  # [w s c]


class ToyScorer:
    """Scores a node by how far its signal deviates from mid-scale, averaged over ten rows."""

    def __init__(self, graph: CpsGraph, points: Points) -> None:
        self._nodes = graph.signal_nodes
        self._num_nodes = graph.num_nodes
        self._middle, self._span = (points.low + points.high) / 2, points.high - points.low
        self._kept = np.full((0, len(points)), np.nan)

    def push(self, values: NDArray[Any], fresh: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Scored:
        scores = []
        for row, is_fresh, is_wanted in zip(values, fresh, wanted, strict=True):
            self._kept = np.concatenate([self._kept, np.where(is_fresh, row, np.nan)[None]])[-WINDOW:]
            if is_wanted:
                scores.append(self._score(is_fresh))
        return Scored(np.array(scores, np.float32).reshape(-1, self._num_nodes, 4))

    def _score(self, fresh: NDArray[np.bool_]) -> NDArray[np.float64]:
        known = np.isfinite(self._kept)
        off = np.where(known, np.abs(self._kept - self._middle) / self._span, 0.0)
        mean = off.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        attack = np.clip((mean - LOWEST) / (HIGHEST - LOWEST), 0.01, 0.99)
        scores = np.tile((0.99, 0.01, 0.0, 0.0), (self._num_nodes, 1))
        own = np.stack([1 - attack, attack * 0.8, attack * 0.1, attack * 0.1], axis=1)
        scores[self._nodes] = np.where(fresh[:, None], own, np.nan)
        return scores


def toy_detector(zones: int) -> Detector:
    """Return the toy detector for a building of fan-coil units."""
    plant = load_plant("fcu")
    graph = plant.template.replicate(zones)
    points = Points.from_names(plant, graph.points)
    return Detector(
        model="toy@1",
        plant=plant,
        graph=graph,
        make_scorer=lambda: ToyScorer(graph, points),
        rule=AlarmRule(raise_at=0.9, clear_at=0.5, votes=3, window=5, clear_after=5),
        group_rule=GroupRule(linger=5),
        history_rows=WINDOW,
    )


def toy_monitor(journal: Journal, zones: int, config: SiteConfig = IMMEDIATE) -> Monitor:
    """Return a monitor of one site that the toy detector watches."""
    monitor = Monitor(journal)
    monitor.add(SITE, toy_detector(zones), config)
    return monitor


Attack = tuple[int, int, str]  # first row, end, point


def default_attacks(rows: int) -> tuple[Attack, ...]:
    """Return attacks on a valve, on a sensor of another zone during that, and on the valve again."""
    return (
        (rows // 8, rows // 3, "zone-02/FCU_CVLV"),
        (rows // 4, rows // 2, "zone-01/RM_TEMP"),
        (2 * rows // 3, 5 * rows // 6, "zone-02/FCU_CVLV"),
    )


def toy_building(zones: int, rows: int, attacks: Sequence[Attack] = (), seed: int = 0) -> Telemetry:
    """Return telemetry with every signal at mid-scale plus a little noise, and an offset on attacked ones."""
    plant = load_plant("fcu")
    names = plant.template.replicate(zones).points
    points = Points.from_names(plant, names)
    middle, span = (points.low + points.high) / 2, points.high - points.low
    values = middle + 0.01 * span * np.random.default_rng(seed).standard_normal((rows, len(names)))
    for first, end, name in attacks:
        column = names.index(name)
        values[first:end, column] += 0.35 * span[column]
    times = START_MS + STEP_MS * np.arange(rows, dtype=np.int64)
    return Telemetry(names, times, np.round(values, 4))
