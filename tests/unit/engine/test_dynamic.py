"""Dynamic graphs: after any change, scores equal those of an engine built afresh."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine_builders import masks, model, plant, windows
from graphghha.engine import DynamicEngine, Engine
from graphghha.errors import CheckpointError, GraphError, NotFoundError
from graphghha.graph import PAPER_RULE, Edge, NeighborRule, Node, neighborhood

pytestmark = pytest.mark.slow

ZONE = plant(20)
RULES = {
    "cap-binds": NeighborRule(max_neighbors=3),
    "first-policy": NeighborRule(max_neighbors=3, policy="first", direction="in"),
    "uncapped": NeighborRule(),
    "paper": PAPER_RULE,
}
MODELS = {name: model(ZONE, neighbors=rule, layers=2, width=16, heads=2) for name, rule in RULES.items()}


def assert_like_a_fresh_engine(dynamic: DynamicEngine, name: str) -> None:
    graph = dynamic.graph()
    assert graph.names == dynamic.names
    want = neighborhood(graph, RULES[name])
    for row in range(graph.num_nodes):
        np.testing.assert_array_equal(dynamic._rows[row], want.neighbors(row))
    x, mask = windows(graph, 2), masks(graph, 2)
    fresh = Engine(MODELS[name], graph, backend="native")
    np.testing.assert_array_equal(dynamic.score(x), fresh.score(x))
    np.testing.assert_array_equal(dynamic.score(x[0], mask[0]), fresh.score(x[0], mask[0]))


class Changes(RuleBasedStateMachine):
    """Any order of additions and removals."""

    @initialize(name=st.sampled_from(sorted(RULES)))
    def start(self, name):
        self.name, self.dynamic, self.number = name, DynamicEngine(MODELS[name], ZONE.replicate(2)), 0

    @rule()
    def add_a_zone(self):
        self.number += 1
        self.dynamic.add_zone(ZONE, f"new-{self.number}")

    @precondition(lambda self: self.dynamic.num_nodes > 45)
    @rule(data=st.data())
    def remove_a_zone(self, data):
        zones = sorted(zone for zone in self.dynamic._zones if zone is not None)
        if len(zones) > 1:
            self.dynamic.remove_zone(data.draw(st.sampled_from(zones)))

    @rule(role=st.sampled_from(ZONE.nodes), data=st.data())
    def add_a_node_with_an_edge(self, role, data):
        self.number += 1
        node = Node(f"extra-{self.number}", role.kind, role.role, role.signal)
        others = [n for n in self.dynamic.graph().nodes if {str(n.kind), str(node.kind)} == {"sensor", "controller"}]
        edges = []
        if others:
            other = data.draw(st.sampled_from(others))
            ends = sorted((node, other), key=lambda n: str(n.kind), reverse=True)
            edges = [Edge(ends[0].name, ends[1].name, "comm")]
        self.dynamic.add([node], edges)

    @precondition(lambda self: self.dynamic.num_nodes > 10)
    @rule(data=st.data())
    def remove_a_node(self, data):
        self.dynamic.remove([data.draw(st.sampled_from(self.dynamic.names))])

    @rule(data=st.data())
    def remove_an_edge(self, data):
        edges = self.dynamic.graph().edges
        if edges:
            edge = data.draw(st.sampled_from(edges))
            self.dynamic.remove_edge(edge.source, edge.target)

    @invariant()
    def scores_equal_a_fresh_engines(self):
        if hasattr(self, "dynamic"):
            assert_like_a_fresh_engine(self.dynamic, self.name)


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=12, stateful_step_count=8, deadline=None)


def test_growing_far_beyond_the_first_capacity_keeps_every_row():
    dynamic = DynamicEngine(MODELS["uncapped"], ZONE)
    for number in range(12):
        dynamic.add_zone(ZONE, f"z{number}")
    assert dynamic.num_nodes == 13 * 20
    assert_like_a_fresh_engine(dynamic, "uncapped")


def test_a_change_rewrites_only_the_rows_around_it(monkeypatch):
    dynamic = DynamicEngine(MODELS["cap-binds"], ZONE.replicate(10))
    written = []
    monkeypatch.setattr(dynamic._rows, "write", lambda row, content: written.append(row))
    edge = dynamic.graph().edges[0]
    dynamic.remove_edge(edge.source, edge.target)
    assert 0 < len(written) <= 20


@pytest.fixture
def dynamic() -> DynamicEngine:
    return DynamicEngine(MODELS["cap-binds"], ZONE.replicate(2))


def test_what_does_not_fit_is_refused_and_leaves_the_graph_as_it_was(dynamic):
    before = dynamic.graph().content_hash
    first, second = dynamic.names[0], dynamic.names[3]
    with pytest.raises(GraphError, match="appears twice"):
        dynamic.add([Node(first, "sensor", "n0")])
    with pytest.raises(CheckpointError, match="was not built for: boiler"):
        dynamic.add([Node("boiler", "actuator")])
    with pytest.raises(GraphError, match="comm edges go from"):
        dynamic.add([Node("x", "sensor", "n0")], [Edge(second, "x", "comm")])
    with pytest.raises(NotFoundError, match="no node is named 'nowhere'"):
        dynamic.add([], [Edge(first, "nowhere", "comm")])
    with pytest.raises(NotFoundError, match="no zone is named"):
        dynamic.remove_zone("attic")
    with pytest.raises(NotFoundError, match="no edge"):
        dynamic.remove_edge(first, second)
    with pytest.raises(GraphError, match="already exists"):
        dynamic.add_zone(ZONE, "zone-01")
    with pytest.raises(GraphError, match="empty graph"):
        dynamic.remove(dynamic.names)
    edge = dynamic.graph().edges[0]
    with pytest.raises(GraphError, match="the edge appears twice"):
        dynamic.add([], [edge])
    assert dynamic.graph().content_hash == before
