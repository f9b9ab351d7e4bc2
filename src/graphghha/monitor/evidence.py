"""Why an incident is believed: readings that disagree with what their neighbours imply. Needs no torch.

n recent rows, p points of the site, S signals of one zone, L recent means per signal.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphghha.graph import CpsGraph, NeighborRule, neighborhood
from graphghha.plants import Plant
from graphghha.windows.expectation import Expectation, signal_nodes
from graphghha.windows.features import RECENT
from graphghha.windows.multiscale import summarize
from graphghha.windows.scale import Scaler

RECENT_ROWS = RECENT.history_rows
AVERAGED_ROWS = 5  # one row is noise
NOTEWORTHY = 2.0  # spreads between a reading and what its neighbours imply
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
    value: float
    expected: float
    spread: float

    @property
    def deviation(self) -> float:
        return (self.value - self.expected) / self.spread


class SignalWitness:
    """Compares readings with the model's expectation of them."""

    def __init__(self, graph: CpsGraph, plant: Plant, scaler: Scaler, expectation: Expectation) -> None:
        self._graph, self._plant, self._scaler, self._expectation = graph, plant, scaler, expectation
        self._near = neighborhood(graph, NeighborRule(self_loops=False))
        roles = [plant.template.roles[node] for node in signal_nodes(plant.template)]
        column = {int(node): at for at, node in enumerate(signal_nodes(graph))}
        by_place = {(graph.zones[node], graph.roles[node]): node for node in column}
        self._zones = {
            zone: [by_place[zone, role] for role in roles if (zone, role) in by_place] for zone in set(graph.zones)
        }
        self._column, self._num_signals = column, len(roles)

    def testify(self, node: int, values: NDArray[Any], fresh: NDArray[np.bool_]) -> list[dict[str, Any]]:
        findings = {finding.node: finding for finding in self.findings(self._graph.zones[node], values, fresh)}
        near = [node, *(int(other) for other in self._near.of(node))]
        told = [findings[other] for other in near if other in findings and abs(findings[other].deviation) >= NOTEWORTHY]
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
        count = min(AVERAGED_ROWS, len(values))
        means = summarize(scaled, fresh[:, columns], RECENT, first=len(values) - count)  # [count S L]
        mean, spread = (each.mean(axis=0) for each in self._expectation.expected(means.reshape(count, -1)))
        seen = np.where(fresh[-count:], values[-count:], np.nan)
        return [
            Finding(
                node,
                float(np.nanmean(seen[:, column])),
                float(mean[at] * own.scale[at] + own.center[at]),
                float(spread[at] * own.scale[at]),
            )
            for at, (node, column) in enumerate(zip(nodes, columns, strict=True))
            if fresh[-1, column]
        ]

    def _signal(self, finding: Finding) -> dict[str, Any]:
        role, advice = self._graph.roles[finding.node], self._plant.advise(self._graph.roles[finding.node])
        signal = self._plant.signal(str(self._graph.signals[finding.node]))
        margin = NORMAL_SPREADS * finding.spread
        low = min(max(finding.expected - margin, signal.low), signal.high)
        high = max(min(finding.expected + margin, signal.high), signal.low)
        is_odd = abs(finding.deviation) >= 1.0
        looks = (advice.low if finding.deviation < 0 else advice.high) if is_odd else "is within what is usual"
        return {
            "kind": "signal",
            "node": role,
            "meaning": signal.meaning,
            "value": _short(finding.value),
            "expected": _short(finding.expected),
            "normal": [_short(low), _short(high)],
            "unit": signal.unit,
            "deviation": round(finding.deviation, 1),
            "text": f"{advice.name} {looks}",
        }

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


def _short(value: float) -> float:
    return float(f"{value:.4g}")
