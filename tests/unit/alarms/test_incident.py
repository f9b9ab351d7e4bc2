import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alarm_builders import Feed, building, chain
from graphghha.alarms import NONE, GroupRule
from graphghha.errors import ConfigError

RULE = GroupRule(max_hops=2, linger=3)


def test_neighbours_in_alarm_are_one_incident_with_the_strongest_as_root():
    feed = Feed(chain(9), RULE)
    changes = feed.step({3: 0.93, 4: 0.97, 5: 0.93})
    assert changes == [("opened", 1), ("joined", 1), ("joined", 1), ("annunciated", 1)]
    (incident,) = feed.groups.incidents
    assert (incident.root, incident.evidence, incident.since) == (4, 0.97, 0)
    assert incident.ranking == (4, 3, 5, 0, 1, 2, 6, 7, 8)


def test_a_second_attack_far_away_is_a_second_incident():
    feed = Feed(chain(9), RULE)
    feed.step({1: 0.95})
    assert feed.step({6: 0.99}) == [("opened", 2), ("annunciated", 2)]
    assert [i.root for i in feed.groups.incidents] == [1, 6]


def test_a_later_and_stronger_node_joins_without_taking_the_root():
    feed = Feed(chain(9), RULE)
    feed.step({1: 0.92})
    assert feed.step({2: 0.99}) == [("joined", 1)]
    (incident,) = feed.groups.incidents
    assert (incident.root, incident.members) == (1, (1, 2))


def test_while_settling_the_root_may_still_change():
    feed = Feed(chain(9), GroupRule(max_hops=2, settle=2))
    assert feed.step({1: 0.92}) == [("opened", 1)]
    assert feed.step({2: 0.99}) == [("joined", 1)]
    assert feed.step() == [("annunciated", 1)]
    (incident,) = feed.groups.incidents
    assert (incident.root, incident.opened, incident.annunciated) == (2, 0, 2)


def test_an_incident_that_clears_while_settling_is_never_annunciated():
    feed = Feed(chain(9), GroupRule(settle=5, linger=1))
    changes = [feed.step({1: 0.95}), feed.step({1: 0.0}), feed.step(), feed.step()]
    assert changes == [[("opened", 1)], [], [("closed", 1)], []]


def test_of_equally_strong_nodes_the_older_evidence_is_the_root_then_the_lower_row():
    feed = Feed(chain(9), GroupRule(max_hops=2, settle=1))
    feed.step({4: 0.95})
    feed.step({3: 0.95, 5: 0.95})
    assert feed.groups.incidents[0].root == 4
    feed = Feed(chain(9), RULE)
    feed.step({5: 0.95, 3: 0.95})
    assert feed.groups.incidents[0].root == 3


def test_a_node_that_comes_back_within_the_linger_joins_its_old_incident_quietly():
    feed = Feed(chain(5), RULE)
    feed.step({1: 0.95})
    feed.step({1: 0.0})
    feed.step()
    assert feed.step({1: 0.95}) == [("joined", 1)]
    assert feed.groups.incidents[0].members == (1,)


def test_a_second_attack_next_door_but_much_later_is_a_second_incident():
    feed = Feed(chain(5), GroupRule(max_hops=2, join_within=4))
    feed.step({1: 0.95})
    for _ in range(3):
        feed.step()
    assert feed.step({2: 0.95}) == [("joined", 1)]
    for _ in range(4):
        feed.step()
    assert feed.step({3: 0.95}) == [("opened", 2), ("annunciated", 2)]


def test_a_chattering_member_neither_opens_an_incident_nor_keeps_its_own_growing():
    feed = Feed(chain(5), GroupRule(max_hops=2, join_within=4))
    feed.step({1: 0.95})
    for _ in range(3):
        feed.step({1: 0.0})
        assert feed.step({1: 0.95}) == [("joined", 1)]
    assert feed.step({2: 0.95}) == [("opened", 2), ("annunciated", 2)]


