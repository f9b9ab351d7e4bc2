"""`graphghha graph`: import, learn, edit, check or draw the graph of a plant."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from graphghha.cli._export_options import exported_tables
from graphghha.cli._output import echo, echo_json
from graphghha.cli._outputs import OUTPUT_FILE

if TYPE_CHECKING:
    from graphghha.graph import CpsGraph


@click.group()
def graph() -> None:
    """Make, check or draw the graph of a plant."""


@graph.command()
@click.argument("plant")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(plant: str, as_json: bool) -> None:
    """Check PLANT and summarize its graph.

    PLANT is a built-in plant, a plant file, or a graph in a JSON or TOML file.
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
@click.option("--out", type=OUTPUT_FILE, required=True, help="The .svg or .png file to write.")
def draw(plant: str, zones: int | None, out: Path) -> None:
    """Draw the graph of PLANT.

    PLANT is a built-in plant, a plant file, or a graph in a JSON or TOML file. Nodes are coloured by kind;
    communication edges are solid, physical edges dashed, near edges dotted.
    """
    from graphghha.graph import draw_graph

    template = _load(plant)
    draw_graph(template.replicate(zones) if zones else template, out)
    echo(f"wrote {out}", err=True)


GRAPH_FILE = click.Path(dir_okay=False, path_type=Path)


@graph.command(name="import")
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--out", type=GRAPH_FILE, required=True, help="The .toml or .json file to write.")
@click.option("--json", "as_json", is_flag=True, help="Print what was guessed and left out as one JSON object.")
def import_(model: Path, out: Path, as_json: bool) -> None:
    """Import the graph of a site.

    MODEL is a Brick or ASHRAE 223P model in Turtle (.ttl), a Haystack export (.json), or an equipment sheet (.csv) with
    the columns point, equipment, kind, role and fed by. What could not be mapped is listed with the reason.
    """
    from graphghha.exports.topology import import_graph
    from graphghha.graph import write_graph

    _check_graph_file(out)
    imported = import_graph(model)
    write_graph(imported.graph, out)
    if as_json:
        echo_json(imported.to_dict())
        return
    from graphghha.exports.notes import note_lines

    for line in note_lines([*imported.guesses, *imported.omissions]):
        echo(line, err=True)
    echo(f"{imported.graph.num_nodes} nodes, {imported.graph.num_edges} edges", err=True)
    echo(out)


@graph.command()
@exported_tables(required=True, about="A file or folder of exported tables; repeatable.")
@click.option("--zone", help="Time zone of times that name none, such as America/Chicago.")
@click.option("--out", type=GRAPH_FILE, required=True, help="The .toml or .json file to write.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def learn(paths: tuple[Path, ...], more: tuple[Path, ...], zone: str | None, out: Path, as_json: bool) -> None:
    """Learn a graph from exported data.

    Signals are joined if one predicts the other beyond its own past, in most parts of the record. The
    report says how sure each edge is and what was left out. Use data of normal operation.
    """
    from graphghha.cli.data import export_options
    from graphghha.exports.learn_graph import learn_graph
    from graphghha.exports.notes import note_lines
    from graphghha.graph import write_graph

    _check_graph_file(out)
    learned = learn_graph([*paths, *more], export_options(zone, None, None))
    write_graph(learned.graph, out)
    if as_json:
        echo_json(learned.to_dict())
        return
    for line in note_lines([*learned.guesses, *learned.omissions]):
        echo(line, err=True)
    for edge in learned.to_dict()["edges"]:
        echo(f"{edge['source']} - {edge['target']}: {edge['strength']:.2f} in {edge['share']:.0%} of the parts")
    echo(f"{learned.graph.num_nodes} nodes, {learned.graph.num_edges} edges, {learned.rows:,} rows: {out}", err=True)


@graph.command()
@click.argument("plant", metavar="GRAPH")
@click.option(
    "--with",
    "overrides",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The .toml file with the changes.",
)
@click.option("--out", type=GRAPH_FILE, help="The file to write (default: GRAPH itself).")
def edit(plant: str, overrides: Path, out: Path | None) -> None:
    """Change a graph by a small file.

    The file has tables [[add]], [[remove]] and [[reverse]] with `from` and `to` for edges, and [[node]] with a name and
    the kind, role, signal or zone that it gets.
    """
    from graphghha.graph import edit_graph, read_overrides, write_graph

    out = Path(plant) if out is None else out
    _check_graph_file(out)
    before = _load(plant)
    after = edit_graph(before, read_overrides(overrides), str(overrides))
    write_graph(after, out)
    echo(f"{after.num_nodes} nodes ({before.num_nodes} before), {after.num_edges} edges ({before.num_edges})", err=True)
    echo(out)


def _check_graph_file(out: Path) -> None:
    from graphghha.cli._outputs import check_writable
    from graphghha.errors import ConfigError

    if out.suffix not in (".toml", ".json"):
        raise ConfigError(f"{out}: a graph is written to a file that ends with .toml or .json")
    check_writable(out)


def _load(plant: str) -> "CpsGraph":
    from graphghha.graph import read_graph
    from graphghha.plants import load_plant

    is_graph = plant.endswith(".json") or (plant.endswith(".toml") and not _is_plant_file(Path(plant)))
    return read_graph(Path(plant)) if is_graph else load_plant(plant).template


def _is_plant_file(path: Path) -> bool:
    import tomllib

    try:
        return "plant" in tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False  # reading it as a graph says what is wrong
