import tomllib

import pytest
from click.testing import CliRunner

from export_builders import read, table
from graphghha.cli import main
from graphghha.errors import DataError, GraphError
from graphghha.exports import guess_kind, read_exports
from graphghha.exports.equipment import find_templates, parent_of, split_name
from graphghha.exports.plant_toml import plant_toml
from graphghha.exports.proposal import propose_plant
from graphghha.graph import CpsGraph, Edge, EdgeKind, Node
from graphghha.plants import load_plant


@pytest.mark.parametrize(
    "name, letters, number, rest",
    [
        ("VAV-1_ZN-T", "VAV", "1", "ZN-T"),
        ("VAV-3-DA-T", "VAV", "3", "DA-T"),
        ("S_7_PH-O", "S", "7", "PH-O"),
        ("AHU1/VAV-12/ZN-T", "VAV", "12", "ZN-T"),
        ("NAE1/N2-1.VAV-4.ZN-T", "VAV", "4", "ZN-T"),
        ("FCU 9 Room Temp", "FCU", "9", "Room Temp"),
        ("[default]Tank1/Pump/Cmd", "TANK", "1", "Pump-Cmd"),
        ("B1.F2.VAV201.RoomTemp", "VAV", "201", "RoomTemp"),
        ("B1.OutdoorTemp", "", "", "B1.OutdoorTemp"),
        ("AHU_1_VAV_3_ZoneTemp", "VAV", "3", "ZoneTemp"),
        ("VAV-1_04-ZN-T", "VAV", "1-04", "ZN-T"),
        ("VAV2-11 Space Temp", "VAV", "2-11", "Space Temp"),
        ("VAV101ZNT", "VAV", "101", "ZNT"),
        ("S-7_EF5-C", "S", "7", "EF5-C"),
        ("VAV-10-0CC-O", "VAV", "10", "0CC-O"),
        ("DA-P", "", "", "DA-P"),
        ("LIT101", "", "", "LIT101"),
    ],
)
def test_names_tell_the_equipment(name, letters, number, rest):
    assert split_name(name) == (letters, number, rest)


@pytest.mark.parametrize(
    "name, parent",
    [
        ("AHU1/VAV-12/ZN-T", "AHU1"),
        ("AHU_1_VAV_3_ZoneTemp", "AHU_1"),
        ("B1.F2.VAV201.RoomTemp", ""),
        ("NAE1/N2-1.VAV-4.ZN-T", ""),
        ("VAV-1_ZN-T", ""),
    ],
)
def test_names_tell_what_stands_in_front_of_the_equipment(name, parent):
    assert parent_of(name) == parent


def templates(*names):
    found, guesses = find_templates({name: guess_kind(name) for name in names}, "site")
    return {template.name: template for template in found}, guesses


def test_copies_share_a_template_in_spite_of_inconsistent_names():
    boxes = [f"VAV-{n}{mark}{point}" for n, mark in ((1, "_"), (2, "-"), (10, "_")) for point in ("ZN-T", "DPR-O")]
    found, guesses = templates(*boxes, "VAV-1_OCC-O", "VAV-2-OCC-C", "VAV-10_RAD-O", "S-7_DA-T", "S_7_PH-O", "SF-O")
    assert found["vav"].copies == ("VAV-1", "VAV-2", "VAV-10")
    assert found["vav"].roles == ("ZN-T", "DPR-O", "OCC", "RAD-O")
    assert found["vav"].missing("RAD-O") == ("VAV-1", "VAV-2") and found["vav"].missing("OCC") == ("VAV-10",)
    # a point without equipment goes to the only piece that has no copies
    assert found["S-7"].points["S-7", "SF-O"] == "SF-O" and set(found) == {"vav", "S-7"}
    assert "copies VAV-1, VAV-2, VAV-10" in "\n".join(map(str, guesses))


def test_pieces_with_other_points_are_no_copies():
    found, _ = templates("P1_FT01", "P1_LIT01", "P2_SIT01", "P2_VIBTR01", "TK-1_LIT", "TK-2_LIT")
    assert found["tk"].copies == ("TK-1", "TK-2") and {"P1", "P2"} <= set(found)
    assert templates("L_T1", "P_J280")[0]["site"].roles == ("L-T-1", "P-J-280")


