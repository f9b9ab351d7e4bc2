"""A run of the testbed, scored minute by minute, with its ground truth beside it: what every figure is computed from.

t minutes, s nodes of the building, c classes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import NONE, Proximity
from graphghha.evaluation.events import AttackEvent
from graphghha.evaluation.scenario import Run
from graphghha.graph import CpsGraph
from graphghha.plants import Plant
from graphghha.windows.features import HISTORY_ROWS

Bools = NDArray[np.bool_]
STEP_S = 60.0


class Detector(Protocol):
    """Anything that gives class probabilities of rows of readings: a scorer, or a baseline."""

    def push(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> Any:
        """Readings [r p]; returns an object whose `probs` is [w s c]."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Scores from the end of the warm-up on; steps count from there."""

    run: Run
    near: Proximity
    probs: NDArray[np.float32]  # [t s c]
    truth: NDArray[np.uint8]  # [t s] class
    observable: Bools  # [t s]
    recovering: Bools  # [t s]
    attacks: tuple[AttackEvent, ...]

    @property
    def attack(self) -> NDArray[np.float32]:
        """[t s] P(attack)."""
        attack: NDArray[np.float32] = np.float32(1.0) - self.probs[..., 0]
        return attack

    @property
    def num_steps(self) -> int:
        return len(self.truth)


def record(plant: Plant, run: Run, detector: Detector, *, on_day: Callable[[], None] = lambda: None) -> Recording:
    """Simulate a run, score every minute after the warm-up, keep scores and truth."""
    graph = plant.template.replicate(run.zones)
    nodes = graph.num_nodes
    probs, truth, observable, recovering, events = [], [], [], [], []
    days = run.simulate(plant)
    done = 0
    for day in days:
        count = len(day.times)
        wanted = np.arange(done, done + count) >= HISTORY_ROWS
        values = day.values.reshape(count, -1)
        probs.append(detector.push(values, np.ones(values.shape, np.bool_), wanted).probs)
        truth.append(day.attack_class.reshape(count, nodes)[wanted])
        observable.append(day.observable.reshape(count, nodes)[wanted])
        recovering.append(np.repeat(day.recovering, plant.template.num_nodes, axis=1)[wanted])
        events.append(day.event.reshape(count, nodes)[wanted])
        done += count
        on_day()
    seen = np.concatenate(observable)
    return Recording(
        run,
        Proximity(graph),
        np.concatenate(probs),
        np.concatenate(truth),
        seen,
        np.concatenate(recovering),
        attacks_in(plant, graph, run, np.concatenate(events), seen),
    )


def attacks_in(
    plant: Plant, graph: CpsGraph, run: Run, events: NDArray[np.int16], observable: Bools
) -> tuple[AttackEvent, ...]:
    """The attacks of a run as events on the steps of a recording; those it does not show are left out."""
    zones = tuple(dict.fromkeys(graph.zones))
    found = []
    for number, spec in enumerate(run.cases):
        name, _, zone = spec.split(",")[0].rpartition("@")
        case, prefix = plant.cases[name], zones[int(zone) - 1]
        cells = events == number
        steps = np.flatnonzero(cells.any(axis=1))
        if not len(steps):
            continue
        visible = np.flatnonzero((cells & observable).any(axis=1))
        found.append(
            AttackEvent(
                case=name,
                family=case.family,
                targets=tuple(graph.index(f"{prefix}/{node}") for node in case.targets),
                equivalent=tuple(graph.index(f"{prefix}/{node}") for node in case.equivalent),
                start=int(steps[0]),
                stop=int(steps[-1]) + 1,
                observable_from=int(visible[0]) if len(visible) else NONE,
            )
        )
    return tuple(found)
