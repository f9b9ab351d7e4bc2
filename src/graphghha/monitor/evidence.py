"""Evidence for an incident: readings that disagree with what the other readings of the zone imply. Needs no torch.

Shapes: n recent rows, p points of the site, S signals of one zone, L recent means per signal.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphghha.graph import CpsGraph, NeighborRule, neighborhood
from graphghha.plants import Plant, Signal
from graphghha.windows import Forecast
from graphghha.windows.forecast import TYPICAL_ROWS

NORMAL_SPREADS = 3.0  # half-width of the normal range around the expected value
MOST_SIGNALS, MOST_EDGES = 5, 4


class EvidenceProvider(Protocol):
    """Gives evidence about a node."""

    def explain(self, node: int, values: NDArray[Any], fresh: NDArray[np.bool_]) -> list[dict[str, Any]]:
        """Return items for an incident's `evidence`, from the newest rows [n p] of the site."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One signal compared with what the others imply, in SI."""

    node: int
    signal: Signal
    value: float
    expected: float
    spread: float

    @property
    def deviation(self) -> float:
        """Return the difference from the expected value, in spreads."""
        return (self.value - self.expected) / self.spread

    @property
    def normal(self) -> tuple[float, float]:
        """Return the normal range, limited to what the instrument can report."""
        margin = NORMAL_SPREADS * self.spread
        return self._reported(self.expected - margin), self._reported(self.expected + margin)

    @property
    def is_unusual(self) -> bool:
        """Return whether the value is out of its normal range by more than the last digit shown."""
        if self.signal.states:
            return abs(self.deviation) >= NORMAL_SPREADS and self.text != self.expected_text
        digits = self.signal.decimals
        apart = abs(round(self.value, digits) - round(self._reported(self.expected), digits))
        return abs(self.deviation) >= NORMAL_SPREADS and apart > 1.5 * 10.0**-digits

    @property
    def text(self) -> str:
        """Return the value with its unit."""
        return self.signal.format_reading(self.value)

    @property
    def expected_text(self) -> str:
        """Return the expected value with its unit."""
        return self.signal.format_reading(self._reported(self.expected))

    def _reported(self, value: float) -> float:
        return min(max(value, self.signal.low), self.signal.high)


class SignalEvidence:
    """Compares readings with what the model expects of them."""

    def __init__(self, graph: CpsGraph, plant: Plant, forecast: Forecast) -> None:
        self._graph, self._plant, self._forecast = graph, plant, forecast
        self._near = neighborhood(graph, NeighborRule(self_loops=False))
        self._column = {int(node): at for at, node in enumerate(graph.signal_nodes)}
        self._zones: dict[str | None, list[int]] = {}
        for node in self._column:
            self._zones.setdefault(graph.zones[node], []).append(node)

    def explain(self, node: int, values: NDArray[Any], fresh: NDArray[np.bool_]) -> list[dict[str, Any]]:
        """Return the unusual signals of the node and its neighbors, and the edges they concern."""
        findings = {finding.node: finding for finding in self.findings(self._graph.zones[node], values, fresh)}
        near = [node, *(int(other) for other in self._near.neighbors(node))]
        unusual = [findings[other] for other in near if other in findings and findings[other].is_unusual]
        unusual.sort(key=lambda finding: (finding.node != node, -abs(finding.deviation)))
        signals = [self._signal(finding) for finding in unusual[:MOST_SIGNALS]]
        if node in findings and findings[node] not in unusual:
            signals.append(self._signal(findings[node]))  # it is useful to the operator that the signal is normal, too
        edges = [self._edge(node, finding) for finding in unusual if finding.node != node]
        return signals + edges[:MOST_EDGES]

    def findings(self, zone: str | None, values: NDArray[Any], fresh: NDArray[np.bool_]) -> list[Finding]:
        """Return a finding for every fresh signal of a zone, from the newest rows."""
        nodes = self._zones.get(zone, [])
        if not nodes or not len(values):
            return []
        mean, spread = self._forecast.expected(values, fresh)
        seen = np.where(fresh, values, np.nan)[-TYPICAL_ROWS:]
        columns = [self._column[node] for node in nodes]
        return [
            Finding(
                node,
                self._plant.signal(str(self._graph.signals[node])),
                float(np.nanmedian(seen[:, column])),  # a mean over a jump would be a value that was never read
                float(mean[column]),
                float(spread[column]),
            )
            for node, column in zip(nodes, columns, strict=True)
            if fresh[-1, column]
        ]

    def _signal(self, finding: Finding) -> dict[str, Any]:
        role, signal, digits = self._graph.roles[finding.node], finding.signal, finding.signal.decimals
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
            "text": f"{self._plant.advise(role).name} {self._describe(role, finding)}",
        }

    def _describe(self, role: str, finding: Finding) -> str:
        if not finding.is_unusual:
            return f"is in its normal range ({finding.text})"
        if finding.signal.states:
            return f"is {finding.text} (expected {finding.expected_text})"
        advice, number = self._plant.advise(role), finding.expected_text.partition(" ")[0]
        looks = advice.low if finding.deviation < 0 else advice.high
        return f"{looks} ({finding.text}, expected {number})"

    def _edge(self, node: int, finding: Finding) -> dict[str, Any]:
        """Return the edge between the incident's root and a neighbor that disagrees."""
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
