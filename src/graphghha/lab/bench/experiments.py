"""The experiments that `graphghha bench paper` runs, in the order of the paper.

A new experiment is one entry: its JSON is stored under its name and gets a section on the comparison page.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from graphghha.lab.bench.detection import studies
from graphghha.lab.bench.detection.paper_protocol import FULL, QUICK, PaperBench
from graphghha.lab.bench.harness import DEFAULT_EFFORT, QUICK_EFFORT
from graphghha.lab.bench.results import is_paper_protocol
from graphghha.lab.bench.speed import degree, incremental, latency, precision, scaling
from graphghha.lab.bench.speed.methods import Setup
from graphghha.lab.markdown import Result
from graphghha.models import load_model

DEFAULT_SEEDS = 3  # of studies that train


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """How much to measure, and on which model."""

    model: Path
    quick: bool = False
    seed: int = 0
    work: Path = Path("bench-work")  # intermediate results of studies that train
    progress: Callable[[str], None] = lambda line: None

    @property
    def seeds(self) -> range:
        return range(self.seed, self.seed + (1 if self.quick else DEFAULT_SEEDS))

    @property
    def setup(self) -> Setup:
        """Return the setup of the speed benchmarks on the template of the model's plant."""
        effort = QUICK_EFFORT if self.quick else DEFAULT_EFFORT
        template = load_model(self.model).template
        return Setup(template=template, effort=effort, seed=self.seed, progress=self.progress)

    @property
    def paper_bench(self) -> PaperBench:
        """Return the detection benchmark; quick runs keep their intermediate results in a folder of their own."""
        folder = self.work / ("quick" if self.quick else "full")
        return PaperBench(folder, QUICK if self.quick else FULL, progress=self.progress)


@dataclass(frozen=True, kw_only=True, slots=True)
class Experiment:
    """One file of results."""

    name: str
    title: str
    command: str  # measures this experiment alone
    run: Callable[[Scope], Result]
    bench: str  # the `bench` field of its JSON
    batch: int | None = None  # distinguishes two experiments of one bench
    page: str | None = None  # shows all of its figures
    uses_model: bool = False

    def accepts(self, result: Result) -> bool:
        """Return whether a stored result belongs to this experiment."""
        is_own = result["bench"] == self.bench and self.batch in (None, result["config"].get("batch"))
        return is_own and is_paper_protocol(result)


def _latency(scope: Scope) -> Result:
    sizes = (32, 256) if scope.quick else (*latency.TABLE_I_SIZES, *latency.LARGE_SIZES)
    return latency.run(scope.setup, sizes, dtype=("fp32", "bf16"))


def _latency_batch(scope: Scope) -> Result:
    sizes = (32, 128) if scope.quick else latency.TABLE_I_SIZES
    return latency.run(scope.setup, sizes, dtype=("fp32", "bf16"), batch=64)


def _degree(scope: Scope) -> Result:
    nodes, degrees = (256, (8, 64, 256)) if scope.quick else (1024, degree.DEGREES)
    return degree.run(scope.setup, degrees, nodes)


def _precision(scope: Scope) -> Result:
    test = precision.QUICK_TEST if scope.quick else precision.DEFAULT_TEST
    return precision.run(scope.setup, scope.model, test=test)


def _threads(scope: Scope) -> Result:
    return scaling.thread_speedup(scope.setup, (256,) if scope.quick else scaling.THREADS_SIZES)


def _stream(scope: Scope) -> Result:
    return scaling.throughput(scope.setup, (32, 384) if scope.quick else scaling.STREAM_SIZES)


def _events(scope: Scope) -> Result:
    zones, minutes = ((2,), 30) if scope.quick else ((12, 48), 480)
    return incremental.run(scope.setup, scope.model, zones, minutes)


def _detection(scope: Scope) -> Result:
    return studies.table_ii(scope.paper_bench, None, scope.seeds)


def _scenarios(scope: Scope) -> Result:
    return studies.table_iii(scope.paper_bench, None, scope.seeds)


def _heads(scope: Scope) -> Result:
    return studies.head_counts(scope.paper_bench, None, scope.seeds)


def _ablation(scope: Scope) -> Result:
    return studies.ablations(scope.paper_bench, None, scope.seeds, scope.model)


EXPERIMENTS = (
    Experiment(
        name="latency",
        title="Table I: latency of one window per call",
        command="graphghha bench paper --only latency",
        run=_latency,
        bench="latency",
        batch=1,
        page="latency.md",
    ),
    Experiment(
        name="latency-batch-64",
        title="Table I: latency per window in batches of 64",
        command="graphghha bench paper --only latency-batch-64",
        run=_latency_batch,
        bench="latency",
        batch=64,
        page="latency.md",
    ),
    Experiment(
        name="detection",
        title="Table II: detection by graph size",
        command="graphghha bench detection",
        run=_detection,
        bench="detection",
        page="detection.md",
    ),
    Experiment(
        name="scenarios",
        title="Table III: detection by attack family",
        command="graphghha bench scenarios",
        run=_scenarios,
        bench="scenarios",
        page="detection.md",
    ),
    Experiment(
        name="heads",
        title="Number of heads",
        command="graphghha bench heads",
        run=_heads,
        bench="heads",
        page="detection.md",
    ),
    Experiment(
        name="ablation",
        title="Ablation: the contribution of each part of the layer",
        command="graphghha bench ablation",
        run=_ablation,
        bench="ablation",
        page="detection.md",
        uses_model=True,
    ),
    Experiment(
        name="precision",
        title="Table IV: arithmetic precision",
        command="graphghha bench precision",
        run=_precision,
        bench="precision",
        page="precision.md",
        uses_model=True,
    ),
    Experiment(
        name="degree",
        title="Latency by number of neighbours",
        command="graphghha bench degree",
        run=_degree,
        bench="degree",
        page="latency.md",
    ),
    Experiment(
        name="threads",
        title="Speed-up with two threads",
        command="graphghha bench threads",
        run=_threads,
        bench="threads",
        page="latency.md",
    ),
    Experiment(
        name="stream",
        title="Throughput of the engine",
        command="graphghha bench stream",
        run=_stream,
        bench="stream",
        page="latency.md",
    ),
    Experiment(
        name="events",
        title="Event-driven scoring",
        command="graphghha bench events",
        run=_events,
        bench="events",
        page="events.md",
        uses_model=True,
    ),
)
