"""What an incident says if the model judges zones: suspects, what the probability holds for, hypotheses."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from graphghha.alarms import Incident, suspects
from graphghha.monitor.detector import Detector
from graphghha.monitor.display import PLAIN, Display
from graphghha.monitor.facts import FactFinder
from graphghha.monitor.hypotheses import hypotheses
from graphghha.monitor.incident_json import finished
from graphghha.monitor.pipeline import Step
from graphghha.monitor.witnesses import gather
from graphghha.windows import Rows


class ZoneIncidents:
    """Completes the incidents of one site, whose detector judges zones."""

    def __init__(self, detector: Detector, display: Display = PLAIN) -> None:
        self._detector, self._display = detector, display
        self._facts = FactFinder(detector.graph, detector.plant, display)

    def complete(
        self, body: dict[str, Any], incident: Incident, open_incidents: Iterable[Incident], step: Step, rows: Rows
    ) -> dict[str, Any]:
        """Return the body of a new incident with what is known beyond node and class; `rows` are the newest ones."""
        judgement, graph = self._detector.zone_judgement, self._detector.graph
        assert judgement is not None
        nodes = [node for node, zone in enumerate(graph.zones) if zone == graph.zones[incident.root]]
        attack = 1.0 - step.scores[nodes, 0].astype(np.float64)
        roles = [graph.roles[nodes[at]] for at in suspects(attack, nodes.index(incident.root), judgement.set_share)]
        found, failed = gather(
            [lambda: hypotheses(self._facts.find(incident, open_incidents, rows, body["evidence"], len(roles)))]
        )
        body = body | {
            "suspects": roles,
            "suspect_names": [self._detector.plant.advise(role).name for role in roles],
            "coverage": judgement.coverage,
            "calibrated_days": judgement.days_per_attack,
            "hypotheses": found,
        }
        return finished(body, failed, self._display)
