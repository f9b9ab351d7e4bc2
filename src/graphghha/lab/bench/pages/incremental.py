"""docs/results/events.md: event-driven scoring against full passes, from the JSON of `bench events`."""

from pathlib import Path

from graphghha.lab.markdown import Result, machine_line, table


def events_page(result: Result, directory: Path) -> Path:
    """Write the page."""
    directory.mkdir(parents=True, exist_ok=True)
    allowed, zone_nodes = result["config"]["allowed"], result["config"]["zone_nodes"]
    text = [
        "# Events instead of full passes",
        "",
        "`IncrementalEngine` recomputes only what the nodes that moved can reach. Here each setting follows the same "
        "stream as a full pass per window; times are means over the stream of each step's best of three.",
        "",
        machine_line(result),
        "",
        *[_verdict(best, allowed) for best in result["best"]],
    ]
    for stream, about in (
        (
            "normal operation",
            f"The shipped model on {result['config']['minutes']} consecutive minutes of an undisturbed building.",
        ),
        ("calm", "Made up: small noise, and each step a twentieth of the zones takes a new working point."),
    ):
        rows = [row for row in result["rows"] if row["stream"] == stream]
        if rows:
            text += ["", f"## {stream.capitalize()}", "", about, "", *_sweep(rows)]
    text += [
        "",
        "## What is possible at all",
        "",
        "The share of zones whose scores truly move by more than a bound from what was last shown: whoever knew the "
        f"scores beforehand would still recompute these. Three layers spread a change over a zone of {zone_nodes} "
        "nodes, so a zone is the least that can be recomputed.",
        "",
        *table(
            ("nodes", "bound", "zones that leave it, each minute"),
            [(row["nodes"], f"{row['bound']:g}", f"{row['zones_share']:.0%}") for row in result["bounds"]],
        ),
    ]
    page = directory / "events.md"
    page.write_text("\n".join(text) + "\n", encoding="utf-8")
    return page


def _verdict(best: Result, allowed: float) -> str:
    if best["tolerance"] is None:
        return (
            f"- {best['nodes']} nodes, normal operation: it does not pay. No setting that keeps every label, and every "
            f"probability within {allowed:g}, takes less time than full passes: most nodes move every minute, if "
            "only by noise."
        )
    return (
        f"- {best['nodes']} nodes, normal operation: tolerance {best['tolerance']:g} keeps every label and every "
        f"probability within {allowed:g} at {best['ratio']:.2f} of the time of full passes."
    )


def _sweep(rows: list[Result]) -> list[str]:
    return table(
        (
            *("nodes", "tolerance", "of the state", "ms per window", "of a full pass", "rows recomputed"),
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
