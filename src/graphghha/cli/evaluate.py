"""`graphghha evaluate`: the report card of a model."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from graphghha.cli._model import MODEL
from graphghha.cli._output import echo, echo_json
from graphghha.cli._outputs import OUTPUT_FOLDER
from graphghha.cli._progress import progress_bar
from graphghha.cli._report_text import report_lines

_DEPLOY = ("seed", "runs", "days", "zones", "unseen_runs", "history_hours")  # options of the deploy protocol


@click.command()
@click.argument("model", default="fcu", type=MODEL)
@click.argument("data", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--seed", default=0, show_default=True, help="Seed of the test buildings.")
@click.option("--runs", default=4, show_default=True, help="Number of test buildings, spread over the year.")
@click.option("--days", default=14, show_default=True, help="Scored days of each building.")
@click.option("--zones", default=12, show_default=True, help="Zones of each building.")
@click.option(
    "--unseen-runs", default=1, show_default=True, help="Further buildings, with whole cases that training never saw."
)
@click.option(
    "--history-hours",
    default=72,
    show_default=True,
    type=click.IntRange(0, 72),
    help="Hours of history before scoring starts; fewer simulate a freshly connected monitor.",
)
@click.option("--baselines", is_flag=True, help="Also fit the baselines and compare them (takes about an hour).")
@click.option(
    "--work",
    type=OUTPUT_FOLDER,
    help="Folder that keeps the fitted baselines for the next run (default: a temporary one).",
)
@click.option("--out", type=OUTPUT_FOLDER, help="Write report.md, figures, report.json.")
@click.option("--write-card", is_flag=True, help="Put the report card into MODEL's directory.")
@click.option("--mapping", type=click.Path(path_type=Path, exists=True), help="Mapping file of an export.")
@click.option("--time-zone", help="Time zone of an export whose times name none.")
@click.option("--hold", is_flag=True, help="Hold each reading of an export until the next.")
@click.option(
    "--labels",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Labels of DATA as CSV (start,end,nodes,class[,file]), as `graphghha alarms labels` writes them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluate(
    model: Path,
    data: tuple[Path, ...],
    mapping: Path | None,
    time_zone: str | None,
    hold: bool,
    labels: Path | None,
    baselines: bool,
    work: Path | None,
    out: Path | None,
    write_card: bool,
    as_json: bool,
    **deploy: Any,
) -> None:
    """Print the report card of a model.

    MODEL is a model directory or the name of a plant whose model is shipped (default: fcu). DATA is labelled telemetry,
    a file or a folder as `graphghha simulate` writes it, or an export of another system with --mapping, --zones and its
    labels beside it (NAME.labels.parquet) or in --labels. Without DATA, the model is evaluated by the deploy protocol:
    on simulated buildings that it has never seen. For a model of your own plant, DATA is files or folders of it, with
    --labels.
    """
    from graphghha.models.own import is_own_model

    if is_own_model(model):
        _evaluate_own(model, data, labels, as_json)
        return
    if len(data) > 1:
        raise click.UsageError("several DATA are for the model of a plant of your own (train --plant)")
    _evaluate(
        model,
        data[0] if data else None,
        mapping,
        time_zone,
        hold,
        labels,
        baselines,
        work,
        out,
        write_card,
        as_json,
        **deploy,
    )


def _evaluate_own(model: Path, data: Sequence[Path], labels: Path | None, as_json: bool) -> None:
    from graphghha.lab.evaluation.own_evaluate import evaluate_own_model

    if not data:
        raise click.UsageError("give DATA: files of the plant that the model was not trained on")
    report = evaluate_own_model(model, data, labels)
    if as_json:
        echo_json(report)
        return
    for name, value in report.items():
        if isinstance(value, int | float | str):
            echo(f"{name:<26} {value:.3f}" if isinstance(value, float) else f"{name:<26} {value}")
    for event in report["events"]:
        found = f"found after {event['delay_s']:g} s, named {event['named']}" if event["found"] else "missed"
        echo(f"{event['start']:<26} {';'.join(event['nodes']) or '-'}: {found}")


def _evaluate(
    model: Path,
    data: Path | None,
    mapping: Path | None,
    time_zone: str | None,
    hold: bool,
    labels: Path | None,
    baselines: bool,
    work: Path | None,
    out: Path | None,
    write_card: bool,
    as_json: bool,
    **deploy: Any,
) -> None:
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    from graphghha.cli._telemetry_input import as_telemetry, is_telemetry, with_labels
    from graphghha.lab.baselines import BaselineConfig
    from graphghha.lab.evaluation import DeployConfig, evaluate_model

    is_export = data is not None and not is_telemetry(data)
    allowed = ("zones",) if is_export else ()
    if data and (option := _given(tuple(name for name in (*_DEPLOY, "write_card") if name not in allowed))):
        raise click.UsageError(f"{option} is for the deploy protocol: leave DATA out")
    if write_card and (option := _given(("history_hours",))):
        raise click.UsageError(f"{option} cannot be used with --write-card: a model's card is made with full history")
    if labels and not data:
        raise click.UsageError("--labels belongs to DATA: give the telemetry that they label")
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} days"), TimeElapsedColumn())
    zones = deploy["zones"] if _given(("zones",)) else 1
    with ExitStack() as resources:
        telemetry = None
        if data:
            read = as_telemetry(data, model, zones, mapping, time_zone, hold, takes_folder=True)
            telemetry = resources.enter_context(read)
            telemetry = resources.enter_context(with_labels(telemetry, model, labels))
        bar = resources.enter_context(progress_bar(*columns))
        task = bar.add_task("model", total=None)
        report = evaluate_model(
            model,
            telemetry,
            DeployConfig(**deploy),
            baselines=BaselineConfig() if baselines else None,
            work=work,
            out=out,
            write_card=write_card,
            progress=lambda text: bar.update(task, description=text),
            on_start=lambda days: bar.update(task, total=None if baselines else days),
            on_day=lambda: bar.advance(task),
        )
    if as_json:
        echo_json(report)
        return
    for line in report_lines(report):
        echo(line)
    if out:
        echo(f"wrote {out / 'report.md'}", err=True)


def _given(names: Sequence[str]) -> str | None:
    """Return the first of these options that was given on the command line."""
    context = click.get_current_context()
    chosen = [name for name in names if context.get_parameter_source(name) is not ParameterSource.DEFAULT]
    return f"--{chosen[0].replace('_', '-')}" if chosen else None
