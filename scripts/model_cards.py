"""Write the cards of the shipped models from the results in docs/results: `python scripts/model_cards.py`."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphghha.lab.bench.pages.zone_card import zone_card, zone_figures
from graphghha.lab.evaluation.model_card import card_figures, model_card
from graphghha.models import load_model, save_model, shipped_model

STUDIES = {
    "evaluate": "zones/report.json",
    "whether-where": "data/whether-where.json",
    "effects": "data/effects.json",
    "diets": "data/diets.json",
    "attacker": "data/attacker.json",
}
SHIFTS = ("shift-zones", "shift-seed-1", "shift-seed-2")
COMMISSIONINGS = ("commissioning", "commissioning-conditions")
RESULTS = Path(__file__).parents[1] / "docs/results"


def main() -> None:
    """Write README.md, card.json and the manifest of both models; no other file changes."""
    directory = shipped_model("fcu")
    model, report = load_model(directory), read_result("deploy/report.json")
    save_model(replace(model, card=model_card(model, report), figures=card_figures(report)), directory)
    directory = shipped_model("fcu-zones")
    model, shift = load_model(directory), [read_result(f"data/{name}.json") for name in SHIFTS]
    studies = {name: read_result(file) for name, file in STUDIES.items()}
    commissioning = [read_result(f"data/{name}.json") for name in COMMISSIONINGS]
    card = zone_card(model, "fcu-zones", shift, commissioning, studies)
    save_model(replace(model, card=card, figures=zone_figures("fcu-zones", shift[0])), directory)


def read_result(name: str) -> Any:
    """Return a stored result."""
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