@pytest.fixture
def export(tmp_path):
    """Two tanks fed by one pump house."""
    line = "%Y-%m-%d %H:%M,{v}"
    texts = {
        "TK-1_LIT": table("time,Value (m)", line),
        "TK-2-LIT": table("time,Value (m)", line),
        "TK-1_V-O": table("time,Value (%)", line),
        "TK-2_V-O": table("time,Value (%)", line),
        "PH-1_P-T": table("time,Value (°F)", line),
        "PH-1_P-C": "time,Value\n2021-05-30 11:00,Off\n2021-05-30 12:20,On\n2021-05-30 13:50,Off\n",
        "PH-1_P-SP": "time,Value\n2021-05-30 11:00,5\n2021-05-30 12:20,6\n2021-05-30 13:50,5\n",
        "PH-1_X-T": "time,Value (°F)\n" + "".join(f"2021-05-30 12:{m:02},-250\n" for m in range(20)),
    }
    return read(tmp_path, *texts.values(), names=tuple(f"{name}.csv" for name in texts), zone="UTC")


def test_a_plant_is_proposed_with_everything_it_needs(export):
    plant = tomllib.loads(plant_toml(propose_plant(export, "works")))
    assert plant["plant"] == {"format": "graphghha-plant/1", "name": "works", "step_s": 300, "zone": "UTC"}
    by_name = {template["name"]: template for template in plant["template"]}
    assert by_name["tk"]["copies"] == ["TK-1", "TK-2"] and by_name["PH-1"]["copies"] == ["PH-1"]
    signals = {signal["name"]: signal for template in plant["template"] for signal in template["signal"]}
    assert signals["P-T"]["limits"] == [-58, 392] and signals["P-T"]["unit"] == "degF"
    assert signals["P-T"]["sampling"] == 300 and signals["P-T"]["stale_after_s"] == 900
    assert signals["P-T"]["resolution"] == 0.1 and signals["P-T"]["kind"] == "sensor"
    assert signals["P-C"]["states"] == ["Off", "On"] and signals["P-C"]["sampling"] == "cov"
    assert signals["LIT"]["columns"] == {"TK-1": "TK-1_LIT", "TK-2": "TK-2-LIT"}
    assert signals["P-SP"]["kind"] == "controller" and "unit" not in signals["P-SP"]
    assert {"from": "PH-1/P-C", "to": "tk/LIT", "kind": "phys"} in plant["edge"]


def test_what_was_left_out_and_guessed_stands_in_the_file(export):
    text = plant_toml(propose_plant(export, "works"))
    assert "# left out: PH-1_X-T: -250 °F means no sensor" in text
    assert "# guessed: TK: copies TK-1, TK-2" in text and '# unit = ""  # state it' in text


def plant_graph(proposal):
    """Build the graph that a plant file describes, as the page of the plant file says."""
    plant = tomllib.loads(plant_toml(proposal))
    nodes, edges, name_of, copies = [], [], {}, {}
    for template in plant["template"]:
        copies[template["name"]] = template["copies"]
        for signal in template["signal"] + template.get("equipment", []):
            for copy in template["copies"]:
                if "columns" in signal and copy not in signal["columns"]:
                    assert copy in signal["missing"]
                    continue
                name = signal.get("columns", {}).get(copy, f"{copy}/{signal['name']}")
                name_of[template["name"], copy, signal["name"]] = name
                zone = copy if len(template["copies"]) > 1 else None
                nodes.append(Node(name, signal["kind"], f"{template['name']}/{signal['name']}", name, zone))
        for source, target, kind in template["edges"]:
            for copy in template["copies"]:
                ends = [name_of.get((template["name"], copy, role)) for role in (source, target)]
                edges += [Edge(*ends, kind)] if all(ends) else []
    for edge in plant.get("edge", []):
        (source, role), (target, other) = (edge[end].split("/", 1) for end in ("from", "to"))
        for pair in edge.get("pairs") or [(a, b) for a in copies[source] for b in copies[target]]:
            ends = [name_of.get((source, pair[0], role)), name_of.get((target, pair[1], other))]
            edges += [Edge(*ends, edge["kind"])] if all(ends) else []
    return CpsGraph(nodes, edges)  # raises if an edge breaks the rules


def test_a_proposed_plant_is_a_valid_graph(export):
    graph = plant_graph(propose_plant(export, "works"))
    assert graph.num_nodes == 7
    assert graph.edge_between(graph.index("PH-1_P-C"), graph.index("TK-2-LIT")) is EdgeKind.PHYS


