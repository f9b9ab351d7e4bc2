"""Figures from benchmark JSON: log axes, the paper's curves beside ours."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphghha.lab.paper import printed_tables as paper
from graphghha.lab.style import COLOURS, save, styled

Rows = Sequence[Mapping[str, Any]]


@styled()
def latency_figure(result: Mapping[str, Any], path: Path) -> None:
    """Milliseconds against nodes, every method and dtype, and Table I dashed."""
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
    finish(figure, axes, path, ncols=1, loc="center left", bbox_to_anchor=(1.0, 0.5))


@styled()
def degree_figure(result: Mapping[str, Any], path: Path) -> None:
    """Milliseconds against neighbours per node at one size."""
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
    finish(figure, axes, path)


@styled()
def precision_figure(result: Mapping[str, Any], path: Path) -> None:
    """F1 and latency relative to fp32, by dtype, ours beside Table IV."""
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
    finish(figure, right, path)


def _grouped(rows: Rows, keys: tuple[str, ...]) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def _title(result: Mapping[str, Any]) -> str:
    config = result["config"]
    return f"{result['machine']['cpu']}, {config['threads']} thread(s), batch {config['batch']}"


def finish(figure: Any, axes: Any, path: Path, **legend: Any) -> None:
    axes.legend(**{"fontsize": 8, "ncols": 2, **legend})
    save(figure, path)
