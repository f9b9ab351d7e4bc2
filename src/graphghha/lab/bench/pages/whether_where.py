"""docs/results/whether-where.md: a model that judges zones beside other methods, from `bench whether-where`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphghha.lab.markdown import Result, table
from graphghha.lab.metrics.intervals import wilson_interval

NAMES = {
    "graphghha": "GraphGHHA (the model)",
    "zone_mlp": "zone-wide MLP",
    "zone_boosting": "boosted trees",
    "odds_cusum": "CUSUM of the model's log-odds",
    "evidence_witness": "the model, with the largest evidence as a witness",
    "largest_evidence": "largest evidence",
    "largest_relative_evidence": "largest evidence against the other zones",
    "gumbel_tail": "Gumbel tail of the largest evidence",
    "conformal_tail": "conformal tail of the largest evidence",
    "evidence_cusum": "CUSUM of the evidence",
    "first_cause": "first cause (earliest evidence)",
}
LARGE = 12  # zones of a large building
ANEW = {"networks": ("networks", 0), "falsify": ("falsify_share", None)}  # options, what they set, their defaults
INTRODUCTION = """Random buildings of seeds that nothing else uses, each commissioned on {commission_days} quiet days
and judged on {days} days with attacks of the catalogue, which no method was taught. All methods read the same features,
every five minutes. Measured by `graphghha bench whether-where{options} --seed {seed}`."""
TAUGHT = """Taught on the same windows of the model's own training: the model on {graphghha}, the zone-wide MLP on
{zone_mlp}, the boosted trees on {zone_boosting}. The other methods are taught no attack."""
WHETHER = """Share of visible attacks that are announced, with the threshold of every method chosen on these buildings
so that it has at most {quiet:g} false alarms a day in quiet zones, per twelve zones. That is a comparison at equal
false alarms and no forecast: a site has to find its threshold without attacks. *All* has one threshold for all groups,
so that it is no sum of them. A sum that forgets slowly (CUSUM) and a p-value of few days have no threshold in most
groups that keeps the rate."""
WHERE = """At the alarms of the model, so that only the name differs. Shares are of all visible attacks; an attack that
is not announced counts as wrong. A node that cannot be told apart from the attacked one counts as right. Largest
evidence and first cause can never name a node without a reading."""
CAUTION = """Intervals are of 95 % (Wilson). Attacks of one building are not independent, so the true ones are somewhat
wider; all methods see the same attacks, so differences between two methods are more certain than either figure. The
paper has no such comparison."""


def whether_where_page(result: Result, directory: Path) -> Path:
    """Write the page and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    config, rows = result["config"], result["rows"]
    groups = list(dict.fromkeys(row["group"] for row in rows))
    model = f" --model {config['name']}" if "name" in config else ""
    large = next((group["buildings"] for group in config["groups"] if group["zones"] == LARGE), None)
    options = f" --buildings {large}" if large else ""
    options += "".join(
        f" --{name} {config[key]}" for name, (key, default) in ANEW.items() if config.get(key, default) != default
    )
    text = [
        "# Whether and where, beside other methods",
        "",
        _plain(INTRODUCTION.format(**{**config, "options": model + options})),
        "",
        _plain(TAUGHT.format(**{name: _lesson(of) for name, of in config["taught"].items()})),
        "",
        *_buildings(config, rows),
        "",
        "## Whether a zone is attacked",
        "",
        _plain(WHETHER.format(quiet=config["quiet_per_day"])),
        "",
        *_table(rows, "whether", groups, lambda row: _share(row["found"], row["events"])),
        "",
        "## Where",
        "",
        _plain(WHERE),
        "",
        "Right node first (Hit@1):",
        "",
        *_table(rows, "where", groups, lambda row: _share(row["named_first"], row["events"])),
        "",
        "Right node among the first three (Hit@3):",
        "",
        *_table(rows, "where", groups, lambda row: _share(row["named_third"], row["events"])),
        "",
        "## What it says",
        "",
        *_verdicts(rows, groups),
        "",
        _plain(CAUTION),
    ]
    page = directory / "whether-where.md"
    page.write_text("\n".join(text) + "\n", encoding="utf-8")
    return page


def _lesson(of: dict[str, Any]) -> str:
    passes = f", {of['passes']} passes" if of["passes"] else ""
    return f"{of['windows']:,} windows{passes}"


def _buildings(config: dict[str, Any], rows: Sequence[dict[str, Any]]) -> list[str]:
    cells = []
    for group in config["groups"]:
        events = next(row for row in rows if row["group"] == group["name"])
        low, high = group["points"]
        points = str(low) if low == high else f"{low} to {high}"
        cells.append(
            (group["name"], group["buildings"], group["zones"], points, events["events"], f"{events['days']:.1f}")
        )
    return table(
        ("group", "buildings", "zones of each", "points of each", "visible attacks", "days, per twelve zones"), cells
    )


def _table(rows: Sequence[dict[str, Any]], question: str, groups: Sequence[str], show: Any) -> list[str]:
    own = [row for row in rows if row["question"] == question]
    methods = dict.fromkeys(row["method"] for row in own)
    cells = {(row["method"], row["group"]): show(row) for row in own}
    return table(
        ("method", *groups), [(_name(method), *(cells.get((method, group)) for group in groups)) for method in methods]
    )


def _verdicts(rows: Sequence[dict[str, Any]], groups: Sequence[str]) -> list[str]:
    """Return for each group by how many attacks the model leads or trails the best other method."""
    lines = []
    for question, key, what in (("whether", "found", "finds"), ("where", "named_first", "names")):
        for group in groups:
            own = {row["method"]: row for row in rows if (row["question"], row["group"]) == (question, group)}
            if "graphghha" not in own or len(own) < 2:
                continue
            model = own.pop("graphghha")
            best = max((row for row in own.values() if row["method"] in NAMES), key=lambda row: row[key])
            ahead = model[key] - best[key]
            verdict = "ties with" if ahead == 0 else "leads" if ahead > 0 else "**does not win** against"
            lines.append(
                f"- {group}: the model {what} {model[key]} of {model['events']} and {verdict} "
                f"{NAMES[best['method']]} ({best[key]})."
            )
    return lines


def _name(method: str) -> str:
    """Return the name of a method; `graphghha-seed-2` is the model's network, trained anew with seed 2."""
    if method in NAMES:
        return NAMES[method]
    _, lesson, seed = method.split("-")
    taught = ", with another share of falsified readings" if lesson == "falsified" else ""
    return f"GraphGHHA, trained anew with seed {seed}{taught}"


def _share(count: int, total: int) -> str:
    if not total:
        return "undefined"
    low, high = wilson_interval(count, total)
    return f"{count / total:.2f} [{low:.2f}, {high:.2f}]"


def _plain(text: str) -> str:
    return " ".join(text.split())
