"""docs/results/detection.md, written from benchmark JSON: nothing on it is typed by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphghha.lab.bench.pages.detection_plots import families_figure, heads_figure, sizes_figure, tradeoff_figure
from graphghha.lab.markdown import number
from graphghha.lab.paper import printed_tables as paper
from graphghha.lab.training import DEFAULT
from graphghha.windows.features import FEATURE_NAMES

Result = Mapping[str, Any]
STUDIES = ("detection", "scenarios", "heads", "ablation")
METHODS = ("vanilla_gat", "sparsified_gat", "quantized_gat", "graphghha")
BASELINES = ("largest_residual", "value_pca", "largest_value", "random")


def detection_page(results: Mapping[str, Result], directory: Path, deploy: Result | None = None) -> Path:
    """Write the page and its figures from results by name: detection, scenarios, heads, ablation, latency.

    `deploy` is the comparison of the methods under the deploy protocol.
    """
    directory.mkdir(parents=True, exist_ok=True)
    parts = ["# Detection: Tables II and III, heads and ablations", "", _INTRO]
    if found := results.get("detection"):
        parts += [_config(found), *_table_ii(found)]
        sizes_figure(found, directory / "detection.svg")
        parts += ["", "![F1 against size](detection.svg)"]
        if latency := results.get("latency"):
            tradeoff_figure(found, latency, directory / "tradeoff.svg")
            parts += ["", "## F1 against latency", "", "![F1 against latency](tradeoff.svg)", "", _of_table_i(latency)]
    if found := results.get("scenarios") or results.get("detection"):
        parts += _table_iii(found, results.get("detection"), directory)
    if deploy:
        parts += _deploy(deploy)
    if found := results.get("heads"):
        heads_figure(found, directory / "heads.svg")
        parts += _heads(found)
    if found := results.get("ablation"):
        parts += _ablation(found)
    page = directory / "detection.md"
    page.write_text("\n".join(parts) + "\n", encoding="utf-8")
    return page


_INTRO = """The paper's protocol on our testbed: one unit, one case for a whole year, a year cut into z segments that
become the zones of one graph of 32 z nodes ([how](../decisions/paper-protocol.md)). Training, validation and test are
years of their own, with other weather and noise. A sample is alarmed when its worst node, averaged over zones, passes
the score that one normal sample in a hundred reaches in the worst of the validation years. F1 is of each case against
as many normal samples, then the mean over the 48 public cases; "always" would score 0.667. `raw` counts samples that
show nothing as misses, `ceiling` is the raw score of a perfect detector of those that do; it judges by the last half
hour, so that a detector with days of memory may lie above it. The paper's own F1 stands in brackets. Quantized GAT is
the vanilla one with its weights in fp16. The baselines without a network score the same windows: `largest_residual`
by the reading farthest from the value that its neighbours imply, `value_pca` by what principal components of the zone's
readings leave unexplained, `largest_value` by the reading farthest from its usual values, `random` by chance. A sample
is attacked or not, so that the baseline "class = node kind" would equal "always"."""


def _config(result: Result) -> str:
    config, machine = result["config"], result["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items() if version)
    return (
        f"\nSeeds {', '.join(map(str, config['seeds']))}; {config['days']} days a year, a window every "
        f"{config['stride_min']} minutes with 72 hours of history, {config['normal_years']} normal units in every "
        f"year, thresholds from {config['quiet_years']} normal years, "
        f"{config['steps']} training steps of {config['batch_zones']} zones. {packages}.\n"
    )


def _of_table_i(latency: Result) -> str:
    config = latency["config"]
    return (
        f"Times are those of [Table I](latency.md), where every capped method keeps at most {config['max_neighbors']} "
        f"neighbours and a node has {config['in_features']} features; the networks of this page keep fewer (above) and "
        f"read {len(FEATURE_NAMES)}."
    )


def _printed(method: str, nodes: int) -> str:
    if method not in paper.TABLE_II or nodes not in paper.SIZES:
        return ""
    return f" ({paper.TABLE_II[method][paper.SIZES.index(nodes)][2]:.3f})"


def _spread(row: Mapping[str, Any]) -> str:
    if "failed" in row:
        return str(row["failed"])
    if "diverged_at" in row:
        return f"does not train: loss no number at step {row['diverged_at']}"
    return f"{row['f1']:.3f}" + (f" ± {row['f1_std']:.3f}" if row["f1_std"] is not None else "")


def _table_ii(result: Result) -> list[str]:
    rows = {(row["method"], row["nodes"]): row for row in result["rows"]}
    methods = [method for method in (*METHODS, *BASELINES) if any(found == method for found, _ in rows)]
    lines = ["## Table II: F1 by method and size", "", "| nodes | " + " | ".join(methods) + " | always |"]
    lines.append("|---" * (len(methods) + 2) + "|")
    for nodes in sorted({row["nodes"] for row in result["rows"]}):
        cells = [
            f"{_spread(rows[method, nodes])}{_printed(method, nodes)}" if (method, nodes) in rows else ""
            for method in methods
        ]
        lines.append(f"| {nodes} | " + " | ".join(cells) + " | 0.667 |")
    lines += [
        "",
        "± is the standard deviation over seeds: first weights, draws and the test year. Training and validation years "
        f"are the same for all. {_networks(result)}",
        "",
        "Share of normal test samples above the threshold, where one in a hundred is aimed at:",
        "",
        "| nodes | " + " | ".join(methods) + " |",
        "|---" * (len(methods) + 1) + "|",
    ]
    for nodes in sorted({row["nodes"] for row in result["rows"]}):
        rates = [f"{rows[method, nodes]['false_rate']:.3f}" if (method, nodes) in rows else "" for method in methods]
        lines.append(f"| {nodes} | " + " | ".join(rates) + " |")
    lines += ["", "GraphGHHA in detail:", "", "| nodes | p | r | f1 | raw | ceiling | false rate | samples a case |"]
    lines.append("|---" * 8 + "|")
    for (method, nodes), row in sorted(rows.items(), key=lambda item: item[0][1]):
        if method == "graphghha":
            figures = " | ".join(f"{row[name]:.3f}" for name in ("p", "r", "f1", "f1_raw", "f1_ceiling", "false_rate"))
            lines.append(f"| {nodes} | {figures} | {row['samples']} |")
    return lines


def _networks(result: Result) -> str:
    """Parameters and caps of the four methods: they are not the same, and a reader should know."""
    words = [
        f"{found['method']} {found['parameters']:,} and "
        f"{'all neighbours' if found['max_neighbors'] is None else 'at most ' + str(found['max_neighbors'])}"
        for found in result["networks"]
    ]
    return f"Parameters and neighbours: {'; '.join(words)}." if words else ""


_UNSEEN = """A network finds what it was taught and what resembles it, and misses the rest of a family it never saw
(first seed). The last column has seen no attack at all: its expectation of every reading is learnt from normal
operation only, so that no family is strange to it. Networks read these residuals among their features."""


def _families_of(result: Result, method: str, nodes: int) -> Mapping[str, Any]:
    found = (row["families"] for row in result["families"] if (row["method"], row["nodes"]) == (method, nodes))
    return next(found, {})


def _table_iii(result: Result, table_ii: Result | None, directory: Path) -> list[str]:
    ours = [row for row in result["families"] if row["method"] == "graphghha"]
    if not ours:
        return []
    row = next((row for row in ours if row["nodes"] == 1024), ours[-1])
    families_figure(row, directory / "families.svg")
    lines = [
        "",
        f"## Table III: GraphGHHA by family at {row['nodes']} nodes",
        "",
        "| family | F1 | paper | F1 of a network trained without the family | F1 of `largest_residual` |",
        "|---|---|---|---|---|",
    ]
    unseen = {found["family"]: found["f1"] for found in result.get("unseen", ())}
    residual = _families_of(table_ii, "largest_residual", row["nodes"]) if table_ii else {}
    for family, found in row["families"].items():
        cells = (
            100 * found["f1"],
            paper.printed_family(family),
            100 * unseen[family] if unseen.get(family) is not None else None,
            100 * residual[family]["f1"] if family in residual else None,
        )
        lines.append(f"| {family} | " + " | ".join("" if cell is None else f"{cell:.1f} %" for cell in cells) + " |")
    if unseen:
        lines += ["", _UNSEEN]
    lines += ["", "![F1 by family](families.svg)", "", "<details><summary>Every case</summary>", ""]
    lines += ["| case | F1 |", "|---|---|"]
    for found in row["families"].values():
        lines += [f"| {case} | {100 * f1:.1f} % |" for case, f1 in found["cases"].items()]
    return [*lines, "", "</details>"]


_DEPLOY_COLUMNS = (
    ("event_recall", "attacks found"),
    ("false_alarms_per_day", "false alarms a day"),
    ("median_ttd_min", "minutes to find"),
    ("event_recall_at_equal", "found at equal price"),
    ("hit_at_1", "Hit@1"),
    ("hit_at_3", "Hit@3"),
    ("macro_f1", "class macro-F1"),
    ("ece", "ECE"),
)


def _deploy(result: Result) -> list[str]:
    config = result["config"]
    learnt = config["retrain"]
    lines = [
        "",
        "## The deploy protocol: all methods trained alike",
        "",
        f"Each seed ({', '.join(map(str, config['seeds']))}) draws its own buildings, {learnt['attacked_runs']} "
        f"attacked and {learnt['normal_runs']} normal ones to learn from (passes: {learnt['epochs']}), and judges on "
        f"{config['runs']} unseen ones for {config['days']} days. The shipped model learns from "
        f"{DEFAULT.attacked_runs} and {DEFAULT.normal_runs} ({DEFAULT.fit.epochs}): this table compares methods, "
        "[the report card](deploy/report.md) says what is shipped. Thresholds come from validation buildings at "
        f"{learnt['budget_per_day']:g} false alarms a day. *At equal price*: the most that some threshold finds "
        f"for at most {learnt['price_per_day']:g} false alarms a day on the test data itself, the same for all and no "
        "promise. All figures are means over seeds, ± is the spread. "
        f"Quantized GAT runs in {learnt['half_dtype']} here.",
        "",
        "| nodes | method | F1 | " + " | ".join(name for _, name in _DEPLOY_COLUMNS) + " |",
        "|---" * (3 + len(_DEPLOY_COLUMNS)) + "|",
    ]
    for row in result["rows"]:
        cells = [number(row.get(figure)) for figure, _ in _DEPLOY_COLUMNS]
        lines.append(f"| {row['nodes']} | {row['method']} | {_spread(row)} | " + " | ".join(cells) + " |")
    return lines


def _heads(result: Result) -> list[str]:
    ms = {row["heads"]: row["ms"] for row in result["latency"]}
    lines = ["", "## Number of heads", "", "| heads | F1 | paper | ms at 1024 nodes |", "|---|---|---|---|"]
    for row in result["rows"]:
        heads = int(row["method"].split()[0])
        printed = paper.HEADS_F1.get(heads)
        lines.append(f"| {heads} | {_spread(row)} | {printed or 'not stated'} | {ms[heads]:.3f} |")
    return [*lines, "", "![heads](heads.svg)"]


def _ablation(result: Result) -> list[str]:
    sizes = sorted({row["nodes"] for row in result["rows"]})
    rows = {(row["method"], row["nodes"]): row for row in result["rows"]}
    names: Sequence[str] = list(dict.fromkeys(row["method"] for row in result["rows"]))
    lines = ["", "## What each part is worth", "", "| variant | " + " | ".join(f"F1 at {n}" for n in sizes) + " |"]
    lines.append("|---" * (len(sizes) + 1) + "|")
    lines += [f"| {name} | " + " | ".join(_spread(rows[name, n]) for n in sizes) + " |" for name in names]
    if len(result["config"]["seeds"]) == 1:
        lines += [
            "",
            "One seed: the spread of GraphGHHA over seeds, in Table II, says which differences may be chance.",
        ]
    found = result["attacker"]
    return [
        *lines,
        "",
        "## An attacker who knows the network",
        "",
        f"He sets the features of the node he holds at will within their range ({found['config']['restarts']} x "
        f"{found['config']['steps']} steps of projected gradient); {found['zones']} attacked zones of new buildings, "
        f"the shipped model and threshold ({found['raise_at']:.3f}).",
        "",
        "| share in alarm | as attacked | with the attacker's work |",
        "|---|---|---|",
        *(
            f"| {what} | {found['plain'][key]:.3f} | {found['evaded'][key]:.3f} |"
            for key, what in (("zone", "some node of the zone"), ("node", "the attacked node"))
        ),
    ]
