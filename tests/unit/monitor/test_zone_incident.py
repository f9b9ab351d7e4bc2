"""Incidents of a model that judges zones: suspects, what p holds for, hypotheses."""

import json
from dataclasses import replace

import numpy as np
import pytest

from graphghha.engine.zone_scorer import ZoneScorer
from graphghha.monitor import Site
from model_builders import small_zone_model
from monitor_builders import (
    CONFIG,
    GRAPH,
    JUDGEMENT,
    MINUTE,
    START,
    detector,
    telemetry,
    wide,
    zone_detector,
    zone_scores,
)

ROWS = 40
VALVE = {"valve": 0.7, "temp": 0.2, "flow": 0.07, "pump": 0.02}


def announced(made, values=None, rows=ROWS):
    values = np.full((rows, len(GRAPH.points)), 20.0) if values is None else values
    watched = Site("office", made, CONFIG)
    events = watched.take(wide(START + MINUTE * np.arange(len(values)), values)).events
    json.dumps([event.body for event in events], allow_nan=False)
    return [event.body for event in events if event.kind == "incident.annunciated"]


def test_suspects_are_named_with_the_coverage_and_what_it_covers():
    (body,) = announced(zone_detector(zone_scores(ROWS, [("zone-02", 10, 30, VALVE)])))
    assert (body["root"], body["class"], body["suspects"]) == ("valve", "actuator", ["valve", "temp", "flow"])
    assert (body["coverage"], body["calibrated_days"]) == (0.9, 10.0)
    assert body["text"].startswith("Zone 2 is anomalous, p = 0.96, since ")
    assert "node: valve, temp or flow (one of them in 90% of attacks of the kinds it was taught)" in body["text"]
    assert body["text"].endswith("likeliest: equipment fault")


def test_a_single_suspect_is_named_as_the_node():
    (body,) = announced(zone_detector(zone_scores(ROWS, [("zone-02", 10, 30, {"valve": 0.98, "temp": 0.02})])))
    assert body["suspects"] == ["valve"]
    assert body["text"].startswith("Zone 2: valve is anomalous (actuator), p = 0.96, since ")


def test_a_model_that_judges_nodes_has_none_of_these_fields():
    made = replace(zone_detector(zone_scores(ROWS, [("zone-02", 10, 30, VALVE)])), zone_judgement=None)
    (body,) = announced(made)
    assert not {"suspects", "suspect_names", "coverage", "calibrated_days", "hypotheses", "part_of"} & set(body)
    assert body["text"].startswith("Zone 2: valve, actuator attack, p = 0.96, since ")


@pytest.mark.parametrize(
    ("attacks", "first"),
    [
        ([("zone-02", 10, 30, {"supervisor": 1.0})], "configuration or maintenance"),
        ([("zone-02", 10, 30, {"pump": 1.0})], "equipment fault"),
        ([(zone, 10, 30, {"valve": 1.0}) for zone in GRAPH.zone_names], "manipulation"),
        ([(zone, 10, 30, {"temp": 1.0}) for zone in GRAPH.zone_names], "equipment fault"),
    ],
    ids=["setting", "equipment", "same drive everywhere", "same sensor everywhere"],
)
def test_hypotheses_follow_the_root_and_the_other_zones(attacks, first):
    bodies = announced(zone_detector(zone_scores(ROWS, attacks)))
    assert [body["hypotheses"][0]["kind"] for body in bodies] == [first] * len(attacks)
    assert {each["kind"] for each in bodies[0]["hypotheses"]} == {
        "equipment fault",
        "configuration or maintenance",
        "manipulation",
    }


def test_replayed_readings_are_evidence_of_manipulation():
    rows = 120
    values = np.random.default_rng(3).normal(20.0, 0.5, (rows, len(GRAPH.points)))
    made = replace(zone_detector(zone_scores(rows, [("zone-02", 110, 120, {"temp": 1.0})])), history_rows=200)
    (body,) = announced(made, values)
    assert body["hypotheses"][0]["kind"] == "equipment fault"
    column = GRAPH.points.index("zone-02/temp")
    values[70:, column] = values[20:70, column]
    (body,) = announced(made, values)
    first = body["hypotheses"][0]
    assert first["kind"] == "manipulation" and first["for"] == first["reasons"]
    assert first["reasons"] == ["Readings repeat earlier ones to the last digit, noise included: temp."]


def test_a_real_scorer_of_zones_gives_suspects_that_hold_the_root():
    model = small_zone_model()
    made = replace(
        detector(make_scorer=lambda: ZoneScorer(model, GRAPH), max_hops=32),
        zone_judgement=JUDGEMENT,
        rule=replace(detector().rule, raise_at=0.3, clear_at=0.2),
    )
    _, values = telemetry(30)
    bodies = announced(made, values)
    assert bodies, "an untrained model finds something"
    for body in bodies:
        assert body["root"] in body["suspects"] and len(set(body["suspects"])) == len(body["suspects"])
