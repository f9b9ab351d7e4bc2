"""Figures of the detection benchmarks, the paper's curves dashed beside ours."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphghha.lab.bench.pages.speed_plots import finish
from graphghha.lab.paper import printed_tables as paper
from graphghha.lab.style import COLOURS, INK, MUTED, styled

Result = Mapping[str, Any]
ALWAYS = 2 / 3  # F1 of crying wolf at every sample


def _trained(result: Result) -> list[Mapping[str, Any]]:
    """Rows of networks that trained: the others have nothing to draw."""
    return [row for row in result["rows"] if row["f1"] is not None]


@styled()
def sizes_figure(result: Result, path: Path) -> None:
    """F1 against nodes, of those that compete: a method that lies below "always" everywhere is in the table only."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.5, 4.8))
    for method in dict.fromkeys(row["method"] for row in _trained(result)):
        rows = [row for row in _trained(result) if row["method"] == method]
        if method not in paper.TABLE_II and max(row["f1"] for row in rows) < ALWAYS:
            continue
        nodes, f1 = [row["nodes"] for row in rows], [row["f1"] for row in rows]
        spread = [row["f1_std"] or 0.0 for row in rows]
        axes.errorbar(nodes, f1, spread, marker="o", markersize=3, capsize=2, color=COLOURS[method], label=method)
        if method in paper.TABLE_II:
            printed = [row[2] for row in paper.TABLE_II[method]]
            axes.plot(paper.SIZES, printed, "--", color=COLOURS[method], alpha=0.5, label=f"{method}, paper")
    axes.set_xscale("log", base=2)
    axes.set(xlabel="nodes", ylabel="F1", xticks=paper.SIZES, xticklabels=paper.SIZES)
    finish(figure, axes, path)


@styled()
def tradeoff_figure(result: Result, latency: Result, path: Path) -> None:
    """F1 against milliseconds at every size: up and to the left is better."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.5, 4.8))
    for method in dict.fromkeys(row["method"] for row in _trained(result)):
        ms = {
            row["nodes"]: row["ms"]
            for row in latency["rows"]
            if row["method"] == method and (row["dtype"] == "fp32" or method == "quantized_gat")
        }
        rows = [row for row in _trained(result) if row["method"] == method and row["nodes"] in ms]
        if not rows:
            continue  # its time was not measured
        axes.plot(
            [ms[row["nodes"]] for row in rows],
            [row["f1"] for row in rows],
            marker="o",
            color=COLOURS[method],
            label=method,
        )
        for row in rows:
            axes.annotate(
                str(row["nodes"]), (ms[row["nodes"]], row["f1"]), fontsize=6, xytext=(3, -7), textcoords="offset points"
            )
    axes.set(xscale="log", xlabel="ms per graph, one thread", ylabel="F1")
    finish(figure, axes, path)


@styled()
def families_figure(row: Mapping[str, Any], path: Path) -> None:
    """F1 by family beside the printed one, with every case as a dot. Dots and not bars: the axis begins near 1."""
    import matplotlib.pyplot as plt

    families = row["families"]
    figure, axes = plt.subplots(figsize=(7.5, 3.8))
    places = {name: place for place, name in enumerate(families)}
    cases = [(f1, places[name]) for name, found in families.items() for f1 in found["cases"].values()]
    printed = [(f1 / 100, places[name]) for name in families if (f1 := paper.printed_family(name))]
    means = [(found["f1"], places[name]) for name, found in families.items()]
    for dots, size, colour, marker, label in (
        (cases, 14, MUTED, "o", "one case"),
        (means, 70, COLOURS["graphghha"], "o", "graphghha"),
        (printed, 70, INK, "|", "graphghha, paper"),
    ):
        axes.scatter([f1 for f1, _ in dots], [at for _, at in dots], size, colour, marker=marker, label=label)
    axes.set(yticks=list(places.values()), yticklabels=[name.replace("_", " ") for name in families], xlabel="F1")
    axes.set(xlim=(None, 1.005), title=f"Families of attacks at {row['nodes']} nodes")
    axes.invert_yaxis()
    finish(figure, axes, path)


@styled()
def heads_figure(result: Result, path: Path) -> None:
    """F1 and latency against heads."""
    import matplotlib.pyplot as plt

    figure, (axes, beside) = plt.subplots(1, 2, figsize=(8, 3.4))
    rows = _trained(result)
    heads = [int(row["method"].split()[0]) for row in rows]
    spread = [row["f1_std"] or 0.0 for row in rows]
    f1 = [row["f1"] for row in rows]
    axes.errorbar(heads, f1, spread, marker="o", capsize=2, color=COLOURS["graphghha"], label="F1")
    printed = {count: f1 for count, f1 in paper.HEADS_F1.items() if f1}
    axes.plot(list(printed), list(printed.values()), "--o", color=COLOURS["graphghha"], alpha=0.5, label="F1, paper")
    ms = {row["heads"]: row["ms"] for row in result["latency"]}
    beside.plot(heads, [ms[count] for count in heads], "-o", color=COLOURS["graphghha"])
    for side, what in ((axes, "F1"), (beside, "ms at 1024 nodes")):
        side.set_xscale("log", base=2)
        side.set(xlabel="heads", ylabel=what, xticks=heads, xticklabels=heads)
    beside.set_ylim(0, 1.2 * max(ms.values()))
    finish(figure, axes, path)
