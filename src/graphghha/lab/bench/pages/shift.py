"""docs/results/shift.md: a model in buildings unlike those it was trained in, from the JSON of `bench shift`."""

from pathlib import Path

from graphghha.lab.markdown import Result, table


def shift_page(result: Result, directory: Path) -> Path:
    """Write the page and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    config, rows = result["config"], result["rows"]
    text = [
        "# In buildings unlike those of training",
        "",
        "Each row is a building that differs from the reference building in one way ([conditions](../testbed.md"
        "#buildings)), or, in the last two rows, in many ways. The model is used as it was shipped: nothing about the "
        f"building is known to it. Two buildings of {config['zones']} zones a row, one in January and one in July, "
        f"{config['days']} judged days each; the pause between two attacks on a zone is "
        f"{config['schedule']['mean_gap_days']:g} days on average, and cases are drawn from the whole catalogue. "
        "The seeds are the same in all rows. "
        "*Quiet* false alarms are those in zones that nobody attacks; the others name the wrong node of an attacked "
        "zone. *Precision* is of node-minutes in alarm. With so few attacks a row, a difference of 0.2 in recall is "
        "within chance.",
        "",
        f"Written by `graphghha bench page` from the result of `graphghha bench shift --seed {config['seed']}`.",
        "",
        *table(
            ("condition", "false alarms a day", "quiet ones", "found", "of visible attacks", "right node", "precision"),
            [
                (
                    row["condition"],
                    f"{row['false_alarms_per_day']:.2f}",
                    f"{row['quiet_false_alarms_per_day']:.2f}",
                    _share(row["event_recall"]),
                    row["events"],
                    _share(row["hit_at_1"]),
                    _share(row["precision"]),
                )
                for row in rows
            ],
        ),
    ]
    page = directory / "shift.md"
    page.write_text("\n".join(text) + "\n", encoding="utf-8")
    return page


def _share(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
