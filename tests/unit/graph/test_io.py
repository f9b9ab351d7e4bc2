"""Graphs survive the trip through JSON, and a broken file says where it is broken."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import loop_template, random_graph
from graphghha.errors import DataError, GraphError
from graphghha.graph import (
    CpsGraph,
    Edge,
    Node,
    graph_from_dict,
    graph_to_dict,
    read_graph,
    summarize_graph,
    write_graph,
)
from graphghha.graph.io import FORMAT


@given(st.integers(1, 20), st.integers(0, 40), st.integers(0, 1000), st.integers(0, 3))
@settings(deadline=None, max_examples=50)
def test_round_trip(nodes, edges, seed, zones):
    graph = random_graph(nodes, edges, seed)
    graph = graph.replicate(zones) if zones else graph
    assert graph_from_dict(json.loads(json.dumps(graph_to_dict(graph)))) == graph


@pytest.mark.parametrize("name", ["g.json", "g.toml"])
def test_files_keep_reasons(tmp_path, name):
    odd = Node('say "hi"\n\\', "sensor", signal="Temp °C \N{GRINNING FACE}")
    graph = CpsGraph([*loop_template().nodes, odd], loop_template().edges)
    write_graph(graph, tmp_path / name)
    assert read_graph(tmp_path / name).edges == graph.edges and read_graph(tmp_path / name) == graph


def test_a_torn_toml_file_is_named(tmp_path):
    (tmp_path / "g.toml").write_text("[[nodes")
    with pytest.raises(DataError, match=r"g.toml: is not TOML"):
        read_graph(tmp_path / "g.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("{", "is not JSON", id="torn"),
        pytest.param("[]", "expected a graph with format", id="list"),
        pytest.param('{"format": "other/2"}', "found 'other/2'", id="format"),
        pytest.param(json.dumps({"format": FORMAT, "nodes": {}}), "nodes must be a list", id="nodes"),
        pytest.param(json.dumps({"format": FORMAT, "nodes": [3]}), r"nodes\[0\]", id="entry"),
        pytest.param(json.dumps({"format": FORMAT, "nodes": [{"name": "a"}]}), "do not fit", id="field"),
        pytest.param(json.dumps({"format": FORMAT, "nodes": []}), "the graph is empty", id="empty"),
    ],
)
def test_a_broken_file_is_named_with_its_fault(tmp_path, text, message):
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises((DataError, GraphError), match=f"broken.json.*{message}"):
        read_graph(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="nowhere.json: cannot be read"):
        read_graph(tmp_path / "nowhere.json")


def test_a_summary_counts_and_names_the_nodes_worth_a_second_look():
    nodes = [Node("s", "sensor", signal="T"), Node("c", "controller"), Node("a", "actuator")]
    summary = summarize_graph(CpsGraph(nodes, [Edge("s", "c", "comm")]).replicate(2))
    assert (summary["nodes"], summary["sensors"], summary["zones"], summary["comm_edges"]) == (6, 2, 2, 2)
    assert summary["without_signal"] == ["zone-01/c", "zone-01/a", "zone-02/c", "zone-02/a"]
    assert summary["isolated"] == ["zone-01/a", "zone-02/a"]
