"""`graphghha simulate`: write labelled telemetry of a simulated plant to files."""

from datetime import datetime
from pathlib import Path

import click

from graphghha.cli._output import echo, echo_json
from graphghha.cli._progress import progress_bar


@click.command()
@click.option("--plant", default="fcu", show_default=True, help="Name of the plant.")
@click.option("--zones", default=1, show_default=True, help="Number of zones, 1 to 1000.")
@click.option("--days", default=7, show_default=True, help="Number of days to simulate.")
@click.option(
    "--start", type=click.DateTime(["%Y-%m-%d"]), default="2018-01-01", show_default=True, help="First day of the run."
)
@click.option(
    "--seed",
    default=0,
    show_default=True,
    help="Seed of zones, weather and noise; keep it for other days of the same site.",
)
@click.option(
    "--case",
    "cases",
    multiple=True,
    help="An attack (repeatable), such as NAME@ZONE,start=2018-07-02T09:00,for=6h[,ramp=30m]; the case Replay also "
    "takes on=RM_TEMP+FCU_RAT. NAME is a case of the catalogue, or generic:MECHANISM:SEED for an attack outside it.",
)
@click.option(
    "--weather",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File of hourly weather (default: synthetic).",
)
@click.option(
    "--building",
    default="reference",
    show_default=True,
    help="The reference building, a condition such as noise-x3, or the seed of a random building.",
)
@click.option(
    "--observe",
    type=click.Choice(["bms", "cov", "ideal"]),
    default="bms",
    show_default=True,
    help="Report as the building's own system does, on change of value, or every point every minute.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["parquet", "lbnl"]),
    default="parquet",
    show_default=True,
    help="Format of the files.",
)
@click.option(
    "--layout",
    type=click.Choice(["long", "wide"]),
    default="long",
    show_default=True,
    help="Layout of the Parquet file.",
)
@click.option("--site", default="site", show_default=True, help="Name of the site in the telemetry.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The .parquet file to write; with --format lbnl a folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
def simulate(
    plant: str,
    zones: int,
    days: int,
    start: datetime,
    seed: int,
    cases: tuple[str, ...],
    weather: Path | None,
    building: str,
    observe: str,
    form: str,
    layout: str,
    site: str,
    out: Path,
    as_json: bool,
) -> None:
    """Simulate telemetry with labels.

    Labels are written beside the telemetry, as NAME.labels.parquet.
    """

    from graphghha.plants import CaseSpec, load_simulator

    run = load_simulator(plant)
    with progress_bar() as progress:
        task = progress.add_task(f"{zones} zones", total=days)
        summary = run(
            zones=zones,
            days=days,
            start=start,
            seed=seed,
            cases=[CaseSpec.parse(text) for text in cases],
            weather=weather,
            building=building,
            observe=observe,
            format=form,
            layout=layout,
            site=site,
            out=out,
            on_day=lambda: progress.advance(task),
        )
    if as_json:
        echo_json(summary)
        return
    for event in summary["cases"]:
        seen = event["first_observable"] or "never"
        echo(f"{event['case']} in zone {event['zone']}: from {event['start']}, observable from {seen}", err=True)
    for path in summary["files"]:
        echo(path)
