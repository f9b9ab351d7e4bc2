"""`graphghha plant`: a plant of your own, proposed from its data."""

from pathlib import Path
from typing import Any

import click

from graphghha.cli._export_options import exported_tables
from graphghha.cli._output import echo


@click.group()
def plant() -> None:
    """Describe a plant of your own."""


@plant.command()
@exported_tables(required=True, about="A file or folder of exported tables; repeatable.")
@click.option(
    "--graph",
    "graph_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A graph of the plant: .toml or .json, a Brick model, an equipment sheet.",
)
@click.option("--name", help="Name of the plant (default: that of the output file).")
@click.option("--zone", help="Time zone of times that name none, such as America/Chicago.")
@click.option(
    "--dates", type=click.Choice(["day-first", "month-first", "year-first"]), help="Order of dates that fit several."
)
@click.option("--time-column", help="Name of the column that holds the time.")
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The plant.toml file to write."
)
def new(
    paths: tuple[Path, ...], more: tuple[Path, ...], graph_file: Path | None, name: str | None, out: Path, **stated: Any
) -> None:
    """Propose a plant file from exported data.

    Kinds, units, limits and reporting come from names, headers and readings; equipment and its copies from the
    beginnings of names. Everything that is guessed or left out stands in the file as a comment.
    """
    from graphghha._util.files import atomic_write
    from graphghha.cli._outputs import check_writable
    from graphghha.cli.data import export_options
    from graphghha.exports import read_exports
    from graphghha.exports.notes import note_lines
    from graphghha.exports.plant_toml import plant_toml
    from graphghha.exports.proposal import propose_plant
    from graphghha.exports.topology import open_graph

    check_writable(out)
    export = read_exports([*paths, *more], export_options(**stated))
    imported = open_graph(graph_file) if graph_file else None
    proposal = propose_plant(export, name or out.stem, imported.graph if imported else None)
    atomic_write(out, plant_toml(proposal))
    for template in proposal.templates:
        copies = f", {len(template.copies)} copies" if len(template.copies) > 1 else ""
        echo(f"{template.name}: {len(template.signals)} signals{copies}", err=True)
    if proposal.shared_edges:
        echo(f"{len(proposal.shared_edges)} edges between templates", err=True)
    notes = [*(imported.guesses + imported.omissions if imported else ()), *proposal.guesses, *proposal.omissions]
    for line in note_lines([note for note in notes if getattr(note, "what", "") not in ("states", "order")]):
        echo(line, err=True)
    echo(out)
