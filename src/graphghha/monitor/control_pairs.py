"""Which actuator reports the position that which controller commands, read from the graph: no plant is known here."""

from graphghha.graph import NODE_KINDS, CpsGraph, EdgeKind, NodeKind
from graphghha.plants import Plant, Signal

AGREE_SHARE = 0.05  # of its range, by which a position may differ from its command


class ControlPairs:
    """The edges of a graph by node, and the pairs of position and command among them."""

    def __init__(self, graph: CpsGraph, plant: Plant) -> None:
        self._graph, self._plant = graph, plant
        self._measured = {int(node) for node in graph.signal_nodes}
        self.sources: dict[int, list[int]] = {}
        self.targets: dict[int, list[int]] = {}
        for source, target in graph.edge_index.T.tolist():
            self.sources.setdefault(target, []).append(source)
            self.targets.setdefault(source, []).append(target)

    def commanded(self, controller: int) -> list[int]:
        """Return the actuators whose position is given by a controller: they report the same quantity."""
        return [
            node
            for node in self.targets.get(controller, ())
            if self.kind(node) is NodeKind.ACTUATOR
            and self._graph.edge_between(controller, node) is EdgeKind.COMM
            and self._is_alike(controller, node)
        ]

    def pairs(self, node: int) -> list[tuple[int, int]]:
        """Return position and command of the pairs that a node belongs to."""
        pairs = [(node, source) for source in self.sources.get(node, ()) if node in self.commanded(source)]
        return pairs + ([(each, node) for each in self.commanded(node)] if self.is_controller(node) else [])

    def is_controller(self, node: int) -> bool:
        return self.kind(node) is NodeKind.CONTROLLER

    def is_measured(self, node: int) -> bool:
        return node in self._measured

    def kind(self, node: int) -> NodeKind:
        return NODE_KINDS[int(self._graph.kinds[node])]

    def signal(self, node: int) -> Signal:
        return self._plant.signal(str(self._graph.signals[node]))

    def agrees(self, position: int, reads: float, commanded: float) -> bool:
        """Return whether a position is where its command wants it, within noise and slack."""
        signal = self.signal(position)
        return abs(reads - commanded) <= max(AGREE_SHARE * (signal.high - signal.low), 5.0 * signal.noise)

    def _is_alike(self, first: int, second: int) -> bool:
        if not (self.is_measured(first) and self.is_measured(second)):
            return False
        one, other = self.signal(first), self.signal(second)
        return (one.unit, one.low, one.high) == (other.unit, other.low, other.high) and not (one.states or other.states)
