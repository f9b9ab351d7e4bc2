"""docs/results/attacker.md: an attacker who changes the readings he holds, from `bench attacker`."""

from pathlib import Path
from typing import Any

from graphghha.lab.markdown import Result, table
from graphghha.lab.metrics.intervals import wilson_interval

AIM = 0.6  # share of attacked zones that stay in alarm
NAMES = {
    "none": "none",
    "leave_one_out": "largest score with any node hidden",
    "random_masks": "median over random masks",
    "shipped_witness": "the shipped levels as a witness",
    "evidence_witness": "the largest evidence as a witness",
}
INTRODUCTION = """An attacker knows the model, the levels of the site, the defence and all readings. He holds one to
three nodes of a zone that he attacks and may report anything there, within the range of the instruments, from the onset
on; a search of {steps} steps from two starts looks for the reports that keep the zone below its threshold for {hours}
hours ([how](../decisions/attacker-on-readings.md)). Random buildings: {buildings}, zones of each: {zones},
days of commissioning: {commission_days}; visible attacks in all: {attacks}.
Measured by `graphghha bench attacker{options}`."""
NOTES = """*Found* is the share of attacked zones whose score still reaches the threshold at some time, with its 95 %
interval; each defence has a threshold that quiet days reach as rarely. *Kelvin-hours* are the mean error of the room
temperature in attacks that stay hidden, per day; *kWh* are the energy that such a zone takes more or less, per day: the
heat of its water, and its fan. A stronger search would hide more: read the figures as upper bounds of
what is found."""
IMPACTS = ("kelvin_hours_per_day", "kwh_per_day")
HIDDEN = ("hidden kelvin-hours a day: mean, most", "hidden kWh a day: mean, most")
SMOKE = """**This is a smoke run (`--quick`): too few attacks and too short a search for a measurement.** It shows no
more than that an attacker can succeed."""
IMPACT = """The same without a defence, at other thresholds: what the operator pays in false alarms, and what an
attacker who stays hidden can do to the room and to the bill."""


def attacker_page(result: Result, directory: Path) -> Path:
    """Write the page and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    config, rows = result["config"], result["rows"]
    about = {**config, "steps": config["effort"]["steps"], "options": _options(config)}
    about["attacks"] = rows[0]["zones_attacked"]
    text = ["# An attacker who changes the readings he holds", "", _plain(INTRODUCTION.format(**about)), ""]
    text += [_plain(SMOKE), ""] if config.get("quick") else []
    text += [_plain(NOTES), ""]
    text += table(
        ("held nodes", "defence", "found", "of", "false alarms a day", *HIDDEN),
        [(row["held_nodes"], NAMES[row["defence"]], _found(row), row["zones_attacked"], *_impact(row)) for row in rows],
    )
    text += ["", _verdict(rows), "", "## Impact against false alarms", "", _plain(IMPACT), ""]
    text += table(
        ("held nodes", "threshold moved by", "found", "false alarms a day", *HIDDEN),
        [(row["held_nodes"], f"{row['threshold_above']:+g}", _found(row), *_impact(row)) for row in result["impact"]],
    )
    page = directory / "attacker.md"
    page.write_text("\n".join(text) + "\n", encoding="utf-8")
    return page


def _options(config: dict[str, Any]) -> str:
    model = f" --model {config['model']}" if "model" in config else ""
    if config.get("quick"):
        return f"{model} --quick --seed {config['seed']}"
    sizes = f" --buildings {config['buildings']} --attacks {config['attacks']} --steps {config['effort']['steps']}"
    return f"{model}{sizes} --seed {config['seed']}" + "".join(f" --defence {name}" for name in config["defences"])


def _found(row: dict[str, Any]) -> str:
    low, high = wilson_interval(row["zones_in_alarm"], row["zones_attacked"])
    return f"{row['share_in_alarm']:.2f} [{low:.2f}, {high:.2f}]"


def _impact(row: dict[str, Any]) -> tuple[str, ...]:
    hidden = (f"{row[f'hidden_{what}']:.1f}, {row[f'most_hidden_{what}']:.1f}" for what in IMPACTS)
    return f"{row['false_alarms_per_day']:.2f}", *hidden


def _verdict(rows: list[dict[str, Any]]) -> str:
    """Return which defences keep the aim for every number of held nodes."""
    worst: dict[str, float] = {}
    for row in rows:
        if row["held_nodes"]:
            worst[row["defence"]] = min(worst.get(row["defence"], 1.0), row["share_in_alarm"])
    kept = [NAMES[name] for name, share in worst.items() if share >= AIM]
    figures = "; ".join(f"{NAMES[name]}: {share:.2f}" for name, share in worst.items())
    met = f"met by: {', '.join(kept)}" if kept else "**not met** by any defence"
    return f"The aim is {AIM} with up to three held nodes; it is {met}. Least share over one to three nodes: {figures}."


def _plain(text: str) -> str:
    return " ".join(text.split())