def test_a_given_graph_decides_kinds_copies_and_edges(export):
    graph = CpsGraph(
        [
            Node("level", "sensor", role="level", signal="TK-1_LIT", zone="north"),
            Node("level 2", "sensor", role="level", signal="tk-2_lit", zone="south"),
            Node("valve", "controller", role="valve", signal="TK-1_V-O", zone="north"),
            Node("vessel", "actuator", zone="north", role="vessel"),
            Node("lost", "sensor", signal="TK-9_LIT"),
        ],
        [Edge("level", "valve", "comm"), Edge("vessel", "level", "phys"), Edge("level", "level 2", "near")],
    )
    proposal = propose_plant(export, "works", graph)
    found = {template.name: template for template in proposal.templates}["north"]
    assert found.copies == ("north", "south") and found.equipment == (("vessel", "actuator"),)
    assert {signal.role: signal.kind for signal in found.signals} == {"level": "sensor", "valve": "controller"}
    assert set(found.edges) == {("level", "valve", "comm"), ("vessel", "level", "phys")}
    assert proposal.shared_edges[0].pairs == (("north", "south"),)
    said = "\n".join(map(str, [*proposal.omissions, *proposal.guesses]))
    assert "lost: 1 node left out: no point of the data" in said and "TK-2_V-O: edges none" in said
    assert plant_graph(proposal).num_edges == 4


def test_outdoor_air_that_a_graph_does_not_name_still_explains_its_copies(tmp_path):
    names = ["Roof Outdoor Air Temp (°F)", *(f"VAV-{box}_{role}" for box in (1, 2) for role in ("ZN-T (°F)", "DPR-O"))]
    text = table("time," + ",".join(names), "%Y-%m-%d %H:%M" + ",{v}" * 5)
    nodes = [Node(f"z{box}", "sensor", role="t", signal=f"VAV-{box}_ZN-T", zone=f"box {box}") for box in (1, 2)]
    nodes += [Node(f"d{box}", "actuator", role="d", signal=f"VAV-{box}_DPR-O", zone=f"box {box}") for box in (1, 2)]
    graph = CpsGraph(nodes, [Edge(f"d{box}", f"z{box}", "phys") for box in (1, 2)])
    proposal = propose_plant(read(tmp_path, text), "works", graph)
    assert [(edge.role, edge.other) for edge in proposal.shared_edges] == [("ROOF-OUTDOOR-AIR-TEMP", "t")]
    assert any("it is outdoor air" in guess.reason for guess in proposal.guesses)


def test_a_graph_of_another_plant_is_refused(export):
    with pytest.raises(GraphError, match="no point in common.*give the nodes a signal"):
        propose_plant(export, "works", CpsGraph([Node("x", "sensor", signal="x")]))


def test_names_tell_which_air_handler_feeds_a_box(tmp_path):
    heads = [f"AHU{a}/VAV-{b}/{p}" for a, b in ((1, 1), (1, 2), (2, 3)) for p in ("ZN-T (°F)", "DPR-O (%)")]
    heads += [f"AHU{a}/{p}" for a in (1, 2) for p in ("SA-T (°F)", "OA-T (°F)", "SF-O (%)")]
    text = table("time," + ",".join(heads), "%Y-%m-%d %H:%M" + ",{v}" * len(heads))
    proposal = propose_plant(read(tmp_path, text), "site")
    graph = plant_graph(proposal)
    boxes = next(template for template in proposal.templates if len(template.copies) == 3)
    assert boxes.copies == ("VAV-1", "VAV-2", "VAV-3")
    feeds = {(e.source, e.target) for e in graph.edges if e.source.endswith("SF-O") and "VAV" in e.target}
    assert feeds == {
        ("AHU1/SF-O", "AHU1/VAV-1/ZN-T"),
        ("AHU1/SF-O", "AHU1/VAV-2/ZN-T"),
        ("AHU2/SF-O", "AHU2/VAV-3/ZN-T"),
    }


def test_readings_beyond_a_usual_instrument_widen_or_drop_its_limits(tmp_path):
    lines = "".join(f"2021-05-30 {12 + m // 60}:{m % 60:02},{100.5 + m % 3},{300 + m % 7}\n" for m in range(90))
    signals = propose_plant(read(tmp_path, f"time,A-O (%),B-O (%)\n{lines}"), "x").templates[0].signals
    assert (signals[0].low, signals[0].high) == (-5.0, 105.0) and signals[1].high is None
    assert "beyond a usual instrument" in signals[1].remarks[-1]


