"""`graphghha bench detection | scenarios | heads | ablation`: how well attacks are found, beside the paper's tables."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from graphghha.lab.bench.detection.paper_protocol import PaperBench

F = TypeVar("F", bound=Callable[..., Any])
WORK = Path("bench-work")
Sizes = list[int] | None  # None: the usual ones


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> Sizes:
    if value is None:
        return None
    try:
        return [int(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"{value!r}: write numbers with commas, such as 32,1024") from None


def _shared(sizes: str) -> Callable[[F], F]:
    """The options of every benchmark that trains."""

    def decorate(command: F) -> F:
        for option in (
            click.option("--sizes", show_default=sizes, callback=_numbers, help="Node counts, with commas."),
            click.option("--seeds", default=3, show_default=True, type=click.IntRange(1), help="How many."),
            click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="The first one."),
            click.option("--threads", default=1, show_default=True, type=click.IntRange(1), help="To train with."),
            click.option("--work", default=WORK, show_default=True, type=click.Path(path_type=Path, file_okay=False)),
            click.option("--quick", is_flag=True, help="About five minutes: a look, not a measurement."),
            click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Also write the JSON here."),
            click.option("--json", "as_json", is_flag=True, help="Print the JSON object only."),
        ):
            command = option(command)
        return command

    return decorate


@contextmanager
def _bench(work: Path, quick: bool, threads: int, as_json: bool) -> Iterator["PaperBench"]:
    """A bench with a progress bar; quick looks keep to a folder of their own."""
    import torch
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from graphghha.lab.bench.detection.paper_protocol import FULL, QUICK, PaperBench

    torch.set_num_threads(threads)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[loss]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=as_json) as progress:
        task = progress.add_task("", total=None, loss="")

        def on_step(name: str, step: Any) -> None:
            loss = f"loss {step.loss:.4f}"
            progress.update(task, description=f"training {name}", completed=step.step, total=step.steps, loss=loss)

        def say(text: str) -> None:
            progress.update(task, description=text, loss="")

        effort = QUICK if quick else FULL
        yield PaperBench(work / ("quick" if quick else "full"), effort, say=say, on_step=on_step)


def _print(result: dict[str, Any], out: Path | None) -> None:
    text = json.dumps(result)
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text + "\n", encoding="utf-8")
    click.echo(text)


def _seeds(seed: int, seeds: int, quick: bool) -> range:
    return range(seed, seed + (1 if quick else seeds))


@click.command()
@click.option("--protocol", type=click.Choice(["paper", "deploy"]), default="paper", show_default=True)
@click.option(
    "--retrain", is_flag=True, help="Deploy: train all four methods alike, instead of judging the shipped model."
)
@_shared("32,64,128,256,512,1024,1536; deploy: 384")
def detection(
    protocol: str,
    retrain: bool,
    sizes: Sizes,
    seeds: int,
    seed: int,
    threads: int,
    work: Path,
    quick: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Table II: the four methods at every size; or the shipped model and the baselines in unseen buildings."""
    if retrain and protocol == "paper":
        raise click.UsageError("--retrain is for --protocol deploy; the paper's protocol always trains")
    from graphghha.lab.bench.detection.studies import deploy_of, deploy_retrained, table_ii
    from graphghha.models.shipped import shipped_model

    with _bench(work, quick, threads, as_json) as bench:
        if protocol == "paper":
            found = table_ii(bench, sizes, _seeds(seed, seeds, quick))
        elif retrain:
            found = deploy_retrained(bench, sizes, _seeds(seed, seeds, quick))
        else:
            found = deploy_of(bench, sizes, seed, shipped_model(bench.plant.name))
        _print(found, out)


@click.command()
@_shared("1024")
def scenarios(
    sizes: Sizes, seeds: int, seed: int, threads: int, work: Path, quick: bool, out: Path | None, as_json: bool
) -> None:
    """Table III: GraphGHHA by family of attacks, every case in an appendix."""
    from graphghha.lab.bench.detection.studies import table_iii

    with _bench(work, quick, threads, as_json) as bench:
        _print(table_iii(bench, sizes, _seeds(seed, seeds, quick)), out)


@click.command()
@_shared("1024")
def heads(
    sizes: Sizes, seeds: int, seed: int, threads: int, work: Path, quick: bool, out: Path | None, as_json: bool
) -> None:
    """The figure on head count: F1 and latency for 2, 4, 8 and 16 heads."""
    from graphghha.lab.bench.detection.studies import head_counts

    with _bench(work, quick, threads, as_json) as bench:
        _print(head_counts(bench, sizes, _seeds(seed, seeds, quick)), out)


@click.command()
@_shared("32,1024")
def ablation(
    sizes: Sizes, seeds: int, seed: int, threads: int, work: Path, quick: bool, out: Path | None, as_json: bool
) -> None:
    """What each part of the layer is worth; and recall against an attacker who knows the network."""
    from graphghha.lab.bench.detection.studies import ablations
    from graphghha.models.shipped import shipped_model

    with _bench(work, quick, threads, as_json) as bench:
        _print(ablations(bench, sizes, _seeds(seed, seeds, quick), shipped_model(bench.plant.name)), out)


COMMANDS = (detection, scenarios, heads, ablation)
