"""`graphghha bench`: one sub-command per table or figure. The last line on stdout is one JSON object."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from graphghha.cli._model import MODEL
from graphghha.cli._output import echo, echo_json
from graphghha.cli._outputs import OUTPUT_FILE, OUTPUT_FOLDER
from graphghha.cli.bench_detection import COMMANDS, WORK, parse_numbers
from graphghha.cli.bench_plants import plants

if TYPE_CHECKING:
    from graphghha.lab.bench.experiments import Scope

F = TypeVar("F", bound=Callable[..., Any])
PLANT = "fcu"  # the plant whose template and shipped model are measured by default
ROOM = ("RM_TEMP", "FCU_RAT")  # its sensors that show the temperature of the room


@click.group()
def bench() -> None:
    """Measure: one command per table and figure."""


_OPTIONS = {
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


def _sizes(default: str, flag: str = "--sizes", text: str = "Node counts, separated by commas.") -> Callable[[F], F]:
    return click.option(flag, default=default, show_default=True, callback=parse_numbers, help=text)


def _benchmark(*options: str) -> Callable[[Callable[..., dict[str, Any]]], click.Command]:
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
            _finish(measure(_scope(model, seed, quick, as_json, work), **arguments), out)

        for name in reversed((*options, "seed", "quick", "out", "json")):
            command = _OPTIONS[name](command)
        return bench.command()(command)

    return decorate


def _scope(model: Path | None, seed: int, quick: bool, as_json: bool, work: Path = WORK) -> "Scope":
    from graphghha.lab.bench.experiments import Scope
    from graphghha.models import shipped_model

    progress: Callable[[str], None] = (lambda line: None) if as_json else (lambda line: echo(line, err=True))
    return Scope(model=model or shipped_model(PLANT), quick=quick, seed=seed, work=work, progress=progress)


def _finish(result: dict[str, Any], out: Path | None = None) -> None:
    from graphghha.lab.bench.results import write_result

    try:
        if out:
            write_result(result, out)
    finally:  # a disk that is full by now must not cost the measurement
        echo_json(result)


@_benchmark("threads", "dtype")
@_sizes("32,64,128,256,512,1024,1536")
@click.option(
    "--batch", default=1, show_default=True, type=click.IntRange(1), help="Windows per call; times are per window."
)
def latency(scope: "Scope", sizes: list[int], batch: int, threads: int, dtype: str) -> dict[str, Any]:
    """Table I: latency of all methods.

    All methods of a graph size are measured interleaved.
    """
    from graphghha.lab.bench.speed.latency import run

    return run(scope.setup, sizes, threads, dtype, batch)


@_benchmark()
@_sizes("32,256,1536,12288,98304")
def tuned(scope: "Scope", sizes: list[int]) -> dict[str, Any]:
    """Latency beside compiled methods.

    GATConv and dense attention as they are and compiled by torch, with an allocator that keeps its memory. Needs a C++
    compiler; one thread, fp32, CPU time, best of all calls.
    """
    from graphghha.lab.bench.speed.tuned import run

    return run(scope.setup, sizes)


@_benchmark("threads", "dtype")
@click.option("--nodes", default=1024, show_default=True, type=click.IntRange(16), help="Number of nodes.")
def degree(scope: "Scope", nodes: int, threads: int, dtype: str) -> dict[str, Any]:
    """Latency by number of neighbors, capped."""
    from graphghha.lab.bench.speed.degree import run

    return run(scope.setup, nodes=nodes, threads=threads, dtype=dtype)


@_benchmark("threads", "dtype")
@_sizes("32,384,1536,12288")
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


@_benchmark("threads", "model")
@click.option("--nodes", default=1024, show_default=True, type=click.IntRange(32), help="Nodes of the timed graph.")
def precision(scope: "Scope", nodes: int, threads: int) -> dict[str, Any]:
    """Table IV: a model in fp32, fp16 and bf16."""
    from graphghha.lab.bench.speed.precision import DEFAULT_TEST, QUICK_TEST, run

    return run(scope.setup, scope.model, nodes, threads, test=QUICK_TEST if scope.quick else DEFAULT_TEST)


@_benchmark("model")
@click.option("--condition", "conditions", multiple=True, metavar="NAME", help="Judge this condition only; repeatable.")
@click.option(
    "--commission-days", default=0, show_default=True, type=click.IntRange(0, 90), help="Also judge it commissioned."
)
@click.option(
    "--pause-days", default=0, show_default=True, type=click.IntRange(0, 300), help="From commissioning to judging."
)
def shift(scope: "Scope", conditions: tuple[str, ...], commission_days: int, pause_days: int) -> dict[str, Any]:
    """A model in buildings unlike its training."""
    from dataclasses import asdict, replace

    from graphghha.lab.bench.results import make_result
    from graphghha.lab.evaluation import ShiftConfig, shift_rows, without_nan
    from graphghha.models import load_model

    config = ShiftConfig(seed=scope.seed, conditions=conditions, commission_days=commission_days, pause_days=pause_days)
    if scope.quick:
        config = replace(config, days=1, zones=3)
    rows = shift_rows(load_model(scope.model), config, progress=scope.progress)
    settings = {**asdict(config), "model": scope.model.name}
    return make_result("shift", settings, without_nan(rows))


@_benchmark("model")
@click.option("--trial", "trials", multiple=True, metavar="NAME", help="Run this trial only; repeatable.")
def commissioning(scope: "Scope", trials: tuple[str, ...]) -> dict[str, Any]:
    """How days, seasons and attacks change a site.

    Needs a model that judges zones. Random buildings are commissioned on few days, in another season, on days with
    attacks in them, with one to three zones, and every week.
    """
    from dataclasses import asdict, replace

    from graphghha.lab.bench.results import make_result
    from graphghha.lab.evaluation import TrialConfig, trial_rows, without_nan
    from graphghha.models import load_model

    config = TrialConfig(seed=scope.seed, trials=trials)
    if scope.quick:
        config = replace(config, buildings=1, days=1)
    rows = trial_rows(load_model(scope.model), config, progress=scope.progress)
    return make_result("commissioning", {**asdict(config), "model": scope.model.name}, without_nan(rows))


@_benchmark("model")
@click.option("--buildings", type=click.IntRange(1), help="Buildings to attack.")
@click.option("--attacks", type=click.IntRange(1), help="Attacks of each building that have to be hidden.")
@click.option("--steps", type=click.IntRange(1), help="Steps of the search, for each attack and number of nodes.")
@click.option("--defence", "defences", multiple=True, metavar="NAME", help="Only this defence; repeatable.")
def attacker(
    scope: "Scope", buildings: int | None, attacks: int | None, steps: int | None, defences: tuple[str, ...]
) -> dict[str, Any]:
    """An attacker who changes readings he holds.

    Needs a model that judges zones. Random buildings are commissioned and attacked; the attacker then changes the
    readings of one to three nodes of the zone to hide it.
    """
    from dataclasses import replace

    from graphghha.lab.bench.detection.attacker_study import QUICK, StudyConfig, attacker_study
    from graphghha.models import load_model

    base = QUICK if scope.quick else StudyConfig()
    config = replace(
        base,
        seed=scope.seed,
        buildings=buildings or base.buildings,
        attacks=attacks or base.attacks,
        effort=replace(base.effort, steps=steps or base.effort.steps),
        defences=defences or base.defences,
    )
    result = attacker_study(load_model(scope.model), config, room=ROOM, progress=scope.progress)
    return {**result, "config": {**result["config"], "model": scope.model.name, "quick": scope.quick}}


@_benchmark("model", "work")
@click.option("--buildings", type=click.IntRange(1), help="Buildings of twelve zones in each group (default: 5).")
def whether_where(scope: "Scope", buildings: int | None) -> dict[str, Any]:
    """A model that judges zones beside others.

    Whether a zone is attacked, at equal false alarms, and through which node, in random buildings. --work may be the
    folder that `train --preset zones` worked in; without it, the model's training windows are made again.
    """
    from dataclasses import replace

    from graphghha.lab.bench.detection.whether_where import QUICK, WhetherWhereConfig, groups_of, whether_where
    from graphghha.models import load_model

    config = replace(QUICK if scope.quick else WhetherWhereConfig(), seed=scope.seed)
    if buildings:
        config = replace(config, groups=groups_of(buildings))
    result = whether_where(load_model(scope.model), config, scope.work, progress=scope.progress)
    return {**result, "config": {**result["config"], "name": scope.model.name}}


@_benchmark("model", "work")
@click.option("--buildings", type=click.IntRange(6), help="Training buildings of every diet (default: 60).")
@click.option("--fits", type=click.IntRange(1), help="Networks of every diet (default: 3).")
@click.option("--exams", type=click.IntRange(1), help="Test buildings of every family (default: 2).")
def diets(scope: "Scope", buildings: int | None, fits: int | None, exams: int | None) -> dict[str, Any]:
    """Networks taught without some of the attacks.

    One family of generic attacks is left out at a time, or a third of the training is the catalogue. Needs a model that
    judges zones, for its preprocessing; the networks are small ones of their own.
    """
    from dataclasses import replace

    from graphghha.lab.bench.detection.diets import QUICK, DietConfig, diet_study
    from graphghha.models import load_model

    base = QUICK if scope.quick else DietConfig()
    config = replace(
        base,
        seed=scope.seed,
        buildings=buildings or base.buildings,
        fits=fits or base.fits,
        exam_buildings=exams or base.exam_buildings,
    )
    result = diet_study(load_model(scope.model), config, scope.work, progress=scope.progress)
    return {**result, "config": {**result["config"], "name": scope.model.name}}


@_benchmark("work")
def effects(scope: "Scope") -> dict[str, Any]:
    """Effects that training never showed.

    Trains two small models, one without rounding, change of value, samples, losses and missing points, and judges both
    in buildings whose systems report that way. Takes about an hour.
    """
    from dataclasses import replace

    from graphghha.lab.bench.detection.effects import QUICK, EffectsConfig, effects_study

    config = replace(QUICK if scope.quick else EffectsConfig(), seed=scope.seed)
    return effects_study("fcu", config, scope.work, progress=scope.progress)


@_benchmark("dtype")
@_sizes("256,512,1024,1536,12288")
@_sizes("1,2", "--threads", "Thread counts, separated by commas; the first must be 1.")
def threads(scope: "Scope", sizes: list[int], threads: list[int], dtype: str) -> dict[str, Any]:
    """Speed-up with several threads."""
    from graphghha.lab.bench.speed.scaling import thread_speedup

    return thread_speedup(scope.setup, sizes, threads, dtype)


@_benchmark("dtype", "model")
@_sizes("12,48", "--zones", "Zones of each building, separated by commas.")
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
@_OPTIONS["seed"]
@_OPTIONS["work"]
@_OPTIONS["model"]
@_OPTIONS["json"]
def paper(
    out: Path, only: tuple[str, ...], again: bool, quick: bool, seed: int, work: Path, model: Path | None, as_json: bool
) -> None:
    """Run all experiments, compare with the paper."""
    from graphghha.errors import EngineError
    from graphghha.lab.bench.run_all import run_all

    summary = run_all(out, _scope(model, seed, quick, as_json, work), only=only, again=again)
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

    _finish(run(repeats=repeats))


@bench.command()
@click.option("--nodes", type=click.IntRange(1), default=100_000, show_default=True, help="Number of nodes.")
@_OPTIONS["json"]
def memory(nodes: int, as_json: bool) -> None:
    """Peak memory of a pass over a large graph."""
    from graphghha.lab.bench.speed.memory import measure_memory

    result = measure_memory(nodes, PLANT)
    if not as_json:
        row = result["rows"][0]
        echo(f"{row['nodes']} nodes: peak {row['peak_mb']} MB, {row['before_mb']} MB before the pass", err=True)
    _finish(result)


for study in (*COMMANDS, plants):
    bench.add_command(study)
