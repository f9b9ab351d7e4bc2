"""docs/results/latency.md, written from benchmark JSON: nothing on it is typed by hand."""

from collections.abc import Sequence
from pathlib import Path

from graphghha.lab.bench.pages.speed_plots import degree_figure, latency_figure
from graphghha.lab.markdown import Result, machine_line
from graphghha.lab.paper import printed_tables as paper

SPEED_BENCHES = ("latency", "degree", "stream", "threads")
_SHOWN = ("vanilla_gat", "sparsified_gat", "quantized_gat", "pyg_gatconv", "graphghha", "gemm_floor")


def latency_page(results: Sequence[Result], directory: Path) -> Path:
    """Write the page and its figures from the JSON of any of our benchmarks of speed."""
    directory.mkdir(parents=True, exist_ok=True)
    by_bench: dict[str, list[Result]] = {}
    for result in results:
        by_bench.setdefault(result["bench"], []).append(result)
    latencies = sorted(by_bench.get("latency", []), key=lambda result: result["config"]["batch"])
    parts = ["# Latency: Table I and its figure", "", _INTRO]
    if latencies:
        parts += ["", machine_line(latencies[0])]
        latency_figure(latencies[0], directory / "latency.svg")
        parts += ["", "![latency against nodes](latency.svg)", ""]
        parts += _aims(latencies, by_bench.get("threads", []))
    for result in latencies:
        parts += _latency_table(result)
    for result in by_bench.get("degree", []):
        degree_figure(result, directory / "degree.svg")
        parts += _degree_section(result)
    for result in by_bench.get("stream", []):
        parts += _stream_section(result)
    for result in by_bench.get("threads", []):
        parts += _threads_section(result)
    parts += ["", "## The paper's printed figures", "", *[f"- {note}" for note in paper.NOTES]]
    page = directory / "latency.md"
    page.write_text("\n".join(parts) + "\n", encoding="utf-8")
    return page


_INTRO = """Milliseconds per graph on one CPU. Within a size all methods are measured interleaved in one process, so
ratios are firmer than the times themselves; before each size the engine is checked against Algorithm 1 written plainly,
and no speed is reported if that fails. `pyg_gatconv` is what one would use instead (three bare sparse GATConv, ELU, a
linear layer); `gemm_floor` is only the dense matrix products of the same GraphGHHA network through torch. Where the
engine is faster than that, torch's products of such narrow matrices are not the limit of the machine."""


def _ms(result: Result, method: str, nodes: int, dtype: str) -> float | None:
    found = [r for r in result["rows"] if (r["method"], r["nodes"], r["dtype"]) == (method, nodes, dtype)]
    return float(found[0]["ms"]) if found else None


def _ratio(above: float | None, below: float | None) -> str:
    return f"{above / below:.2f}" if above and below else "n/a"


def _aims(latencies: Sequence[Result], threads: Sequence[Result]) -> list[str]:
    """The ratios that the engine is built for: one column per run, so that no run is chosen over another."""
    runs = [r for r in latencies if r["config"]["threads"] == 1 and r["config"]["batch"] == 1]
    if not runs:
        return []
    sizes = sorted({row["nodes"] for run in runs for row in run["rows"]})
    lines = ["## Ratios, one thread, batch 1", "", *_columns(runs)]

    def add(text: str, nodes: int, aim: str, above: tuple[str, int, str], below: tuple[str, int, str]) -> None:
        values = " | ".join(_ratio(_ms(run, *above), _ms(run, *below)) for run in runs)
        lines.append(f"| {text} | {nodes} | {aim} | {values} |")

    for nodes, aim in ((1536, ">= 100"), (32, ">= 1")):
        add(
            "dense vanilla GAT / GraphGHHA, fp32",
            nodes,
            aim,
            ("vanilla_gat", nodes, "fp32"),
            ("graphghha", nodes, "fp32"),
        )
    for nodes in sizes:
        aim = ">= 2" if nodes >= 256 else ">= 1.5" if nodes in (32, 64) else ""
        pair = ("pyg_gatconv", nodes, "fp32"), ("graphghha", nodes, "fp32")
        add("PyG sparse GATConv / GraphGHHA, fp32", nodes, aim, *pair)
    for nodes in [n for n in sizes if n >= 512]:
        pair = ("graphghha", nodes, "fp32"), ("gemm_floor", nodes, "fp32")
        add("GraphGHHA / its matrix products in torch, fp32", nodes, "<= 2", *pair)
    for nodes in [n for n in sizes if n >= 1024]:
        aim = ">= 1.3" if nodes == 1024 else ">= 1.5"
        add("fp32 / bf16", nodes, aim, ("graphghha", nodes, "fp32"), ("graphghha", nodes, "bf16"))
    large = ("graphghha", 12_288, "fp32"), ("graphghha", 1536, "fp32")
    add("time(12,288) / time(1,536), fp32", 12_288, "<= 8.8", *large)
    lines += ["", "Runs on a busy machine scatter: long calls and the other methods suffer more than short ones.", ""]
    lines += [_crossover(run) for run in runs[:1]]
    if threads:
        lines += ["", "## One thread against two, every run", "", *_columns(threads)]
        for nodes in sorted({row["nodes"] for run in threads for row in run["rows"]}):
            values = " | ".join(_speedup(run, nodes) for run in threads)
            lines.append(f"| one thread / two threads | {nodes} | {'>= 1.5' if nodes == 1536 else ''} | {values} |")
        lines += ["", "A second thread helps when the second core is free; beside other busy processes it does not."]
    return lines


