"""A small building, scorers that do as they are told, and batches."""

from dataclasses import dataclass

import numpy as np

from builders import loop_template
from graphghha.alarms import AlarmRule, GroupRule
from graphghha.monitor import Detector, RowClockConfig, SiteConfig
from graphghha.plants.base import Plant, Signal
from graphghha.sources import Batch, ReadingBatch, RowBatch

TEMPLATE = loop_template()
GRAPH = TEMPLATE.replicate(3)
MINUTE = 60_000
START = 1_531_200_000_000 // MINUTE * MINUTE  # a July morning
RULE = AlarmRule(raise_at=0.9, clear_at=0.5, votes=3, window=5, clear_after=5)
PLANT = Plant(
    name="loop",
    title="Two loops",
    template=TEMPLATE,
    signals=tuple(
        Signal(name=name, meaning=name, unit="degC", low=-50, high=50, noise=0.1) for name in TEMPLATE.signals if name
    ),
    step_s=60.0,
)
CONFIG = SiteConfig(clock=RowClockConfig(lateness_ms=0), warm_up_rows=0, settle_rows=3)


@dataclass(frozen=True)
class Scored:
    probs: np.ndarray


def quiet(rows: int, nodes: int = GRAPH.num_nodes) -> np.ndarray:
    probs = np.zeros((rows, nodes, 4), np.float32)
    probs[..., 0] = 1.0
    return probs


class Script:
    """Plays back prepared probabilities."""

    def __init__(self, probs: np.ndarray) -> None:
        self.probs, self.at = probs, 0

    def push(self, values, fresh, wanted):
        rows = self.probs[self.at : self.at + len(values)]
        self.at += len(values)
        return Scored(rows[wanted])


class Rolling:
    """Believes in an attack on a node when the mean of its signal over ten rows exceeds 30: a window of its own."""

    WINDOW = 10

    def __init__(self, graph) -> None:
        self.nodes = graph.signal_nodes
        self.num_nodes = graph.num_nodes
        self.kept = np.full((0, len(self.nodes)), np.nan)

    def push(self, values, fresh, wanted):
        found = []
        for row, is_fresh, is_wanted in zip(values, fresh, wanted, strict=True):
            self.kept = np.concatenate([self.kept, np.where(is_fresh, row, np.nan)[None]])[-self.WINDOW :]
            if is_wanted:
                found.append(self._score(is_fresh))
        return Scored(np.array(found).reshape(-1, self.num_nodes, 4).astype(np.float32))

    def _score(self, is_fresh):
        known = np.isfinite(self.kept)
        mean = np.where(known, self.kept, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        scores = quiet(1, self.num_nodes)[0].astype(float)
        scores[:] = scores if is_fresh.any() else np.nan
        attack = np.clip((mean - 25.0) / 5.0, 0.01, 0.99)
        own = np.stack([1 - attack, attack * 0.8, attack * 0.1, attack * 0.1], axis=1)
        scores[self.nodes] = np.where(is_fresh[:, None], own, np.nan)
        return scores


def detector(graph=GRAPH, make_scorer=None, model="rolling@1", **group) -> Detector:
    return Detector(
        model=model,
        plant=PLANT,
        graph=graph,
        make_scorer=make_scorer or (lambda: Rolling(graph)),
        rule=RULE,
        group_rule=GroupRule(**{"linger": 5, **group}),
        history_rows=Rolling.WINDOW,
    )


def telemetry(rows: int, seed: int = 0, graph=GRAPH) -> tuple[np.ndarray, np.ndarray]:
    """A calm building but for two attacks: times [r], values [r p]."""
    points = graph.points
    values = np.random.default_rng(seed).normal(20.0, 0.5, (rows, len(points)))
    values[20:60, points.index("zone-02/valve")] += 20.0
    values[50:90, points.index("zone-03/flow")] += 15.0
    return START + MINUTE * np.arange(rows), values


def wide(times, values, site="office") -> Batch:
    return RowBatch(site, int(times[-1]) + 5, np.asarray(times, np.int64), np.asarray(values, np.float64))


def long(times, points, values, site="office", received_ms=None) -> Batch:
    times = np.asarray(times, np.int64)
    received = int(times.max()) + 5 if received_ms is None else received_ms
    return ReadingBatch(site, received, times, np.asarray(values, np.float64), np.asarray(points, np.int32))


def plain(events) -> list[tuple]:
    return [(event.time_ms, event.kind, event.body) for event in events]
