"""An incident that does not exist is described once at the start, so that nothing has to be loaded when one does.

What a module imports or a library opens on first use may be missing, or the descriptors for it may be used up, in the
hour of an attack. At the start that is noticed, and the files are there.
"""

import logging
from typing import Any

import numpy as np

from graphghha.alarms import AlarmTransitions, Incident
from graphghha.monitor.detector import Detector
from graphghha.monitor.display import PLAIN, Display
from graphghha.monitor.incident_json import build_incident
from graphghha.monitor.pipeline import Pipeline, Step
from graphghha.monitor.zone_incident import ZoneIncidents
from graphghha.windows import RECENT_ROWS, Rows

log = logging.getLogger(__name__)
STEP_MS = 60_000


def rehearse(detector: Detector, pipeline: Pipeline, display: Display = PLAIN) -> bool:
    """Gather evidence about a calm plant; return whether all of it could be gathered. Changes nothing."""
    try:
        reason = _describe(detector, pipeline, display).get("evidence_failed")
    except Exception as exc:  # a start does not depend on it
        log.exception("the rehearsal of an incident failed")
        reason = repr(exc)
    if reason:
        log.warning("%s: incidents will come without some of their evidence: %s", detector.model, reason)
    return not reason


def _describe(detector: Detector, pipeline: Pipeline, display: Display) -> dict[str, Any]:
    graph = detector.graph
    root = int(graph.signal_nodes[0])
    none = np.zeros(graph.num_nodes, np.bool_)
    scores = np.tile(np.array([0.1, 0.7, 0.1, 0.1], np.float32), (graph.num_nodes, 1))
    step = Step(0, scores, AlarmTransitions(none, none, none, none), (), lambda _node: pipeline.rehearse())
    incident = Incident(0, graph.zones[root], root, (root,), frozenset([root]), 0, 0, 0, 0, 0, ranking=(root,))
    count = max(RECENT_ROWS, detector.history_rows)
    signals = [detector.plant.signal(str(graph.signals[node])) for node in graph.signal_nodes]
    values = np.tile(np.array([(signal.low + signal.high) / 2 for signal in signals], np.float32), (count, 1))
    rows = Rows(STEP_MS * np.arange(count), values, np.ones(values.shape, np.bool_), np.ones(count, np.bool_))
    recent, fresh = values[-RECENT_ROWS:], rows.fresh[-RECENT_ROWS:]
    body = build_incident("", incident, step, 0, None, detector, recent, fresh, display)
    if detector.zone_judgement is not None:
        body = ZoneIncidents(detector, display).complete(body, incident, [incident], step, rows)
    return body
