"""`graphghha score`: telemetry files to probabilities on disk."""

from pathlib import Path

import click

from graphghha.cli._model import MODEL


@click.command()
@click.argument("model", type=MODEL)
@click.argument("data", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The .parquet to write.")
@click.option("--threads", default=1, show_default=True, type=click.IntRange(1), help="Threads of the engine.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
def score(model: Path, data: Path, out: Path, threads: int, as_json: bool) -> None:
    """Score telemetry DATA of any length with MODEL: one row per time, zone and node.

    Columns: time, zone, node, one probability per class, attack = 1 - normal, and the likeliest class; all null where a
    node had no fresh data.
    """
    import json

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from graphghha.engine import EngineConfig
    from graphghha.engine.batch import score_file
    from graphghha.plants.telemetry import TelemetryFile

    if out.suffix != ".parquet":
        raise click.UsageError(f"--out {out}: scores are written as Parquet; name it something.parquet")
    total = TelemetryFile(data).num_steps if data.suffix == ".parquet" else None
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("scoring", total=total)
        engine = EngineConfig(threads=threads)
        found = score_file(model, data, out, engine=engine, on_rows=lambda rows: progress.advance(task, rows))
    if as_json:
        click.echo(json.dumps(found))
        return
    click.echo(
        f"{found['minutes']} steps of {found['nodes']} nodes, {found['unknown'] / max(1, found['scores']):.1%} unknown",
        err=True,
    )
    dropped = sum(found["readings"][kind] for kind in ("late", "ahead"))
    if dropped:
        click.echo(f"{dropped} readings came out of order and were left out", err=True)
    if impossible := found["readings"]["out_of_limits"]:
        click.echo(f"{impossible} readings that no sensor can give were taken as unknown", err=True)
    click.echo(found["file"])
