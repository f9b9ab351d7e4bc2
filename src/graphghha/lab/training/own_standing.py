"""Faults that stand throughout the normal data of a plant, which no detector of changes can find: a rule lists them.

A measurement that never comes near its set-point, in all of the training data, is learned as normal. It is named when
the model is trained, and raises no alarm afterwards.
"""

import re

import numpy as np
from numpy.typing import NDArray

from graphghha.plants import Plant

REACHED = 0.5  # of the highest set-point, at least once
ALIKE = 0.6  # of the shorter name: how much of it a measurement and its set-point share at the beginning


def standing_faults(plant: Plant, values: NDArray[np.float64]) -> list[str]:
    """Return a sentence for each measurement [r p] that never reached half of its set-point."""
    graph = plant.template
    nodes = [graph.nodes[at] for at in graph.signal_nodes.tolist()]
    found = []
    for at, sensor in enumerate(nodes):
        for other, setpoint in enumerate(nodes):
            if (
                sensor.kind != "sensor"
                or setpoint.kind != "controller"
                or not _belong(plant, sensor.name, setpoint.name)
            ):
                continue
            asked, read = np.nanmax(values[:, other]), np.nanmax(values[:, at])
            if asked > 0 and np.nanmin(values[:, other]) >= 0 and read < REACHED * asked:
                unit = plant.signal(sensor.name).unit
                found.append(
                    f"{sensor.name} never read more than {read:g} {unit}, while {setpoint.name} asked for up to "
                    f"{asked:g} {unit}"
                )
    return found


def _belong(plant: Plant, sensor: str, setpoint: str) -> bool:
    """Return whether two points of one piece of equipment have the same unit and names that begin alike."""
    if not plant.signal(sensor).unit or plant.signal(sensor).unit != plant.signal(setpoint).unit:
        return False
    (copy, role), (other_copy, other) = (_parts(plant.reporting[name].alias) for name in (sensor, setpoint))
    shared = next(
        (at for at, (a, b) in enumerate(zip(role, other, strict=False)) if a != b), min(len(role), len(other))
    )
    return copy == other_copy and shared >= ALIKE * min(len(role), len(other))


def _parts(alias: str) -> tuple[str, str]:
    copy, _, role = alias.rpartition("/")
    return copy, re.sub(r"[^a-z0-9]", "", role.lower())
