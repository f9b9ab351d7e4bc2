"""`graphghha bench`: one sub-command per table or figure. The last line on stdout is one JSON object."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphghha.cli import bench_buildings, bench_detection
from graphghha.cli._benchmark import OPTIONS, PLANT, benchmark, finish, make_scope, sizes_option
from graphghha.cli._output import echo, echo_json
from graphghha.cli._outputs import OUTPUT_FOLDER
from graphghha.cli.bench_plants import plants

if TYPE_CHECKING:
    from graphghha.lab.bench.experiments import Scope


@click.group()
def bench() -> None:
    """Measure: one command per table and figure."""


@benchmark("threads", "dtype")
@sizes_option("32,64,128,256,512,1024,1536")
@click.option(
    "--batch", default=1, show_default=True, type=click.IntRange(1), help="Windows per call; times are per window."
)
def latency(scope: "Scope", sizes: list[int], batch: int, threads: int, dtype: str) -> dict[str, Any]:
    """Table I: latency of all methods.

    All methods of a graph size are measured interleaved.
    """
    from graphghha.lab.bench.speed.latency import run

    return run(scope.setup, sizes, threads, dtype, batch)


@benchmark()
@sizes_option("32,256,1536,12288,98304")
def tuned(scope: "Scope", sizes: list[int]) -> dict[str, Any]:
    """Latency beside compiled methods.

    GATConv and dense attention as they are and compiled by torch, with an allocator that keeps its memory. Needs a C++
    compiler; one thread, fp32, CPU time, best of all calls.
    """
    from graphghha.lab.bench.speed.tuned import run

    return run(scope.setup, sizes)


@benchmark("threads", "dtype")
@click.option("--nodes", default=1024, show_default=True, type=click.IntRange(16), help="Number of nodes.")
def degree(scope: "Scope", nodes: int, threads: int, dtype: str) -> dict[str, Any]:
    """Latency by number of neighbors, capped."""
    from graphghha.lab.bench.speed.degree import run

    return run(scope.setup, nodes=nodes, threads=threads, dtype=dtype)


@benchmark("threads", "dtype")
@sizes_option("32,384,1536,12288")
@click.option(
    "--part",
    type=click.Choice(["all", "engine", "sources"]),
    default="all",
    show_default=True,
    help="Measure the engine, the sources, or both.",
)
@click.option(
    "--zones", default=48, show_default=True, type=click.IntRange(1, 1000), help="Zones that the sources feed."
)
@click.option("--mqtt", metavar="ADDRESS", help="Also measure MQTT through this broker, such as mqtt://127.0.0.1:1883.")
def stream(
    scope: "Scope", sizes: list[int], part: str, zones: int, mqtt: str | None, threads: int, dtype: str
) -> dict[str, Any]:
    """Throughput of the engine and the sources.

    Graphs per second through the engine, readings per second through the sources.
    """
    from graphghha.lab.bench.results import make_result
    from graphghha.lab.bench.speed.scaling import throughput
    from graphghha.lab.bench.speed.sources import measure

    result = make_result("stream", {"threads": threads}, [])
    if part != "sources":
        result = throughput(scope.setup, sizes, threads, dtype)
    if part != "engine":
        result["sources"] = measure(PLANT, zones, mqtt=mqtt, quick=scope.quick, progress=scope.progress)
    return result | {"part": part}


@bench.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--out", required=True, type=OUTPUT_FOLDER, help="Folder for the pages.")
def page(results: tuple[Path, ...], out: Path) -> None:
    """Write the results pages from stored JSON."""
    from graphghha.lab.bench.pages.index import write_pages
    from graphghha.lab.bench.results import read_result

    for written in write_pages([read_result(path) for path in results], out):
        echo(str(written))


@benchmark("threads", "model")
@click.option("--nodes", default=1024, show_default=True, type=click.IntRange(32), help="Nodes of the timed graph.")
def precision(scope: "Scope", nodes: int, threads: int) -> dict[str, Any]:
    """Table IV: a model in fp32, fp16 and bf16."""
    from graphghha.lab.bench.speed.precision import DEFAULT_TEST, QUICK_TEST, run

    return run(scope.setup, scope.model, nodes, threads, test=QUICK_TEST if scope.quick else DEFAULT_TEST)


@benchmark("dtype")
@sizes_option("256,512,1024,1536,12288")
@sizes_option("1,2", "--threads", "Thread counts, separated by commas; the first must be 1.")
def threads(scope: "Scope", sizes: list[int], threads: list[int], dtype: str) -> dict[str, Any]:
    """Speed-up with several threads."""
    from graphghha.lab.bench.speed.scaling import thread_speedup

    return thread_speedup(scope.setup, sizes, threads, dtype)


@benchmark("dtype", "model")
@sizes_option("12,48", "--zones", "Zones of each building, separated by commas.")
@click.option("--minutes", default=480, show_default=True, type=click.IntRange(2), help="Windows of each stream.")
def events(scope: "Scope", zones: list[int], minutes: int, dtype: str) -> dict[str, Any]:
    """Event-driven scoring against full passes."""
    from graphghha.lab.bench.speed.incremental import run

    if scope.quick:
        zones, minutes = zones[:1], min(minutes, 30)
    return run(scope.setup, scope.model, zones, minutes, dtype)


@bench.command()
@click.option("--out", required=True, type=OUTPUT_FOLDER, help="Folder for the results.")
@click.option("--only", multiple=True, metavar="NAME", help="Run this experiment only; repeatable.")
@click.option("--again", is_flag=True, help="Measure again even where a fresh result exists.")
@click.option("--quick", is_flag=True, help="Smoke run with small sizes; not a measurement.")
@OPTIONS["seed"]
@OPTIONS["work"]
@OPTIONS["model"]
@OPTIONS["json"]
def paper(
    out: Path, only: tuple[str, ...], again: bool, quick: bool, seed: int, work: Path, model: Path | None, as_json: bool
) -> None:
    """Run all experiments, compare with the paper."""
    from graphghha.errors import EngineError
    from graphghha.lab.bench.run_all import run_all

    summary = run_all(out, make_scope(model, seed, quick, as_json, work), only=only, again=again)
    if as_json:
        lists = {"ran": summary.ran, "skipped": summary.skipped, "failed": summary.failed}
        echo_json(lists | {"pages": [str(path) for path in summary.pages]})
    else:
        measured, fresh = (", ".join(names) or "none" for names in (summary.ran, summary.skipped))
        echo(f"measured: {measured}; already up to date: {fresh}", err=True)
        for written in summary.pages:
            echo(str(written))
    if summary.failed:
        raise EngineError("bench paper: " + "; ".join(f"{name}: {why}" for name, why in summary.failed.items()))


@bench.command()
@click.option("--repeats", default=5, show_default=True, type=click.IntRange(1), help="Runs, of which the best counts.")
def testbed(repeats: int) -> None:
    """Speed of the plant simulation."""
    from graphghha.plants.fcu.physics.speed import run

    finish(run(repeats=repeats))


@bench.command()
@click.option("--nodes", type=click.IntRange(1), default=100_000, show_default=True, help="Number of nodes.")
@OPTIONS["json"]
def memory(nodes: int, as_json: bool) -> None:
    """Peak memory of a pass over a large graph."""
    from graphghha.lab.bench.speed.memory import measure_memory

    result = measure_memory(nodes, PLANT)
    if not as_json:
        row = result["rows"][0]
        echo(f"{row['nodes']} nodes: peak {row['peak_mb']} MB, {row['before_mb']} MB before the pass", err=True)
    finish(result)


_SPEED = (latency, tuned, degree, stream, precision, threads, events)
for command in (*_SPEED, *bench_detection.COMMANDS, *bench_buildings.COMMANDS, plants):
    bench.add_command(command)
