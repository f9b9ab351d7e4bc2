"""The deterministic core: the same rows give the same notices, however they are portioned."""

from dataclasses import dataclass

import numpy as np
import pytest

from builders import loop_template
from graphghha.alarms import AlarmRule, ChangeKind, GroupRule
from graphghha.monitor import Pipeline

GRAPH = loop_template().replicate(3)
TIMES = np.datetime64("2018-07-10T09:00", "m") + np.arange(120)
RULE = AlarmRule(raise_at=0.9, clear_at=0.5, votes=3, window=5, clear_after=5)


@dataclass(frozen=True)
class Told:
    probs: np.ndarray


class Script:
    """A scorer that plays back prepared probabilities."""

    def __init__(self, probs: np.ndarray) -> None:
        self.probs, self.at = probs, 0

    def push(self, values, fresh, wanted):
        rows = self.probs[self.at : self.at + len(values)]
        self.at += len(values)
        return Told(rows[wanted])


@pytest.fixture
def probs():
    """Quiet, but for an actuator attack on one valve in minutes 30 to 70 and a silent sensor throughout."""
    quiet = np.zeros((120, GRAPH.num_nodes, 4), np.float32)
    quiet[..., 0] = 1.0
    valve = GRAPH.index("zone-02/valve")
    quiet[30:70, valve] = (0.03, 0.95, 0.01, 0.01)
    quiet[30:70, GRAPH.index("zone-02/temp")] = (0.05, 0.3, 0.6, 0.05)
    quiet[:, GRAPH.index("zone-03/flow")] = np.nan
    return quiet


def run(probs, portions):
    pipeline = Pipeline(Script(probs), GRAPH, RULE, GroupRule(linger=3))
    notices, at = [], 0
    for count in portions:
        rows = slice(at, at + count)
        notices += pipeline.push(TIMES[rows], np.zeros((count, 1)), np.ones((count, 1), bool))
        at += count
    return pipeline, notices


def test_an_attack_is_announced_once_named_and_closed(probs):
    _, notices = run(probs, [120])
    announced, closed = notices
    assert (announced.kind, closed.kind) == (ChangeKind.ANNUNCIATED, ChangeKind.CLOSED)
    assert (announced.root, announced.zone, announced.attack_class) == ("zone-02/valve", "zone-02", "actuator")
    assert announced.since == TIMES[30] and announced.time == TIMES[32], "three votes in a row, counted from the first"
    assert announced.probability == pytest.approx(0.97)
    assert (closed.root, closed.attack_class) == ("zone-02/valve", "actuator")
    told = announced.to_dict()
    assert told["root"] == "valve" and told["since"] == "2018-07-10T09:30Z" and set(told["alarms"]) == {"valve", "temp"}


@pytest.mark.parametrize("portions", [[1] * 120, [7] * 17 + [1], [50, 70]], ids=["single", "sevens", "two"])
def test_portions_do_not_matter(probs, portions):
    _, whole = run(probs, [120])
    _, parts = run(probs, portions)
    assert [n.to_dict() for n in parts] == [n.to_dict() for n in whole]


def test_a_silent_node_is_unknown_all_along(probs):
    pipeline, _ = run(probs, [120])
    unknown = pipeline.alarms.unknown
    assert unknown[GRAPH.index("zone-03/flow")] and unknown.sum() == 1


def test_the_memory_of_times_does_not_grow(probs):
    pipeline, _ = run(probs, [1] * 120)
    assert len(pipeline._times) < 5


def test_warming_up_tells_nothing(probs):
    pipeline = Pipeline(Script(probs), GRAPH, RULE, GroupRule())
    pipeline.warm_up(np.zeros((80, 1)), np.ones((80, 1), bool))
    assert pipeline.incidents == () and pipeline.alarms.step == 0
