"""Attacks that nobody can tell apart are taught under one name.

The catalogue declares cases whose telemetry agrees within noise (a fully stuck and a reversed valve, dirt on either
coil). Taught as different nodes, each would get half of the probability and none of them an alarm.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from graphghha.classes import CLASSES
from graphghha.lab.runs.run import Run
from graphghha.plants import CaseInfo, LabelledDay, Plant


def taught_as(plant: Plant) -> dict[str, CaseInfo]:
    """For every case the first case of the catalogue that it cannot be told apart from; mostly itself."""
    found: dict[str, CaseInfo] = {}
    for name, case in plant.cases.items():
        found[name] = next((found[other] for other in found if _alike(plant.cases[other], case)), case)
    return found


def _alike(one: CaseInfo, other: CaseInfo) -> bool:
    return bool(set(one.equivalent) & set(other.targets) and set(other.equivalent) & set(one.targets))


class Teacher:
    """Moves the labels of a run's look-alikes to the node and class they are taught as."""

    def __init__(self, plant: Plant, run: Run) -> None:
        lessons = taught_as(plant)
        self._moves: dict[int, tuple[list[int], int]] = {}
        for number, spec in enumerate(run.cases):
            case, lesson = plant.cases.get(spec.name), lessons.get(spec.name)
            if case is not None and lesson is not None and lesson is not case:
                nodes = [plant.template.index(node) for node in lesson.targets]
                self._moves[number] = nodes, CLASSES.index(lesson.attack_class)

    def __call__(self, day: LabelledDay) -> LabelledDay:
        moves = [(event, *self._moves[event]) for event in np.unique(day.event).tolist() if event in self._moves]
        if not moves:
            return day
        attack_class, events, observable = day.attack_class.copy(), day.event.copy(), day.observable.copy()
        for event, nodes, label in moves:
            cells = day.event == event  # [m Z n]
            at = cells.any(axis=2)
            seen = (cells & day.observable).any(axis=2)
            attack_class[cells], events[cells], observable[cells] = 0, -1, False
            for node in nodes:
                attack_class[..., node][at], events[..., node][at], observable[..., node][at] = label, event, seen[at]
        return replace(day, attack_class=attack_class, event=events, observable=observable)


def taught_days(plant: Plant, run: Run) -> Iterator[LabelledDay]:
    """A run with its labels as they are taught."""
    return map(Teacher(plant, run), run.simulate(plant))
