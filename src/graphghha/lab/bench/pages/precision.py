"""docs/results/precision.md: Table IV beside ours, from the JSON of `bench precision`."""

from pathlib import Path

from graphghha.lab.bench.pages.speed_plots import precision_figure
from graphghha.lab.markdown import Result, machine_line, number, table
from graphghha.lab.paper import printed_tables as paper

AIM_FLIPPED = 1e-3
AIM_DIFFERENCE = 1e-2  # of 16 bit to fp32


def precision_page(result: Result, directory: Path) -> Path:
    """Write the page and its figure."""
    directory.mkdir(parents=True, exist_ok=True)
    precision_figure(result, directory / "precision.svg")
    test, rows = result["config"]["test"], result["rows"]
    flipped = "below" if max(row["flipped"] for row in rows) < AIM_FLIPPED else "not below"
    too_far = [row["dtype"] for row in rows if row["max_difference"] > AIM_DIFFERENCE]
    moved = f"above the aim of {AIM_DIFFERENCE:g} in {' and '.join(too_far)}" if too_far else "within the aim"
    text = [
        "# Precision of the arithmetic: Table IV",
        "",
        f"The shipped model on {test['runs']} unseen building(s) of {test['zones']} zones, {test['days']} judged days "
        f"each (deploy protocol, seed {result['config']['seed']}): {result['config']['node_minutes']:,} node-minutes. "
        f"Every dtype scores the same windows. Times are medians of interleaved calls at {rows[0]['nodes']} nodes, one "
        "window a call, after the check against Algorithm 1.",
        "",
        machine_line(result),
        "",
        "![precision](precision.svg)",
        "",
        "## Detection and latency",
        "",
        *table(
            ("dtype", "p", "r", "F1", "ms", "p99 ms", "reduction, %", "paper: p", "r", "F1", "ms", "reduction, %"),
            [
                (
                    row["dtype"],
                    *(number(row[figure]) for figure in ("p", "r", "f1")),
                    number(row["ms"]),
                    number(row["p99_ms"]),
                    number(row["reduction_percent"], ".1f"),
                    *paper.TABLE_IV[row["dtype"]],
                )
                for row in rows
            ],
        ),
        "",
        "The paper's figures come from an A100 and its own test; only the differences between rows compare.",
        "",
        "## How far scores move",
        "",
        *table(
            (
                *("dtype", "largest difference to fp32", "labels that differ", "sides of the threshold that differ"),
                *("attacks found", "false alarms a day", "right node first"),
            ),
            [
                (
                    row["dtype"],
                    f"{row['max_difference']:.1e}",
                    f"{row['flipped']:.4%}",
                    f"{row['threshold_flipped']:.4%}",
                    number(row["event_recall"], ".2f"),
                    number(row["false_alarms_per_day"], ".2f"),
                    number(row["hit_at_1"], ".2f"),
                )
                for row in rows
            ],
        ),
        "",
        f"Differences are of calibrated probabilities; the largest is {moved}. The share of labels that differ is "
        f"{flipped} the aim of {AIM_FLIPPED:.1%} of nodes in every dtype.",
    ]
    page = directory / "precision.md"
    page.write_text("\n".join(text) + "\n", encoding="utf-8")
    return page
