"""docs/results/events.md, generated from the JSON of `bench events`."""

from pathlib import Path

from graphghha.lab.bench.results import describe_machine
from graphghha.lab.markdown import Result, table


def events_page(result: Result, directory: Path) -> Path:
    """Write the page and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    allowed, zone_nodes = result["config"]["allowed"], result["config"]["zone_nodes"]
    text = [
        "# Event-driven scoring instead of full passes",
        "",
        "`IncrementalEngine` recomputes only the nodes that a change of features can reach. Every setting is compared "
        "with a full pass per window on the same stream. Each step runs three times and its best time counts; the "
        "times below are means over the stream.",
        "",
        describe_machine(result),
        "",
        *[_verdict(best, allowed) for best in result["best"]],
    ]
    for stream, about in (
        (
            "normal operation",
            f"The shipped model scores {result['config']['minutes']} consecutive minutes of an undisturbed building.",
        ),
        (
            "calm",
            "A synthetic stream: small noise, and in each step a twentieth of the zones takes a new working point.",
        ),
    ):
        rows = [row for row in result["rows"] if row["stream"] == stream]
        if rows:
            text += ["", f"## {stream.capitalize()}", "", about, "", *_sweep(rows)]
    text += [
        "",
        "## The least possible work",
        "",
        "The table gives the share of zones whose scores differ by more than a bound from those last shown. An engine "
        "that knew the scores beforehand would still have to recompute these zones. Three layers spread a change over "
        f"a zone of {zone_nodes} nodes, so that a zone is the least that can be recomputed.",
        "",
        *table(
            ("nodes", "bound", "zones beyond the bound, each minute"),
            [(row["nodes"], f"{row['bound']:g}", f"{row['zones_share']:.0%}") for row in result["bounds"]],
        ),
    ]
    page = directory / "events.md"
    page.write_text("\n".join(text) + "\n", encoding="utf-8")
    return page


def _verdict(best: Result, allowed: float) -> str:
    if best["tolerance"] is None:
        return (
            f"- {best['nodes']} nodes, normal operation: event-driven scoring saves no time. No setting that keeps "
            f"every label, and every probability within {allowed:g}, is faster than full passes, because most nodes "
            "change every minute, if only by noise."
        )
    return (
        f"- {best['nodes']} nodes, normal operation: tolerance {best['tolerance']:g} keeps every label and every "
        f"probability within {allowed:g} and takes {best['ratio']:.2f} of the time of full passes."
    )


def _sweep(rows: list[Result]) -> list[str]:
    return table(
        (
            *("nodes", "tolerance of features", "of the state", "ms per window", "time / full pass", "rows recomputed"),
            *("full passes", "largest difference", "labels that differ"),
        ),
        [
            (
                row["nodes"],
                f"{row['tolerance']:g}",
                f"{row['state_tolerance']:g}",
                f"{row['ms']:.3g}",
                f"{row['ratio']:.2f}",
                f"{row['rows_share']:.0%}",
                f"{row['full_passes_share']:.0%}",
                f"{row['max_difference']:.1e}",
                f"{row['flipped']:.4%}",
            )
            for row in rows
        ],
    )
