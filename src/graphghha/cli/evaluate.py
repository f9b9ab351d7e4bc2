"""`graphghha evaluate`: the report card of a model."""

import json
from pathlib import Path

import click


@click.command()
@click.argument("model", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--seed", default=0, show_default=True, help="Of the test buildings.")
@click.option("--runs", default=4, show_default=True, help="Test buildings, spread over the year.")
@click.option("--days", default=14, show_default=True, help="Judged days of each.")
@click.option("--zones", default=12, show_default=True, help="Zones of each.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluate(model: Path | None, seed: int, runs: int, days: int, zones: int, as_json: bool) -> None:
    """Judge MODEL (without: the shipped one) by the deploy protocol, on buildings it has never seen."""
    from rich.console import Console
    from rich.progress import Progress

    from graphghha.evaluation.protocols import DeployConfig, deploy
    from graphghha.models.shipped import shipped_model

    config = DeployConfig(seed=seed, runs=runs, days=days, zones=zones)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("days", total=None)
        found = deploy(model or shipped_model("fcu"), config, on_day=lambda: progress.advance(task))
    if as_json:
        click.echo(json.dumps(found))
        return
    for name, value in found["card"].items():
        click.echo(f"{name:<22} {value:.3f}" if isinstance(value, float) else f"{name:<22} {value}")
    for family, scores in found["families"].items():
        if not scores["observable_events"]:
            continue
        click.echo(f"{family:<22} recall {scores['event_recall']:.2f} of {scores['observable_events']} events")
