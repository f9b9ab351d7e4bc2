"""docs/results/commissioning.md: what commissioning depends on, from the JSON of `bench commissioning`."""

from pathlib import Path
from typing import Any

from graphghha.lab.bench.pages.shift import interval, share
from graphghha.lab.markdown import Result, table
from graphghha.lab.metrics.intervals import poisson_interval

INTRODUCTION = """Random buildings that nothing else uses, one half judged in January, the other in July, under attacks
of the whole catalogue on every zone, {gap:g} days apart on average. Each trial commissions them in another way. *A
season later* and *half a year later* are judged with the levels of the season before. *Commissioned every week* is what
a running monitor does: on its newest two weeks, with the attacks that were in them, without the rows of zones in which
an incident was announced. *The same attacks on all zones at once* counts every zone; an announcement of most zones
names the building. False alarms are per 12 zones and day; *quiet* ones are in zones that nobody attacks.
Intervals are of 95 %; attacks of one building are not independent, so true ones are somewhat wider."""


def commissioning_page(result: Result, directory: Path) -> Path:
    """Write the page and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    config = result["config"]
    text = [
        "# What commissioning depends on",
        "",
        " ".join(INTRODUCTION.format(gap=config["schedule"]["mean_gap_days"]).split()),
        "",
        f"Measured by {commissioning_command(result)}.",
        "",
        *table(
            ("trial", "buildings", "false alarms a day", "quiet ones", "found", "of visible attacks", "right node"),
            commissioning_lines(result),
        ),
    ]
    page = directory / "commissioning.md"
    page.write_text("\n".join(text) + "\n", encoding="utf-8")
    return page


def commissioning_command(result: Result) -> str:
    """Return the command that measured a result, as Markdown."""
    config = result["config"]
    trials = "".join(f' --trial "{name}"' for name in config["trials"])
    return f"`graphghha bench commissioning --model {config['model']} --seed {config['seed']}{trials}`"


def commissioning_lines(result: Result) -> list[tuple[Any, ...]]:
    """Return the rows of the table, one for each trial."""
    return [
        (
            row["trial"],
            row["buildings"],
            _rate(row["false_alarms_per_day"], row["days"] * row["zones"] / 12),
            f"{row['quiet_false_alarms_per_day']:.2f}",
            share(round((row["event_recall"] or 0.0) * row["events"]), row["events"]),
            row["events"],
            share(round((row["hit_at_1"] or 0.0) * row["events"]), row["events"]),
        )
        for row in result["rows"]
    ]


def _rate(per_day: float, days: float) -> str:
    return interval(per_day, poisson_interval(round(per_day * days), days))
