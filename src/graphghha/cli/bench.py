"""`graphghha bench`: one sub-command per table or figure. The last line on stdout is one JSON object."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


@click.group()
def bench() -> None:
    """Measure: one command per table and figure."""


def _sizes(ctx: click.Context, param: click.Parameter, value: str) -> list[int]:
    try:
        sizes = [int(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"{value!r}: write node counts with commas, such as 32,1536") from None
    if min(sizes) < 1:
        raise click.BadParameter(f"{value!r}: node counts start at 1")
    return sizes


def _measured(command: F) -> F:
    """The options that every benchmark of the engine shares."""
    for option in (
        click.option("--threads", default=1, show_default=True, type=click.IntRange(1), help="Threads to score with."),
        click.option("--dtype", default="fp32", show_default=True, type=click.Choice(["fp32", "fp16", "bf16"])),
        click.option("--seed", default=0, show_default=True, help="Of weights and windows."),
        click.option("--quick", is_flag=True, help="Few repetitions: a look, not a measurement."),
        click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Also write the JSON here."),
        click.option("--json", "as_json", is_flag=True, help="Print the JSON object only."),
    ):
        command = option(command)
    return command


def _settings(quick: bool, as_json: bool) -> dict[str, Any]:
    from graphghha.bench.harness import DEFAULT_EFFORT, QUICK_EFFORT

    say: Callable[[str], None] = (lambda line: None) if as_json else (lambda line: click.echo(line, err=True))
    return {"effort": QUICK_EFFORT if quick else DEFAULT_EFFORT, "progress": say}


def _finish(result: dict[str, Any], out: Path | None) -> None:
    text = json.dumps(result)
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text + "\n", encoding="utf-8")
    click.echo(text)


@bench.command()
@click.option("--sizes", default="32,64,128,256,512,1024,1536", show_default=True, callback=_sizes, help="Node counts.")
@click.option(
    "--batch", default=1, show_default=True, type=click.IntRange(1), help="Windows per call; ms is per window."
)
@_measured
def latency(
    sizes: list[int], batch: int, threads: int, dtype: str, seed: int, quick: bool, out: Path | None, as_json: bool
) -> None:
    """Table I: all methods against the size of the graph, interleaved."""
    from graphghha.bench.latency import run
    from graphghha.plants import load_plant

    template = load_plant("fcu").template
    _finish(run(sizes, threads, dtype, batch, template=template, seed=seed, **_settings(quick, as_json)), out)


@bench.command()
@click.option("--nodes", default=1024, show_default=True, type=click.IntRange(16), help="Size of the graph.")
@_measured
def degree(nodes: int, threads: int, dtype: str, seed: int, quick: bool, out: Path | None, as_json: bool) -> None:
    """Latency against the density of the graph, with the neighbour cap binding."""
    from graphghha.bench.degree import run

    _finish(run(nodes=nodes, threads=threads, dtype=dtype, seed=seed, **_settings(quick, as_json)), out)


@bench.command()
@click.option("--sizes", default="32,384,1536,12288", show_default=True, callback=_sizes, help="Node counts.")
@click.option("--part", type=click.Choice(["all", "engine", "sources"]), default="all", show_default=True)
@click.option("--zones", default=48, show_default=True, type=click.IntRange(1, 1000), help="That the sources feed.")
@_measured
def stream(
    sizes: list[int],
    part: str,
    zones: int,
    threads: int,
    dtype: str,
    seed: int,
    quick: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Graphs per second through the engine, readings per second through the sources."""
    from graphghha.plants import load_plant

    settings = _settings(quick, as_json)
    result: dict[str, Any] = {"bench": "stream", "part": part}
    if part != "sources":
        from graphghha.bench.stream import run

        result |= run(sizes, threads, dtype, template=load_plant("fcu").template, seed=seed, **settings)
    if part != "engine":
        from graphghha.bench.harness import machine_info
        from graphghha.bench.stream_sources import measure

        measured = measure(zones, is_quick=quick, progress=settings["progress"])
        result |= {"machine": machine_info(), "part": part, "sources": measured}
    _finish(result, out)


@bench.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Where the page goes.")
def page(results: tuple[Path, ...], out: Path) -> None:
    """Write the results page and its figures from stored JSON."""
    from graphghha.bench.pages import latency_page

    found = [json.loads(path.read_text(encoding="utf-8").splitlines()[-1]) for path in results]
    click.echo(str(latency_page(found, out)))


@bench.command()
@click.option("--repeats", default=5, show_default=True, type=click.IntRange(1), help="Best of so many.")
def testbed(repeats: int) -> None:
    """How fast the plant is simulated: zone-years per second on one core."""
    from graphghha.bench.testbed import run

    _finish(run(repeats=repeats), None)


@bench.command()
@click.option("--nodes", type=click.IntRange(1), default=100_000, show_default=True, help="Size of the graph.")
@click.option("--json", "as_json", is_flag=True, help="Print the JSON object only.")
def memory(nodes: int, as_json: bool) -> None:
    """Peak memory of one forward pass on a large graph."""
    from graphghha.bench.memory import measure_memory

    found = measure_memory(nodes)
    if not as_json:
        row = found["rows"][0]
        click.echo(f"{row['nodes']} nodes: peak {row['peak_mb']} MB, {row['before_mb']} MB before the pass", err=True)
    _finish(found, None)
