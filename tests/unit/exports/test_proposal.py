import tomllib

import pytest
from click.testing import CliRunner

from export_builders import read, table
from graphghha.cli import main
from graphghha.errors import DataError
from graphghha.exports import guess_kind, read_exports
from graphghha.exports.equipment import find_templates, split_name
from graphghha.exports.plant_toml import plant_toml
from graphghha.exports.proposal import propose_plant
from graphghha.graph import CpsGraph, Edge, Node


@pytest.mark.parametrize(
    "name, letters, number, rest",
    [
        ("VAV-1_ZN-T", "VAV", "1", "ZN-T"),
        ("VAV-3-DA-T", "VAV", "3", "DA-T"),
        ("S_7_PH-O", "S", "7", "PH-O"),
        ("AHU1/VAV-12/ZN-T", "VAV", "12", "ZN-T"),
        ("NAE1/N2-1.VAV-4.ZN-T", "VAV", "4", "ZN-T"),
        ("FCU 9 Room Temp", "FCU", "9", "Room Temp"),
        ("DA-P", "", "", "DA-P"),
        ("LIT101", "", "", "LIT101"),
    ],
)
def test_names_tell_the_equipment(name, letters, number, rest):
    assert split_name(name) == (letters, number, rest)


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
    assert plant["plant"] == {"name": "works", "step_s": 300, "zone": "UTC"}
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


def test_the_edges_of_a_template_make_a_valid_graph(export):
    for template in propose_plant(export, "works").templates:
        nodes = [Node(signal.role, signal.kind) for signal in template.signals]
        CpsGraph(nodes, [Edge(*edge) for edge in template.edges])  # raises if an edge breaks the rules


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
