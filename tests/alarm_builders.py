"""Small graphs and fed alarms."""

import numpy as np

from graphghha.alarms import AlarmRule, AlarmState, GroupRule, GroupState, Proximity, advance, group
from graphghha.graph import CpsGraph, Edge, Node

AT_ONCE = AlarmRule(raise_at=0.9, clear_at=0.5, votes=1, window=1, clear_after=1)


def chain(length: int) -> CpsGraph:
    """Controllers in a row: distance is the difference of the rows."""
    nodes = [Node(f"n{i}", "controller") for i in range(length)]
    return CpsGraph(nodes, [Edge(f"n{i}", f"n{i + 1}", "comm") for i in range(length - 1)])


def building(zones: int, length: int = 4) -> CpsGraph:
    """Row 0 is shared by all zones and touches the first node of each."""
    template = CpsGraph(
        [Node("shared", "controller"), *(Node(f"n{i}", "controller") for i in range(length))],
        [Edge("shared", "n0", "comm"), *(Edge(f"n{i}", f"n{i + 1}", "comm") for i in range(length - 1))],
    )
    return template.replicate(zones, shared=["shared"])


class Feed:
    """Probabilities by node in, changes out."""

    def __init__(self, graph: CpsGraph, rule: GroupRule, alarm_rule: AlarmRule = AT_ONCE) -> None:
        self.near, self.rule, self.alarm_rule = Proximity(graph), rule, alarm_rule
        self.alarms, self.groups = AlarmState.start(graph.num_nodes), GroupState()
        self.probs = np.zeros(graph.num_nodes)

    def step(self, probs: dict[int, float] | None = None) -> list[tuple[str, int]]:
        """Nodes not named keep their probability."""
        for node, prob in (probs or {}).items():
            self.probs[node] = prob
        self.alarms, transitions = advance(self.alarms, self.probs, self.alarm_rule)
        self.groups, changes = group(self.groups, self.alarms, transitions, self.probs, self.near, self.rule)
        return [(str(change.kind), change.incident.number) for change in changes]

    @property
    def members(self) -> list[set[int]]:
        return [set(incident.members) for incident in self.groups.incidents]
