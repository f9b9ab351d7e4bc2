"""The deterministic core: the same rows give the same steps, however they are portioned."""

import numpy as np
import pytest

from graphghha.alarms import AlarmRule, ChangeKind, GroupRule
from graphghha.monitor import Pipeline
from monitor_builders import GRAPH, Script, quiet

TIMES = np.arange(120) * 60_000
RULE = AlarmRule(raise_at=0.9, clear_at=0.5, votes=3, window=5, clear_after=5)


@pytest.fixture
def probs():
    """Quiet, but for an actuator attack on one valve in minutes 30 to 70 and a silent sensor throughout."""
    probs = quiet(120)
    probs[30:70, GRAPH.index("zone-02/valve")] = (0.03, 0.95, 0.01, 0.01)
    probs[30:70, GRAPH.index("zone-02/temp")] = (0.05, 0.3, 0.6, 0.05)
    probs[:, GRAPH.index("zone-03/flow")] = np.nan
    return probs


def run(probs, portions):
    pipeline = Pipeline(Script(probs), GRAPH, RULE, GroupRule(linger=3))
    steps, at = [], 0
    for count in portions:
        rows = slice(at, at + count)
        steps += pipeline.push(TIMES[rows], np.zeros((count, 1)), np.ones((count, 1), bool))
        at += count
    return pipeline, [(step, change) for step in steps for change in step.changes]


def test_an_attack_is_announced_once_named_and_closed(probs):
    _, changes = run(probs, [120])
    (step, announced), (_, closed) = (pair for pair in changes if pair[1].kind in ("annunciated", "closed"))
    assert (announced.kind, closed.kind) == (ChangeKind.ANNUNCIATED, ChangeKind.CLOSED)
    assert GRAPH.names[announced.incident.root] == "zone-02/valve" and step.attack_class(announced.incident.root)
    assert announced.incident.since == 30 and step.time_ms == 32 * 60_000, "three votes in a row, from the first"
    assert step.probability(announced.incident.root) == pytest.approx(0.97)
    assert len(announced.incident.members) == 2


@pytest.mark.parametrize("portions", [[1] * 120, [7] * 17 + [1], [50, 0, 70]], ids=["single", "sevens", "two"])
def test_portions_do_not_matter(probs, portions):
    _, whole = run(probs, [120])
    _, parts = run(probs, portions)
    assert [(s.time_ms, c) for s, c in parts] == [(s.time_ms, c) for s, c in whole]


def test_a_silent_node_is_unknown_all_along(probs):
    pipeline, _ = run(probs, [120])
    unknown = pipeline.alarms.unknown
    assert unknown[GRAPH.index("zone-03/flow")] and unknown.sum() == 1


def test_warming_up_gives_no_steps(probs):
    pipeline = Pipeline(Script(probs), GRAPH, RULE, GroupRule())
    pipeline.warm_up(np.zeros((80, 1)), np.ones((80, 1), bool))
    assert pipeline.incidents == () and pipeline.alarms.step == 0


def test_a_row_that_is_not_scored_leaves_every_node_unknown(probs):
    pipeline = Pipeline(Script(probs), GRAPH, RULE, GroupRule())
    every = np.ones((40, 1), bool)
    list(pipeline.push(TIMES[:40], np.zeros((40, 1)), every, np.arange(40) < 39))
    assert pipeline.alarms.unknown.all() and pipeline.alarms.step == 40
