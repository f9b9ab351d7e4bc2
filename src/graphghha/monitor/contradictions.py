"""Readings of a zone that contradict each other, whatever a model expects: the first thing an operator should read.

A position against its command, a drive that runs although its mode is off, flow through something shut, two sensors of
the same air. Which nodes belong together is read from the graph and the plant's advice.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from graphghha.graph import CpsGraph, EdgeKind, NodeKind
from graphghha.monitor.control_pairs import ControlPairs
from graphghha.plants import Plant, Signal

SHUT_SHARE = 0.02  # of its range, up to which a drive is shut or stands
TOLD_BY_NOISE = 10.0  # how many times its noise a reading must exceed to count
OFF = ("off", "shutdown", "stop", "stopped")
FLOW = "L/s"

Readings = Mapping[int, float]  # node -> what it reads now, in SI


class Contradictions:
    """Finds contradictions in the zones of one site."""

    def __init__(self, graph: CpsGraph, plant: Plant) -> None:
        self._graph, self._plant = graph, plant
        self._pairs = ControlPairs(graph, plant)

    def find(self, root: int, readings: Readings) -> list[dict[str, Any]]:
        """Return contradictions among the readings of the root's zone as evidence, those of the root first."""
        found = [item for node in readings for item in self._of_node(node, readings)]
        own = self._graph.place(root)
        found.sort(key=lambda item: own not in (item["node"], item["against"]))  # stable: the graph's order otherwise
        return found

    def _of_node(self, node: int, readings: Readings) -> Iterator[dict[str, Any]]:
        kind = self._pairs.kind(node)
        if kind is NodeKind.ACTUATOR:
            yield from self._against_command(node, readings)
            yield from self._against_mode(node, readings)
            yield from self._against_flow(node, readings)
        elif kind is NodeKind.SENSOR:
            yield from self._against_twin(node, readings)

    def _against_command(self, node: int, readings: Readings) -> Iterator[dict[str, Any]]:
        for position, command in self._pairs.pairs(node):
            if command in readings and not self._pairs.agrees(position, readings[position], readings[command]):
                commanded = self._opening(position, readings[command]).removesuffix(" open")
                text = f"{self._name(position)} is {self._opening(position, readings[position])}, commanded {commanded}"
                yield self._item("command", position, command, readings, text)

    def _against_mode(self, node: int, readings: Readings) -> Iterator[dict[str, Any]]:
        """Yield the modes that say off while the drive that they switch runs."""
        if self._is_still(node, readings[node]):
            return
        for mode in self._pairs.sources.get(node, ()):
            if mode not in readings or not (signal := self._pairs.signal(mode)).states:
                continue
            if (state := signal.format_reading(readings[mode])) in OFF:
                text = f"{self._name(node)} runs ({self._shown(node, readings)}), {self._name(mode)} is {state}"
                yield self._item("mode", node, mode, readings, text)

    def _against_flow(self, node: int, readings: Readings) -> Iterator[dict[str, Any]]:
        """Yield what flows although the drive that lets it through is shut."""
        if not (self._plant.advise(self._graph.place(node)).is_opening and self._is_still(node, readings[node])):
            return
        for flow in self._pairs.targets.get(node, ()):
            if flow not in readings or self._graph.edge_between(node, flow) is not EdgeKind.PHYS:
                continue
            signal = self._pairs.signal(flow)
            if signal.unit == FLOW and readings[flow] > TOLD_BY_NOISE * signal.noise:
                text = f"{self._name(flow)} is {self._shown(flow, readings)}, although {self._name(node)} is shut"
                yield self._item("flow", flow, node, readings, text)

    def _against_twin(self, node: int, readings: Readings) -> Iterator[dict[str, Any]]:
        twin = self._plant.advise(self._graph.place(node)).twin
        for other in readings:
            if self._graph.roles[other] != twin or other < node:
                continue  # a pair is reported once
            allowed = TOLD_BY_NOISE * max(self._pairs.signal(each).noise for each in (node, other))
            if abs(readings[node] - readings[other]) > allowed:
                text = f"{self._name(node)} reads {self._shown(node, readings)}, {self._name(other)}"
                yield self._item("twin", node, other, readings, f"{text} {self._shown(other, readings)}")

    def _is_still(self, node: int, value: float) -> bool:
        signal = self._pairs.signal(node)
        return value - signal.least <= SHUT_SHARE * (signal.high - signal.least)

    def _opening(self, node: int, value: float) -> str:
        """Return a position in words, such as `shut` or `80% open`."""
        if not self._plant.advise(self._graph.place(node)).is_opening:
            return self._pairs.signal(node).format_reading(value)
        return "shut" if self._is_still(node, value) else f"{self._pairs.signal(node).format_reading(value)} open"

    def _item(self, relation: str, node: int, against: int, readings: Readings, text: str) -> dict[str, Any]:
        one, other = self._pairs.signal(node), self._pairs.signal(against)
        return {
            "kind": "contradiction",
            "relation": relation,
            "node": self._graph.place(node),
            "against": self._graph.place(against),
            "value": _rounded(one, readings[node]),
            "against_value": _rounded(other, readings[against]),
            "unit": one.unit,
            "against_unit": other.unit,
            "text": text,
        }

    def _shown(self, node: int, readings: Readings) -> str:
        return self._pairs.signal(node).format_reading(readings[node])

    def _name(self, node: int) -> str:
        return self._plant.advise(self._graph.place(node)).name


def _rounded(signal: Signal, value: float) -> float:
    return round(value, signal.decimals) + 0.0