def test_after_the_linger_it_closes_and_the_next_alarm_is_a_new_incident():
    feed = Feed(chain(5), RULE)
    feed.step({1: 0.95})
    assert [feed.step({1: 0.0}), feed.step(), feed.step(), feed.step()] == [[], [], [], [("closed", 1)]]
    assert feed.step({1: 0.95}) == [("opened", 2), ("annunciated", 2)]


def test_nodes_raised_together_and_bridged_are_one_incident_whatever_their_strength():
    feed = Feed(chain(9), RULE)
    changes = feed.step({0: 0.99, 4: 0.98, 2: 0.91})
    assert ("merged", 2) in changes
    (incident,) = feed.groups.incidents
    assert (incident.root, set(incident.members), incident.standing) == (0, {0, 2, 4}, {0, 2, 4})


def test_two_annunciated_incidents_never_merge_and_the_bridge_joins_the_nearest():
    feed = Feed(chain(9), RULE)
    feed.step({0: 0.95})
    feed.step({3: 0.95})
    assert feed.step({2: 0.99}) == [("joined", 2)]
    assert feed.members == [{0}, {3, 2}]


def test_zones_have_incidents_of_their_own():
    graph = building(3)
    feed = Feed(graph, GroupRule(max_hops=9))
    feed.step({graph.index(f"zone-0{z}/n0"): 0.95 for z in (1, 2, 3)})
    assert [i.zone for i in feed.groups.incidents] == ["zone-01", "zone-02", "zone-03"]


def test_a_shared_root_gathers_its_effects_in_all_zones():
    graph = building(3)
    feed = Feed(graph, GroupRule(max_hops=1))
    feed.step({0: 0.99} | {graph.index(f"zone-0{z}/n0"): 0.95 for z in (1, 2, 3)})
    (incident,) = feed.groups.incidents
    assert (incident.root, incident.zone, len(incident.members)) == (0, None, 4)


def test_a_shared_node_does_not_join_two_zones_into_one_incident():
    graph = building(2)
    feed = Feed(graph, GroupRule(max_hops=1))
    one, two = graph.index("zone-01/n0"), graph.index("zone-02/n0")
    feed.step({one: 0.99, two: 0.98, 0: 0.91})
    assert feed.members == [{one, 0}, {two}]


def test_an_incident_that_reaches_into_two_zones_does_not_melt_into_one_of_a_single_zone():
    graph = building(2)
    feed = Feed(graph, GroupRule(max_hops=1))
    one, bridge, two = (graph.index(name) for name in ("zone-01/n1", "zone-01/n0", "zone-02/n0"))
    feed.step({one: 0.99, 0: 0.98, two: 0.97, bridge: 0.91})
    assert feed.members == [{one, bridge}, {0, two}]


def test_nodes_without_a_probability_rank_last():
    feed = Feed(chain(4), RULE)
    feed.step({0: np.nan, 1: 0.95, 2: 0.3})
    assert feed.groups.incidents[0].ranking == (1, 2, 3, 0)


@given(
    st.lists(st.dictionaries(st.integers(0, 11), st.sampled_from([0.0, 0.7, 0.91, 0.95, 0.99, np.nan])), max_size=25)
)
def test_every_alarm_stands_in_exactly_one_open_incident(steps):
    graph = building(3)
    feed = Feed(graph, GroupRule(max_hops=1, linger=2, settle=1))
    numbers = set()
    for probs in steps:
        changes = feed.step(probs)
        standing = [node for incident in feed.groups.incidents for node in incident.standing]
        assert sorted(standing) == np.flatnonzero(feed.alarms.active).tolist()
        for incident in feed.groups.incidents:
            assert incident.standing <= set(incident.members)
            assert (incident.quiet == NONE) == bool(incident.standing)
            zones = {graph.zones[m] for m in incident.members} - {None}
            assert incident.zone is None or zones <= {incident.zone}
        announced = [number for kind, number in changes if kind == "annunciated"]
        assert not numbers & set(announced)
        numbers |= set(announced)


def test_impossible_settings_are_refused():
    with pytest.raises(ConfigError, match="linger"):
        GroupRule(linger=-1)
