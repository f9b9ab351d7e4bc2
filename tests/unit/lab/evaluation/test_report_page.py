"""The stored report page is the one that its JSON gives."""

import json
from pathlib import Path

from graphghha.lab.evaluation.report_page import report_page
from graphghha.lab.evaluation.report_plots import FIGURES

STORED = Path(__file__).parents[4] / "docs/results/deploy"


def test_the_stored_page_follows_from_its_json():
    report = json.loads((STORED / "report.json").read_text(encoding="utf-8"))
    figures = {title: f"{name}.svg" for name, (title, _) in FIGURES.items()}
    assert report_page(report, figures) == (STORED / "report.md").read_text(encoding="utf-8")
    assert all((STORED / file).exists() for file in figures.values())
