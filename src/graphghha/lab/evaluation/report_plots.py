"""The figures of the report page, each drawn from the JSON of `graphghha evaluate`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from graphghha.classes import CLASSES
from graphghha.lab.style import ACCENT, COLOURS, INK, MUTED, WARM, save, styled

Report = Mapping[str, Any]


def pr_figure(report: Report, plt: Any) -> Any:
    """Draw precision against recall of node-minutes, and the point of the model's own alarm rule."""
    curve, card = report["curves"]["pr"], report["card"]
    figure, axes = plt.subplots(figsize=(5.6, 4.4))
    # many minutes share the highest score; the curve is level up to their recall
    recall, precision = [0.0, *curve["recall"]], [curve["precision"][0], *curve["precision"]]
    axes.plot(recall, precision, color=ACCENT, label=f"single minutes, AUC {card['auc_pr']:.2f}")
    if card["p"] is not None:  # undefined without an alarm
        label = f"alarms of the model: p {card['p']:.2f}, r {card['r']:.2f}"
        axes.plot([card["r"]], [card["p"]], "o", color=WARM, markersize=9, label=label)
    axes.axhline(card["prevalence"], color=MUTED, linestyle="--", linewidth=1, label="share of attacked node-minutes")
    axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1.01), ylim=(0, 1.03), title="Precision and recall")
    axes.legend(loc="lower left")
    return figure


def reliability_figure(report: Report, plt: Any) -> Any:
    """Draw the share of attacked node-minutes against the probability, above the number of node-minutes."""
    curve, card = report["curves"]["reliability"], report["card"]
    edges = np.array(curve["edges"])
    confidence, frequency = (np.array(curve[name], np.float64) for name in ("confidence", "frequency"))
    figure, (axes, below) = plt.subplots(2, 1, figsize=(5.6, 5.2), sharex=True, height_ratios=[3, 1])
    axes.plot([0, 1], [0, 1], color=MUTED, linestyle="--", linewidth=1, label="perfectly calibrated")
    axes.plot(confidence, frequency, "o-", color=ACCENT, markersize=5, label="this model")
    axes.set(ylabel="share of attacked node-minutes", ylim=(0, 1.03), xlim=(0, 1.01))
    axes.set_title(_titled("Reliability", {"ECE": card["ece"], "Brier skill": card["brier_skill"]}))
    axes.legend(loc="upper left")
    below.bar(
        edges[:-1], curve["counts"], width=np.diff(edges), align="edge", color=ACCENT, alpha=0.35, edgecolor="white"
    )
    scale = "log" if any(curve["counts"]) else "linear"
    below.set(xlabel="predicted probability of an attack", ylabel="node-minutes", yscale=scale)
    return figure


def confusion_figure(report: Report, plt: Any) -> Any:
    """Draw how the node-minutes of each class were classified; rows sum to 1."""
    counts = np.array(report["confusion"], np.float64)
    columns = [*CLASSES, "unknown"] if counts[:, -1].any() else list(CLASSES)
    counts = counts[:, : len(columns)]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    figure, axes = plt.subplots(figsize=(5.8, 4.4))
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (row, column), share in np.ndenumerate(shares):
        colour = "white" if share > 0.55 else INK
        text = f"{share:.1%}\n{_short(float(counts[row, column]))}"
        axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=9)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(CLASSES)), CLASSES)
    axes.set(xlabel="predicted class", ylabel="true class", title="Classes of node-minutes")
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    return figure


def families_figure(report: Report, plt: Any) -> Any:
    """Draw the shares of attacks that were detected and localized, family by family."""
    families = {name: s for name, s in report["families"].items() if s["observable_events"]}
    names = sorted(families, key=lambda name: (families[name]["event_recall"], families[name]["hit_at_1"]))
    at = np.arange(len(names))
    figure, axes = plt.subplots(figsize=(6.8, 1.4 + 0.42 * max(3, len(names))))
    recall = [families[name]["event_recall"] for name in names]
    hits = [families[name]["hit_at_1"] for name in names]
    axes.barh(at + 0.19, recall, 0.36, color=ACCENT, label="detected")
    axes.barh(at - 0.19, hits, 0.36, color=WARM, label="right node named first")
    for place, name in enumerate(names):
        axes.text(1.02, place, f"n = {families[name]['observable_events']}", va="center", fontsize=9, color=MUTED)
    axes.set_yticks(at, [name.replace("_", " ") for name in names])
    axes.set(xlabel="share of visible attacks", xlim=(0, 1.0), title="Families of attacks")
    axes.grid(axis="y", visible=False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.5 / max(3, len(names)) - 0.06), ncols=2)
    return figure


