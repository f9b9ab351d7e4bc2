"""docs/results/commissioning.md: what commissioning depends on, from the JSON of `bench commissioning`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphghha.lab.bench.pages.shift import interval, share
from graphghha.lab.markdown import Result, table
from graphghha.lab.metrics.intervals import poisson_interval
from graphghha.models.site import DAYS_PER_ATTACK

INTRODUCTION = """Buildings that nothing else uses, one half judged in January, the other in July, under attacks of the
whole catalogue on every zone, {gap:g} days apart on average. Each trial commissions them in another way. *A season
later* and *half a year later* are judged with the levels of the season before. *Commissioned every week* is what a
running monitor does: on its newest two weeks, with the attacks that were in them, without the rows of zones in which an
incident was announced. *The same attacks on all zones at once* counts every zone; an announcement of most zones names
the building. *New cases* are cases that are kept from every training, as rare as the calibration assumes, one in
{rare:g} days of a zone; the *error of P(attack)* is the mean gap between the probability that a zone is attacked,
whichever node is named, and the share of such minutes in which it is (ECE, probabilities from 0.05). False alarms are
per 12 zones and day; *quiet* ones are in zones not under attack then. Intervals are of 95 %; attacks of one building
are not independent, so true ones are somewhat wider."""
COLUMNS = ("trial", "buildings", "false alarms a day", "quiet ones", "found", "of visible attacks", "right node")
RANDOM = "Random buildings"


def commissioning_page(results: Sequence[Result], directory: Path) -> Path:
    """Write the page, with a section for each kind of building and all that was measured in it; return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    gap = results[-1]["config"]["schedule"]["mean_gap_days"]
    text = [
        "# What commissioning depends on",
        "",
        " ".join(INTRODUCTION.format(gap=gap, rare=DAYS_PER_ATTACK).split()),
    ]
    kinds: dict[str, list[Result]] = {}
    for result in results:
        kinds.setdefault(kind_of_buildings(result), []).append(result)
    for kind, measured in kinds.items():
        text += ["", f"## {kind}"]
        for result in measured:
            text += ["", f"Measured by {commissioning_command(result)}.", "", *commissioning_table(result)]
    page = directory / "commissioning.md"
    page.write_text("\n".join(text) + "\n", encoding="utf-8")
    return page


def commissioning_table(result: Result) -> list[str]:
    """Return a row for each trial, with the error of P(attack) where it was measured."""
    rows = result["rows"]
    errors = [row.get("zone_ece") for row in rows]
    lines = [_line(row) for row in rows]
    if all(error is None for error in errors):
        return table(COLUMNS, lines)
    cells = ("" if error is None else f"{error:.2f}" for error in errors)
    return table((*COLUMNS, "error of P(attack)"), [(*line, cell) for line, cell in zip(lines, cells, strict=True)])


def commissioning_command(result: Result) -> str:
    """Return the command that measured a result, as Markdown."""
    config = result["config"]
    options = "".join(f" --condition {name}" for name in config.get("conditions", ()))
    options += "".join(f' --trial "{name}"' for name in config["trials"])
    return f"`graphghha bench commissioning --model {config['model']} --seed {config['seed']}{options}`"


def kind_of_buildings(result: Result) -> str:
    """Return the title of the buildings of a result."""
    names = result["config"].get("conditions")
    return f"Buildings of the conditions {', '.join(names)}" if names else RANDOM


def _line(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        row["trial"],
        row["buildings"],
        _rate(row["false_alarms_per_day"], row["days"] * row["zones"] / 12),
        f"{row['quiet_false_alarms_per_day']:.2f}",
        share(round((row["event_recall"] or 0.0) * row["events"]), row["events"]),
        row["events"],
        share(round((row["hit_at_1"] or 0.0) * row["events"]), row["events"]),
    )


def _rate(per_day: float, days: float) -> str:
    return interval(per_day, poisson_interval(round(per_day * days), days))
