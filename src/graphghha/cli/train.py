"""`graphghha train`: simulated buildings, or the files of a plant of one's own, to a model directory."""

from pathlib import Path
from typing import Any

import click

from graphghha.cli._export_options import exported_tables
from graphghha.cli._model import MODEL
from graphghha.cli._output import echo
from graphghha.cli._outputs import OUTPUT_FOLDER
from graphghha.cli._progress import progress_bar

_PRESET = (
    "The recipe: zones is for any building, with generic attacks; default for buildings like the reference; quick, "
    "a few minutes, to try things out."
)
_DTYPE = "Arithmetic of training, calibration and thresholds; weights stay fp32."


@click.command()
@click.option("--plant", type=click.Path(path_type=Path, dir_okay=False), help="A plant.toml; train on its own --data.")
@exported_tables(
    required=False, about="With --plant: a file or folder of exported tables of normal operation; repeatable."
)
@click.option(
    "--labels",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --plant: attacks in the data (start,end,nodes,class[,file]), which are learned from.",
)
@click.option(
    "--no-data",
    is_flag=True,
    help="With --plant: do not keep the readings in the model, which then cannot learn on.",
)
@click.option(
    "--preset", type=click.Choice(["default", "quick", "zones"]), default="default", show_default=True, help=_PRESET
)
@click.option(
    "--base",
    type=MODEL,
    help="With --preset zones: refine the network of this model on further buildings; give a new --seed.",
)
@click.option("--out", required=True, type=OUTPUT_FOLDER, help="The model directory.")
@click.option(
    "--work",
    type=OUTPUT_FOLDER,
    help="Folder for resumable intermediate results (default: OUT.work).",
)
@click.option("--layer", default="graphghha", show_default=True, help="Attention layer of the network.")
@click.option("--dtype", type=click.Choice(["fp32", "bf16", "fp16"]), default="fp32", show_default=True, help=_DTYPE)
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(0, 2**31),
    help="Random seed; the same seed and threads give the same model.",
)
@click.option(
    "--threads", default=2, show_default=True, type=click.IntRange(1), help="Number of threads and worker processes."
)
@click.option(
    "--alert-budget",
    metavar="N/day",
    help="False alarms allowed (default: 0.2/day; zones 0.1/day; quick and --plant 1/day; --plant also N/h, N/week).",
)
def train(
    plant: Path | None,
    paths: tuple[Path, ...],
    more: tuple[Path, ...],
    labels: Path | None,
    no_data: bool,
    preset: str,
    base: Path | None,
    out: Path,
    work: Path | None,
    alert_budget: str | None,
    **settings: Any,
) -> None:
    """Train a model on buildings or your own data.

    Without --plant, on simulated buildings; a run that was killed continues where it stopped. With --plant, on exported
    files of normal operation of that plant, in minutes. Attacks in these files that are listed in --labels are not
    normal data: they teach the model where attacks are and of what class, beside what it learns from normal data.
    """
    if plant is not None:
        _train_own(plant, [*paths, *more], labels, out, alert_budget, settings["seed"], keep_data=not no_data)
        return
    if paths or more or labels or no_data:
        raise click.UsageError(
            "--data, --labels and --no-data belong to --plant: a plant.toml that says what the columns are"
        )
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    from graphghha.lab.training import Progress as FitProgress
    from graphghha.lab.training import parse_budget, train_model
    from graphghha.models import load_model

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[figures]}"))
    with progress_bar(*columns, TimeRemainingColumn(), is_kept=True) as bar:
        parts = bar.add_task("", total=None, figures="")
        task = bar.add_task("network", total=None, figures="", visible=False)

        def say(line: str) -> None:
            bar.console.print(line)
            bar.reset(parts, total=None, description=line.partition(":")[0], figures="")

        def on_part(done: int, total: int) -> None:
            bar.update(parts, completed=done, total=total, figures=f"{done} of {total}")

        def on_step(p: FitProgress) -> None:
            figures = f"loss {p.loss:.4f}" + (f", F1 {p.f1:.3f}" if p.f1 == p.f1 else "")
            bar.update(task, completed=p.step, total=p.steps, figures=figures, visible=True)

        train_model(
            preset,
            out,
            work,
            **settings,
            budget_per_day=parse_budget(alert_budget) if alert_budget else None,
            base=load_model(base) if base else None,
            progress=say,
            on_step=on_step,
            on_part=on_part,
        )
    echo(str(out))


def _train_own(
    plant: Path,
    data: list[Path],
    labels: Path | None,
    out: Path,
    alert_budget: str | None,
    seed: int,
    *,
    keep_data: bool,
) -> None:
    from graphghha.lab.plant_detector import PlantDetector
    from graphghha.models import check_destination

    if not data:
        raise click.UsageError("--plant needs --data: files of normal operation")
    check_destination(out)
    detector = PlantDetector(plant, alert_budget=alert_budget, seed=seed, progress=lambda text: echo(text, err=True))
    detector.fit(data, labels=labels).save(out, keep_data=keep_data)
    echo(str(out))
