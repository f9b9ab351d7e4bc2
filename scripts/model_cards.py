"""Write the cards of the shipped models from the results in docs/results: `python scripts/model_cards.py`."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphghha.lab.bench.pages.zone_card import STUDIES, zone_card, zone_figures
from graphghha.lab.evaluation.model_card import card_figures, model_card
from graphghha.models import load_model, save_model, shipped_model

RESULTS = Path(__file__).parents[1] / "docs/results"


def main() -> None:
    """Write README.md, card.json and the manifest of both models; no other file changes."""
    directory = shipped_model("fcu")
    model, report = load_model(directory), _read("deploy/report.json")
    save_model(replace(model, card=model_card(model, report), figures=card_figures(report)), directory)
    directory = shipped_model("fcu-zones")
    model, shift = load_model(directory), _read("data/shift-zones.json")
    studies = {name: _read(f"data/{name}.json") for name in STUDIES}
    card = zone_card(model, "fcu-zones", shift, _read("data/commissioning.json"), studies)
    save_model(replace(model, card=card, figures=zone_figures("fcu-zones", shift)), directory)


def _read(name: str) -> Any:
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
