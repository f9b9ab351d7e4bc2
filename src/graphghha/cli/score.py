"""`graphghha score`: class probabilities for a telemetry file."""

from pathlib import Path

import click

from graphghha.cli._model import MODEL
from graphghha.cli._output import echo, echo_json
from graphghha.cli._outputs import OUTPUT_FILE
from graphghha.cli._progress import progress_bar


@click.command()
@click.argument("model", type=MODEL)
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--out", required=True, type=OUTPUT_FILE, help="The Parquet file to write; for a plant of your own also CSV."
)
@click.option("--mapping", type=click.Path(path_type=Path, exists=True), help="Mapping file of an export.")
@click.option("--zones", default=1, show_default=True, type=click.IntRange(1), help="Zones of an export.")
@click.option("--time-zone", help="Time zone of an export whose times name none.")
@click.option("--hold", is_flag=True, help="Hold each reading of an export until the next.")
@click.option("--threads", default=1, show_default=True, type=click.IntRange(1), help="Number of threads.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
def score(
    model: Path,
    data: Path,
    out: Path,
    mapping: Path | None,
    zones: int,
    time_zone: str | None,
    hold: bool,
    threads: int,
    as_json: bool,
) -> None:
    """Score a telemetry file of any length.

    MODEL is a model directory or the name of a plant whose model is shipped. DATA is a telemetry file, or an export of
    another system (a table, or a folder of tables) with --mapping and --zones. The output has
    one row per time, zone and node with the columns time, zone, node, one probability per class, attack = 1 - normal,
    and the likeliest class. They are null where a node had no fresh data. For a model of your own plant DATA is a file
    or folder as it was trained on, and the output has the columns time, node, p and class (and file, if DATA is several
    recordings); p is null where a node is unknown.
    """
    from graphghha.models.own import is_own_model

    if is_own_model(model):
        _score_own(model, data, out, as_json)
        return

    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    from graphghha.cli._telemetry_input import as_telemetry
    from graphghha.engine import EngineConfig, score_file
    from graphghha.plants.telemetry import TelemetryFile

    if out.suffix != ".parquet":
        raise click.UsageError(f"--out {out}: scores are written as Parquet; give a name that ends with .parquet")
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    with (
        as_telemetry(data, model, zones, mapping, time_zone, hold) as telemetry,
        progress_bar(*columns, TimeRemainingColumn()) as progress,
    ):
        task = progress.add_task("scoring", total=TelemetryFile(telemetry).num_steps)
        engine = EngineConfig(threads=threads)
        summary = score_file(model, telemetry, out, engine=engine, on_rows=lambda rows: progress.advance(task, rows))
    if as_json:
        echo_json(summary)
        return
    echo(
        f"{summary['minutes']} steps of {summary['nodes']} nodes, "
        f"{summary['unknown'] / max(1, summary['scores']):.1%} unknown",
        err=True,
    )
    dropped = sum(summary["readings"][kind] for kind in ("late", "ahead"))
    if dropped:
        echo(f"{dropped} readings were out of order and were left out", err=True)
    if impossible := summary["readings"]["out_of_limits"]:
        echo(f"{impossible} readings were outside the limits of their sensor and were treated as unknown", err=True)
    echo(summary["file"])


def _score_own(model: Path, data: Path, out: Path, as_json: bool) -> None:
    from graphghha.engine.own_batch import score_own_files

    summary = score_own_files(model, [data], out)
    if as_json:
        echo_json(summary)
        return
    echo(f"{summary['rows']} rows of {summary['nodes']} nodes, in alarm {summary['in_alarm']:.1%}", err=True)
    for note in summary["notes"]:
        echo(note, err=True)
    echo(summary["file"])
