"""Evidence for an incident: readings that disagree with what the other readings of the zone imply. Needs no torch.

Shapes: n recent rows, p points of the site, S signals of one zone, L recent means per signal.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphghha.graph import CpsGraph, NeighborRule, neighborhood
from graphghha.monitor.contradictions import Contradictions
from graphghha.plants import Plant, Signal
from graphghha.windows import Forecast
from graphghha.windows.forecast import TYPICAL_ROWS

NORMAL_SPREADS = 3.0  # half-width of the normal range around the expected value
VAGUE_SHARE = 0.6  # of what an instrument can report: a normal range wider than this says nothing
MOST_SIGNALS, MOST_EDGES, MOST_CONTRADICTIONS = 5, 4, 3


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
        """Return the normal range, limited to what the quantity can be and the instrument can report."""
        margin = NORMAL_SPREADS * self.spread
        return self._possible(self.expected - margin), self._possible(self.expected + margin)

    @property
    def is_vague(self) -> bool:
        """Return whether nearly any reading would be normal: then the others do not say what this one should be."""
        low, high = self.normal
        return high - low > VAGUE_SHARE * (self.signal.high - self.signal.least)

    @property
    def is_unusual(self) -> bool:
        """Return whether the value is out of its normal range by more than the last digit shown."""
        if self.signal.states:
            return abs(self.deviation) >= NORMAL_SPREADS and self.text != self.expected_text
        digits = self.signal.decimals
        apart = abs(round(self.value, digits) - round(self.shown_expected, digits))
        return abs(self.deviation) >= NORMAL_SPREADS and apart > 1.5 * 10.0**-digits

    @property
    def text(self) -> str:
        """Return the value with its unit."""
        return self.signal.format_reading(self.value)

    @property
    def expected_text(self) -> str:
        """Return the expected value with its unit."""
        return self.signal.format_reading(self.shown_expected)

    @property
    def shown_expected(self) -> float:
        """Return the expected value, limited to what the quantity can be and the instrument can report."""
        return self._possible(self.expected)

    def _possible(self, value: float) -> float:
        return min(max(value, self.signal.least), self.signal.high)


class SignalEvidence:
    """Compares readings with what the model expects of them."""

    def __init__(self, graph: CpsGraph, plant: Plant, forecast: Forecast) -> None:
        self._graph, self._plant, self._forecast = graph, plant, forecast
        self._contradictions = Contradictions(graph, plant)
        self._near = neighborhood(graph, NeighborRule(self_loops=False))
        self._column = {int(node): at for at, node in enumerate(graph.signal_nodes)}
        self._zones: dict[str | None, list[int]] = {}
        for node in self._column:
            self._zones.setdefault(graph.zones[node], []).append(node)

    def explain(self, node: int, values: NDArray[Any], fresh: NDArray[np.bool_]) -> list[dict[str, Any]]:
        """Return readings that contradict each other, unusual signals near the node, and the edges they concern."""
        findings = {finding.node: finding for finding in self.findings(self._graph.zones[node], values, fresh)}
        near = [node, *(int(other) for other in self._near.neighbors(node))]
        unusual = [findings[other] for other in near if other in findings and findings[other].is_unusual]
        if not unusual:  # farther away in the zone something may be
            unusual = [finding for finding in findings.values() if finding.is_unusual]
        unusual.sort(key=lambda finding: (finding.node != node, -abs(finding.deviation)))
        signals = [self._signal(finding) for finding in unusual[:MOST_SIGNALS]]
        edges = [self._edge(node, finding) for finding in unusual if finding.node in near[1:]]
        contradictions = self._contradictions.find(node, {other: found.value for other, found in findings.items()})
        if node in findings and findings[node] not in unusual:  # what the node itself reads is of use, too
            role = self._graph.place(node)
            is_contradicted = any(role in (item["node"], item["against"]) for item in contradictions)
            signals.append(self._signal(findings[node], is_contradicted=is_contradicted))
        return contradictions[:MOST_CONTRADICTIONS] + signals + edges[:MOST_EDGES]

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
            if fresh[-1, column] and np.isfinite(values[-1, column])
        ]

    def _signal(self, finding: Finding, *, is_contradicted: bool = False) -> dict[str, Any]:
        role, signal, digits = self._graph.place(finding.node), finding.signal, finding.signal.decimals
        return {
            "kind": "signal",
            "node": role,
            "meaning": signal.meaning,
            "value": round(finding.value, digits),
            "expected": round(finding.shown_expected, digits),
            "normal": [round(limit, digits) for limit in finding.normal],
            "unit": signal.unit,
            "deviation": round(finding.deviation, 1),
            "unusual": finding.is_unusual,
            "text": f"{self._plant.advise(role).name} {self._describe(role, finding, is_contradicted)}",
        }

    def _describe(self, role: str, finding: Finding, is_contradicted: bool) -> str:
        if not finding.is_unusual and is_contradicted:
            return f"reads {finding.text}"
        if not finding.is_unusual:
            why = "the other readings do not say what it should be" if finding.is_vague else "as expected"
            return f"reads {finding.text}, {why}"
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
            "source": graph.place(source),
            "target": graph.place(target),
            "relation": str(kind) if kind else "none",
            "deviation": round(finding.deviation, 1),
        }
