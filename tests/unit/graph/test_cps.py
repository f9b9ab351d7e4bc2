"""The graph keeps the paper's rules, never changes, and copies itself into buildings."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import loop_template, random_graph
from graphghha.errors import GraphError, NotFoundError
from graphghha.graph import CpsGraph, Edge, EdgeKind, Node, NodeKind

S, C, A = Node("s", "sensor", signal="T"), Node("c", "controller"), Node("a", "actuator")

graphs = st.builds(random_graph, st.integers(1, 25), st.integers(0, 60), st.integers(0, 10_000))


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        pytest.param([], [], "the graph is empty", id="empty"),
        pytest.param([S, Node("s", "actuator")], [], "node 's': the name appears twice", id="duplicate-name"),
        pytest.param([S, C], [Edge("s", "x", "comm")], "no node is named 'x'", id="unknown-target"),
        pytest.param([S, C], [Edge("x", "c", "comm")], "no node is named 'x'", id="unknown-source"),
        pytest.param(
            [S, A], [Edge("a", "s", "comm")], r"'a' \(actuator\) -> 's' \(sensor\), comm", id="comm-from-actuator"
        ),
        pytest.param(
            [S, C], [Edge("c", "s", "comm")], "comm edges go from sensors and controllers", id="comm-to-sensor"
        ),
        pytest.param(
            [S, C], [Edge("s", "c", "phys")], "phys edges go from actuators to sensors", id="phys-from-sensor"
        ),
        pytest.param([A, C], [Edge("a", "c", "phys")], "phys edges go from actuators", id="phys-to-controller"),
        pytest.param([C], [Edge("c", "c", "comm")], "cannot be its own neighbour", id="self-edge"),
        pytest.param([S, C], [Edge("s", "c", "comm")] * 2, "the edge appears twice", id="duplicate-edge"),
    ],
)
def test_a_broken_graph_is_refused_and_the_offender_named(nodes, edges, message):
    with pytest.raises(GraphError, match=message):
        CpsGraph(nodes, edges)


def test_near_edges_join_any_two_nodes():
    nodes = [S, C, A]
    graph = CpsGraph(nodes, [Edge(a.name, b.name, "near") for a in nodes for b in nodes if a is not b])
    assert graph.num_edges == 6 and graph.edge_between(0, 1) is EdgeKind.NEAR


def test_a_refused_edge_says_what_to_change():
    with pytest.raises(GraphError, match="reverse the edge, correct the kind of a node, or make it a near edge"):
        CpsGraph([S, A], [Edge("s", "a", "phys")])


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: Node("n", "valve"), id="node-kind"),
        pytest.param(lambda: Edge("s", "c", "wifi"), id="edge-kind"),
        pytest.param(lambda: Node(" ", "sensor"), id="blank-name"),
        pytest.param(lambda: Node("n", "sensor", signal=""), id="blank-signal"),
        pytest.param(lambda: Node("n", "sensor", role=3), id="number-for-a-role"),
    ],
)
def test_an_unlawful_part_is_refused(make):
    with pytest.raises(GraphError, match="node|edge"):
        make()


def test_a_graph_never_changes():
    graph = loop_template()
    with pytest.raises(AttributeError, match="never changes"):
        graph.names = ()
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del graph.names
    for same in (graph, copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert same == graph and same.edges == graph.edges
        with pytest.raises(ValueError, match="read-only"):
            same.kinds[0] = 2


def test_edges_come_back_with_kind_and_reason():
    graph = CpsGraph([S, C, A], [Edge("c", "a", "comm"), Edge("a", "s", "phys", "heat")])
    assert graph.edges == (Edge("c", "a", "comm"), Edge("a", "s", "phys", "heat"))
    assert graph.nodes == (S, C, A) and graph.nodes[0].kind is NodeKind.SENSOR
    assert graph.edge_between(2, 0) is EdgeKind.PHYS and graph.edge_between(0, 2) is None
    assert graph.edge_between(0, 1) is None


def test_the_hash_follows_content_not_order_of_edges_nor_reasons():
    edges = [Edge("s", "c", "comm"), Edge("c", "a", "comm"), Edge("a", "s", "phys")]
    graph = CpsGraph([S, C, A], edges)
    assert graph == CpsGraph([S, C, A], [Edge(e.source, e.target, e.kind, "why") for e in edges[::-1]])
    others = [
        CpsGraph([S, A, C], edges),
        CpsGraph([S, C, A], edges[:2]),
        CpsGraph([Node("s", "sensor"), C, A], edges),
        CpsGraph([Node("s", "sensor", role="r", signal="T"), C, A], edges),
        CpsGraph([Node("s", "sensor", zone="z", signal="T"), C, A], edges),
    ]
    assert len({graph.content_hash, *(other.content_hash for other in others)}) == 6


def test_an_unknown_node_is_named():
    with pytest.raises(NotFoundError, match="'boiler'"):
        loop_template().index("boiler")


def test_replicate_copies_zones_and_keeps_shared_nodes_single():
    template = loop_template()
    building = template.replicate(3, shared=["outdoor", "supervisor"])
    assert building.num_nodes == 2 + 3 * 6
    assert building.names[:3] == ("outdoor", "supervisor", "zone-01/temp")
    assert building.zones[:3] == (None, None, "zone-01")
    assert building.roles[building.index("zone-03/valve")] == "valve"
    assert building.num_edges == 1 + 3 * (template.num_edges - 1), "the edge between shared nodes exists once"
    assert {edge.target for edge in building.edges if edge.source == "supervisor"} == {
        f"zone-0{z}/{pid}" for z in (1, 2, 3) for pid in ("temp_pid", "flow_pid")
    }
    assert {e.reason for e in building.edges if e.source.endswith("valve")} == {"heat"}


def test_replicate_takes_zone_names():
    assert loop_template().replicate(["lobby", "lab"]).zones[-1] == "lab"


def test_replicate_takes_any_whole_number_and_a_single_name():
    assert loop_template().replicate(np.int64(2)).num_nodes == 16
    assert loop_template().replicate("lobby").zones[0] == "lobby"


def test_replicate_never_makes_two_nodes_of_one_name():
    graph = CpsGraph([Node("zone-01/t", "sensor"), Node("t", "sensor")])
    with pytest.raises(GraphError, match="'zone-01/t': the name appears twice"):
        graph.replicate(2, shared=["zone-01/t"])


@pytest.mark.parametrize("zones", [0, -1, [], ["a", "a"], [""]], ids=["zero", "negative", "none", "twice", "blank"])
def test_impossible_zones_are_refused(zones):
    with pytest.raises(GraphError, match="zones"):
        loop_template().replicate(zones)


def test_only_templates_are_replicated():
    with pytest.raises(GraphError, match="only a template"):
        loop_template().replicate(2).replicate(2)
    with pytest.raises(GraphError, match="every node is shared"):
        CpsGraph([S]).replicate(2, shared=["s"])
    with pytest.raises(NotFoundError, match="'x'"):
        CpsGraph([S]).replicate(2, shared=["x"])


@given(graphs, st.integers(1, 5), st.randoms())
@settings(deadline=None, max_examples=50)
def test_every_zone_is_the_template(graph, zones, random):
    shared = random.sample(graph.names, random.randrange(len(graph.names)))
    building = graph.replicate(zones, shared)
    own = graph.num_nodes - len(shared)
    assert building.num_nodes == len(shared) + zones * own
    for zone in {zone for zone in building.zones if zone}:
        name = {n: n if n in shared else f"{zone}/{n}" for n in graph.names}
        for edge in graph.edges:
            found = building.edge_between(building.index(name[edge.source]), building.index(name[edge.target]))
            assert found is edge.kind
    inner = sum(e.source in shared and e.target in shared for e in graph.edges)
    assert building.num_edges == inner + zones * (graph.num_edges - inner)


def test_a_hundred_thousand_nodes_cost_memory_by_the_edge():
    building = loop_template().replicate(12_500)
    assert building.num_nodes == 100_000
    arrays = [building.kinds, building.edge_index, building.edge_kinds]
    assert sum(array.nbytes for array in arrays) < 20 * (building.num_nodes + building.num_edges)
    assert building.names[-1] == "zone-12500/pump" and np.all(np.diff(building.edge_index[0]) >= 0)


def test_the_repr_counts():
    assert repr(loop_template()) == "CpsGraph(8 nodes: 3 sensors, 3 controllers, 2 actuators; 10 edges)"


def test_points_are_the_nodes_with_a_signal_in_the_order_of_the_graph():
    template = CpsGraph([A, S, C, Node("b", "sensor", signal="P")])
    assert template.points == ("s", "b")
    assert template.point_signals == ("T", "P")
    assert template.signal_nodes.tolist() == [1, 3]
    building = template.replicate(2)
    assert building.points == ("zone-01/s", "zone-01/b", "zone-02/s", "zone-02/b")
    assert building.point_signals == ("T", "P", "T", "P")
    with pytest.raises(ValueError, match="read-only"):
        building.signal_nodes[0] = 0


def test_zone_names_come_in_the_order_of_their_nodes():
    assert CpsGraph([S]).zone_names == ()
    assert CpsGraph([S]).replicate(["north", "attic"]).zone_names == ("north", "attic")
