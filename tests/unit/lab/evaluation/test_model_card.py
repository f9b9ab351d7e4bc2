"""The card of the shipped model is the one that its stored report gives."""

import json
from pathlib import Path

from graphghha.lab.evaluation.model_card import card_figures, model_card
from graphghha.models import load_model, shipped_model

STORED = Path(__file__).parents[4] / "docs/results/deploy/report.json"


def test_the_shipped_card_follows_from_the_stored_report():
    model, report = load_model(shipped_model("fcu")), json.loads(STORED.read_text(encoding="utf-8"))
    assert report["model"] == model.fingerprint
    assert model.card == model_card(model, report)
    assert model.figures == card_figures(report)


def test_an_undefined_figure_is_called_undefined():
    model, report = load_model(shipped_model("fcu")), json.loads(STORED.read_text(encoding="utf-8"))
    report["card"]["event_recall"] = None
    assert "| visible attacks that were detected | undefined |" in model_card(model, report)


def test_the_card_tells_alarms_apart_and_counts_new_cases_and_invisible_attacks():
    model, report = load_model(shipped_model("fcu")), json.loads(STORED.read_text(encoding="utf-8"))
    card = model_card(model, report)
    for words in (
        "a day (0.14 to 0.24) are in quiet zones",
        "attacks that are never visible counted as well 0.856",
        "Right node first in whole cases that training never saw: 21 of 48",
        "Their calibration error (ECE) is 0.447",
        "No figure can be compared with the paper's tables",
    ):
        assert words in card
