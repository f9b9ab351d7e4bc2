"""A small building, made-up incidents, and recordings with given scores."""

from datetime import datetime

import numpy as np

from graphghha.alarms import NONE, Incident, Proximity
from graphghha.graph import CpsGraph, Edge, Node
from graphghha.lab.runs import AttackEvent, Recording, Run

STEP_S = 60.0
DAY = 1440  # steps


def building(zones: int, length: int = 4) -> CpsGraph:
    template = CpsGraph(
        [Node(f"n{i}", "controller") for i in range(length)],
        [Edge(f"n{i}", f"n{i + 1}", "comm") for i in range(length - 1)],
    )
    return template.replicate(zones)


def incident(number: int, root: int, near: Proximity, step: int = NONE, ranking: tuple[int, ...] = ()) -> Incident:
    zone = near.zone(root)
    rest = tuple(node for node in near.candidates(zone).tolist() if node not in (root, *ranking))
    order = ranking or (root,)
    steps = {"since": step, "opened": step, "grown": step, "quiet": NONE, "annunciated": step}
    return Incident(
        number=number,
        zone=zone,
        root=root,
        members=(root,),
        standing=frozenset({root}),
        ranking=(*order, *rest),
        **steps,
    )


RUN = Run(seed=0, start=datetime(2018, 7, 2), days=1, zones=2)
EASY = AttackEvent(case="easy", family="bold", targets=(1,), start=300, stop=400, observable_from=310)
HARD = AttackEvent(case="hard", family="sly", targets=(6,), start=900, stop=1000, observable_from=900)


def recording(attack: np.ndarray, attacks: tuple[AttackEvent, ...] = (EASY, HARD)) -> Recording:
    """A day of two zones with P(attack) [t s], all of it of class 1."""
    probs = np.zeros((DAY, 8, 4), np.float32)
    probs[..., 0], probs[..., 1] = 1 - attack, attack
    truth, observable = np.zeros((DAY, 8), np.uint8), np.zeros((DAY, 8), bool)
    for event in attacks:
        truth[event.start : event.stop, list(event.targets)] = 1
        observable[event.observable_from : event.stop, list(event.targets)] = True
    recovering = np.zeros((DAY, 8), bool)
    return Recording(RUN, Proximity(building(2)), probs, truth, observable, recovering, attacks, STEP_S)


def quiet_recording() -> Recording:
    """A day without an attack and without an alarm."""
    return recording(np.full((DAY, 8), 0.01, np.float32), ())


def two_attacks() -> Recording:
    """The easy attack scores 0.9 at its node, the hard one 0.6 one hop off; two false blips of 0.7 and 0.3."""
    attack = np.full((DAY, 8), 0.01, np.float32)
    attack[320:400, 1] = 0.9
    attack[930:1000, 5] = 0.6
    attack[100, 2], attack[600, 7] = 0.7, 0.3
    return recording(attack)
