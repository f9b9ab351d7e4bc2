"""Why an incident is believed: readings that disagree with what their neighbours imply. Needs no torch.

n recent rows, p points of the site, S signals of one zone, L recent means per signal.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphghha.graph import CpsGraph, NeighborRule, neighborhood
from graphghha.plants import Plant, Signal
from graphghha.plants.formatting import decimals, spoken
from graphghha.windows.expectation import Expectation
from graphghha.windows.features import RECENT
from graphghha.windows.multiscale import summarize
from graphghha.windows.scale import Scaler

RECENT_ROWS = RECENT.history_rows
TYPICAL_ROWS = 5  # one row is noise
NORMAL_SPREADS = 3.0  # around the expected value: the range that normal operation stays in
MOST_SIGNALS, MOST_EDGES = 5, 4


class Witness(Protocol):
    """Gives evidence about a node: the monitor's own, or a model that looks into its gates."""

    def testify(self, node: int, values: NDArray[Any], fresh: NDArray[np.bool_]) -> list[dict[str, Any]]:
        """From the newest rows [n p] of the site: items as in an incident's `evidence`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One signal against what the others imply, in SI."""

    node: int
    signal: Signal
    value: float
    expected: float
    spread: float

    @property
    def deviation(self) -> float:
        return (self.value - self.expected) / self.spread

    @property
    def normal(self) -> tuple[float, float]:
        """The normal range, as far as the instrument can report it."""
        margin = NORMAL_SPREADS * self.spread
        return self._reported(self.expected - margin), self._reported(self.expected + margin)

    @property
    def is_unusual(self) -> bool:
        """Out of its normal range, and by more than the last digit told."""
        if self.signal.states:
            return abs(self.deviation) >= NORMAL_SPREADS and self.said != self.said_expected
        digits = decimals(self.signal)
        apart = abs(round(self.value, digits) - round(self._reported(self.expected), digits))
        return abs(self.deviation) >= NORMAL_SPREADS and apart > 1.5 * 10.0**-digits

    @property
    def said(self) -> str:
        return spoken(self.signal, self.value)

    @property
    def said_expected(self) -> str:
        return spoken(self.signal, self._reported(self.expected))

    def _reported(self, value: float) -> float:
        return min(max(value, self.signal.low), self.signal.high)


class SignalWitness:
    """Compares readings with the model's expectation of them."""

    def __init__(self, graph: CpsGraph, plant: Plant, scaler: Scaler, expectation: Expectation) -> None:
        self._graph, self._plant, self._scaler, self._expectation = graph, plant, scaler, expectation
        self._near = neighborhood(graph, NeighborRule(self_loops=False))
        roles = [plant.template.roles[node] for node in plant.template.signal_nodes]
        column = {int(node): at for at, node in enumerate(graph.signal_nodes)}
        by_place = {(graph.zones[node], graph.roles[node]): node for node in column}
        self._zones = {
            zone: [by_place[zone, role] for role in roles if (zone, role) in by_place] for zone in set(graph.zones)
        }
        self._column, self._num_signals = column, len(roles)

    def testify(self, node: int, values: NDArray[Any], fresh: NDArray[np.bool_]) -> list[dict[str, Any]]:
        findings = {finding.node: finding for finding in self.findings(self._graph.zones[node], values, fresh)}
        near = [node, *(int(other) for other in self._near.of(node))]
        told = [findings[other] for other in near if other in findings and findings[other].is_unusual]
        told.sort(key=lambda finding: (finding.node != node, -abs(finding.deviation)))
        signals = [self._signal(finding) for finding in told[:MOST_SIGNALS]]
        if node in findings and findings[node] not in told:
            signals.append(self._signal(findings[node]))  # nothing odd about it, and that is worth knowing too
        edges = [self._edge(node, finding) for finding in told if finding.node != node]
        return signals + edges[:MOST_EDGES]

    def findings(self, zone: str | None, values: NDArray[Any], fresh: NDArray[np.bool_]) -> list[Finding]:
        """Every fresh signal of a zone, by the newest rows."""
        nodes = self._zones.get(zone, [])
        if len(nodes) < self._num_signals or not len(values):
            return []
        columns = [self._column[node] for node in nodes]
        own = self._scaler.columns([self._graph.signals[node] for node in nodes])
        scaled = own(values[:, columns], fresh[:, columns])
        count = min(TYPICAL_ROWS, len(values))
        means = summarize(scaled, fresh[:, columns], RECENT, first=len(values) - count)  # [count S L]
        mean, spread = (each.mean(axis=0) for each in self._expectation.expected(means.reshape(count, -1)))
        seen = np.where(fresh[-count:], values[-count:], np.nan)
        signals = [self._plant.signal(str(self._graph.signals[node])) for node in nodes]
        return [
            Finding(
                node,
                signals[at],
                float(np.nanmedian(seen[:, column])),  # a mean over a jump would be a reading nobody saw
                float(mean[at] * own.scale[at] + own.center[at]),
                float(spread[at] * own.scale[at]),
            )
            for at, (node, column) in enumerate(zip(nodes, columns, strict=True))
            if fresh[-1, column]
        ]

    def _signal(self, finding: Finding) -> dict[str, Any]:
        role, signal, digits = self._graph.roles[finding.node], finding.signal, decimals(finding.signal)
        return {
            "kind": "signal",
            "node": role,
            "meaning": signal.meaning,
            "value": round(finding.value, digits),
            "expected": round(finding.expected, digits),
            "normal": [round(limit, digits) for limit in finding.normal],
            "unit": signal.unit,
            "deviation": round(finding.deviation, 1),
            "unusual": finding.is_unusual,
            "text": f"{self._plant.advise(role).name} {self._looks(role, finding)}",
        }

    def _looks(self, role: str, finding: Finding) -> str:
        if not finding.is_unusual:
            return f"is in its normal range ({finding.said})"
        if finding.signal.states:
            return f"is {finding.said} (expected {finding.said_expected})"
        advice, number = self._plant.advise(role), finding.said_expected.partition(" ")[0]
        looks = advice.low if finding.deviation < 0 else advice.high
        return f"{looks} ({finding.said}, expected {number})"

    def _edge(self, node: int, finding: Finding) -> dict[str, Any]:
        """An edge of the incident's root to a neighbour that disagrees."""
        graph = self._graph
        forward = graph.edge_between(node, finding.node)
        source, target = (node, finding.node) if forward else (finding.node, node)
        kind = forward or graph.edge_between(finding.node, node)
        return {
            "kind": "edge",
            "source": graph.roles[source],
            "target": graph.roles[target],
            "relation": str(kind) if kind else "none",
            "deviation": round(finding.deviation, 1),
        }
