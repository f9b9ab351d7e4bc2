"""`graphghha bench detection | scenarios | heads | ablation`: how well attacks are found, beside the paper's tables."""

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphghha.cli._output import echo_json
from graphghha.cli._outputs import OUTPUT_FILE, OUTPUT_FOLDER
from graphghha.cli._progress import progress_bar

if TYPE_CHECKING:
    from graphghha.lab.bench.detection.paper_protocol import PaperBench

WORK = Path("bench-work")
Sizes = list[int] | None  # None: the default ones
Study = Callable[..., dict[str, Any]]


def parse_numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> Sizes:
    """Return positive whole numbers that are separated by commas."""
    if value is None:
        return None
    try:
        numbers = [int(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"{value!r}: write whole numbers separated by commas, such as 32,1536") from None
    if min(numbers) < 1:
        raise click.BadParameter(f"{value!r}: every number must be at least 1")
    return numbers


def _study(default_sizes: str) -> Callable[[Study], click.Command]:
    """Make a command of a function that takes a bench, sizes and seeds and returns a result."""

    def decorate(study: Study) -> click.Command:
        @wraps(study)
        def command(
            sizes: Sizes,
            seeds: int,
            seed: int,
            threads: int,
            work: Path,
            quick: bool,
            out: Path | None,
            as_json: bool,
            **arguments: Any,
        ) -> None:
            numbers = range(seed, seed + (1 if quick else seeds))
            _run(lambda bench: study(bench, sizes, numbers, **arguments), work, quick, threads, out, as_json)

        for option in (
            click.option(
                "--sizes", show_default=default_sizes, callback=parse_numbers, help="Node counts, separated by commas."
            ),
            click.option("--seeds", default=3, show_default=True, type=click.IntRange(1), help="Number of seeds."),
            click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="First seed."),
            click.option("--threads", default=1, show_default=True, type=click.IntRange(1), help="Training threads."),
            click.option(
                "--work",
                default=WORK,
                show_default=True,
                type=OUTPUT_FOLDER,
                help="Folder for intermediate results.",
            ),
            click.option("--quick", is_flag=True, help="Smoke run of about five minutes; not a measurement."),
            click.option("--out", type=OUTPUT_FILE, help="Also write the JSON here."),
            click.option("--json", "as_json", is_flag=True, help="Print the JSON object only."),
        ):
            command = option(command)
        return click.command()(command)

    return decorate


def _run(
    study: Callable[["PaperBench"], dict[str, Any]],
    work: Path,
    quick: bool,
    threads: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run a study with a progress bar, store and print its result; quick runs use a work folder of their own."""
    import torch
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    from graphghha.lab.bench.detection.paper_protocol import FULL, QUICK, PaperBench
    from graphghha.lab.bench.results import write_result

    torch.set_num_threads(threads)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[loss]}"), TimeRemainingColumn())
    with progress_bar(*columns, is_kept=True, **({"disable": True} if as_json else {})) as bar:
        task = bar.add_task("", total=None, loss="")

        def on_step(name: str, step: Any) -> None:
            loss = f"loss {step.loss:.4f}"
            bar.update(task, description=f"training {name}", completed=step.step, total=step.steps, loss=loss)

        def progress(line: str) -> None:
            bar.update(task, description=line, loss="")

        folder, effort = work / ("quick" if quick else "full"), QUICK if quick else FULL
        result = study(PaperBench(folder, effort, progress=progress, on_step=on_step))
    if out:
        write_result(result, out)
    echo_json(result)


@_study("32,64,128,256,512,1024,1536; deploy: 384")
@click.option(
    "--protocol",
    type=click.Choice(["paper", "deploy"]),
    default="paper",
    show_default=True,
    help="Test data: segments of a year as in the paper, or unseen buildings with attacks.",
)
@click.option("--retrain", is_flag=True, help="Deploy protocol: train all four methods instead of the shipped model.")
def detection(bench: "PaperBench", sizes: Sizes, seeds: Sequence[int], protocol: str, retrain: bool) -> dict[str, Any]:
    """Table II: detection of the four methods.

    With --protocol deploy: the shipped model and the baselines in unseen buildings.
    """
    from graphghha.lab.bench.detection.studies import deploy_retrained, deploy_shipped, table_ii
    from graphghha.models import shipped_model

    if protocol == "paper":
        if retrain:
            raise click.UsageError("--retrain needs --protocol deploy; the paper's protocol always trains")
        return table_ii(bench, sizes, seeds)
    if retrain:
        return deploy_retrained(bench, sizes, seeds)
    return deploy_shipped(bench, sizes, seeds[0], shipped_model(bench.plant.name))


@_study("1024")
def scenarios(bench: "PaperBench", sizes: Sizes, seeds: Sequence[int]) -> dict[str, Any]:
    """Table III: detection by attack family."""
    from graphghha.lab.bench.detection.studies import table_iii

    return table_iii(bench, sizes, seeds)


@_study("1024")
def heads(bench: "PaperBench", sizes: Sizes, seeds: Sequence[int]) -> dict[str, Any]:
    """F1 and latency for 2, 4, 8 and 16 heads."""
    from graphghha.lab.bench.detection.studies import head_counts

    return head_counts(bench, sizes, seeds)


@_study("32,1024")
def ablation(bench: "PaperBench", sizes: Sizes, seeds: Sequence[int]) -> dict[str, Any]:
    """F1 without single parts of the layer.

    Also the recall against an attacker who knows the network.
    """
    from graphghha.lab.bench.detection.studies import ablations
    from graphghha.models import shipped_model

    return ablations(bench, sizes, seeds, shipped_model(bench.plant.name))


COMMANDS = (detection, scenarios, heads, ablation)
