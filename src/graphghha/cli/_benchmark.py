"""What the commands of `graphghha bench` share: options, and a decorator that runs, prints and stores a benchmark."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from graphghha.cli._model import MODEL
from graphghha.cli._output import echo, echo_json
from graphghha.cli._outputs import OUTPUT_FILE, OUTPUT_FOLDER
from graphghha.cli.bench_detection import WORK, parse_numbers

if TYPE_CHECKING:
    from graphghha.lab.bench.experiments import Scope

F = TypeVar("F", bound=Callable[..., Any])
PLANT = "fcu"  # the plant whose template and shipped model are measured by default
ZONE_MODEL = "fcu-zones"  # where a benchmark needs a model that judges zones

OPTIONS = {
    "threads": click.option("--threads", default=1, show_default=True, type=click.IntRange(1), help="Threads to use."),
    "dtype": click.option(
        "--dtype",
        default="fp32",
        show_default=True,
        type=click.Choice(["fp32", "fp16", "bf16"]),
        help="Format of weights and activations.",
    ),
    "model": click.option(
        "--model", type=MODEL, help=f"Model directory, or the name of a shipped model (default: {PLANT})."
    ),
    "zone-model": click.option(
        "--model",
        type=MODEL,
        default=ZONE_MODEL,
        show_default=True,
        help="Model directory, or the name of a shipped model; one that judges zones.",
    ),
    "work": click.option(
        "--work",
        default=WORK,
        show_default=True,
        type=OUTPUT_FOLDER,
        help="Folder for intermediate results of studies that train.",
    ),
    "seed": click.option(
        "--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of weights, windows and buildings."
    ),
    "quick": click.option("--quick", is_flag=True, help="Smoke run with few repetitions; not a measurement."),
    "out": click.option("--out", type=OUTPUT_FILE, help="Also write the JSON here."),
    "json": click.option("--json", "as_json", is_flag=True, help="Print the JSON object only."),
}


def sizes_option(
    default: str, flag: str = "--sizes", text: str = "Node counts, separated by commas."
) -> Callable[[F], F]:
    """Return an option that takes numbers."""
    return click.option(flag, default=default, show_default=True, callback=parse_numbers, help=text)


def benchmark(*options: str) -> Callable[[Callable[..., dict[str, Any]]], click.Command]:
    """Make a command of a function that takes a Scope and returns a result, which is printed and stored.

    The command has the shared options of these names, and --seed, --quick, --out and --json.
    """

    def decorate(measure: Callable[..., dict[str, Any]]) -> click.Command:
        @wraps(measure)
        def command(
            seed: int,
            quick: bool,
            out: Path | None,
            as_json: bool,
            model: Path | None = None,
            work: Path = WORK,
            **arguments: Any,
        ) -> None:
            finish(measure(make_scope(model, seed, quick, as_json, work), **arguments), out)

        for name in reversed((*options, "seed", "quick", "out", "json")):
            command = OPTIONS[name](command)
        return click.command()(command)

    return decorate


def make_scope(model: Path | None, seed: int, quick: bool, as_json: bool, work: Path = WORK) -> "Scope":
    """Return what a benchmark needs; with `as_json` it prints no progress."""
    from graphghha.lab.bench.experiments import Scope
    from graphghha.models import shipped_model

    progress: Callable[[str], None] = (lambda line: None) if as_json else (lambda line: echo(line, err=True))
    return Scope(model=model or shipped_model(PLANT), quick=quick, seed=seed, work=work, progress=progress)


def finish(result: dict[str, Any], out: Path | None = None) -> None:
    """Print a result as the last line, and store it."""
    from graphghha.lab.bench.results import write_result

    try:
        if out:
            write_result(result, out)
    finally:  # a disk that is full by now must not cost the measurement
        echo_json(result)
