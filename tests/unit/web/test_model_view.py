"""What the API states about the model in use."""

import shutil
from dataclasses import replace

import pytest

from graphghha.errors import CheckpointError
from graphghha.models import CommissioningRecord, StandingFault, load_model, save_model, shipped_model
from graphghha.web.library import Library
from graphghha.web.model_view import model_card


@pytest.fixture
def library(building):
    return Library(building.journal.path)


def test_the_shipped_model_shows_its_card_and_figures(library):
    card = model_card(library, library.about("office"), shipped_model("fcu-zones"))
    assert card.card.startswith("# Detector `fcu-zones`") and card.commissioning is None
    shipped = card.figures["card"]
    low, high = shipped["event_recall_interval"]
    assert low < shipped["event_recall"] < high and shipped["observable_events"] > 500
    assert card.figures["measured"]["command"].startswith("graphghha bench shift --model fcu-zones")
    assert len(card.figures["shift"]) == shipped["buildings"] == card.figures["measured"]["buildings"]


def test_a_commissioned_model_shows_its_own_record_beside_the_figures(library, tmp_path):
    record = CommissioningRecord(
        base="b",
        data="d",
        first="2026-01-01T00:00:00+00:00",
        last="2026-01-15T00:00:00+00:00",
        days=14,
        zones=("zone-01", "zone-02"),
        threshold=4.5,
        own_threshold=3.1,
        expected_false_per_day=(0.0, 0.1),
        standing=(StandingFault(zone="zone-02", node="valve", share_of_time=0.4),),
        missing_points=("zone-01/flow",),
    )
    save_model(replace(load_model(shipped_model("fcu-zones")), commissioning=record), tmp_path / "own")
    shown = model_card(library, library.about("office"), tmp_path / "own")
    own = shown.commissioning
    assert (own.days, own.threshold, own.own_threshold, own.expected_false_per_day) == (14, 4.5, 3.1, (0.0, 0.1))
    assert [(fault.zone, fault.node) for fault in own.standing] == [("zone-02", "valve")]
    assert own.left_out == [] and own.missing_points == ["zone-01/flow"] and own.reporting == {}
    assert shown.figures["commissioned"]["event_recall"] > 0 and "## What it cannot see" in shown.card


def test_a_model_without_a_card_has_no_figures_and_a_strange_card_is_refused(library, tmp_path):
    assert model_card(library, library.about("office"), None).figures == {}
    shutil.copytree(shipped_model("fcu-zones"), tmp_path / "own")
    (tmp_path / "own/card.json").write_text('{"format": "other"}')
    with pytest.raises(CheckpointError, match="has format 'other'"):
        model_card(library, library.about("office"), tmp_path / "own")
