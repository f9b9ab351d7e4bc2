"""`graphghha testbed`: the simulated plant and how true it is."""

from pathlib import Path

import click


@click.group()
def testbed() -> None:
    """The simulated plant and how true it is to the published data."""


@testbed.command()
@click.option("--mean", required=True, type=click.Path(path_type=Path), help="CSV: annual means, a row per case.")
@click.option("--std", required=True, type=click.Path(path_type=Path), help="CSV: annual standard deviations.")
@click.option("--weather", required=True, type=click.Path(path_type=Path), help="Hourly file with the outdoor air.")
@click.option("--hourly", type=click.Path(path_type=Path), help="Hourly file of the fault-free year to compare with.")
@click.option(
    "--report", type=click.Path(path_type=Path, file_okay=False), help="Write a Markdown page and plots here."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def calibrate(mean: Path, std: Path, weather: Path, hourly: Path | None, report: Path | None, as_json: bool) -> None:
    """Simulate every case of the published statistics for a year and compare."""
    import json

    from rich.console import Console
    from rich.progress import track

    from graphghha.plants.fcu.lbnl.calibrate import calibrate as run
    from graphghha.plants.fcu.lbnl.calibrate_report import as_text, write_report

    console = Console(stderr=True)
    result = run(
        mean, std, weather, hourly, progress=lambda cases: track(cases, "case-years", console=console, transient=True)
    )
    if report:
        click.echo(f"report: {write_report(result, report)}", err=True)
    click.echo(json.dumps(result.as_dict()) if as_json else as_text(result))
