"""A small building with detectors, telemetry, batches, commits and a source of prepared batches."""

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from builders import loop_template
from faults.toy_detector import WINDOW, Scored, ToyScorer
from graphghha.alarms import AlarmRule, Event, GroupRule
from graphghha.classes import CLASSES
from graphghha.monitor import Detector, RowClockConfig, SiteConfig, ZoneJudgement
from graphghha.monitor.journal import Commit
from graphghha.plants import Points
from graphghha.plants.base import Plant, Signal
from graphghha.sources import Batch, ReadingBatch, RowBatch, SourceStatus

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
        Signal(name=name, meaning=name, unit="degC", low=-5, high=45, noise=0.1) for name in TEMPLATE.signals if name
    ),
    step_s=60.0,
)
JUDGEMENT = ZoneJudgement(set_share=0.05, coverage=0.9, days_per_attack=10.0)
CONFIG = SiteConfig(clock=RowClockConfig(lateness_ms=0), warm_up_rows=0, settle_rows=3)


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


def scorer(graph=GRAPH) -> ToyScorer:
    """Return a scorer that finds an attack where the mean of ten rows is ten degrees or more off 20."""
    return ToyScorer(graph, Points.from_names(PLANT, graph.points))


def detector(graph=GRAPH, make_scorer=None, model="toy@1", **group) -> Detector:
    return Detector(
        model=model,
        plant=PLANT,
        graph=graph,
        make_scorer=make_scorer or (lambda: scorer(graph)),
        rule=RULE,
        group_rule=GroupRule(**{"linger": 5, **group}),
        history_rows=WINDOW,
    )


def zone_scores(rows: int, attacks: Iterable[tuple[str, int, int, dict[str, float]]], graph=GRAPH) -> np.ndarray:
    """Return scores [r s c] of a model that judges zones; an attack is zone, first row, end, and shares by role."""
    probs = quiet(rows, graph.num_nodes)
    for zone, begin, end, shares in attacks:
        leading = max(shares, key=lambda role: shares[role])
        for role, share in shares.items():
            attack = 0.96 * (1.0 if role == leading else share)
            node = graph.index(f"{zone}/{role}")
            own = CLASSES.index(str(graph.nodes[node].kind))
            probs[begin:end, node] = 0.0
            probs[begin:end, node, [0, own]] = 1.0 - attack, attack
    return probs


def zone_detector(probs: np.ndarray, graph=GRAPH, **more: object) -> Detector:
    """Return a detector that judges zones and plays back prepared scores."""
    made = detector(graph, lambda: Script(probs), "zones@1", **({"max_hops": 32} | more))
    return replace(made, zone_judgement=JUDGEMENT)


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


class ListSource:
    """A source of prepared batches. An exception among them is raised; `acknowledged` records the receipts."""

    def __init__(self, batches: Iterable[Batch | Exception] = (), *, ends: bool = True, detail: str = "") -> None:
        self.batches, self.ends, self.detail = deque(batches), ends, detail
        self.acknowledged: list[int] = []
        self.is_closed = False

    def poll(self, timeout_s: float) -> Batch | None:
        batch = self.batches.popleft() if self.batches else None
        if isinstance(batch, Exception):
            raise batch
        return batch

    def acknowledge(self, batch: Batch) -> None:
        self.acknowledged.append(batch.received_ms)

    @property
    def status(self) -> SourceStatus:
        return SourceStatus(is_connected=True, detail=self.detail, is_finished=self.ends and not self.batches)

    def close(self) -> None:
        self.is_closed = True


def commit(first_ms: int, count: int = 3, site: str = "office", events: int = 2, **more: object) -> Commit:
    """Return a commit of some rows and of events of one incident."""
    times = [first_ms + MINUTE * at for at in range(count)]
    values = np.arange(count * 4, dtype=np.float32).reshape(count, 4) + first_ms // MINUTE
    values[0, 1] = np.nan
    body = {"id": f"i-{first_ms}", "state": "normal"}
    happened = [Event(first_ms, "incident.updated", {**body, "n": n}) for n in range(events)]
    state = {"at": first_ms, "array": np.arange(3)}
    return Commit(site=site, time_ms=times[-1], events=happened, times_ms=times, rows=[values], state=state, **more)


def plain(events) -> list[tuple]:
    return [(event.time_ms, event.kind, event.body) for event in events]
