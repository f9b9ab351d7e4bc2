"""Plants that users describe in a TOML file."""

import numpy as np
import pytest

from graphghha.errors import ConfigError, DataError, GraphError
from graphghha.plants import Points, load_plant, parse_plant

TANKS = """
[plant]
name = "two tanks"
step_s = 0.5
zone = "Europe/Berlin"

[[template]]
name = "supply"
signal = [{ name = "pressure", unit = "bar", limits = [0, 10], columns = "P_MAIN" }]

[[template]]
name = "tank"
copies = ["T1", "T2"]
edges = [["pump", "level", "phys"]]
[[template.signal]]
name = "level"
unit = "m"
resolution = 0.01
columns = { T1 = "L1", T2 = "L2" }
[[template.signal]]
name = "pump"
kind = "actuator"
states = ["Off", "On"]
sampling = "cov"
columns = { T1 = "S1" }
missing = ["T2"]

[[edge]]
from = "tank/pump"
to = "supply/pressure"
kind = "phys"
"""


def test_copies_share_a_template_and_a_point_may_be_missing():
    plant = parse_plant(TANKS)
    assert plant.template.names == ("P_MAIN", "L1", "L2", "S1")
    assert plant.template.roles == ("supply/pressure", "tank/level", "tank/level", "tank/pump")
    assert {(edge.source, edge.target) for edge in plant.template.edges} == {("S1", "L1"), ("S1", "P_MAIN")}
    assert plant.step_s == 0.5 and plant.time_zone == "Europe/Berlin"
    assert plant.reporting["S1"].is_held and plant.reporting["L1"].stale_after_s == 1.5
    assert plant.building(3) is plant.template


def test_limits_are_those_of_the_instrument_or_none():
    points = Points.from_names(plant := parse_plant(TANKS), plant.template.points)
    assert points.impossible(slice(None), np.array([[11.0, 1e9, -1e9, 0.0]])).tolist() == [[True, False, False, False]]


def test_a_path_is_read_and_a_missing_file_says_how_to_make_one(tmp_path):
    (tmp_path / "plant.toml").write_text(TANKS)
    assert load_plant(tmp_path / "plant.toml") == load_plant(str(tmp_path / "plant.toml"))
    with pytest.raises(DataError, match="graphghha plant new"):
        load_plant(tmp_path / "other.toml")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("step_s = 0.5", "step_s = 0", "step_s 0 must be above 0"),
        ('kind = "actuator"', 'kind = "valve"', "kind 'valve' is unknown; use sensor | controller | actuator"),
        ("limits = [0, 10]", "limits = [10, 0]", "the first must be below the second"),
        ('"pump", "level", "phys"', '"pump", "levle", "phys"', "no signal 'levle'; did you mean 'level'?"),
        ('from = "tank/pump"', 'from = "tnak/pump"', "did you mean 'tank'?"),
        ('sampling = "cov"', 'sampling = "often"', 'must be seconds, "cov" or "event"'),
        ("columns = { T1", "columns = { T9", "no copy is named 'T9'"),
    ],
)
def test_what_is_wrong_is_named_with_what_to_write(old, new, message):
    with pytest.raises(ConfigError, match=message.replace("|", r"\|").replace("?", r"\?")):
        parse_plant(TANKS.replace(old, new, 1))


def test_a_graph_that_breaks_the_rules_is_refused():
    with pytest.raises(GraphError, match="comm edges go from"):
        parse_plant(TANKS.replace('"pump", "level", "phys"', '"pump", "level", "comm"'))


def test_edges_between_templates_may_be_of_some_copies():
    pairs = parse_plant(TANKS.replace('kind = "phys"\n', 'kind = "phys"\npairs = [["T1", "supply"]]\n'))
    assert {(edge.source, edge.target) for edge in pairs.template.edges} == {("S1", "L1"), ("S1", "P_MAIN")}
    with pytest.raises(ConfigError, match="must be a copy of each template"):
        parse_plant(TANKS.replace('kind = "phys"\n', 'kind = "phys"\npairs = [["T9", "supply"]]\n'))


def test_a_signal_with_one_state_or_no_limits_can_be_shown():
    one_state = TANKS.replace('states = ["Off", "On"]', 'states = ["Off"]')
    assert parse_plant(one_state).signal("S1").format_reading(0.0) == "Off"
    assert parse_plant(one_state).signal("S1").decimals == 2
    without = TANKS.replace(', unit = "bar", limits = [0, 10]', "")
    assert parse_plant(without).signal("P_MAIN").format_reading(3.14159) == "3.14"


def test_people_see_the_names_of_their_points():
    plant = parse_plant(TANKS)
    graph = plant.template
    assert [graph.place(node) for node in range(graph.num_nodes)] == list(graph.names)
    assert plant.advise("FT_101.F_CV").name == "FT_101.F_CV"


def test_all_copies_may_share_one_node():
    weather = """[[template.signal]]
name = "rain"
shared = true
columns = { T1 = "RAIN" }
"""
    text = TANKS.replace("[[edge]]", weather + "[[edge]]").replace(
        'edges = [["pump", "level", "phys"]]', 'edges = [["pump", "level", "phys"], ["rain", "level", "near"]]'
    )
    plant = parse_plant(text)
    assert plant.template.names.count("RAIN") == 1
    assert {(e.source, e.target) for e in plant.template.edges if e.source == "RAIN"} == {
        ("RAIN", "L1"),
        ("RAIN", "L2"),
    }
    with pytest.raises(ConfigError, match="signal 'rain'.*must name one column, not 2"):
        parse_plant(text.replace('{ T1 = "RAIN" }', '{ T1 = "RAIN", T2 = "R2" }'))


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("limits =", "limit =", "signal 'pressure': 'limit' is unknown; did you mean 'limits'"),
        ("step_s =", "step_s = 1\nsteps =", "'steps' is unknown; did you mean 'step_s'"),
        ("copies =", "copys =", "template 'tank': 'copys' is unknown; did you mean 'copies'"),
        ("[[edge]]", "[[edges]]", "'edges' is unknown; did you mean 'edge'"),
    ],
)
def test_a_misspelled_key_is_refused(old, new, message):
    with pytest.raises(ConfigError, match=message):
        parse_plant(TANKS.replace(old, new))
