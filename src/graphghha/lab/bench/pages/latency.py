"""docs/results/latency.md, generated from the JSON of the speed benchmarks."""

from collections.abc import Sequence
from pathlib import Path

from graphghha.lab.bench.pages.plots import degree_figure, latency_figure
from graphghha.lab.bench.results import describe_machine
from graphghha.lab.markdown import Result, number, table
from graphghha.lab.paper import printed_tables as paper

SPEED_BENCHES = ("latency", "tuned", "degree", "stream", "threads")
_METHODS = ("vanilla_gat", "sparsified_gat", "quantized_gat", "pyg_gatconv", "graphghha", "gemm_floor")
_INTRO = """Milliseconds per graph on one CPU. Within a graph size all methods are measured interleaved in one process,
so that ratios are more reliable than the times themselves. Before each size the engine is checked against Algorithm 1
written out as loops, and no speed is reported if that fails. `graphghha` runs in our engine, which is written for it;
all other methods run in eager PyTorch with default settings, except where a section says otherwise, so that a ratio
compares implementations as well as algorithms. `pyg_gatconv` is what one would use instead (three sparse GATConv of
PyG, ELU, a linear layer). `gemm_floor` is only the dense matrix products of the same GraphGHHA network in PyTorch;
where the engine is faster, PyTorch's products of such narrow matrices do not reach the limit of the machine."""


def latency_page(results: Sequence[Result], directory: Path) -> Path:
    """Write the page and its figures from the results of any speed benchmark; return the path of the page."""
    directory.mkdir(parents=True, exist_ok=True)
    by_bench: dict[str, list[Result]] = {}
    for result in results:
        by_bench.setdefault(result["bench"], []).append(result)
    latencies = sorted(by_bench.get("latency", []), key=lambda result: result["config"]["batch"])
    parts = ["# Latency: Table I and its figure", "", _INTRO]
    if latencies:
        parts += ["", describe_machine(latencies[0])]
        latency_figure(latencies[0], directory / "latency.svg")
        parts += ["", "![latency against nodes](latency.svg)"]
    for result in by_bench.get("tuned", []):
        parts += _tuned_section(result)
    if latencies:
        parts += _ratios(latencies)
    if threads := by_bench.get("threads"):
        parts += _speedups(threads)
    for result in latencies:
        parts += _latency_tables(result)
    for result in by_bench.get("degree", []):
        degree_figure(result, directory / "degree.svg")
        parts += _degree_section(result)
    for result in by_bench.get("stream", []):
        parts += _stream_section(result)
    for result in by_bench.get("threads", []):
        parts += _threads_section(result)
    parts += ["", "## Notes on the paper's figures", "", *[f"- {note}" for note in paper.NOTES]]
    page = directory / "latency.md"
    page.write_text("\n".join(parts) + "\n", encoding="utf-8")
    return page


def _tuned_section(result: Result) -> list[str]:
    ms = {(row["nodes"], row["method"]): row["best_cpu_ms"] for row in result["rows"]}
    methods = list(dict.fromkeys(method for _, method in ms))
    kept = "with an allocator that keeps its memory" if result["config"]["keeps_memory"] else "with the usual allocator"
    load = result["machine"].get("load_average")

    def cells(nodes: int) -> list[str]:
        own = ms[nodes, "graphghha"]
        others = [ms.get((nodes, method)) for method in methods if method != "graphghha"]
        return [f"{own:.3g}", *(f"{other:.3g} ({other / own:.2f})" if other else "not run" for other in others)]

    return [
        *("", "## Other methods at good settings", ""),
        f"PyG's GATConv and the dense GAT, eager and compiled by `torch.compile` (frozen, wrapper in C++), {kept}:",
        "ms of CPU time for one window on one thread, fp32, best of all calls; in brackets the ratio to the engine's.",
        "Judge the engine by this table. GATConv does less than the engine: it has no normalization, MLP or global",
        "branch; the dense GAT runs in the same block as GraphGHHA."
        + (f" Load average of the machine: {load[0]:g}." if load else "")
        + (f" {result['note']}" if "note" in result else ""),
        "",
        *table(("nodes", *methods), [(nodes, *cells(nodes)) for nodes in dict.fromkeys(nodes for nodes, _ in ms)]),
    ]


def _ms(result: Result, method: str, nodes: int, dtype: str) -> float | None:
    times = [r["ms"] for r in result["rows"] if (r["method"], r["nodes"], r["dtype"]) == (method, nodes, dtype)]
    return float(times[0]) if times else None


