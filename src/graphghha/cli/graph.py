"""`graphghha graph`: check or draw the graph of a plant."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from graphghha.cli._output import echo, echo_json

if TYPE_CHECKING:
    from graphghha.graph import CpsGraph


@click.group()
def graph() -> None:
    """Check or draw the graph of a plant."""


@graph.command()
@click.argument("plant")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(plant: str, as_json: bool) -> None:
    """Check PLANT and summarize its graph.

    PLANT is a built-in plant, or a graph in a JSON or TOML file.
    """
    from graphghha.graph import summarize_graph

    summary = summarize_graph(_load(plant))
    if as_json:
        echo_json(summary)
        return
    for name, value in summary.items():
        echo(f"{name.replace('_', ' '):<22} {value if not isinstance(value, list) else ', '.join(value) or '-'}")


@graph.command()
@click.argument("plant")
@click.option("--zones", type=click.IntRange(1), help="Draw this many zones of the template.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The .svg or .png file to write."
)
def draw(plant: str, zones: int | None, out: Path) -> None:
    """Draw the graph of PLANT.

    PLANT is a built-in plant, or a graph in a JSON or TOML file. Nodes are coloured by kind; communication edges are
    solid, physical edges dashed, near edges dotted.
    """
    from graphghha.graph import draw_graph

    template = _load(plant)
    draw_graph(template.replicate(zones) if zones else template, out)
    echo(f"wrote {out}", err=True)


def _load(plant: str) -> "CpsGraph":
    from graphghha.graph import read_graph
    from graphghha.plants import load_plant

    return read_graph(Path(plant)) if plant.endswith((".json", ".toml")) else load_plant(plant).template
