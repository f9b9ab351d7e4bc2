"""A small building and made-up incidents."""

from graphghha.alarms import NONE, Incident, Proximity
from graphghha.graph import CpsGraph, Edge, Node

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
