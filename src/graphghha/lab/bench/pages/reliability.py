"""docs/results/reliability.md: the effects of faults on the monitor, from the JSON of `scripts/bench reliability`."""

from itertools import groupby
from pathlib import Path

from graphghha.lab.markdown import Result, table


def reliability_page(result: Result, directory: Path) -> Path:
    """Write the page and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    rows, machine = result["rows"], result["machine"]
    broken = [row for row in rows if not row["holds"]]
    verdict = f"{len(broken)} of {len(rows)} figures miss their aim." if broken else f"All {len(rows)} figures hold."
    text = [
        "# Reliability",
        "",
        "Faults are injected into a running monitor with real components: a Mosquitto broker, SQLite files, processes "
        "killed with SIGKILL, and a TCP proxy that resets connections or drops packets. `scripts/bench reliability` "
        "in a checkout measures these figures; `tests/reliability` runs a short form of every trial.",
        "",
        f"Machine: {machine['cpu']}, {machine['cores']} cores; {machine['system']}. {verdict}"
        + (f" {result['note']}" if "note" in result else ""),
        "",
        *_aims(result),
        *table(
            ("fault", "figure", "aim", "measured", "holds"),
            [
                ("" if at else fault, row["figure"], row["aim"], row["measured"], "yes" if row["holds"] else "**no**")
                for fault, group in groupby(rows, key=lambda row: row["fault"])
                for at, row in enumerate(group)
            ],
        ),
    ]
    page = directory / "reliability.md"
    page.write_text("\n".join(text) + "\n", encoding="utf-8")
    return page


def _aims(result: Result) -> list[str]:
    """Return the table of the figures that matter most; results of earlier versions have none."""
    rows = [(aim["figure"], aim["aim"], aim["measured"]) for aim in result.get("aims", ())]
    return [*table(("figure", "aim", "measured"), rows), ""] if rows else []
