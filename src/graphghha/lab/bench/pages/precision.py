"""docs/results/precision.md: our Table IV beside the paper's, generated from the JSON of `bench precision`."""

from pathlib import Path

from graphghha.lab.bench.pages.plots import precision_figure
from graphghha.lab.bench.results import describe_machine
from graphghha.lab.markdown import Result, number, table
from graphghha.lab.paper import printed_tables as paper

AIM_FLIPPED = 1e-3
AIM_DIFFERENCE = 1e-2  # of 16 bit to fp32


def precision_page(result: Result, directory: Path) -> Path:
    """Write the page and its figure; return the path of the page."""
    directory.mkdir(parents=True, exist_ok=True)
    precision_figure(result, directory / "precision.svg")
    test, rows = result["config"]["test"], result["rows"]
    text = [
        "# Arithmetic precision: Table IV",
        "",
        f"The shipped model scores {test['runs']} unseen building(s) of {test['zones']} zones for {test['days']} days "
        f"each (deploy protocol, seed {result['config']['seed']}): {result['config']['node_minutes']:,} node-minutes. "
        f"Every dtype scores the same windows. Times are medians of interleaved calls at {rows[0]['nodes']} nodes, one "
        "window per call, after the check against Algorithm 1.",
        "",
        describe_machine(result),
        "",
        "![precision](precision.svg)",
        "",
        *("## Detection and latency", "", *_detection_table(rows), ""),
        "The paper measured on an A100 and on its own test data: compare the differences between rows, not single "
        "figures.",
        "",
        *("## Differences of the scores", "", *_difference_table(rows), ""),
        _verdict(rows),
    ]
    page = directory / "precision.md"
    page.write_text("\n".join(text) + "\n", encoding="utf-8")
    return page


def _detection_table(rows: list[Result]) -> list[str]:
    return table(
        ("dtype", "p", "r", "F1", "ms", "p99 ms", "reduction, %", "paper: p", "r", "F1", "ms", "reduction, %"),
        [
            (
                row["dtype"],
                *(number(row[figure]) for figure in ("p", "r", "f1", "ms", "p99_ms")),
                number(row["reduction_percent"], ".1f"),
                *(number(figure) for figure in paper.TABLE_IV[row["dtype"]][:4]),
                number(paper.TABLE_IV[row["dtype"]][4], ".1f"),
            )
            for row in rows
        ],
    )


def _difference_table(rows: list[Result]) -> list[str]:
    return table(
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
                *(number(row[figure], ".2f") for figure in ("event_recall", "false_alarms_per_day", "hit_at_1")),
            )
            for row in rows
        ],
    )


def _verdict(rows: list[Result]) -> str:
    flipped = "below" if max(row["flipped"] for row in rows) < AIM_FLIPPED else "not below"
    too_far = [row["dtype"] for row in rows if row["max_difference"] > AIM_DIFFERENCE]
    largest = f"above the aim of {AIM_DIFFERENCE:g} in {' and '.join(too_far)}" if too_far else "within the aim"
    return (
        f"Differences are those of calibrated probabilities; the largest is {largest}. The share of labels that differ "
        f"is {flipped} the aim of {AIM_FLIPPED:.1%} of nodes in every dtype."
    )
