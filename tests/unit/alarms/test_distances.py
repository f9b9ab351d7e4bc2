from hypothesis import given
from hypothesis import strategies as st

from alarm_builders import building, chain
from graphghha.alarms import Proximity


def test_hops_are_counted_both_ways_and_no_further_than_asked():
    near = Proximity(chain(7))
    assert near.hops_from(3, 2) == {3: 0, 2: 1, 4: 1, 1: 2, 5: 2}
    assert near.hops_from(3, 0) == {3: 0}
    assert set(near.hops_from(0, 99)) == set(range(7))


def test_zones_are_never_near_each_other_even_through_a_shared_node():
    near = Proximity(building(2))
    first, second = near.zone_rows("zone-01").tolist(), near.zone_rows("zone-02").tolist()
    assert not set(near.hops_from(first[0], 99)) & set(second)
    assert near.hops_from(first[0], 99)[0] == 1
    assert near.hops_from(0, 1) == {0: 0, first[0]: 1, second[0]: 1}


@given(st.integers(1, 3), st.integers(0, 6), st.data())
def test_nearness_is_mutual(zones, max_hops, draw):
    graph = building(zones)
    near = Proximity(graph)
    one, other = (draw.draw(st.integers(0, graph.num_nodes - 1)) for _ in range(2))
    assert near.hops_from(one, max_hops).get(other) == near.hops_from(other, max_hops).get(one)


def test_a_plant_without_copies_is_its_own_one_zone():
    near = Proximity(chain(5))
    assert not near.has_zones
    assert near.candidates(None).tolist() == list(range(5))


def test_an_incident_of_a_zone_may_be_about_its_nodes_and_shared_ones():
    near = Proximity(building(2, length=2))
    assert near.candidates("zone-02").tolist() == [0, 3, 4]
    assert near.candidates(None).tolist() == [0, 1, 2, 3, 4]