def _ratio(above: float | None, below: float | None) -> str:
    return f"{above / below:.2f}" if above and below else "n/a"


def _ratios(latencies: Sequence[Result]) -> list[str]:
    """The ratios the engine is designed for, with one column per run, so that no run is selected."""
    runs = [r for r in latencies if r["config"]["threads"] == 1 and r["config"]["batch"] == 1]
    if not runs:
        return []
    sizes = sorted({row["nodes"] for run in runs for row in run["rows"]})
    rows: list[tuple[object, ...]] = []

    def add(text: str, nodes: int, aim: str, above: tuple[str, int, str], below: tuple[str, int, str]) -> None:
        rows.append((text, nodes, aim, *(_ratio(_ms(run, *above), _ms(run, *below)) for run in runs)))

    for nodes, aim in ((1536, ">= 100"), (32, ">= 1")):
        pair = ("vanilla_gat", nodes, "fp32"), ("graphghha", nodes, "fp32")
        add("dense vanilla GAT / GraphGHHA, fp32", nodes, aim, *pair)
    for nodes in sizes:
        aim = ">= 2" if nodes >= 256 else ">= 1.5" if nodes in (32, 64) else ""
        pair = ("pyg_gatconv", nodes, "fp32"), ("graphghha", nodes, "fp32")
        add("PyG sparse GATConv / GraphGHHA, fp32", nodes, aim, *pair)
    for nodes in [n for n in sizes if n >= 512]:
        pair = ("graphghha", nodes, "fp32"), ("gemm_floor", nodes, "fp32")
        add("GraphGHHA / its matrix products in PyTorch, fp32", nodes, "<= 2", *pair)
    for nodes in [n for n in sizes if n >= 1024]:
        aim = ">= 1.3" if nodes == 1024 else ">= 1.5"
        add("fp32 / bf16", nodes, aim, ("graphghha", nodes, "fp32"), ("graphghha", nodes, "bf16"))
    large = ("graphghha", 12_288, "fp32"), ("graphghha", 1536, "fp32")
    add("time(12,288) / time(1,536), fp32", 12_288, "<= 8.8", *large)
    return [
        *("", "## Ratios to methods at default settings, one thread, batch 1", ""),
        *table(("ratio", "nodes", "aim", *_run_heads(runs)), rows),
        "",
        "On a busy machine the ratios vary: long calls and the other methods slow down more than short calls.",
        "",
        _crossover(runs[0]),
    ]


def _speedups(runs: Sequence[Result]) -> list[str]:
    rows = [
        ("one thread / two threads", nodes, ">= 1.5" if nodes == 1536 else "", *(_speedup(run, nodes) for run in runs))
        for nodes in sorted({row["nodes"] for run in runs for row in run["rows"]})
    ]
    return [
        *("", "## Ratio of one thread to two threads", ""),
        *table(("ratio", "nodes", "aim", *_run_heads(runs)), rows),
        "",
        "A second thread helps if the second core is idle; beside other busy processes it does not.",
    ]


def _run_heads(runs: Sequence[Result]) -> list[str]:
    """One column head per run, with its graph and the load of the machine."""
    heads = []
    for count, run in enumerate(runs, 1):
        load = run["machine"].get("load_average")
        busy = f"load {load[0]:g}" if load else "load not recorded"
        heads.append(f"run {count} ({run['config']['edges']} pairs a zone, {busy})")
    return heads


def _speedup(run: Result, nodes: int) -> str:
    speedups = [row["speedup"] for row in run["rows"] if row["nodes"] == nodes and row["threads"] == 2]
    return f"{speedups[0]:.2f}" if speedups else ""


def _crossover(result: Result) -> str:
    sizes = sorted({row["nodes"] for row in result["rows"]})
    slower = [
        nodes
        for nodes in sizes
        if (_ms(result, "graphghha", nodes, "fp32") or 0) > (_ms(result, "pyg_gatconv", nodes, "fp32") or float("inf"))
    ]
    if not slower:
        return f"Crossover with GATConv: none; GraphGHHA is faster at every size from {sizes[0]} to {sizes[-1]} nodes."
    return f"Crossover with GATConv: GraphGHHA is slower at {', '.join(map(str, slower))} nodes."


