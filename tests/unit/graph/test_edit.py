import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.errors import DataError, GraphError
from graphghha.graph import CpsGraph, Edge, Node, edit_graph, read_graph, read_overrides, write_graph

GRAPH = CpsGraph(
    [Node("level", "sensor"), Node("plc", "controller"), Node("pump", "actuator"), Node("spare", "sensor")],
    [Edge("level", "plc", "comm"), Edge("plc", "pump", "comm"), Edge("pump", "spare", "phys")],
)


def pairs(graph):
    return {(edge.source, edge.target): str(edge.kind) for edge in graph.edges}


def test_edges_and_nodes_change():
    changed = edit_graph(
        GRAPH,
        {
            "node": [{"name": "flow", "kind": "sensor", "add": True}, {"name": "level", "role": "tank", "zone": "T1"}],
            "remove": [{"node": "spare"}, {"from": "level", "to": "plc"}],
            "add": [{"from": "pump", "to": "flow", "kind": "phys"}, {"from": "flow", "to": "level"}],
        },
    )
    assert pairs(changed) == {("plc", "pump"): "comm", ("pump", "flow"): "phys", ("flow", "level"): "near"}
    level = changed.nodes[changed.index("level")]
    assert level.role == "tank" and level.zone == "T1"


def test_an_edge_is_reversed_with_another_kind():
    changed = edit_graph(GRAPH, {"reverse": [{"from": "pump", "to": "spare", "kind": "near"}]})
    assert pairs(changed)["spare", "pump"] == "near" and ("pump", "spare") not in pairs(changed)


@pytest.mark.parametrize(
    "overrides, message",
    [
        ({"add": [{"from": "pmp", "to": "level"}]}, r"add\[0\]: no node is named 'pmp'; did you mean 'pump'"),
        ({"add": [{"from": "plc", "to": "pump"}]}, "exists; remove it first"),
        ({"remove": [{"from": "plc", "to": "level"}]}, "there is no edge 'plc' -> 'level': it goes the other way"),
        ({"reverse": [{"from": "pump", "to": "spare"}]}, "overrides: edge 'spare'.*phys edges go.*near edge"),
        ({"node": [{"name": "level", "kind": "valve"}]}, "unknown kind 'valve'"),
        ({"node": [{"name": "level", "unit": "m"}]}, "has 'unit'; use"),
        ({"node": [{"name": "new", "add": True}]}, "needs a kind"),
        ({"edges": []}, "there is no table 'edges'"),
        ({"add": {"from": "a"}}, r"write \[\[add\]\]"),
    ],
)
def test_a_change_that_cannot_be_made_is_named(overrides, message):
    with pytest.raises(GraphError, match=message):
        edit_graph(GRAPH, overrides)


def test_the_command_changes_the_file_in_place_or_writes_another(tmp_path):
    path, changes = tmp_path / "g.toml", tmp_path / "changes.toml"
    write_graph(GRAPH, path)
    changes.write_text('[[remove]]\nnode = "spare"\n')
    result = CliRunner().invoke(main, ["graph", "edit", str(path), "--with", str(changes), "--out", f"{path}.json"])
    assert result.exit_code == 0 and read_graph(path) == GRAPH
    assert CliRunner().invoke(main, ["graph", "edit", str(path), "--with", str(changes)]).exit_code == 0
    assert "spare" not in read_graph(path).names
    again = CliRunner().invoke(main, ["graph", "edit", str(path), "--with", str(changes)])
    assert again.exit_code == 4 and "no node is named 'spare'" in again.stderr


def test_a_broken_file_of_changes_is_named(tmp_path):
    (tmp_path / "c.toml").write_text("[[")
    with pytest.raises(DataError, match=r"c.toml: is not TOML"):
        read_overrides(tmp_path / "c.toml")
    with pytest.raises(DataError, match="cannot be read"):
        read_overrides(tmp_path / "absent.toml")
