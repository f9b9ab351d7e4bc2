"""`graphghha bench`: one sub-command per table or figure. The last line on stdout is one JSON object."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from graphghha.cli.bench_detection import COMMANDS, WORK

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


_OPTIONS = {
    "threads": click.option(
        "--threads", default=1, show_default=True, type=click.IntRange(1), help="Threads to score with."
    ),
    "dtype": click.option("--dtype", default="fp32", show_default=True, type=click.Choice(["fp32", "fp16", "bf16"])),
    "model": click.option(
        "--model",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="A model directory; without: the shipped model.",
    ),
    "seed": click.option(
        "--seed", default=0, show_default=True, type=click.IntRange(0), help="Of weights, windows and buildings."
    ),
    "quick": click.option("--quick", is_flag=True, help="Few repetitions: a look, not a measurement."),
    "out": click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Also write the JSON here."),
    "json": click.option("--json", "as_json", is_flag=True, help="Print the JSON object only."),
}


def _options(*names: str) -> Callable[[F], F]:
    """The options that benchmarks share, by name; every one has seed, quick, out and json."""

    def add(command: F) -> F:
        for name in reversed((*names, "seed", "quick", "out", "json")):
            command = _OPTIONS[name](command)
        return command

    return add


def _settings(quick: bool, as_json: bool) -> dict[str, Any]:
    from graphghha.lab.bench.harness import DEFAULT_EFFORT, QUICK_EFFORT

    say: Callable[[str], None] = (lambda line: None) if as_json else (lambda line: click.echo(line, err=True))
    return {"effort": QUICK_EFFORT if quick else DEFAULT_EFFORT, "progress": say}


def _model(model: Path | None) -> Path:
    from graphghha.models.shipped import shipped_model

    return model or shipped_model("fcu")


def _finish(result: dict[str, Any], out: Path | None) -> None:
    text = json.dumps(result)
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text + "\n", encoding="utf-8")
    click.echo(text)


@bench.command()
@click.option("--sizes", default="32,64,128,256,512,1024,1536", show_default=True, callback=_sizes, help="Node counts.")
@click.option(
    "--batch", default=1, show_default=True, type=click.IntRange(1), help="Windows per call; times are per window."
)
@_options("threads", "dtype")
def latency(
    sizes: list[int], batch: int, threads: int, dtype: str, seed: int, quick: bool, out: Path | None, as_json: bool
) -> None:
    """Table I: all methods against the size of the graph, interleaved."""
    from graphghha.lab.bench.speed.latency import run
    from graphghha.plants import load_plant

    template = load_plant("fcu").template
    _finish(run(sizes, threads, dtype, batch, template=template, seed=seed, **_settings(quick, as_json)), out)


@bench.command()
@click.option("--nodes", default=1024, show_default=True, type=click.IntRange(16), help="Size of the graph.")
@_options("threads", "dtype")
def degree(nodes: int, threads: int, dtype: str, seed: int, quick: bool, out: Path | None, as_json: bool) -> None:
    """Latency against the density of the graph, with the neighbour cap binding."""
    from graphghha.lab.bench.speed.degree import run

    _finish(run(nodes=nodes, threads=threads, dtype=dtype, seed=seed, **_settings(quick, as_json)), out)


@bench.command()
@click.option("--sizes", default="32,384,1536,12288", show_default=True, callback=_sizes, help="Node counts.")
@click.option("--part", type=click.Choice(["all", "engine", "sources"]), default="all", show_default=True)
@click.option("--zones", default=48, show_default=True, type=click.IntRange(1, 1000), help="That the sources feed.")
@click.option("--mqtt", metavar="ADDRESS", help="Also measure MQTT through this broker, such as mqtt://127.0.0.1:1883.")
@_options("threads", "dtype")
def stream(
    sizes: list[int],
    part: str,
    zones: int,
    mqtt: str | None,
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
    result: dict[str, Any] = {"bench": "stream", "part": part, "config": {"threads": threads}, "rows": []}
    if part != "sources":
        from graphghha.lab.bench.speed.stream import run

        result |= run(sizes, threads, dtype, template=load_plant("fcu").template, seed=seed, **settings)
    if part != "engine":
        from graphghha.lab.bench.harness import machine_info
        from graphghha.lab.bench.speed.stream_sources import measure

        measured = measure(zones, mqtt=mqtt, is_quick=quick, progress=settings["progress"])
        result |= {"machine": machine_info(), "part": part, "sources": measured}
    _finish(result, out)


@bench.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Where the page goes.")
def page(results: tuple[Path, ...], out: Path) -> None:
    """Write the results pages and their figures from stored JSON."""
    from graphghha.lab.bench.pages.index import read_result, write_pages

    for written in write_pages([read_result(path) for path in results], out):
        click.echo(str(written))


@bench.command()
@click.option("--nodes", default=1024, show_default=True, type=click.IntRange(32), help="Size of the timed graph.")
@_options("threads", "model")
def precision(
    nodes: int, threads: int, model: Path | None, seed: int, quick: bool, out: Path | None, as_json: bool
) -> None:
    """Table IV: detection, latency and differences in fp32, fp16 and bf16."""
    from graphghha.lab.bench.speed.precision import DEFAULT_TEST, QUICK_TEST, run

    test = QUICK_TEST if quick else DEFAULT_TEST
    _finish(run(_model(model), nodes, threads, test=test, seed=seed, **_settings(quick, as_json)), out)


@bench.command()
@click.option("--sizes", default="256,512,1024,1536,12288", show_default=True, callback=_sizes, help="Node counts.")
@click.option("--threads", default="1,2", show_default=True, callback=_sizes, help="Thread counts; the first is 1.")
@_options("dtype")
def threads(
    sizes: list[int], threads: list[int], dtype: str, seed: int, quick: bool, out: Path | None, as_json: bool
) -> None:
    """What more threads bring, all thread counts interleaved."""
    from graphghha.lab.bench.speed.threads import run
    from graphghha.plants import load_plant

    template = load_plant("fcu").template
    _finish(run(sizes, threads, dtype, template=template, seed=seed, **_settings(quick, as_json)), out)


@bench.command()
@click.option("--zones", default="12,48", show_default=True, callback=_sizes, help="Buildings, by zones.")
@click.option("--minutes", default=480, show_default=True, type=click.IntRange(2), help="Windows of each stream.")
@_options("dtype", "model")
def events(
    zones: list[int],
    minutes: int,
    dtype: str,
    model: Path | None,
    seed: int,
    quick: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Event-driven scoring against full passes, on normal operation."""
    from graphghha.lab.bench.speed.incremental import run

    if quick:
        zones, minutes = zones[:1], min(minutes, 30)
    say = _settings(quick, as_json)["progress"]
    _finish(run(_model(model), zones, minutes, dtype=dtype, seed=seed, progress=say), out)


