"""The card of the shipped model for sites is the one that the stored results give."""

import json
from pathlib import Path

from graphghha.lab.bench.pages.zone_card import zone_card, zone_figures
from graphghha.models import load_model, shipped_model

DATA = Path(__file__).parents[5] / "docs/results/data"


def stored(name):
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def test_the_shipped_card_and_its_figures_follow_from_the_stored_results():
    model, shift = load_model(shipped_model("fcu-zones")), stored("shift-zones")
    assert model.card == zone_card(model, "fcu-zones", shift, stored("commissioning")), "python scripts/model_cards.py"
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