def _columns(runs: Sequence[Result]) -> list[str]:
    """Table head with one column per run: its graph and how busy the machine was."""
    heads = []
    for number, run in enumerate(runs, 1):
        load = run["machine"].get("load_average")
        busy = f"load {load[0]:g}" if load else "load not recorded"
        heads.append(f"run {number} ({run['config']['edges']} pairs a zone, {busy})")
    return ["| ratio | nodes | aim | " + " | ".join(heads) + " |", "|---" * (3 + len(runs)) + "|"]


def _speedup(run: Result, nodes: int) -> str:
    found = [row["speedup"] for row in run["rows"] if row["nodes"] == nodes and row["threads"] == 2]
    return f"{found[0]:.2f}" if found else ""


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


def _latency_table(result: Result) -> list[str]:
    config = result["config"]
    batch, threads = config["batch"], config["threads"]
    columns = [
        (method, dtype)
        for method in _SHOWN
        for dtype in ("fp32", "fp16", "bf16")
        if any((r["method"], r["dtype"]) == (method, dtype) for r in result["rows"])
    ]
    amortised = f", per graph of a batch of {batch}" if batch > 1 else ""
    lines = ["", f"## {threads} thread{'s' if threads > 1 else ''}, batch {batch}: median ms (p99){amortised}", ""]
    lines.append("| nodes | " + " | ".join(f"{m} {d}" for m, d in columns) + " | paper: GraphGHHA, A100 |")
    lines.append("|---" * (len(columns) + 2) + "|")
    for nodes in sorted({row["nodes"] for row in result["rows"]}):
        cells = []
        for method, dtype in columns:
            found = [r for r in result["rows"] if (r["method"], r["nodes"], r["dtype"]) == (method, nodes, dtype)]
            cells.append(f"{found[0]['ms']:.4g} ({found[0]['p99_ms']:.3g})" if found else "")
        printed = paper.latency_ms("graphghha", nodes)
        lines.append(f"| {nodes} | " + " | ".join(cells) + f" | {printed if printed else ''} |")
    return [*lines, *_memory_table(result, columns)]


def _memory_table(result: Result, columns: Sequence[tuple[str, str]]) -> list[str]:
    """Peak resident memory that building and one call add."""
    known = {(r["method"], r["dtype"], r["nodes"]): r["peak_mb"] for r in result["rows"] if r["peak_mb"] is not None}
    if not known:
        return []
    lines = ["", "Resident memory that building and one call add at their peak, MB:", ""]
    lines.append("| nodes | " + " | ".join(f"{m} {d}" for m, d in columns) + " |")
    lines.append("|---" * (len(columns) + 1) + "|")
    for nodes in sorted({nodes for _, _, nodes in known}):
        cells = [f"{known[m, d, nodes]:.4g}" if (m, d, nodes) in known else "" for m, d in columns]
        lines.append(f"| {nodes} | " + " | ".join(cells) + " |")
    fewer = sorted(
        {
            f"{row['method']} at {row['nodes']} nodes {row['windows_per_call']}"
            for row in result["rows"]
            if row.get("windows_per_call", result["config"]["batch"]) < result["config"]["batch"]
        }
    )
    if fewer:
        lines += ["", f"Windows per call where the whole batch would take gigabytes: {', '.join(fewer)}."]
    return lines


def _degree_section(result: Result) -> list[str]:
    rows = result["rows"]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    lines = [
        "",
        f"## Neighbours per node at {rows[0]['nodes']} nodes: median ms",
        "",
        "![degree sweep](degree.svg)",
        "",
    ]
    lines.append("| neighbours | " + " | ".join(methods) + " |")
    lines.append("|---" * (len(methods) + 1) + "|")
    for degree in dict.fromkeys(row["neighbors"] for row in rows):
        cells = [f"{r['ms']:.4g}" for m in methods for r in rows if (r["method"], r["neighbors"]) == (m, degree)]
        lines.append(f"| {degree} | " + " | ".join(cells) + " |")
    cap = result["config"]["max_neighbors"]
    return [*lines, "", f"`graphghha` and `sparsified_gat` keep at most {cap} neighbours; the others attend to all."]


def _stream_section(result: Result) -> list[str]:
    lines = _sources_table(result["sources"]) if "sources" in result else []
    if not result["rows"]:
        return lines
    lines += [
        "",
        f"## Throughput of the engine, {result['rows'][0]['dtype']}, {result['config']['threads']} thread(s)",
        "",
        "| nodes | batch | graphs/s per core | node-windows/s per core |",
        "|---|---|---|---|",
    ]
    for row in result["rows"]:
        lines.append(
            f"| {row['nodes']} | {row['batch']} | {row['graphs_per_s_per_core']:.4g} | "
            f"{row['node_windows_per_s_per_core']:.3g} |"
        )
    return lines


def _sources_table(sources: Result) -> list[str]:
    return [
        "",
        f"## Throughput of the sources, zones: {sources['zones']}",
        "",
        "| source | readings/s | readings per second of one core |",
        "|---|---|---|",
        *(
            f"| {row['source']} | {row['readings_per_s']:.3g} | {row['readings_per_cpu_s']:.3g} |"
            for row in sources["rows"]
        ),
        "",
        "From bytes to closed rows of the grid. A machine that does other work shows in the first figure only.",
    ]


def _threads_section(result: Result) -> list[str]:
    lines = ["", "## More threads", "", "| nodes | threads | ms | p99 ms | speed-up |", "|---|---|---|---|---|"]
    for row in result["rows"]:
        lines.append(
            f"| {row['nodes']} | {row['threads']} | {row['ms']:.4g} | {row['p99_ms']:.3g} | {row['speedup']:.2f} |"
        )
    return lines
