"""Recordings: the scores of a detector over a labelled run, minute by minute, together with the ground truth.

Every figure of an evaluation is computed from recordings. Shapes: t minutes, s nodes of the building, c classes.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import NONE, Proximity
from graphghha.errors import DataError
from graphghha.graph import CpsGraph
from graphghha.lab.runs.run import Run
from graphghha.plants import LabelledDay, Plant
from graphghha.windows import HISTORY_DAYS, HISTORY_ROWS

Bools = NDArray[np.bool_]
Probs = NDArray[np.floating[Any]]


class Detector(Protocol):
    """Turns rows of readings into class probabilities; the `Scorer` of a model is one."""

    def push(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> Any:
        """Take readings [r p]; return an object whose `probs` [w s c] are those of the wanted rows."""


class DetectorPanel(Protocol):
    """Several detectors that read the same rows."""

    def push(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> Mapping[str, Probs]:
        """Take readings [r p]; return the probabilities [w s c] of the wanted rows by detector name."""


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """A run with a way to read its telemetry and labels day by day, from the simulator or from files."""

    run: Run
    days: Callable[[], Iterator[LabelledDay]]
    identity: str  # equal for equal readings and labels; a key for cached results
    history_rows: int = HISTORY_ROWS  # rows given to a detector before the first scored one
    where: str = ""  # the file it is read from, for error messages


@dataclass(frozen=True, kw_only=True, slots=True)
class AttackEvent:
    """One attack, active while start <= step < stop."""

    case: str
    targets: tuple[int, ...]
    start: int
    stop: int
    observable_from: int = NONE  # the first step at which it is observable; NONE if it never is
    equivalent: tuple[int, ...] = ()  # further nodes that count as a hit
    family: str = ""
    has_shown: bool = False  # observable before the first step, so that its time to detect is unknown

    @property
    def hits(self) -> frozenset[int]:
        """All nodes that count as the right one: the targets and those that cannot be told apart from them."""
        return frozenset((*self.targets, *self.equivalent))

    def is_active(self, step: int) -> bool:
        """Return whether the attack acts at this step."""
        return self.start <= step < self.stop


@dataclass(frozen=True)
class Recording:
    """Scores and ground truth of one run. Step 0 is the first one after the warm-up."""

    run: Run
    near: Proximity
    probs: Probs  # [t s c]
    truth: NDArray[np.uint8]  # [t s] class
    observable: Bools  # [t s]
    recovering: Bools  # [t s]
    attacks: tuple[AttackEvent, ...]
    step_s: float

    @cached_property
    def attack(self) -> NDArray[np.float32]:
        """P(attack) [t s]. Cached, since every threshold tried reads it and `probs` may be mapped from disk."""
        attack: NDArray[np.float32] = np.float32(1.0) - self.probs[..., 0]
        return attack

    @property
    def num_steps(self) -> int:
        """The number of scored steps t."""
        return len(self.truth)

    def time_of(self, step: int) -> str:
        """Return the time of a scored step in UTC, to the minute."""
        return f"{self.run.start + timedelta(seconds=(HISTORY_ROWS + step) * self.step_s):%Y-%m-%dT%H:%MZ}"


def simulated_run(plant: Plant, run: Run, history_rows: int = HISTORY_ROWS) -> LabelledRun:
    """Return the run as the plant's testbed simulates it."""
    suffix = "" if history_rows == HISTORY_ROWS else f", from {history_rows} rows"
    return LabelledRun(run, lambda: run.simulate(plant), f"{plant.name} {run!r}{suffix}", history_rows)


def record(
    plant: Plant, labelled: LabelledRun, detector: Detector, *, on_day: Callable[[], None] = lambda: None
) -> Recording:
    """Score every minute of a run after the warm-up with one detector."""
    return record_panel(plant, labelled, _PanelOfOne(detector), on_day=on_day)[_PanelOfOne.NAME]


@dataclass(frozen=True, slots=True)
class _PanelOfOne:
    NAME = "detector"
    detector: Detector

    def push(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> Mapping[str, Probs]:
        return {self.NAME: self.detector.push(values, fresh, wanted).probs}


def record_panel(
    plant: Plant,
    labelled: LabelledRun,
    panel: DetectorPanel,
    *,
    keep: Callable[[str, Probs], Probs] = lambda name, probs: probs,
    on_day: Callable[[], None] = lambda: None,
) -> dict[str, Recording]:
    """Read a run once and return one recording per detector of the panel, all with the same truth.

    `keep` may move the probabilities of a detector elsewhere, for example to disk: those of all detectors together may
    not fit in memory.
    """
    run = labelled.run
    graph = plant.template.replicate(run.zones)
    nodes = graph.num_nodes
    probs: dict[str, list[Probs]] = {}
    truth, observable, recovering, events = [], [], [], []
    connected_at, done = HISTORY_ROWS - labelled.history_rows, 0
    for day in labelled.days():
        count = len(day.times)
        wanted = np.arange(done, done + count) >= HISTORY_ROWS
        if connected_at < done + count:
            rows = slice(max(0, connected_at - done), None)
            values = day.values.reshape(count, -1)[rows]
            for name, scores in panel.push(values, np.isfinite(values), wanted[rows]).items():
                probs.setdefault(name, []).append(scores)
        truth.append(day.attack_class.reshape(count, nodes)[wanted])
        recovering.append(np.repeat(day.recovering, plant.template.num_nodes, axis=1)[wanted])
        observable.append(day.observable.reshape(count, nodes))
        events.append(day.event.reshape(count, nodes))
        done += count
        on_day()
    if done <= HISTORY_ROWS:
        raise DataError(
            f"{labelled.where or run.source}: has {done / plant.steps_per_day:.1f} days, and the first {HISTORY_DAYS} "
            "only fill the windows; give a longer run"
        )
    visible = np.concatenate(observable)
    near, classes, after = Proximity(graph), np.concatenate(truth), np.concatenate(recovering)
    attacks = attacks_in(plant, graph, run, np.concatenate(events), visible, first=HISTORY_ROWS)
    visible = visible[HISTORY_ROWS:]
    return {
        name: Recording(run, near, keep(name, np.concatenate(parts)), classes, visible, after, attacks, plant.step_s)
        for name, parts in probs.items()
    }


def attacks_in(
    plant: Plant, graph: CpsGraph, run: Run, events: NDArray[np.int16], observable: Bools, *, first: int = 0
) -> tuple[AttackEvent, ...]:
    """Return the attacks of a run that fall into a recording, timed in steps of the recording.

    The labels [m s] cover the whole run; the recording begins with row `first`. Targets are taken from the labels,
    because some cases choose new targets each time and have none in the catalogue.
    """
    attacks = []
    for number, spec in enumerate(run.cases):
        visible = ((events == number) & observable).any(axis=1)
        cells = events[first:] == number
        steps, shows = np.flatnonzero(cells.any(axis=1)), np.flatnonzero(visible[first:])
        if not len(steps):
            continue
        targets = tuple(np.flatnonzero(cells.any(axis=0)).tolist())
        case = plant.cases.get(spec.name)
        zone, equivalent = graph.zones[targets[0]], case.hits if case else ()
        attacks.append(
            AttackEvent(
                case=spec.name,
                family=case.family if case else spec.name.lower(),
                targets=targets,
                equivalent=tuple(graph.index(f"{zone}/{node}" if zone else node) for node in equivalent),
                start=int(steps[0]),
                stop=int(steps[-1]) + 1,
                observable_from=int(shows[0]) if len(shows) else NONE,
                has_shown=bool(visible[:first].any()),
            )
        )
    return tuple(attacks)
