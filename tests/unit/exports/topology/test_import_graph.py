"""Models of a site become graphs; what cannot be mapped is named with the reason."""

import json

import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.errors import ConfigError, DataError, GraphError
from graphghha.exports.topology import import_graph
from graphghha.graph import EdgeKind, read_graph

BRICK = """
@prefix brick: <https://brickschema.org/schema/Brick#> .
@prefix ref: <https://brickschema.org/schema/Brick/ref#> .
@prefix b: <urn://site#> .
b:AHU1 a brick:AHU ; brick:hasPoint b:OAT, b:SAT, b:SFS ; brick:hasPart b:Coil .
b:Coil a brick:Cooling_Coil ; brick:hasPoint b:EWT .
b:EWT a brick:Entering_Water_Temperature_Sensor .
b:OAT a brick:Outside_Air_Temperature_Sensor .
b:SAT a brick:Supply_Air_Temperature_Sensor ; ref:hasExternalReference [ ref:hasTimeseriesId "4711" ] .
b:SFS a brick:Fan_Status .
b:VAV1 a brick:VAV ; brick:isFedBy b:AHU1 ; brick:feeds b:Room1 .
b:VAV2 a brick:VAV ; brick:isFedBy b:AHU1 ; brick:likes b:VAV1 .
b:Room1 a brick:HVAC_Zone .
b:VAV1.ZNT a brick:Zone_Air_Temperature_Sensor ; brick:isPointOf b:VAV1 .
b:VAV1.DPR a brick:Damper_Position_Command ; brick:isPointOf b:VAV1 .
b:VAV2.ZNT a brick:Zone_Air_Temperature_Sensor ; brick:isPointOf b:VAV2 .
b:VAV2.DPR a brick:Damper_Position_Command ; brick:isPointOf b:VAV2 .
b:Thing1 a brick:Point ; brick:isPointOf b:VAV2 .
"""

S223 = """
@prefix s223: <http://data.ashrae.org/standard223#> .
@prefix m: <urn://m/> .
m:Fan a s223:Fan ; s223:hasConnectionPoint m:Fan-out ; s223:hasProperty m:Fan-speed .
m:Fan-out a s223:OutletConnectionPoint ; s223:connectsThrough m:Duct .
m:Duct a s223:Duct ; s223:connectsAt m:Fan-out, m:Room-in .
m:Room a s223:DomainSpace ; s223:hasConnectionPoint m:Room-in ; s223:hasProperty m:Room-temp, m:Room-temp-sp .
m:Room-in a s223:InletConnectionPoint .
m:Room-temp a s223:QuantifiableObservableProperty .
m:Sensor a s223:Sensor ; s223:observes m:Room-temp .
m:Room-temp-sp a s223:QuantifiableActuatableProperty ; s223:hasAspect s223:Aspect-Setpoint .
m:Fan-speed a s223:QuantifiableActuatableProperty .
m:Drive a s223:VFD ; s223:commandedByProperty m:Fan-speed .
m:Loop a s223:FunctionBlock ; s223:hasInput m:Room-temp, m:Room-temp-sp ; s223:hasOutput m:Fan-speed .
"""

HAYSTACK = {
    "rows": [
        {"id": "r:s1", "dis": "Site", "site": "m:"},
        {"id": "r:a1 AHU-1", "dis": "AHU-1", "equip": "m:", "ahu": "m:"},
        {"id": "r:v1", "dis": "VAV-1", "equip": "m:", "vav": "m:", "airRef": "r:a1 AHU-1"},
        {"id": {"_kind": "ref", "val": "p1"}, "dis": "DAT", "point": "m:", "sensor": "m:", "equipRef": "r:a1"},
        {"id": "@p2", "dis": "Fan Cmd", "point": {"_kind": "marker"}, "cmd": "m:", "fan": "m:", "equipRef": "@a1"},
        {"id": "r:p3", "dis": "ZNT", "point": "m:", "sensor": "m:", "zone": "m:", "temp": "m:", "equipRef": "r:v1"},
        {"id": "r:p4", "dis": "Damper", "point": "m:", "sensor": "m:", "damper": "m:", "equipRef": "r:v1"},
        {"id": "r:p5", "dis": "ZN Sp", "point": "m:", "sp": "m:", "equipRef": "r:v1"},
        {"id": "r:w", "dis": "Weather", "weather": "m:"},
        {"dis": "nobody"},
    ]
}

