"""A run, scored minute by minute, with its ground truth beside it: what every figure is computed from.

t minutes, s nodes of the building, c classes.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import NONE, Proximity
from graphghha.errors import DataError
from graphghha.graph import CpsGraph
from graphghha.lab.runs.run import Run
from graphghha.plants import LabelledDay, Plant
from graphghha.windows.features import HISTORY_ROWS

Bools = NDArray[np.bool_]
Probs = NDArray[np.floating[Any]]
STEP_S = 60.0


class Detector(Protocol):
    """Anything that gives class probabilities of rows of readings: a scorer, or a baseline."""

    def push(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> Any:
        """Readings [r p]; returns an object whose `probs` is [w s c]."""


class Panel(Protocol):
    """Several detectors that look at the same rows, each with its own opinion."""

    def push(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> Mapping[str, Probs]:
        """Readings [r p]; returns probabilities [w s c] by name."""


@dataclass(frozen=True, slots=True)
class Footage:
    """A labelled run that can be watched: simulated, or read from files."""

    run: Run
    days: Callable[[], Iterator[LabelledDay]]
    identity: str  # equal for equal readings and labels: what was computed from them may be kept under it
    history_rows: int = HISTORY_ROWS  # that a detector is shown before the judged ones; fewer: it was just connected


@dataclass(frozen=True, kw_only=True, slots=True)
class AttackEvent:
    """One attack: active at steps start <= step < stop, first observable at a step, or NONE for never."""

    case: str
    targets: tuple[int, ...]
    start: int
    stop: int
    observable_from: int = NONE
    equivalent: tuple[int, ...] = ()  # further nodes that count as a hit
    family: str = ""
    has_shown: bool = False  # before the first step: how long it took to find cannot be told

    @property
    def hits(self) -> frozenset[int]:
        return frozenset((*self.targets, *self.equivalent))

    def is_active(self, step: int) -> bool:
        return self.start <= step < self.stop


@dataclass(frozen=True)
class Recording:
    """Scores from the end of the warm-up on; steps count from there."""

    run: Run
    near: Proximity
    probs: Probs  # [t s c]
    truth: NDArray[np.uint8]  # [t s] class
    observable: Bools  # [t s]
    recovering: Bools  # [t s]
    attacks: tuple[AttackEvent, ...]

    @cached_property
    def attack(self) -> NDArray[np.float32]:
        """[t s] P(attack). Kept: every threshold that is tried reads it, and `probs` may lie on disk."""
        attack: NDArray[np.float32] = np.float32(1.0) - self.probs[..., 0]
        return attack

    @property
    def num_steps(self) -> int:
        return len(self.truth)


def simulated(plant: Plant, run: Run, history_rows: int = HISTORY_ROWS) -> Footage:
    """A run of the plant's testbed."""
    known = "" if history_rows == HISTORY_ROWS else f", from {history_rows} rows"
    return Footage(run, lambda: run.simulate(plant), f"{plant.name} {run!r}{known}", history_rows)


def record(plant: Plant, run: Run, detector: Detector, *, on_day: Callable[[], None] = lambda: None) -> Recording:
    """Simulate a run, score every minute after the warm-up, keep scores and truth."""
    return record_footage(plant, simulated(plant, run), detector, on_day=on_day)


def record_footage(
    plant: Plant, footage: Footage, detector: Detector, *, on_day: Callable[[], None] = lambda: None
) -> Recording:
    return record_panel(plant, footage, _Alone(detector), on_day=on_day)[_Alone.NAME]


@dataclass(frozen=True, slots=True)
class _Alone:
    """One detector as a panel."""

    NAME = "detector"
    detector: Detector

    def push(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> Mapping[str, Probs]:
        return {self.NAME: self.detector.push(values, fresh, wanted).probs}


def record_panel(
    plant: Plant,
    footage: Footage,
    panel: Panel,
    *,
    keep: Callable[[str, Probs], Probs] = lambda name, probs: probs,
    on_day: Callable[[], None] = lambda: None,
) -> dict[str, Recording]:
    """Watch a run once with a whole panel: one recording per detector, all with the same truth.

    `keep` may put the probabilities of a detector elsewhere, on disk say: a panel's do not all fit in memory.
    """
    run = footage.run
    graph = plant.template.replicate(run.zones)
    nodes = graph.num_nodes
    probs: dict[str, list[Probs]] = {}
    truth, observable, recovering, events = [], [], [], []
    connected, done = HISTORY_ROWS - footage.history_rows, 0
    for day in footage.days():
        count = len(day.times)
        wanted = np.arange(done, done + count) >= HISTORY_ROWS
        if connected < done + count:
            shown = slice(max(0, connected - done), None)
            values = day.values.reshape(count, -1)[shown]
            for name, scores in panel.push(values, np.isfinite(values), wanted[shown]).items():
                probs.setdefault(name, []).append(scores)
        truth.append(day.attack_class.reshape(count, nodes)[wanted])
        recovering.append(np.repeat(day.recovering, plant.template.num_nodes, axis=1)[wanted])
        observable.append(day.observable.reshape(count, nodes))
        events.append(day.event.reshape(count, nodes))
        done += count
        on_day()
    if done <= HISTORY_ROWS:
        raise DataError(
            f"{run.source}: {done} minutes; the first {HISTORY_ROWS} fill the windows and are not judged, so give more"
        )
    seen = np.concatenate(observable)
    near, classes, after = Proximity(graph), np.concatenate(truth), np.concatenate(recovering)
    attacks = attacks_in(plant, graph, run, np.concatenate(events), seen, first=HISTORY_ROWS)
    seen = seen[HISTORY_ROWS:]
    return {
        name: Recording(run, near, keep(name, np.concatenate(parts)), classes, seen, after, attacks)
        for name, parts in probs.items()
    }


def attacks_in(
    plant: Plant, graph: CpsGraph, run: Run, events: NDArray[np.int16], observable: Bools, *, first: int = 0
) -> tuple[AttackEvent, ...]:
    """The attacks of a run as events on the steps of a recording; those it does not show are left out.

    Labels [m s] are of the whole run, the recording begins with row `first`. The nodes are those that are labelled: a
    case that chooses its targets anew each time has none in the catalogue.
    """
    found = []
    for number, spec in enumerate(run.cases):
        visible = ((events == number) & observable).any(axis=1)
        cells = events[first:] == number
        steps, shows = np.flatnonzero(cells.any(axis=1)), np.flatnonzero(visible[first:])
        if not len(steps):
            continue
        targets = tuple(np.flatnonzero(cells.any(axis=0)).tolist())
        case = plant.cases.get(spec.name)
        zone, alike = graph.zones[targets[0]], case.equivalent if case else ()
        found.append(
            AttackEvent(
                case=spec.name,
                family=case.family if case else spec.name.lower(),
                targets=targets,
                equivalent=tuple(graph.index(f"{zone}/{node}" if zone else node) for node in alike),
                start=int(steps[0]),
                stop=int(steps[-1]) + 1,
                observable_from=int(shows[0]) if len(shows) else NONE,
                has_shown=bool(visible[:first].any()),
            )
        )
    return tuple(found)
