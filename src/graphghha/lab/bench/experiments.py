"""Every table and figure there is, in the order of the paper: what `graphghha bench paper` runs.

A new experiment is one entry; its JSON is stored under its name and shows on the comparison page.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from graphghha.lab.bench.detection import studies
from graphghha.lab.bench.detection.paper_protocol import FULL, QUICK, PaperBench
from graphghha.lab.bench.harness import DEFAULT_EFFORT, QUICK_EFFORT, Effort
from graphghha.lab.bench.speed import degree, latency, precision, stream, threads
from graphghha.lab.bench.speed import incremental as events
from graphghha.lab.markdown import Result, of_paper
from graphghha.plants import load_plant

Say = Callable[[str], None]
USUAL_SEEDS = 3  # of studies that train


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """How much to measure, and on which model."""

    model: Path
    quick: bool = False
    seed: int = 0
    work: Path = Path("bench-work")  # of studies that train
    say: Say = lambda line: None

    @property
    def seeds(self) -> range:
        return range(self.seed, self.seed + (1 if self.quick else USUAL_SEEDS))

    def paper_bench(self) -> PaperBench:
        kept = self.work / ("quick" if self.quick else "full")
        return PaperBench(kept, QUICK if self.quick else FULL, say=self.say)

    @property
    def effort(self) -> Effort:
        return QUICK_EFFORT if self.quick else DEFAULT_EFFORT


@dataclass(frozen=True, kw_only=True, slots=True)
class Experiment:
    """One file of results."""

    name: str
    shows: str
    command: str  # that measures it alone
    run: Callable[[Scope], Result]
    bench: str  # of its JSON
    batch: int | None = None  # tells two experiments of one bench apart
    page: str | None = None  # where all of it stands
    uses_model: bool = False

    def accepts(self, result: Result) -> bool:
        """Whether a stored result belongs here."""
        is_own = result["bench"] == self.bench and self.batch in (None, result["config"].get("batch"))
        return is_own and of_paper(result)


def _latency(scope: Scope) -> Result:
    sizes = (32, 256) if scope.quick else (*latency.TABLE_I_SIZES, *latency.LARGE_SIZES)
    return latency.run(
        sizes,
        dtype=("fp32", "bf16"),
        template=load_plant("fcu").template,
        effort=scope.effort,
        seed=scope.seed,
        progress=scope.say,
    )


def _latency_batch(scope: Scope) -> Result:
    return latency.run(
        (32, 128) if scope.quick else latency.TABLE_I_SIZES,
        dtype=("fp32", "bf16"),
        batch=64,
        template=load_plant("fcu").template,
        effort=scope.effort,
        seed=scope.seed,
        progress=scope.say,
    )


def _degree(scope: Scope) -> Result:
    nodes, degrees = (256, (8, 64, 256)) if scope.quick else (1024, degree.DEGREES)
    return degree.run(degrees, nodes, effort=scope.effort, seed=scope.seed, progress=scope.say)


def _precision(scope: Scope) -> Result:
    test = precision.QUICK_TEST if scope.quick else precision.DEFAULT_TEST
    return precision.run(scope.model, test=test, effort=scope.effort, seed=scope.seed, progress=scope.say)


def _threads(scope: Scope) -> Result:
    sizes, template = (256,) if scope.quick else threads.SIZES, load_plant("fcu").template
    return threads.run(sizes, template=template, effort=scope.effort, seed=scope.seed, progress=scope.say)


def _stream(scope: Scope) -> Result:
    sizes, template = (32, 384) if scope.quick else stream.SIZES, load_plant("fcu").template
    return stream.run(sizes, template=template, effort=scope.effort, seed=scope.seed, progress=scope.say)


def _events(scope: Scope) -> Result:
    zones, minutes = ((2,), 30) if scope.quick else ((12, 48), 480)
    return events.run(scope.model, zones, minutes, seed=scope.seed, progress=scope.say)


def _detection(scope: Scope) -> Result:
    return studies.table_ii(scope.paper_bench(), None, scope.seeds)


def _scenarios(scope: Scope) -> Result:
    return studies.table_iii(scope.paper_bench(), None, scope.seeds)


def _heads(scope: Scope) -> Result:
    return studies.head_counts(scope.paper_bench(), None, scope.seeds)


def _ablation(scope: Scope) -> Result:
    return studies.ablations(scope.paper_bench(), None, scope.seeds, scope.model)


EXPERIMENTS = (
    Experiment(
        name="latency",
        shows="Table I: latency, one window a call",
        command="graphghha bench paper --only latency",
        run=_latency,
        bench="latency",
        batch=1,
        page="latency.md",
    ),
    Experiment(
        name="latency-batch-64",
        shows="Table I: latency, amortised over 64 windows",
        command="graphghha bench paper --only latency-batch-64",
        run=_latency_batch,
        bench="latency",
        batch=64,
        page="latency.md",
    ),
    Experiment(
        name="detection",
        shows="Table II: detection against the size of the graph",
        command="graphghha bench detection",
        run=_detection,
        bench="detection",
        page="detection.md",
    ),
    Experiment(
        name="scenarios",
        shows="Table III: detection by family of attacks",
        command="graphghha bench scenarios",
        run=_scenarios,
        bench="scenarios",
        page="detection.md",
    ),
    Experiment(
        name="heads",
        shows="Number of heads",
        command="graphghha bench heads",
        run=_heads,
        bench="heads",
        page="detection.md",
    ),
    Experiment(
        name="ablation",
        shows="What each part of the layer is worth",
        command="graphghha bench ablation",
        run=_ablation,
        bench="ablation",
        page="detection.md",
        uses_model=True,
    ),
    Experiment(
        name="precision",
        shows="Table IV: precision of the arithmetic",
        command="graphghha bench precision",
        run=_precision,
        bench="precision",
        page="precision.md",
        uses_model=True,
    ),
    Experiment(
        name="degree",
        shows="Latency against the density of the graph",
        command="graphghha bench degree",
        run=_degree,
        bench="degree",
        page="latency.md",
    ),
    Experiment(
        name="threads",
        shows="More threads",
        command="graphghha bench threads",
        run=_threads,
        bench="threads",
        page="latency.md",
    ),
    Experiment(
        name="stream",
        shows="Throughput of the engine",
        command="graphghha bench stream",
        run=_stream,
        bench="stream",
        page="latency.md",
    ),
    Experiment(
        name="events",
        shows="Events instead of full passes",
        command="graphghha bench events",
        run=_events,
        bench="events",
        page="events.md",
        uses_model=True,
    ),
)
