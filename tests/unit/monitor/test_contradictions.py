"""Readings that contradict each other, in the words of the plant."""

import pytest

from graphghha.monitor.contradictions import Contradictions
from graphghha.plants import load_plant

PLANT = load_plant("fcu")
GRAPH = PLANT.template.replicate(1)
FINDER = Contradictions(GRAPH, PLANT)
CALM = {
    "FCU_CTRL": 1.0,
    "FAN_CTRL": 1.0,
    "FCU_CVLV": 0.4,
    "FCU_CVLV_DM": 0.41,
    "FCU_CLG_GPM": 0.1,
    "FCU_SPD": 12.0,
    "RM_TEMP": 22.0,
    "FCU_RAT": 22.2,
}


def found(root="FCU_CVLV", **readings):
    values = {GRAPH.index(f"zone-01/{name}"): value for name, value in (CALM | readings).items()}
    return FINDER.find(GRAPH.index(f"zone-01/{root}"), values)


def test_readings_that_agree_are_no_contradiction():
    assert found() == []


@pytest.mark.parametrize(
    ("readings", "relation", "text"),
    [
        ({"FCU_CVLV": 1.0, "FCU_CVLV_DM": 0.0}, "command", "cooling valve is 100% open, commanded shut"),
        ({"FCU_CVLV": 0.3, "FCU_CVLV_DM": 0.8}, "command", "cooling valve is 30% open, commanded 80%"),
        ({"FCU_CVLV": 0.0, "FCU_CVLV_DM": 1.0, "FCU_CLG_GPM": 0}, "command", "cooling valve is shut, commanded 100%"),
        ({"FAN_CTRL": 2.0}, "mode", "fan runs (12.0 rev/s), fan mode is off"),
        (
            {"FCU_CVLV": 0.01, "FCU_CVLV_DM": 0.0, "FCU_CLG_GPM": 0.31},
            "flow",
            "cooling water flow is 0.31 L/s, although cooling valve is shut",
        ),
        ({"RM_TEMP": 26.0}, "twin", "room temperature sensor reads 26.0 °C, return air temperature 22.2 °C"),
    ],
    ids=["open", "half", "shut", "mode", "flow", "twin"],
)
def test_a_contradiction_is_said_once_with_both_readings(readings, relation, text):
    (item,) = found(**readings)
    assert (item["kind"], item["relation"]) == ("contradiction", relation)
    assert item["text"].replace("0.310", "0.31") == text
    assert {item["node"], item["against"]} <= set(CALM)


def test_contradictions_of_the_root_come_first():
    both = {"RM_TEMP": 26.0, "FCU_CVLV": 1.0, "FCU_CVLV_DM": 0.0}
    assert [item["relation"] for item in found("FCU_RAT", **both)] == ["twin", "command"]
    assert [item["relation"] for item in found("FCU_CVLV_DM", **both)] == ["command", "twin"]


def test_what_is_unknown_contradicts_nothing():
    values = {GRAPH.index("zone-01/FCU_CVLV"): 1.0}
    assert FINDER.find(GRAPH.index("zone-01/FCU_CVLV"), values) == []
