"""`graphghha testbed`: compare the simulator with published data, and import that data."""

from pathlib import Path

import click

from graphghha.cli._output import echo, echo_json
from graphghha.cli._outputs import OUTPUT_FOLDER


@click.group()
def testbed() -> None:
    """Calibrate the simulator, import LBNL data."""


@testbed.command()
@click.option(
    "--mean", required=True, type=click.Path(path_type=Path), help="CSV file of annual means, one row per case."
)
@click.option("--std", required=True, type=click.Path(path_type=Path), help="CSV file of annual standard deviations.")
@click.option(
    "--weather", required=True, type=click.Path(path_type=Path), help="Hourly file with the outdoor air of that year."
)
@click.option("--hourly", type=click.Path(path_type=Path), help="Hourly file of the fault-free year, for plots.")
@click.option("--report", type=OUTPUT_FOLDER, help="Folder for a Markdown page and plots.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def calibrate(mean: Path, std: Path, weather: Path, hourly: Path | None, report: Path | None, as_json: bool) -> None:
    """Compare the simulator with published data.

    Simulates a year of every case in the published tables and compares annual means and standard deviations.
    """

    from rich.console import Console
    from rich.progress import track

    from graphghha.plants.fcu.lbnl.calibrate import calibrate as run
    from graphghha.plants.fcu.lbnl.calibrate_report import as_text, write_report

    console = Console(stderr=True)
    result = run(
        mean, std, weather, hourly, progress=lambda cases: track(cases, "case-years", console=console, transient=True)
    )
    if report:
        echo(f"report: {write_report(result, report)}", err=True)
    echo_json(result.as_dict()) if as_json else echo(as_text(result), is_one_line=False)
