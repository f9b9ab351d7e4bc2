"""`graphghha data`: what is in files that other systems exported, and what is odd about them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphghha.cli._output import echo, echo_json

if TYPE_CHECKING:
    from graphghha.exports import ExportOptions


@click.group()
def data() -> None:
    """Look at exported data before using it."""


@data.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE|FOLDER..")
@click.option("--zone", help="Time zone of times that name none, such as America/Chicago.")
@click.option(
    "--dates", type=click.Choice(["day-first", "month-first", "year-first"]), help="Order of dates that fit several."
)
@click.option("--time-column", help="Name of the column that holds the time.")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write a page with plots here.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(paths: tuple[Path, ...], html: Path | None, as_json: bool, **stated: Any) -> None:
    """Say what is odd about exported tables.

    It looks for gaps, flat lines, duplicates, jumps of the clock, constants, coarse steps, sensors that are not there,
    units that do not fit, and rounding that differs between files.

    Files may be wide (one column per point), long (one row per reading) or one file per point; a folder stands for
    the tables inside it. Everything that is guessed or left out is said with the reason.
    """
    from rich.console import Console

    from graphghha.cli._outputs import check_writable
    from graphghha.exports.check import check_exports
    from graphghha.exports.check_page import page
    from graphghha.exports.check_text import lines, summary_lines

    if html is not None:
        check_writable(html)
    options = export_options(**stated)
    with Console(stderr=True).status("reading") as status:
        result = check_exports(paths, options, on_file=lambda name: status.update(f"reading {name}"))
    if html is not None:
        from graphghha._util.files import atomic_write

        atomic_write(html, page(result, ", ".join(path.name or str(path) for path in paths)))
    if as_json:
        echo_json(result.to_dict())
    else:
        for line in summary_lines(result):
            echo(line, err=True)
        for line in lines(result):
            echo(line)
    if html is not None:
        echo(f"wrote {html}", err=True)


def export_options(zone: str | None, dates: str | None, time_column: str | None) -> "ExportOptions":
    """Return what the user states about an export."""
    from graphghha.exports import ExportOptions

    stated = {"zone": zone, "dates": dates.replace("-", " ") if dates else None, "time_column": time_column}
    return ExportOptions.from_table({key: value for key, value in stated.items() if value is not None}, "data check")
