"""docs/results/effects.md: a family of effects that training never showed, from `bench effects`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphghha.lab.bench.pages.shift import condition_line, pool
from graphghha.lab.markdown import Result, table

INTRODUCTION = """Two models trained by the same recipe on the same random buildings. One saw readings as building
management systems report them: rounded, by change of value, in samples of minutes, with losses and missing points.
The other saw every reading of every point once a minute, unrounded, so that all these effects were new to it. Both
models are small, with {attacked} attacked buildings instead of the hundreds of the shipped one: compare the rows with
each other. Each condition has two buildings of {zones} zones, one in January and one in July, {days} days each, under
attacks of the whole catalogue; commissioning took {commission_days} days. False alarms are per day; intervals are of
95 %. Measured by `graphghha bench effects --seed {seed}`."""


def effects_page(result: Result, directory: Path) -> Path:
    """Write the page and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    config, rows = result["config"], result["rows"]
    words = INTRODUCTION.format(**{**config, "attacked": config["recipe"]["attacked_buildings"]})
    text = ["# Effects that training never showed", "", " ".join(words.split())]
    for is_commissioned, title in ((True, "After commissioning"), (False, "As shipped")):
        chosen = [row for row in rows if row["commissioned"] == is_commissioned]
        text += ["", f"## {title}", "", *_table(chosen)]
    page = directory / "effects.md"
    page.write_text("\n".join(text) + "\n", encoding="utf-8")
    return page


def _table(rows: Sequence[dict[str, Any]]) -> list[str]:
    head = (
        *("condition", "taught", "false alarms a day", "quiet ones", "found", "of visible attacks", "right node"),
        "precision",
    )
    names = dict.fromkeys(row["condition"] for row in rows)
    lines = [
        (name, row["taught"], *condition_line(name, pool([row]))[1:])
        for name in names
        for row in rows
        if row["condition"] == name
    ]
    return table(head, lines)