SHEET = """point,equipment,kind,role,fed by,remark
AHU1_OAT,AHU1,,,,
AHU1_SF-C,AHU1,actuator,,,
VAV-1_ZN-T,VAV-1,sensor,room,AHU1,
VAV-1_DPR-O,VAV-1,,,,
VAV-2_ZN-T,VAV-2,sensor,room,AHU1,
VAV-2_DPR-O,VAV-2,,,,
meter,,sensor,,VAV-1_ZN-T; VAV-2_ZN-T,
,boiler,,,,
"""


def imported(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return import_graph(tmp_path / name)


def kinds(graph):
    return {node.name: str(node.kind) for node in graph.nodes}


def left_out(result):
    return "\n".join(map(str, result.omissions))


def test_a_brick_model_becomes_a_graph_with_copies_and_shared_nodes(tmp_path):
    result = imported(tmp_path, "site.ttl", BRICK)
    graph = result.graph
    assert graph.zone_names == ("VAV1", "VAV2")
    assert graph.nodes[graph.index("VAV1.ZNT")].role == graph.nodes[graph.index("VAV2.ZNT")].role == "ZNT"
    assert kinds(graph)["VAV1.DPR"] == kinds(graph)["SFS"] == "actuator" and kinds(graph)["OAT"] == "sensor"
    assert graph.nodes[graph.index("SAT")].signal == "4711"  # its name in telemetry
    # a coil that measures and commands nothing is a node without a signal
    coil = graph.nodes[graph.index("Coil")]
    assert coil.signal is None and graph.edge_between(graph.index("Coil"), graph.index("EWT")) is EdgeKind.PHYS
    for box in ("VAV1", "VAV2"):
        zone = graph.index(f"{box}.ZNT")
        assert graph.edge_between(graph.index("SFS"), zone) is EdgeKind.PHYS
        assert graph.edge_between(graph.index("OAT"), zone) is EdgeKind.NEAR
        assert graph.edge_between(graph.index(f"{box}.DPR"), zone) is EdgeKind.PHYS
    assert graph.edge_between(graph.index("VAV1.DPR"), graph.index("VAV2.ZNT")) is None


def test_labels_and_bacnet_names_of_a_brick_model_are_the_columns_of_the_data(tmp_path):
    more = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix bacnet: <http://data.ashrae.org/bacnet/2020#> .
b:VAV1.ZNT rdfs:label "VAV 1/Zone Air Temp" . b:VAV2.ZNT rdfs:label "VAV 2/Zone Air Temp" .
b:VAV1.DPR rdfs:label "Damper" . b:VAV2.DPR rdfs:label "Damper" .
b:OAT rdfs:label "Outdoor air" ; ref:hasExternalReference [ bacnet:object-name "AHU1.OA-T" ] .
b:SAT rdfs:label "Supply air" .
"""
    graph = imported(tmp_path, "m.ttl", BRICK + more).graph
    signals = {node.name: node.signal for node in graph.nodes}
    assert signals["VAV1.ZNT"] == "VAV 1/Zone Air Temp"
    assert signals["VAV1.DPR"] == "VAV1.DPR", "two points have this label"
    assert signals["OAT"] == "AHU1.OA-T"
    assert signals["SAT"] == "4711", "the time series is what data name"


def test_what_a_brick_model_says_beyond_a_graph_is_listed(tmp_path):
    said = left_out(imported(tmp_path, "site.ttl", BRICK))
    assert "1 x likes: 1 relation left out: this relation is not understood" in said
    assert "Thing1: 1 point left out: neither its class nor its name shows" in said
    assert "Room1: 1 equipment left out: it has no point" in said


def test_connections_of_223p_are_contracted(tmp_path):
    graph = imported(tmp_path, "site.ttl", S223).graph
    assert kinds(graph) == {"Fan-speed": "actuator", "Room-temp": "sensor", "Room-temp-sp": "controller"}
    between = {(edge.source, edge.target): edge.kind for edge in graph.edges}
    assert between["Fan-speed", "Room-temp"] == "phys"  # through the duct
    assert between["Room-temp-sp", "Fan-speed"] == "comm"


def test_haystack_tags_of_both_versions_are_understood(tmp_path):
    result = imported(tmp_path, "site.json", json.dumps(HAYSTACK))
    assert kinds(result.graph) == {
        "DAT": "sensor",
        "Fan Cmd": "actuator",
        "ZNT": "sensor",
        "Damper": "actuator",
        "ZN Sp": "controller",
    }
    assert ("Fan Cmd", "ZNT", "phys") in {(e.source, e.target, e.kind) for e in result.graph.edges}
    assert "Weather" in left_out(result) and "it has no id" in left_out(result)


def test_an_equipment_sheet_becomes_a_graph(tmp_path):
    result = imported(tmp_path, "points.csv", SHEET)
    graph = result.graph
    assert graph.zone_names == ("VAV-1", "VAV-2")
    assert [node.role for node in graph.nodes if node.zone == "VAV-1"] == ["room", "DPR-O"]
    edges = {(edge.source, edge.target): edge.kind for edge in graph.edges}
    assert edges["AHU1_SF-C", "VAV-2_ZN-T"] == "phys" and edges["VAV-1_ZN-T", "meter"] == "near"
    assert "'remark'" in left_out(result)
    assert ("VAV-1_DPR-O", "actuator") in {(guess.about, guess.value) for guess in result.guesses}


@pytest.mark.parametrize(
    "name, text, error, message",
    [
        ("p.csv", "point,kind\nX,valv\n", GraphError, r"p.csv, line 2: point 'X': kind 'valv' is unknown"),
        ("p.csv", "point,kind\nX,sensor\nX,sensor\n", GraphError, "line 3: point 'X' appears twice"),
        ("p.csv", "point,equipment,fed by\nA_T,A,AHU\nB_T,AHU1,\n", GraphError, "fed by 'AHU'.*did you mean 'AHU1'"),
        ("p.csv", "tagname2,kind\nX,sensor\n", DataError, "no column is named 'point'"),
        ("p.csv", "point\nfoo\n", GraphError, "no point could be used; give at least one with a kind"),
        ("p.csv", "", DataError, "the file is empty"),
        ("m.ttl", "@prefix", DataError, "is not an RDF model"),
        ("m.ttl", "<urn://a> <urn://b> <urn://c> .", DataError, "neither hasPoint nor hasProperty"),
        ("h.json", "{", DataError, "is not JSON"),
        ("h.json", "3", DataError, "expected a Haystack grid"),
        ("h.json", "[]", DataError, "no entity has the tag 'point'"),
        ("m.docx", "", ConfigError, "ends with"),
    ],
)
def test_a_model_that_cannot_be_used_says_what_to_change(tmp_path, name, text, error, message):
    with pytest.raises(error, match=message):
        imported(tmp_path, name, text)


def test_the_command_writes_a_graph_that_check_accepts(tmp_path):
    (tmp_path / "points.csv").write_text(SHEET)
    for ending in ("toml", "json"):
        out = tmp_path / f"graph.{ending}"
        result = CliRunner().invoke(main, ["graph", "import", str(tmp_path / "points.csv"), "--out", str(out)])
        assert result.exit_code == 0 and "kind actuator" in result.stderr and str(out) in result.stdout
        assert CliRunner().invoke(main, ["graph", "check", str(out)]).exit_code == 0
    assert read_graph(tmp_path / "graph.toml") == read_graph(tmp_path / "graph.json")
    bad = CliRunner().invoke(main, ["graph", "import", str(tmp_path / "points.csv"), "--out", "graph.xml"])
    assert bad.exit_code == 2 and "ends with .toml or .json" in bad.stderr
    report = CliRunner().invoke(
        main, ["graph", "import", str(tmp_path / "points.csv"), "--out", str(tmp_path / "g.json"), "--json"]
    )
    assert json.loads(report.stdout)["zones"] == ["VAV-1", "VAV-2"]


@pytest.mark.parametrize("name, nodes", [("brick_corrected", 29), ("brick_shipped", 27)])
def test_the_published_brick_models_become_valid_graphs(data_dir, name, nodes):
    result = import_graph(data_dir / "lbnl_fcu" / f"{name}.ttl")
    graph = result.graph
    assert graph.num_nodes == nodes and not set(range(nodes)) - set(graph.edge_index.ravel())
    found = kinds(graph)
    if name == "brick_corrected":
        assert found["FCU_CVLV"] == found["FCU_CVLV_DM"] == "actuator" and found["FCU_CTRL"] == "controller"
        edges = {(edge.source, edge.target): edge.kind for edge in graph.edges}
        assert edges["FCU_CVLV", "RM_TEMP"] == "phys" and edges["RMCLGSPT", "FCU_CVLV_DM"] == "comm"
    else:
        assert "Valve_Command: 1 relation left out: it is a point of FCU_CV and FCU_HV" in left_out(result)
