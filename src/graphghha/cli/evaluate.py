"""`graphghha evaluate`: the report card of a model."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from graphghha.cli._model import MODEL


@click.command()
@click.argument("model", required=False, type=MODEL)
@click.argument("data", required=False, type=click.Path(path_type=Path, exists=True))
@click.option("--seed", default=0, show_default=True, help="Of the test buildings.")
@click.option("--runs", default=4, show_default=True, help="Test buildings, spread over the year.")
@click.option("--days", default=14, show_default=True, help="Judged days of each.")
@click.option("--zones", default=12, show_default=True, help="Zones of each.")
@click.option("--unseen-runs", default=1, show_default=True, help="Buildings with whole cases training never saw.")
@click.option(
    "--history-hours",
    default=72,
    show_default=True,
    type=click.IntRange(0, 72),
    help="Of readings before the first judged minute; fewer: a monitor just connected.",
)
@click.option("--baselines", is_flag=True, help="Fit the baselines too and judge them on the same data (an hour).")
@click.option("--work", type=click.Path(path_type=Path, file_okay=False), help="Keeps what the baselines learnt.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Write report.md, figures, report.json.")
@click.option("--write-card", is_flag=True, help="Put the report card into the README of MODEL's directory.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluate(
    model: Path | None,
    data: Path | None,
    seed: int,
    runs: int,
    days: int,
    zones: int,
    unseen_runs: int,
    history_hours: int,
    baselines: bool,
    work: Path | None,
    out: Path | None,
    write_card: bool,
    as_json: bool,
) -> None:
    """Judge MODEL (without: the shipped one) on labelled telemetry DATA, a file or folder as `simulate` writes it.

    Without DATA: by the deploy protocol, on buildings it has never seen.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from graphghha.lab.baselines.suite import RivalConfig
    from graphghha.lab.evaluation.evaluate import evaluate as run_evaluation
    from graphghha.lab.evaluation.model_card import model_card
    from graphghha.lab.evaluation.protocols import DeployConfig, deploy_trial, file_trial
    from graphghha.lab.style import styled
    from graphghha.models import save_model
    from graphghha.models.shipped import shipped_model

    if data and (stray := _given(("seed", "runs", "days", "zones", "unseen_runs", "history_hours", "write_card"))):
        raise click.UsageError(f"{stray} is for the deploy protocol: leave DATA out")
    if write_card and (stray := _given(("history_hours",))):
        raise click.UsageError(f"{stray}: a model's own card is of full windows; leave --write-card out")
    if out:
        with styled():  # better now than after an hour: what draws the figures is there
            pass
    directory = model or shipped_model("fcu")
    config = DeployConfig(
        seed=seed, runs=runs, days=days, zones=zones, unseen_runs=unseen_runs, history_hours=history_hours
    )
    trial = file_trial(directory, data) if data else deploy_trial(directory, config)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} days"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("model", total=None if baselines else trial.total_days)
        found = run_evaluation(
            trial,
            baselines=RivalConfig() if baselines else None,
            work=work,
            out=out,
            say=lambda text: progress.update(task, description=text),
            on_day=lambda: progress.advance(task),
        )
    if write_card:
        save_model(replace(trial.model, card=model_card(trial.model, found)), directory)
    if as_json:
        click.echo(json.dumps(found))
        return
    _print(found)
    if out:
        click.echo(f"wrote {out / 'report.md'}", err=True)


def _given(names: Sequence[str]) -> str | None:
    """The first of these options that stands on the command line."""
    context = click.get_current_context()
    chosen = [name for name in names if context.get_parameter_source(name) is not ParameterSource.DEFAULT]
    return f"--{chosen[0].replace('_', '-')}" if chosen else None


def _print(found: dict[str, Any]) -> None:
    for name, value in found["card"].items():
        if value is not None:
            click.echo(f"{name:<22} {value:.3f}" if isinstance(value, float) else f"{name:<22} {value}")
    for family, scores in found["families"].items():
        if scores["observable_events"]:
            click.echo(f"{family:<22} recall {scores['event_recall']:.2f} of {scores['observable_events']} events")
    for row in found["rows"][1:]:
        recall = row["event_recall_at_equal"]
        click.echo(
            f"{row['method']:<22} recall {'undefined' if recall is None else f'{recall:.2f}'} at the same "
            f"{row['equal_false_alarms_per_day']:.2f} false alarms a day"
        )
