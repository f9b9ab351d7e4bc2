import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alarm_builders import Feed, building, chain
from graphghha.alarms import AlarmRule, GroupRule, Proximity, replay
from graphghha.errors import SchemaError

ALARM = AlarmRule(raise_at=0.9, clear_at=0.5, votes=2, window=3, clear_after=2)
GROUP = GroupRule(max_hops=1, linger=2)


@given(st.integers(0, 10_000), st.integers(1, 60))
def test_jumping_over_quiet_times_changes_nothing(seed, steps):
    graph, rng = building(2), np.random.default_rng(seed)
    probs = rng.choice([0.1, 0.7, 0.95, np.nan], (steps, graph.num_nodes), p=[0.9, 0.02, 0.06, 0.02])
    feed, seen = Feed(graph, GROUP, ALARM), {}
    for row in probs:
        feed.step(dict(enumerate(row)))
        seen |= {i.number: i for i in feed.groups.incidents}
    found = replay(probs, Proximity(graph), ALARM, GROUP)
    assert [(i.number, i.root, i.members, i.annunciated, i.since) for i in found] == [
        (i.number, i.root, i.members, i.annunciated, i.since) for i in seen.values()
    ]


def test_incidents_carry_the_steps_of_the_recording():
    probs = np.full((50, 5), 0.1)
    probs[20:30, 2] = 0.95
    (incident,) = replay(probs, Proximity(chain(5)), ALARM, GROUP)
    assert (incident.since, incident.annunciated, incident.quiet, incident.closed) == (20, 21, 31, 33)


def test_other_evidence_than_the_probability_may_choose_the_root():
    probs = np.full((4, 3), 0.95)
    evidence = np.tile([1.0, 3.0, 2.0], (4, 1))
    (incident,) = replay(probs, Proximity(chain(3)), ALARM, GROUP, evidence)
    assert incident.ranking == (1, 2, 0)


def test_probabilities_must_fit_the_graph():
    with pytest.raises(SchemaError, match="3 nodes"):
        replay(np.zeros((4, 2)), Proximity(chain(3)), ALARM, GROUP)
