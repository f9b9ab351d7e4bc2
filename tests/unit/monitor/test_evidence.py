"""Evidence: a reading against what its neighbours imply, in the words of the plant."""

import numpy as np
import pytest

from graphghha.engine import Scorer
from graphghha.models import load_model, shipped_model
from graphghha.monitor.evidence import Finding, SignalEvidence
from graphghha.plants import load_plant
from graphghha.windows import RECENT_ROWS, open_forecast


@pytest.fixture(scope="module")
def fcu():
    model, plant = load_model(shipped_model("fcu")), load_plant("fcu")
    graph = model.template.replicate(2)
    return model, plant, graph, SignalEvidence(graph, plant, open_forecast(model.preprocessing, graph, plant.template))


@pytest.fixture
def calm(fcu):
    """An hour in which every signal of both zones stands at its centre."""
    model, _, graph, _ = fcu
    columns = model.scaler.columns(graph.point_signals)
    return np.tile(columns.center, (RECENT_ROWS, 1))


def test_a_reading_far_from_what_its_neighbours_imply_is_shown_with_its_range(fcu, calm):
    _, _, graph, provider = fcu
    node = graph.index("zone-02/RM_TEMP")
    column = graph.points.index("zone-02/RM_TEMP")
    calm[-3:, column] += 15.0
    first = next(item for item in provider.explain(node, calm, np.ones(calm.shape, bool)) if item["kind"] == "signal")
    low, high = first["normal"]
    assert (first["kind"], first["node"], first["unit"]) == ("signal", "RM_TEMP", "degC")
    assert low <= first["expected"] <= high < first["value"] and first["deviation"] > 3
    assert first["value"] == round(calm[-1, column], 1), "what stands on the screen now, not a mean over the jump"
    assert first["text"].startswith("room temperature sensor reads warm (") and first["unusual"]


def test_evidence_stays_in_its_zone(fcu, calm):
    _, _, graph, provider = fcu
    fresh = np.ones(calm.shape, bool)
    before = provider.explain(graph.index("zone-01/FCU_CVLV"), calm, fresh)
    calm[-10:, calm.shape[1] // 2 :] += 30.0
    assert provider.explain(graph.index("zone-01/FCU_CVLV"), calm, fresh) == before


def test_a_node_without_a_signal_is_explained_by_its_neighbours(fcu, calm):
    _, _, graph, provider = fcu
    column = graph.points.index("zone-01/FCU_DA_CFM")
    calm[-10:, column] = 900.0
    found = provider.explain(graph.index("zone-01/Air_path"), calm, np.ones(calm.shape, bool))
    assert {"signal", "edge"} == {item["kind"] for item in found}
    edge = next(item for item in found if item["kind"] == "edge" and item["target"] == "FCU_DA_CFM")
    assert edge["source"] == "Air_path" and edge["relation"] == "phys"


def test_stale_readings_are_not_evidence(fcu, calm):
    _, _, graph, provider = fcu
    assert provider.explain(graph.index("zone-01/FCU_CVLV"), calm, np.zeros(calm.shape, bool)) == []


def test_the_model_shows_its_gates_and_strongest_edges(fcu, calm):
    model, _, graph, _ = fcu
    scorer = Scorer(model, graph)
    scored = scorer.push(calm, np.ones(calm.shape, bool), np.arange(len(calm)) == len(calm) - 1)
    found = scorer.explain(scored, 0, graph.index("zone-02/FCU_CVLV"))
    gate, *edges = found
    assert gate["kind"] == "gate" and len(gate["global"]) == len(gate["local"]) == model.adu_config["layers"]
    assert edges and all(edge["target"] == "FCU_CVLV" and 0 < edge["weight"] <= 1 for edge in edges)


def test_what_cannot_be_read_off_a_screen_is_not_unusual():
    command = load_plant("fcu").signal("FCU_HVLV_DM")
    assert not Finding(0, command, 0.0, 0.0098, 0.0005).is_unusual, "0% and 1%, twenty spreads apart"
    assert not Finding(0, command, 0.40, 0.50, 0.05).is_unusual, "two spreads are normal"
    assert Finding(0, command, 0.0, 0.098, 0.0005).is_unusual
    mode = load_plant("fcu").signal("FCU_CTRL")
    assert not Finding(0, mode, 1.0, 1.2, 0.01).is_unusual
    assert Finding(0, mode, 2.0, 1.2, 0.01).is_unusual


def test_a_mode_is_shown_by_its_name(fcu, calm):
    _, _, graph, provider = fcu
    signals = graph.points
    calm[:, signals.index("zone-01/FCU_CTRL")] = 1.0
    calm[-3:, signals.index("zone-01/FCU_CTRL")] = 0.0
    first, *_ = provider.explain(graph.index("zone-01/FCU_CTRL"), calm, np.ones(calm.shape, bool))
    assert first["text"].startswith("operating mode is shutdown (expected ") and first["value"] == 0


def test_every_node_of_the_plant_has_advice_of_its_own():
    plant = load_plant("fcu")
    assert set(plant.advice) == set(plant.template.roles)
    assert all(advice.action.endswith(".") for advice in plant.advice.values())
    assert {advice.priority for advice in plant.advice.values()} <= {"low", "medium", "high"}
    names = [advice.name for advice in plant.advice.values()]
    assert len(set(names)) == len(names), "two nodes of one name cannot be told apart"


def test_what_is_expected_is_something_that_can_be():
    valve, flow = (load_plant("fcu").signal(name) for name in ("FCU_CVLV", "FCU_OA_CFM"))
    finding = Finding(0, valve, 1.0, -0.12, 0.02)
    assert finding.expected_text == "0%" and finding.normal[0] == 0.0
    assert Finding(0, flow, 80.0, -0.6, 0.2).expected_text == "0 L/s", "its range begins below zero because of noise"


def test_a_valve_against_its_command_is_the_first_thing_said(fcu, calm):
    _, _, graph, provider = fcu
    for name, value in (("zone-01/FCU_CVLV", 1.0), ("zone-01/FCU_CVLV_DM", 0.0)):
        calm[-10:, graph.points.index(name)] = value
    first, *others = provider.explain(graph.index("zone-01/FCU_CVLV"), calm, np.ones(calm.shape, bool))
    assert first["text"] == "cooling valve is 100% open, commanded shut"
    assert not any("normal range" in item.get("text", "") or "as expected" in item.get("text", "") for item in others)
