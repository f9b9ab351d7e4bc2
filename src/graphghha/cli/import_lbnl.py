"""`graphghha testbed import`: turn the public LBNL files into telemetry with labels."""

from pathlib import Path

import click

from graphghha.cli._output import echo, echo_json
from graphghha.cli._outputs import OUTPUT_FOLDER
from graphghha.cli._progress import progress_bar


@click.command("import")
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.option("--out", type=OUTPUT_FOLDER, required=True, help="Folder to write to.")
@click.option("--case", "cases", multiple=True, help="Import only this case, such as FCU_OABlockage (repeatable).")
@click.option("--repair", is_flag=True, help="Repair and count gaps and bad numbers instead of stopping at them.")
@click.option(
    "--layout",
    type=click.Choice(["long", "wide"]),
    default="long",
    show_default=True,
    help="Layout of the Parquet files.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
def import_lbnl(source: Path, out: Path, cases: tuple[str, ...], repair: bool, layout: str, as_json: bool) -> None:
    """Import the public LBNL files with labels.

    SOURCE is the zip file or a folder of its CSV files. Each case becomes a Parquet file with labels beside it.
    """

    from graphghha.plants.fcu.lbnl.importer import import_lbnl as run

    with progress_bar() as progress:
        task = progress.add_task("files", total=len(cases) or None)
        summary = run(
            source,
            out,
            cases=cases or None,
            repair=repair,
            layout="wide" if layout == "wide" else "long",
            on_file=lambda: progress.advance(task),
        )
    if as_json:
        echo_json(summary)
        return
    for message in summary["altered"]:
        echo(f"altered: {message}", err=True)
    for name, counts in summary["repairs"].items():
        echo(f"repaired: {name}: " + ", ".join(f"{n} x {kind}" for kind, n in sorted(counts.items())), err=True)
    for name, minutes in summary["not_judged_min"].items():
        echo(f"not judged: {name}: {minutes} minutes the fault-free file does not cover", err=True)
    for path in summary["files"]:
        echo(path)