@bench.command()
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Where pages and data go.")
@click.option("--only", multiple=True, metavar="NAME", help="Only this experiment; may be given several times.")
@click.option("--again", is_flag=True, help="Measure even what has a fresh result.")
@click.option("--quick", is_flag=True, help="Small sizes and few repetitions: a look, not a measurement.")
@_OPTIONS["seed"]
@click.option(
    "--work",
    default=WORK,
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Keeps the stages of studies that train.",
)
@_OPTIONS["model"]
@_OPTIONS["json"]
def paper(
    out: Path, only: tuple[str, ...], again: bool, quick: bool, seed: int, work: Path, model: Path | None, as_json: bool
) -> None:
    """Every table and figure there is, and the page that compares them with the paper's."""
    from graphghha.errors import EngineError
    from graphghha.lab.bench.experiments import Scope
    from graphghha.lab.bench.run_all import run_everything

    scope = Scope(model=_model(model), quick=quick, seed=seed, work=work, say=_settings(quick, as_json)["progress"])
    done = run_everything(out, scope, only=only, again=again)
    found = {"ran": done.ran, "skipped": done.skipped, "failed": done.failed, "pages": [str(p) for p in done.pages]}
    if as_json:
        click.echo(json.dumps(found))
    else:
        click.echo(f"measured: {', '.join(done.ran) or 'nothing'}; fresh already: {', '.join(done.skipped)}", err=True)
        for page in done.pages:
            click.echo(str(page))
    if done.failed:
        raise EngineError("bench paper: " + "; ".join(f"{name}: {why}" for name, why in done.failed.items()))


@bench.command()
@click.option("--repeats", default=5, show_default=True, type=click.IntRange(1), help="Best of so many.")
def testbed(repeats: int) -> None:
    """How fast the plant is simulated: zone-years per second on one core."""
    from graphghha.plants.fcu.physics.speed import run

    _finish(run(repeats=repeats), None)


@bench.command()
@click.option("--nodes", type=click.IntRange(1), default=100_000, show_default=True, help="Size of the graph.")
@click.option("--json", "as_json", is_flag=True, help="Print the JSON object only.")
def memory(nodes: int, as_json: bool) -> None:
    """Peak memory of one forward pass on a large graph."""
    from graphghha.lab.bench.speed.memory import measure_memory

    found = measure_memory(nodes)
    if not as_json:
        row = found["rows"][0]
        click.echo(f"{row['nodes']} nodes: peak {row['peak_mb']} MB, {row['before_mb']} MB before the pass", err=True)
    _finish(found, None)


for study in COMMANDS:
    bench.add_command(study)