def detect_figure(report: Report, plt: Any) -> Any:
    """Draw the share of visible attacks that was announced within a time."""
    minutes, card = report["curves"]["minutes_to_detect"], report["card"]
    figure, axes = plt.subplots(figsize=(5.6, 4.0))
    shown = np.maximum(np.array(minutes, np.float64), 1.0)
    share = np.arange(1, len(shown) + 1) / max(1, card["observable_events"])
    if len(shown):
        axes.step([1.0, *shown, max(1440.0, shown[-1])], [0.0, *share, share[-1]], where="post", color=ACCENT)
    for value, word in ((card["median_ttd_min"], "median"), (card["p90_ttd_min"], "p90")):
        if value is not None:
            axes.axvline(max(value, 1.0), color=WARM, linestyle=":", linewidth=1.5)
            axes.text(max(value, 1.0) * 1.05, 0.03, f"{word} {value:.0f} min", color=WARM, fontsize=9, rotation=90)
    axes.set(xscale="log", ylim=(0, 1.03), xlabel="minutes since the attack is visible", ylabel="share announced")
    axes.set_xticks([1, 5, 15, 60, 240, 1440], ["1", "5", "15", "1 h", "4 h", "1 d"])
    axes.minorticks_off()
    axes.set_title("Time to detect")
    return figure


def budget_figure(report: Report, plt: Any) -> Any:
    """Draw the share of detected attacks against false alarms a day, for every method."""
    figure, axes = plt.subplots(figsize=(6.8, 4.6))
    first = report["rows"][0]["method"]
    for method, points in report["curves"]["budget"].items():
        if not points:
            continue
        is_model = method == first
        own = [report["rows"][0]] if is_model else []
        pairs = sorted((p["false_alarms_per_day"], p["event_recall"] or 0.0) for p in (*points, *own))
        rate, recall = np.array(pairs).T
        axes.plot(
            rate,
            np.maximum.accumulate(recall),
            drawstyle="steps-post",
            color=COLOURS.get(method, MUTED),
            linewidth=3 if is_model else 1.6,
            zorder=3 if is_model else 2,
            label=method,
        )
    row = report["rows"][0]
    axes.plot([row["false_alarms_per_day"]], [row["event_recall"]], "o", color=INK, markersize=8, zorder=4)
    axes.annotate(
        "own threshold",
        (row["false_alarms_per_day"], row["event_recall"]),
        xytext=(8, -14),
        textcoords="offset points",
        fontsize=9,
    )
    axes.set(xlabel="false alarms a day, whole building", ylabel="share of attacks detected", ylim=(0, 1.03))
    axes.set_xscale("symlog", linthresh=0.1, linscale=0.4)
    axes.set_xlim(0, 2.2)
    axes.set_xticks([0, 0.1, 0.25, 0.5, 1, 2], ["0", "0.1", "0.25", "0.5", "1", "2"])
    axes.minorticks_off()
    axes.set_title("Alert budget")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def hops_figure(report: Report, plt: Any) -> Any:
    """Draw how far the named node was from the attacked one."""
    hops = report["curves"]["hops"]
    words = {"0": "right node", "1": "1 hop", "missed": "missed"}
    labels = [words.get(name, f"{name} hops") for name in hops]
    total = max(1, sum(hops.values()))
    figure, axes = plt.subplots(figsize=(5.6, 3.8))
    colours = [ACCENT if name == "0" else MUTED if name == "missed" else WARM for name in hops]
    bars = axes.bar(labels, [count / total for count in hops.values()], color=colours, width=0.7)
    axes.bar_label(bars, [str(count) if count else "" for count in hops.values()], padding=2, fontsize=9)
    axes.set(ylabel="share of visible attacks", ylim=(0, 1.08), title="Distance of the named node")
    axes.grid(axis="x", visible=False)
    return figure


FIGURES: dict[str, tuple[str, Callable[[Report, Any], Any]]] = {
    "families": ("Families", families_figure),
    "budget": ("Alert budget", budget_figure),
    "time-to-detect": ("Time to detect", detect_figure),
    "hops": ("Localization by hops", hops_figure),
    "precision-recall": ("Precision and recall", pr_figure),
    "reliability": ("Reliability", reliability_figure),
    "confusion": ("Confusion", confusion_figure),
}


OF_ATTACKS = ("families", "budget", "time-to-detect", "hops", "precision-recall")  # left out if nothing was attacked


def draw_figures(report: Report, directory: Path, suffix: str = ".svg") -> dict[str, str]:
    """Draw every figure that the data allows, and return their file names by title."""
    drawn = {}
    for name, (title, draw) in FIGURES.items():
        if name in OF_ATTACKS and not report["card"]["observable_events"]:
            continue
        with styled() as plt:
            save(draw(report, plt), directory / f"{name}{suffix}")
        drawn[title] = f"{name}{suffix}"
    return drawn


def _titled(title: str, figures: Mapping[str, float | None]) -> str:
    words = [f"{name} {value:.3f}" for name, value in figures.items() if value is not None]
    return f"{title}: {', '.join(words)}" if words else title


def _short(count: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f}"
