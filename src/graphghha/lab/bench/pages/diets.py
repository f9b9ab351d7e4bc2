"""docs/results/diets.md: what a model owes to the attacks it was taught on, from `bench diets`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphghha.lab.markdown import Result, table

INTRODUCTION = """Networks that were taught on different attacks, judged on the same ones. Every training building is
attacked by one family of the generator, and every diet has {buildings} of them. The networks are zone-wide MLPs, small
ones, {fits} for each diet with different seeds; figures are means over these. They are not the shipped model, which was
taught on more: compare the rows of a column, not the figures with those of other pages. Test buildings have {zones}
zones and all points, are commissioned on {commission_days} quiet days and judged on {days} days; their seeds are used
for nothing else. Each network has the one threshold that keeps {quiet_per_day:g} false alarms a day in quiet zones over
all of them. Measured by `graphghha bench diets{options}`."""
NOTES = """*New cases* are the six cases of the catalogue that no diet contains; *catalogue* are the others, of which
only the last diet contains any. The figure of a family in the row that leaves it out is the one for attacks that the
network was never shown."""


def diets_page(result: Result, directory: Path) -> Path:
    """Write the page and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    config, rows = result["config"], result["rows"]
    exams = list(dict.fromkeys(row["exam"] for row in rows))
    events = {row["exam"]: row["events"] for row in rows}
    sizes = f" --buildings {config['buildings']} --fits {config['fits']} --exams {config['exam_buildings']}"
    options = f"{_model(config)}{sizes} --seed {config['seed']}"
    head = ("diet", "windows", *(f"{exam} ({events[exam]})" for exam in exams))
    text = ["# What it was taught on", "", _plain(INTRODUCTION.format(**{**config, "options": options})), ""]
    text += ["## The families", ""]
    text += table(("family", "mechanisms"), [(name, ", ".join(of)) for name, of in config["families"].items()])
    text += ["", _plain(NOTES)]
    for title, key in (("Found", "event_recall"), ("Right node first", "hit_at_1")):
        text += ["", f"## {title}", "", "Share of visible attacks, whose number is in parentheses.", ""]
        text += table(head, _lines(rows, exams, key))
    text += ["", "## What leaving a family out costs", "", *_costs(rows, list(config["families"]))]
    page = directory / "diets.md"
    page.write_text("\n".join(text) + "\n", encoding="utf-8")
    return page


def _model(config: dict[str, Any]) -> str:
    return f" --model {config['name']}" if "name" in config else ""


def _lines(rows: Sequence[dict[str, Any]], exams: Sequence[str], key: str) -> list[tuple[Any, ...]]:
    diets = dict.fromkeys(row["diet"] for row in rows)
    by = {(row["diet"], row["exam"]): row for row in rows}
    lines: list[tuple[Any, ...]] = []
    for diet in diets:
        cells = []
        for exam in exams:
            figure = _figure(by[diet, exam][key])
            cells.append(f"**{figure}**" if diet == f"without {exam}" else figure)
        lines.append((diet, f"{by[diet, exams[0]]['windows']:,}", *cells))
    return lines


def _costs(rows: Sequence[dict[str, Any]], families: Sequence[str]) -> list[str]:
    by = {(row["diet"], row["exam"]): row for row in rows}
    cells = []
    for family in families:
        with_it, without = by["all families", family], by[f"without {family}", family]
        change = [f"{_figure(with_it[key])} to {_figure(without[key])}" for key in ("event_recall", "hit_at_1")]
        cells.append((family, with_it["events"], *change))
    return table(("family", "visible attacks", "found", "right node first"), cells)


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"


def _plain(text: str) -> str:
    return " ".join(text.split())
