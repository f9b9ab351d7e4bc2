"""Cases that telemetry cannot tell apart are trained and calibrated under one label.

The catalogue declares cases whose telemetry agrees within noise (a fully stuck and a reversed valve, dirt on either
coil). If they were labelled as different nodes, each node would get half of the probability and none an alarm.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from graphghha.classes import CLASSES
from graphghha.lab.runs.recording import LabelledRun
from graphghha.lab.runs.run import Run
from graphghha.plants import CaseInfo, LabelledDay, Plant


def canonical_cases(plant: Plant) -> dict[str, CaseInfo]:
    """Return for every case the first case of the catalogue that it cannot be told apart from; mostly itself."""
    canonical: dict[str, CaseInfo] = {}
    for name, case in plant.cases.items():
        canonical[name] = next(
            (canonical[other] for other in canonical if _are_equivalent(plant.cases[other], case)), case
        )
    return canonical


def _are_equivalent(one: CaseInfo, other: CaseInfo) -> bool:
    return bool(set(one.equivalent) & set(other.targets) and set(other.equivalent) & set(one.targets))


def canonical_run(plant: Plant, run: Run) -> LabelledRun:
    """Return the simulated run with every equivalent case labelled as its canonical one."""
    return LabelledRun(run, partial(canonical_days, plant, run), f"{plant.name} {run!r}, canonical labels")


def canonical_days(plant: Plant, run: Run) -> Iterator[LabelledDay]:
    """Simulate a run day by day with every equivalent case labelled as its canonical one."""
    return relabel(plant, run, run.simulate(plant))


def relabel(plant: Plant, run: Run, days: Iterable[LabelledDay]) -> Iterator[LabelledDay]:
    """Move the labels of the run's equivalent cases to the nodes and class of their canonical case."""
    moves = _moves(plant, run)
    return (_relabel_day(day, moves) for day in days)


def _moves(plant: Plant, run: Run) -> dict[int, tuple[list[int], int]]:
    """Return the nodes and class that each event of the run is moved to, for those that are moved."""
    canonical = canonical_cases(plant)
    moves = {}
    for number, spec in enumerate(run.cases):
        case, label = plant.cases.get(spec.name), canonical.get(spec.name)
        if case is not None and label is not None and label is not case:
            nodes = [plant.template.index(node) for node in label.targets]
            moves[number] = nodes, CLASSES.index(label.attack_class)
    return moves


def _relabel_day(day: LabelledDay, moves: dict[int, tuple[list[int], int]]) -> LabelledDay:
    moved = [event for event in np.unique(day.event).tolist() if event in moves]
    if not moved:
        return day
    attack_class, events, observable = day.attack_class.copy(), day.event.copy(), day.observable.copy()
    for event in moved:
        nodes, label = moves[event]
        cells = day.event == event  # [m Z n]
        active = cells.any(axis=2)
        visible = (cells & day.observable).any(axis=2)[active]
        attack_class[cells], events[cells], observable[cells] = 0, -1, False
        for node in nodes:
            attack_class[..., node][active] = label
            events[..., node][active] = event
            observable[..., node][active] = visible
    return replace(day, attack_class=attack_class, event=events, observable=observable)
