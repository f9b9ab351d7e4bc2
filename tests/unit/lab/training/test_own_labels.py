"""Labelled attacks in the data of a plant of the user's own."""

import json
from dataclasses import replace

import numpy as np
import pytest

from graphghha.errors import CheckpointError
from graphghha.exports.attack_labels import AttackEvent
from graphghha.exports.recordings import Recording
from graphghha.lab.evaluation.own_evaluate import own_report
from graphghha.lab.training.own_labels import Labelled
from graphghha.lab.training.own_train import OwnRecipe, fit_own_plant
from graphghha.models.manifest import write_manifest
from graphghha.models.own import load_own_model, save_own_model
from graphghha.plants import parse_plant

PLANT = """
[plant]
step_s = 60
[[template]]
name = "tank"
signal = [{ name = "level" }, { name = "valve", kind = "actuator" }, { name = "flow" }, { name = "steam" }]
edges = [["valve", "level", "phys"], ["level", "flow", "near"]]
"""
ATTACK = 120  # rows
SMALL = OwnRecipe(budget_per_day=4.0, synthetic=60, epochs=2)


def readings(rows, seed):
    rng = np.random.default_rng(seed)
    at = np.arange(rows)
    valve = 40 + 10 * np.sin(at / 37) + rng.normal(0, 0.3, rows)
    level = 50 + 8 * np.sin((at - 5) / 37) + rng.normal(0, 0.2, rows)
    flow = 0.8 * level + rng.normal(0, 0.2, rows)
    return np.round(np.stack([level, valve, flow, 80 + 3 * np.sin(at / 90) + rng.normal(0, 0.2, rows)], axis=1), 2)


def attacked(seed, column, starts, attack_class):
    values = readings(6000, seed)
    plant = parse_plant(PLANT)
    events = []
    for start in starts:
        values[start : start + ATTACK, column] += 35.0
        node = plant.template.points[column]
        events.append(AttackEvent(0, start, start + ATTACK, (node,), attack_class, ""))
    return Recording(f"r{seed}", (), np.arange(len(values)) * 60_000, values), events


@pytest.fixture(scope="module")
def plant():
    return parse_plant(PLANT)


@pytest.fixture(scope="module")
def models(plant):
    """One that learned from normal rows alone, and one that learned from the attacks as well."""
    recording, events = attacked(1, 0, range(500, 5900, 600), "controller")
    taught = fit_own_plant(plant, [recording], events, SMALL)
    nameless = [replace(event, nodes=()) for event in events]
    return fit_own_plant(plant, [recording], nameless, SMALL), taught


def test_labels_that_name_no_node_change_nothing_but_which_rows_are_normal(models):
    plain, taught = models
    assert plain.taught is None and plain.provenance["class"] == plain.class_is == "by_kind"
    assert taught.class_is == "by_label" and taught.taught.classes == {"level": "controller"}
    assert (taught.preprocessing.levels == plain.preprocessing.levels).all(), "the same rows are normal"
    assert taught.rule.threshold >= plain.rule.threshold, "the network has its share of the budget"


def test_the_class_of_a_taught_attack_comes_from_its_labels(models):
    plain, taught = models
    recording, events = attacked(2, 0, range(500, 5900, 900), "controller")
    before, after = (own_report(model, [recording], events) for model in (plain, taught))
    assert before["class_is"] == "by_kind" and {e["named_class"] for e in before["events"]} == {"sensor"}
    assert after["class_is"] == "by_label" and {e["named_class"] for e in after["events"]} == {"controller"}
    assert after["event_recall"] == after["hit_at_1"] == 1.0 and after["p_is"] == "tail"


def test_an_attack_that_no_label_names_is_found_by_the_statistics(models):
    recording, events = attacked(3, 3, range(500, 5900, 900), "sensor")
    report = own_report(models[1], [recording], events)
    assert report["event_recall"] == report["hit_at_1"] == 1.0


def test_a_model_keeps_what_labels_taught(models, tmp_path):
    save_own_model(models[1], tmp_path / "model")
    again = load_own_model(tmp_path / "model")
    assert again.taught == models[1].taught
    assert "Labelled attacks were learned from, on 1 nodes: level" in again.card
    with pytest.raises(CheckpointError, match="'elsewhere', which is no node"):
        replace(again, taught=replace(again.taught, classes={"elsewhere": "sensor"}))


def test_only_attacks_on_nodes_with_a_signal_can_be_taught(plant):
    recording, events = attacked(1, 0, [500], "other")
    assert Labelled.of([recording], [replace(events[0], nodes=())], plant.template) is None
    labelled = Labelled.of([recording], events, plant.template)
    assert labelled.classes(plant.template) == {"level": ""}


def test_a_directory_of_the_version_before_is_still_read(models, tmp_path):
    save_own_model(models[0], tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["rule"]["early"] = 0.03  # older rules ranked nodes that began late lower
    path.write_text(json.dumps(config), encoding="utf-8")
    write_manifest(tmp_path / "model")
    assert load_own_model(tmp_path / "model").rule == models[0].rule
