"""Facts about incidents of fan-coil units, read from the graph and the newest rows."""

from dataclasses import replace

import numpy as np
import pytest

from graphghha.alarms import NONE, Incident
from graphghha.monitor.facts import FactFinder
from graphghha.plants import load_plant
from graphghha.windows import Rows
from monitor_builders import MINUTE, START

PLANT = load_plant("fcu")
GRAPH = PLANT.template.replicate(4)
FINDER = FactFinder(GRAPH, PLANT)
ROWS = 1500
CALM = {signal.name: (signal.low + signal.high) / 2 for signal in PLANT.signals}
NOISE = {signal.name: signal.noise for signal in PLANT.signals}


def building(seed=0):
    rng = np.random.default_rng(seed)
    middle, noise = (np.array([each[name] for name in GRAPH.point_signals]) for each in (CALM, NOISE))
    return (middle + noise * rng.standard_normal((ROWS, len(GRAPH.points)))).astype(np.float32)


def column(name):
    return GRAPH.points.index(name)


def rows(values):
    fresh = np.isfinite(values)
    return Rows(START + MINUTE * np.arange(len(values)), values, fresh, np.ones(len(values), bool))


def incident(name, annunciated=100):
    node = GRAPH.index(name)
    return Incident(1, GRAPH.zones[node], node, (node,), frozenset({node}), 90, 100, 100, NONE, annunciated)


def facts(name, values=None, others=(), evidence=()):
    return FINDER.find(incident(name), others, rows(building() if values is None else values), evidence, 1)


def unusual(*roles):
    return [{"kind": "signal", "node": role, "unusual": True, "text": f"{role} reads low"} for role in roles]


def test_settings_are_setpoints_and_modes_but_neither_loops_nor_commands():
    found = {GRAPH.roles[node] for node in range(GRAPH.num_nodes) if FINDER.is_setting(node)}
    assert found == {"FCU_CTRL", "FAN_CTRL", "RMCLGSPT", "RMHTGSPT"}


def test_a_position_is_compared_with_the_command_that_the_graph_gives_it():
    values = building()
    values[-10:, column("zone-02/FCU_CVLV_DM")] = 0.4
    values[-10:, column("zone-02/FCU_CVLV")] = 1.0
    for root in ("zone-02/FCU_CVLV", "zone-02/FCU_CVLV_DM"):
        check = facts(root, values).command
        assert (check.position, check.reads, check.command, check.commanded) == (
            "cooling valve",
            "100%",
            "cooling valve command",
            "40%",
        )
        assert not check.agrees
    values[-10:, column("zone-02/FCU_CVLV")] = 0.42
    check = facts("zone-02/FCU_CVLV", values).command
    assert check.agrees and check.may_pass
    assert facts("zone-02/FCU_SPD", values).command is None, "a mode and a speed are not the same quantity"
    assert facts("zone-02/RM_TEMP", values).command is None


def test_a_command_that_is_unknown_is_not_compared():
    values = building()
    values[-10:, column("zone-02/FCU_CVLV_DM")] = np.nan
    assert facts("zone-02/FCU_CVLV", values).command is None


def test_what_contradicts_an_actuator_are_unusual_readings_that_it_acts_upon():
    found = facts("zone-02/FCU_CVLV", evidence=unusual("FCU_CLG_GPM", "FCU_DAT", "FCU_OAT", "FCU_CVLV"))
    assert len(found.contradicting) == 2 and found.own_deviation == "FCU_CVLV reads low"


def test_replayed_and_held_readings_of_the_zone_are_named():
    values = building()
    dat, rat = column("zone-02/FCU_DAT"), column("zone-02/FCU_RAT")
    values[-40:, dat] = values[-340:-300, dat]
    values[-50:, rat] = values[-51, rat]
    found = facts("zone-02/FCU_CVLV", values)
    assert found.repeated == (PLANT.advise("FCU_DAT").name,) and found.held == (PLANT.advise("FCU_RAT").name,)
    elsewhere = facts("zone-03/FCU_CVLV", values)
    assert elsewhere.repeated == elsewhere.held == () and elsewhere.readings == sum(each > 0 for each in NOISE.values())


def test_a_setpoint_that_moves_when_no_zone_moves_it():
    values = building()
    values[-30:, column("zone-02/RMCLGSPT")] += 3.0
    found = facts("zone-02/RMCLGSPT", values)
    assert found.moved_alone and found.is_setting and not found.is_schedule_change
    assert not facts("zone-02/FCU_CVLV", values).moved_alone, "only a setting moves by itself"


def test_a_change_of_the_schedule_moves_most_zones():
    values = building()
    for zone in GRAPH.zone_names[:3]:
        values[-30:, column(f"{zone}/RMCLGSPT")] += 3.0
    found = facts("zone-02/RMCLGSPT", values)
    assert found.is_schedule_change and not found.moved_alone


@pytest.mark.parametrize(("annunciated", "count"), [(100, 1), (90, 1), (80, 0), (NONE, 0)])
def test_zones_turn_together_if_their_incidents_are_new(annunciated, count):
    other = incident("zone-03/FCU_CVLV", annunciated)
    found = facts("zone-02/FCU_CVLV", others=[incident("zone-02/FCU_CVLV"), other])
    assert (found.zones_together, found.zones_alike) == (count, count)
    unlike = facts("zone-02/FCU_CVLV", others=[replace(other, root=GRAPH.index("zone-03/RM_TEMP"))])
    assert (unlike.zones_together, unlike.zones_alike) == (count, 0)


def test_without_rows_nothing_is_claimed():
    found = facts("zone-02/Cooling_coil", building()[:0])
    assert not found.is_measured and found.command is None and not (found.repeated or found.held or found.moved_alone)