def _latency_tables(result: Result) -> list[str]:
    batch, threads = result["config"]["batch"], result["config"]["threads"]
    rows = {(row["method"], row["dtype"], row["nodes"]): row for row in result["rows"]}
    columns = [
        (method, dtype)
        for method in _METHODS
        for dtype in ("fp32", "fp16", "bf16")
        if any(key[:2] == (method, dtype) for key in rows)
    ]

    def cells(nodes: int) -> list[str]:
        measured = [rows.get((*column, nodes)) for column in columns]
        return [f"{row['ms']:.4g} ({row['p99_ms']:.3g})" if row else "" for row in measured]

    per_graph = f", per graph of a batch of {batch}" if batch > 1 else ""
    return [
        "",
        f"## {threads} thread{'s' if threads > 1 else ''}, batch {batch}: median ms (p99){per_graph}",
        "",
        *table(
            ("nodes", *(f"{method} {dtype}" for method, dtype in columns), "paper: GraphGHHA, A100"),
            [
                (nodes, *cells(nodes), paper.latency_ms("graphghha", nodes))
                for nodes in sorted({nodes for _, _, nodes in rows})
            ],
        ),
        *_memory_table(result, columns),
    ]


def _memory_table(result: Result, columns: Sequence[tuple[str, str]]) -> list[str]:
    known = {(r["method"], r["dtype"], r["nodes"]): r["peak_mb"] for r in result["rows"] if r["peak_mb"] is not None}
    if not known:
        return []
    lines = [
        *("", "Additional resident memory at the peak of building the method and one call, MB:", ""),
        *table(
            ("nodes", *(f"{method} {dtype}" for method, dtype in columns)),
            [
                (nodes, *(number(known.get((*column, nodes)), ".4g") for column in columns))
                for nodes in sorted({nodes for _, _, nodes in known})
            ],
        ),
    ]
    fewer = sorted(
        {
            f"{row['method']} at {row['nodes']} nodes {row['windows_per_call']}"
            for row in result["rows"]
            if row.get("windows_per_call", result["config"]["batch"]) < result["config"]["batch"]
        }
    )
    if fewer:
        lines += ["", f"Windows per call where the whole batch would need gigabytes: {', '.join(fewer)}."]
    return lines


def _degree_section(result: Result) -> list[str]:
    ms = {(row["neighbors"], row["method"]): row["ms"] for row in result["rows"]}
    methods = list(dict.fromkeys(method for _, method in ms))
    cap = result["config"]["max_neighbors"]
    return [
        "",
        f"## Neighbours per node at {result['rows'][0]['nodes']} nodes: median ms",
        "",
        "![degree sweep](degree.svg)",
        "",
        *table(
            ("neighbours", *methods),
            [
                (degree, *(number(ms.get((degree, method)), ".4g") for method in methods))
                for degree in dict.fromkeys(degree for degree, _ in ms)
            ],
        ),
        "",
        f"`graphghha` and `sparsified_gat` keep at most {cap} neighbours; the others attend to all.",
    ]


def _stream_section(result: Result) -> list[str]:
    lines = _sources_table(result["sources"]) if "sources" in result else []
    if not result["rows"]:
        return lines
    return [
        *lines,
        "",
        f"## Throughput of the engine, {result['rows'][0]['dtype']}, {result['config']['threads']} thread(s)",
        "",
        *table(
            ("nodes", "batch", "graphs/s per core", "node-windows/s per core"),
            [
                (
                    row["nodes"],
                    row["batch"],
                    f"{row['graphs_per_s_per_core']:.4g}",
                    f"{row['node_windows_per_s_per_core']:.3g}",
                )
                for row in result["rows"]
            ],
        ),
    ]


def _sources_table(sources: Result) -> list[str]:
    return [
        "",
        f"## Throughput of the sources, zones: {sources['zones']}",
        "",
        *table(
            ("source", "readings/s", "readings per second of one core"),
            [
                (row["source"], f"{row['readings_per_s']:.3g}", f"{row['readings_per_cpu_s']:.3g}")
                for row in sources["rows"]
            ],
        ),
        "",
        "Measured from bytes to complete rows of the grid. Other work on the machine affects the first figure only.",
    ]


def _threads_section(result: Result) -> list[str]:
    return [
        *("", "## Latency by number of threads", ""),
        *table(
            ("nodes", "threads", "ms", "p99 ms", "speed-up"),
            [
                (row["nodes"], row["threads"], f"{row['ms']:.4g}", f"{row['p99_ms']:.3g}", f"{row['speedup']:.2f}")
                for row in result["rows"]
            ],
        ),
    ]
