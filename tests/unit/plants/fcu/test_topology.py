import pytest

from graphghha.graph import EdgeKind, NeighborRule, NodeKind, neighborhood
from graphghha.plants import load_plant
from graphghha.plants.fcu.signals import NAMES
from graphghha.plants.fcu.topology import EQUIPMENT, MEANINGS, TEMPLATE


def test_it_has_29_signal_nodes_in_file_order_and_3_pieces_of_equipment():
    assert TEMPLATE.num_nodes == 32
    assert TEMPLATE.names[:29] == NAMES == TEMPLATE.signals[:29]
    assert TEMPLATE.names[29:] == tuple(EQUIPMENT)
    assert TEMPLATE.signals[29:] == (None, None, None)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("RM_TEMP", "sensor"),
        ("FCU_CLG_GPM", "sensor"),
        ("FCU_WAT", "sensor"),
        ("RMCLGSPT", "controller"),
        ("FCU_CTRL", "controller"),
        ("FCU_HVLV_DM", "controller"),
        ("FCU_HVLV", "actuator"),
        ("FCU_SPD", "actuator"),
        ("Cooling_coil", "actuator"),
        ("Air_path", "actuator"),
    ],
)
def test_kinds_follow_what_a_node_does(name, kind):
    assert TEMPLATE.nodes[TEMPLATE.index(name)].kind == NodeKind(kind)


def test_every_edge_has_its_own_reason_to_be_and_every_node_a_meaning():
    assert all(len(edge.reason) > 10 for edge in TEMPLATE.edges)
    assert all(MEANINGS[name] for name in TEMPLATE.names)


def test_neighbourhoods_are_neither_empty_nor_crowded():
    degrees = neighborhood(TEMPLATE, NeighborRule(direction="both")).degrees
    assert degrees.min() >= 3  # itself and two others
    assert 6 <= degrees.mean() <= 9


@pytest.mark.parametrize(
    ("source", "target", "kind"),
    [
        pytest.param("FCU_CVLV_DM", "FCU_CVLV", EdgeKind.COMM, id="valve-follows-command"),
        pytest.param("FCU_MAT", "FCU_CTRL", EdgeKind.COMM, id="low-limit"),
        pytest.param("FCU_SPD", "FCU_DA_CFM", EdgeKind.PHYS, id="fan-moves-air"),
        pytest.param("Heating_coil", "FCU_HTG_RWT", EdgeKind.PHYS, id="coil-cools-its-water"),
    ],
)
def test_the_loops_of_the_unit_are_there(source, target, kind):
    assert (source, target, kind) in {(e.source, e.target, e.kind) for e in TEMPLATE.edges}


def test_room_and_return_sensor_meet_in_the_air_path():
    around = neighborhood(TEMPLATE)
    both = set(around.neighbors(TEMPLATE.index("RM_TEMP"))) & set(around.neighbors(TEMPLATE.index("FCU_RAT")))
    assert TEMPLATE.index("Air_path") in both


def test_it_is_the_template_of_the_plant():
    assert load_plant("fcu").template == TEMPLATE
    assert load_plant("fcu").signal("RM_TEMP").unit == "degC"
