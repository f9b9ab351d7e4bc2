"""docs/results/detection.md, generated from the JSON of the detection studies."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphghha.lab.bench.pages.plots import ALWAYS, families_figure, heads_figure, sizes_figure, tradeoff_figure
from graphghha.lab.markdown import Result, number, table
from graphghha.lab.paper import printed_tables as paper
from graphghha.lab.training import DEFAULT
from graphghha.windows import FEATURE_NAMES

STUDIES = ("detection", "scenarios", "heads", "ablation")
METHODS = ("vanilla_gat", "sparsified_gat", "quantized_gat", "graphghha")
BASELINES = ("largest_residual", "value_pca", "largest_value", "random")


def detection_page(results: Mapping[str, Result], directory: Path, deploy: Result | None = None) -> Path:
    """Write the page and its figures from results by name: detection, scenarios, heads, ablation, latency.

    `deploy` is the comparison of the methods under the deploy protocol. Returns the path of the page.
    """
    directory.mkdir(parents=True, exist_ok=True)
    parts = ["# Detection: Tables II and III, heads and ablations", "", _INTRO]
    if study := results.get("detection"):
        parts += [_settings(study), *_table_ii(study)]
        sizes_figure(study, directory / "detection.svg")
        parts += ["", "![F1 against size](detection.svg)"]
        if latency := results.get("latency"):
            tradeoff_figure(study, latency, directory / "tradeoff.svg")
            parts += [
                "",
                "## F1 against latency",
                "",
                "![F1 against latency](tradeoff.svg)",
                "",
                _latency_note(latency),
            ]
    if study := results.get("scenarios") or results.get("detection"):
        parts += _table_iii(study, results.get("detection"), directory)
    if deploy:
        parts += _deploy(deploy)
    if study := results.get("heads"):
        heads_figure(study, directory / "heads.svg")
        parts += _heads(study)
    if study := results.get("ablation"):
        parts += [*_ablation(study), *(_attacker(study["attacker"]) if study["attacker"] else ())]
    page = directory / "detection.md"
    page.write_text("\n".join(parts) + "\n", encoding="utf-8")
    return page


_INTRO = """The paper's protocol on our testbed: one unit runs one case for a whole year, and the year is cut into z
segments that become the zones of one graph of 32 z nodes ([details](../decisions/paper-protocol.md)). Training,
validation and test are different years, with other weather and noise. A sample raises an alarm if the score of its
worst node, averaged over zones, exceeds the score that one normal sample in a hundred reaches in the worst validation
year. F1 is that of each case against as many normal samples, averaged over the 48 public cases; a detector that always
alarms scores 0.667 ("always"). `raw` counts samples in which the attack is not visible as misses, and `ceiling` is the
raw score of a perfect detector of the visible ones. Visibility is determined from the last half hour, so that a
detector with days of memory may exceed the ceiling. The paper's own F1 is given in brackets. Quantized GAT is the
vanilla one with its weights in fp16. The baselines without a network score the same windows: `largest_residual` by the
reading farthest from the value that its neighbours imply, `value_pca` by what principal components of the zone's
readings leave unexplained, `largest_value` by the reading farthest from its usual values, `random` by chance. A sample
is attacked or not, so that the baseline "class = node kind" would equal "always"."""


def _settings(result: Result) -> str:
    config, machine = result["config"], result["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items() if version)
    return (
        f"\nSeeds {', '.join(map(str, config['seeds']))}; {config['days']} days a year, a window every "
        f"{config['stride_min']} minutes with 72 hours of history, {config['normal_years']} normal units in every "
        f"year, thresholds from {config['quiet_years']} normal years, "
        f"{config['steps']} training steps of {config['batch_zones']} zones. {packages}.\n"
    )


def _latency_note(latency: Result) -> str:
    config = latency["config"]
    return (
        f"Times are those of [Table I](latency.md), where every capped method keeps at most {config['max_neighbors']} "
        f"neighbours and a node has {config['in_features']} features; the networks of this page keep fewer neighbours "
        f"(see above) and have {len(FEATURE_NAMES)} features."
    )


def _printed(method: str, nodes: int) -> str:
    if method not in paper.TABLE_II or nodes not in paper.SIZES:
        return ""
    return f" ({paper.TABLE_II[method][paper.SIZES.index(nodes)][2]:.3f})"


def _f1(row: Mapping[str, Any]) -> str:
    """F1 with its spread over seeds, or why there is none."""
    if "failed" in row:
        return str(row["failed"])
    if "diverged_at" in row:
        return f"does not train: loss not finite at step {row['diverged_at']}"
    return f"{row['f1']:.3f}" + (f" ± {row['f1_std']:.3f}" if row["f1_std"] is not None else "")


def _table_ii(result: Result) -> list[str]:
    rows = {(row["method"], row["nodes"]): row for row in result["rows"]}
    methods = [method for method in (*METHODS, *BASELINES) if any(own == method for own, _ in rows)]
    sizes = sorted({nodes for _, nodes in rows})

    def f1(method: str, nodes: int) -> str:
        return f"{_f1(rows[method, nodes])}{_printed(method, nodes)}" if (method, nodes) in rows else ""

    def false_rate(method: str, nodes: int) -> str:
        return number(rows[method, nodes]["false_rate"]) if (method, nodes) in rows else ""

    detail = ("p", "r", "f1", "f1_raw", "f1_ceiling", "false_rate")
    own = {nodes: rows["graphghha", nodes] for nodes in sizes if ("graphghha", nodes) in rows}
    return [
        *("## Table II: F1 by method and size", ""),
        *table(
            ("nodes", *methods, "always"),
            [(nodes, *(f1(method, nodes) for method in methods), number(ALWAYS)) for nodes in sizes],
        ),
        "",
        "± is the standard deviation over seeds, which determine the initial weights, the training samples and the "
        f"test year. Training and validation years are the same for all seeds. {_networks(result)}",
        *("", "Share of normal test samples above the threshold, where the aim is one in a hundred:", ""),
        *table(("nodes", *methods), [(nodes, *(false_rate(method, nodes) for method in methods)) for nodes in sizes]),
        *("", "GraphGHHA in detail:", ""),
        *table(
            ("nodes", "p", "r", "f1", "raw", "ceiling", "false rate", "samples a case"),
            [(nodes, *(number(row[figure]) for figure in detail), row["samples"]) for nodes, row in own.items()],
        ),
    ]


def _networks(result: Result) -> str:
    """Parameters and caps of the four methods, which differ."""
    texts = [
        f"{network['method']} {network['parameters']:,} and "
        f"{'all neighbours' if network['max_neighbors'] is None else 'at most ' + str(network['max_neighbors'])}"
        for network in result["networks"]
    ]
    return f"Parameters and neighbours: {'; '.join(texts)}." if texts else ""


_UNSEEN = """A network finds the attacks it was trained on and similar ones, and misses the rest of a family that was
left out of its training (first seed). The last column is trained on no attack at all: its expectation of every reading
is learned from normal operation only, so that all families are equally unknown to it. The networks have these residuals
among their features."""


def _table_iii(result: Result, table_ii: Result | None, directory: Path) -> list[str]:
    ours = [row for row in result["families"] if row["method"] == "graphghha"]
    if not ours:
        return []
    row = next((row for row in ours if row["nodes"] == 1024), ours[-1])
    families_figure(row, directory / "families.svg")
    unseen = {scores["family"]: scores["f1"] for scores in result.get("unseen", ())}
    residual = _families(table_ii, "largest_residual", row["nodes"]) if table_ii else {}
    return [
        *("", f"## Table III: GraphGHHA by family at {row['nodes']} nodes", ""),
        *table(
            ("family", "F1", "paper", "F1 of a network trained without the family", "F1 of `largest_residual`"),
            [
                (
                    family,
                    _percent(scores["f1"]),
                    _percent(paper.printed_family(family), scale=1),
                    _percent(unseen.get(family)),
                    _percent(residual[family]["f1"] if family in residual else None),
                )
                for family, scores in row["families"].items()
            ],
        ),
        *(("", _UNSEEN) if unseen else ()),
        *("", "![F1 by family](families.svg)", "", "<details><summary>Every case</summary>", ""),
        *table(
            ("case", "F1"),
            [(case, _percent(f1)) for scores in row["families"].values() for case, f1 in scores["cases"].items()],
        ),
        *("", "</details>"),
    ]


def _families(result: Result, method: str, nodes: int) -> Mapping[str, Any]:
    families = (row["families"] for row in result["families"] if (row["method"], row["nodes"]) == (method, nodes))
    return next(families, {})


def _percent(share: float | None, scale: int = 100) -> str:
    return "" if share is None else f"{scale * share:.1f} %"


_DEPLOY_COLUMNS = (
    ("event_recall", "attacks found"),
    ("false_alarms_per_day", "false alarms a day"),
    ("median_ttd_min", "minutes to find"),
    ("event_recall_at_equal", "found at equal false alarms"),
    ("hit_at_1", "Hit@1"),
    ("hit_at_3", "Hit@3"),
    ("macro_f1", "class macro-F1"),
    ("ece", "ECE"),
)


def _deploy(result: Result) -> list[str]:
    config = result["config"]
    training = config["retrain"]
    return [
        *("", "## The deploy protocol: all methods trained alike", ""),
        f"Each seed ({', '.join(map(str, config['seeds']))}) draws its own buildings: {training['attacked_runs']} "
        f"attacked and {training['normal_runs']} normal ones for training (epochs: {training['epochs']}), and "
        f"{config['runs']} unseen ones of {config['days']} days for the test. The shipped model is trained on "
        f"{DEFAULT.attacked_runs} and {DEFAULT.normal_runs} (epochs: {DEFAULT.fit.epochs}): this table compares "
        "methods, [the report card](deploy/report.md) describes what is shipped. Thresholds come from validation "
        f"buildings at {training['budget_per_day']:g} false alarms a day. *Found at equal false alarms* is the most "
        f"that any threshold finds with at most {training['price_per_day']:g} false alarms a day on the test data "
        "itself. It treats all methods alike, but no threshold chosen beforehand reaches it for certain. All figures "
        f"are means over seeds, ± is the standard deviation. Quantized GAT runs in {training['half_dtype']} here.",
        "",
        *table(
            ("nodes", "method", "F1", *(name for _, name in _DEPLOY_COLUMNS)),
            [
                (row["nodes"], row["method"], _f1(row), *(number(row.get(figure)) for figure, _ in _DEPLOY_COLUMNS))
                for row in result["rows"]
            ],
        ),
    ]


def _heads(result: Result) -> list[str]:
    ms = {row["heads"]: row for row in result["latency"]}
    nodes = {row["nodes"] for row in result["latency"] if "nodes" in row} or {1024}
    rows = []
    for row in result["rows"]:
        heads = int(row["method"].split()[0])
        rows.append((heads, _f1(row), paper.HEADS_F1.get(heads) or "not stated", number(ms[heads]["ms"])))
    return [
        *("", "## Number of heads", ""),
        *table(("heads", "F1", "paper", f"ms at {min(nodes)} nodes"), rows),
        *("", "![heads](heads.svg)"),
    ]


def _ablation(result: Result) -> list[str]:
    sizes = sorted({row["nodes"] for row in result["rows"]})
    rows = {(row["method"], row["nodes"]): row for row in result["rows"]}
    variants = dict.fromkeys(method for method, _ in rows)
    lines = [
        *("", "## Ablation: the contribution of each part", ""),
        *table(
            ("variant", *(f"F1 at {nodes}" for nodes in sizes)),
            [(variant, *(_f1(rows[variant, nodes]) for nodes in sizes)) for variant in variants],
        ),
    ]
    if len(result["config"]["seeds"]) == 1:
        note = "These are results of one seed: differences below the spread of GraphGHHA in Table II may be chance."
        lines += ["", note]
    return lines


def _attacker(result: Result) -> list[str]:
    config = result["config"]
    return [
        *("", "## An attacker who knows the network", ""),
        f"The attacker sets the features of the compromised node at will within their range ({config['restarts']} x "
        f"{config['steps']} steps of projected gradient descent), in {result['zones']} attacked zones of unseen "
        f"buildings, against the shipped model and its threshold ({result['raise_at']:.3f}).",
        "",
        *table(
            ("share in alarm", "as attacked", "with optimized features"),
            [
                (text, number(result["plain"][key]), number(result["evaded"][key]))
                for key, text in (("zone", "some node of the zone"), ("node", "the attacked node"))
            ],
        ),
    ]