def test_limits_are_never_learned(export):
    signals = {s.role: s for template in propose_plant(export, "works").templates for s in template.signals}
    assert signals["LIT"].low is None and signals["V-O"].high == 100.0


def test_the_command_writes_the_file_and_refuses_what_it_cannot_use(tmp_path):
    (tmp_path / "a.csv").write_text(table("time,TK-1_LIT (m),TK-2_LIT (m)", "%Y-%m-%d %H:%M,{v},{v}"))
    out = tmp_path / "plant.toml"
    result = CliRunner().invoke(main, ["plant", "new", "--data", str(tmp_path / "a.csv"), "--out", str(out)])
    assert result.exit_code == 0 and "tk: 1 signals, 2 copies" in result.stderr
    assert tomllib.loads(out.read_text())["plant"]["name"] == "plant"
    absent = CliRunner().invoke(main, ["plant", "new", "--data", "absent", "--out", str(out)])
    assert absent.exit_code == 3 and "no such file or folder" in absent.stderr
    nowhere = CliRunner().invoke(main, ["plant", "new", "--data", str(tmp_path / "a.csv"), "--out", "/nowhere/p.toml"])
    assert nowhere.exit_code == 2 and "there is no folder" in nowhere.stderr


def test_a_plant_without_a_living_point_is_refused(tmp_path):
    lines = "".join(f"2021-05-30 12:{m:02},-250\n" for m in range(20))
    with pytest.raises(DataError, match="no point with a reading"):
        propose_plant(read(tmp_path, f"time,X-T (°F)\n{lines}"), "dead")


def test_the_real_site_becomes_an_air_handler_and_six_boxes(data_dir):
    plant = propose_plant(read_exports([data_dir / "real_site" / "exports"]), "site")
    by_name = {template.name: template for template in plant.templates}
    assert set(by_name) == {"S-7", "vav"} and plant.step_s == 300
    assert by_name["vav"].copies == tuple(f"VAV-{number}" for number in range(1, 7))
    boxes = {signal.role: signal for signal in by_name["vav"].signals}
    assert len(boxes["ZN-T"].columns) == 6 and boxes["RAD-O"].missing == ("VAV-6",)
    assert len(boxes["DA-T"].columns) == 1 and len(boxes["OCC"].columns) == 6
    handler = {signal.role for signal in by_name["S-7"].signals}
    assert {"DA-P", "SF-O", "PH-O", "OA-T"} <= handler
    accounted = sum(len(signal.columns) for template in plant.templates for signal in template.signals)
    assert accounted + len(plant.omissions) == 90
    graph = plant_graph(plant)
    assert graph.zone_names == tuple(f"VAV-{number}" for number in range(1, 7))
    shared = {signal.role for signal in by_name["S-7"].signals if signal.is_shared}
    assert shared == {"OA-T", "DA-T"}
    assert graph.edge_between(graph.index("S-7_OA-T"), graph.index("VAV-4_ZN-T")) is EdgeKind.NEAR
    assert not set(range(graph.num_nodes)) - set(graph.edge_index.ravel())


def test_published_plants_are_proposed_with_their_kinds(data_dir):
    plant = propose_plant(read_exports([data_dir / "batadal" / "train_normal.parquet"]), "water")
    assert plant.labels == ("ATT_FLAG",) and plant.step_s == 3600
    assert len(plant.templates[0].signals) == 43 and "BATADAL" in str(plant.guesses[0])
    graph = plant_graph(plant)
    assert graph.num_nodes == 43 and not set(range(43)) - set(graph.edge_index.ravel())


def test_a_proposed_plant_file_is_loaded_as_it_was_meant(export, tmp_path):
    proposal = propose_plant(export, "works")
    (tmp_path / "plant.toml").write_text(plant_toml(proposal))
    loaded, meant = load_plant(tmp_path / "plant.toml").template, plant_graph(proposal)
    assert set(loaded.names) == set(meant.names)
    assert {(e.source, e.target, e.kind) for e in loaded.edges} == {(e.source, e.target, e.kind) for e in meant.edges}
    checked = CliRunner().invoke(main, ["graph", "check", str(tmp_path / "plant.toml")])
    assert checked.exit_code == 0 and "nodes                  7" in checked.stdout
