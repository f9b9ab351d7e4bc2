"""Figures of the results pages: ours as lines and dots, the paper's beside them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphghha.lab.markdown import Result
from graphghha.lab.paper import printed_tables as paper
from graphghha.lab.style import COLOURS, INK, MUTED, save, styled

Rows = Sequence[Mapping[str, Any]]
ALWAYS = 2 / 3  # F1 of an alarm at every sample


@styled()
def latency_figure(result: Result, path: Path) -> None:
    """Draw milliseconds against nodes for every method and dtype, with Table I dashed."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9.5, 5))
    for (method, dtype), rows in _grouped(result["rows"], ("method", "dtype")).items():
        style = {"fp32": "-", "bf16": ":", "fp16": "-."}[dtype]
        axes.plot(
            [row["nodes"] for row in rows],
            [row["ms"] for row in rows],
            style,
            marker="o",
            markersize=3,
            color=COLOURS[method],
            label=f"{method} {dtype}",
        )
    for method, column in paper.TABLE_I_MS.items():
        axes.plot(paper.SIZES, column, "--", color=COLOURS[method], alpha=0.5, label=f"{method}, paper (A100)")
    axes.set(xscale="log", yscale="log", xlabel="nodes", ylabel="ms per graph", title=_title(result))
    _save(figure, axes, path, ncols=1, loc="center left", bbox_to_anchor=(1.0, 0.5))


@styled()
def degree_figure(result: Result, path: Path) -> None:
    """Draw milliseconds against neighbours per node at one size."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.5, 4.5))
    for (method, cap), rows in _grouped(result["rows"], ("method", "cap")).items():
        label = f"{method}, at most {cap} neighbours" if cap else method
        axes.plot(
            [row["neighbors"] for row in rows],
            [row["ms"] for row in rows],
            marker="o",
            markersize=3,
            color=COLOURS[method],
            label=label,
        )
    axes.set(xscale="log", yscale="log", xlabel="neighbours per node", ylabel="ms per graph", title=_title(result))
    _save(figure, axes, path)


@styled()
def precision_figure(result: Result, path: Path) -> None:
    """Draw F1, and latency relative to fp32, by dtype beside Table IV."""
    import matplotlib.pyplot as plt

    rows = result["rows"]
    printed = [paper.TABLE_IV[row["dtype"]] for row in rows]
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3.5))
    for axes, ours, theirs, label in (
        (left, [row["f1"] for row in rows], [line[2] for line in printed], "F1"),
        (
            right,
            [row["ms"] / rows[0]["ms"] for row in rows],
            [line[3] / printed[0][3] for line in printed],
            "latency, fp32 = 1",
        ),
    ):
        places = range(len(rows))
        axes.bar([place - 0.2 for place in places], ours, 0.4, color=COLOURS["graphghha"], label="ours")
        axes.bar([place + 0.2 for place in places], theirs, 0.4, color=COLOURS["gemm_floor"], label="paper (A100)")
        axes.set(xticks=list(places), xticklabels=[row["dtype"] for row in rows], ylabel=label, ylim=(0, 1.25))
    left.set_title(_title(result))
    _save(figure, right, path)


def _trained(result: Result) -> list[Mapping[str, Any]]:
    """Return the rows of networks that trained."""
    return [row for row in result["rows"] if row["f1"] is not None]


@styled()
def sizes_figure(result: Result, path: Path) -> None:
    """Draw F1 against nodes; a method that is worse than "always" at every size is in the table only."""
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
    _save(figure, axes, path)


@styled()
def tradeoff_figure(result: Result, latency: Result, path: Path) -> None:
    """Draw F1 against milliseconds at every size: up and to the left is better."""
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
            continue  # its latency was not measured
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
    _save(figure, axes, path)


@styled()
def families_figure(row: Mapping[str, Any], path: Path) -> None:
    """Draw F1 by family beside the printed one, with every case as a dot. Bars would need an axis from 0."""
    import matplotlib.pyplot as plt

    families = row["families"]
    figure, axes = plt.subplots(figsize=(7.5, 3.8))
    places = {name: place for place, name in enumerate(families)}
    cases = [(f1, places[name]) for name, family in families.items() for f1 in family["cases"].values()]
    printed = [(f1 / 100, places[name]) for name in families if (f1 := paper.printed_family(name))]
    means = [(family["f1"], places[name]) for name, family in families.items()]
    for dots, size, colour, marker, label in (
        (cases, 14, MUTED, "o", "one case"),
        (means, 70, COLOURS["graphghha"], "o", "graphghha"),
        (printed, 70, INK, "|", "graphghha, paper"),
    ):
        axes.scatter([f1 for f1, _ in dots], [at for _, at in dots], size, colour, marker=marker, label=label)
    axes.set(yticks=list(places.values()), yticklabels=[name.replace("_", " ") for name in families], xlabel="F1")
    axes.set(xlim=(None, 1.005), title=f"Attack families at {row['nodes']} nodes")
    axes.invert_yaxis()
    _save(figure, axes, path)


@styled()
def heads_figure(result: Result, path: Path) -> None:
    """Draw F1 and latency against the number of heads."""
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
    _save(figure, axes, path)


def _grouped(rows: Rows, keys: tuple[str, ...]) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def _title(result: Result) -> str:
    config = result["config"]
    return f"{result['machine']['cpu']}, {config['threads']} thread(s), batch {config['batch']}"


def _save(figure: Any, axes: Any, path: Path, **legend: Any) -> None:
    """Add the legend and write the file."""
    axes.legend(**{"fontsize": 8, "ncols": 2, **legend})
    save(figure, path)
