"""The card of the shipped model for sites is the one that the stored results give."""

import json
from pathlib import Path

from graphghha.lab.bench.pages.zone_card import zone_card, zone_figures
from graphghha.models import load_model, shipped_model
from model_cards import COMMISSIONINGS, SHIFTS, STUDIES, read_result

DATA = Path(__file__).parents[5] / "docs/results/data"


def stored(name):
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def card_of(model):
    shift, commissioning = ([stored(name) for name in names] for names in (SHIFTS, COMMISSIONINGS))
    return zone_card(
        model, "fcu-zones", shift, commissioning, {name: read_result(file) for name, file in STUDIES.items()}
    )


def test_the_shipped_card_and_its_figures_follow_from_the_stored_results():
    model, shift = load_model(shipped_model("fcu-zones")), stored("shift-zones")
    assert model.card == card_of(model), "python scripts/model_cards.py"
    assert model.figures == zone_figures("fcu-zones", shift)


def test_the_card_states_what_the_page_of_results_states():
    page = (DATA.parent / "shift.md").read_text(encoding="utf-8")
    section = page.partition("## fcu-zones")[2].partition("## fcu\n")[0]
    card, figures = load_model(shipped_model("fcu-zones")).card, zone_figures("fcu-zones", stored("shift-zones"))
    for part, line in (("card", "| as shipped |"), ("commissioned", "| after 14 days of commissioning |")):
        cells = next(each for each in section.splitlines() if each.startswith(line)).split(" | ")
        assert all(cell in card for cell in cells[3:5])
        assert cells[3].startswith(f"{figures[part]['event_recall']:.2f} ")
        assert cells[1] == (
            f"{figures[part]['false_alarms_per_day']:.2f}, {figures[part]['worst_false_alarms_per_day']:.2f}"
        )
    for word in ("## What it cannot see", "never seen real telemetry", "## Licence", "no case of the catalogue"):
        assert word in card


def test_false_alarms_stand_apart_and_add_up():
    shift = stored("shift-zones")
    card = card_of(load_model(shipped_model("fcu-zones")))
    assert "No figure can be compared with the paper's tables" in card
    for view, state in ((False, "as shipped"), (True, "after 14 days of commissioning")):
        rows = [row for row in shift["rows"] if row["commissioned"] == view]
        false = sum(row["false_alarms_per_day"] for row in rows) / len(rows)
        (line,) = [each for each in card.splitlines() if each.startswith(f"False alarms {state}: ")]
        quiet, misplaced = (float(part.split()[-1]) for part in line.split(" [")[:2])
        assert abs(quiet + misplaced - false) < 0.011
