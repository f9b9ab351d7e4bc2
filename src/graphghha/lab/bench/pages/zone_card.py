"""The card of a model that judges zones, from the results of several benchmarks."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from graphghha.lab.bench.pages.commissioning import commissioning_command, commissioning_table, kind_of_buildings
from graphghha.lab.bench.pages.shift import interval, pool, share, shift_command, trained_anew
from graphghha.lab.bench.pages.zone_studies import (
    beside_other_methods,
    informed_attacker,
    reference_buildings,
    without_effects,
    without_mechanisms,
)
from graphghha.lab.markdown import Result, table
from graphghha.lab.metrics.intervals import poisson_interval, wilson_interval
from graphghha.models import Model

HARDEST = 6  # conditions that are listed one by one
STUDIES = {
    "evaluate": reference_buildings,
    "whether-where": beside_other_methods,
    "effects": without_effects,
    "diets": without_mechanisms,
}

CANNOT = (
    "It has never seen real telemetry: the buildings, their faults and the attacks are simulated.",
    "An attack that shows in no reading is not found; it is not counted in the figures above either.",
    "Where only half of the points exist ({points}) or nearly everything differs at once ({all}), it finds fewer.",
    "It compares the zones of a building with each other. In a building of one zone it finds {one_zone} visible "
    "attacks, and names the right node in {one_zone_named}; with few zones an attack in one can raise alarms in the "
    "others.",
    "Attacks in the days of commissioning are left out where they stand out. {attacked} later ones are found then, and "
    "{quiet} after quiet days.",
    "The same attack on all zones at once puts {everywhere} of the attacked zones into alarm at a commissioned site of "
    "twelve zones. With fewer than six zones, or without commissioning, it looks like the weather.",
    "{attacker}",
    "It expects a reading a minute, and needs six hours of readings before it judges.",
)


def zone_card(
    model: Model,
    name: str,
    shift: Sequence[Result],
    commissioning: Sequence[Result],
    studies: Mapping[str, Result],
) -> str:
    """Return the card as Markdown.

    The first result of `shift` is the model's, the others are of its kind trained with other seeds. `commissioning` has
    a result for each kind of building, random ones first; `studies` are results by the name of their command.
    """
    own, *anew = shift
    views = _views(own)
    trials = {row["trial"]: row for row in commissioning[0]["rows"]}
    attacker = informed_attacker(studies["attacker"])
    return "\n".join(
        [
            f"# Detector `{name}` for plant `{model.plant}`",
            "",
            *_what(model),
            "",
            "## Figures",
            "",
            f"{len(views[False])} simulated buildings of {own['config']['zones']} zones: a reference building and "
            f"others that differ from it, most in one way; January and July, {own['config']['days']} days each. "
            f"Intervals are of 95 %. Command: {shift_command(name, own)}; page: docs/results/shift.md.",
            "",
            *table(
                ("", "visible attacks", "found", "right node", "false alarms a day: median", "worst"),
                [(_state(own, view), *_summary(rows)) for view, rows in views.items()],
            ),
            "",
            *(line for text in _apart(own, views) for line in (text, "")),
            f"The {HARDEST} buildings in which it finds least after commissioning:",
            "",
            *table(("building", "as shipped", "commissioned", "false alarms a day"), _hardest(views)),
            "",
            *(line for text in trained_anew(name, [own], anew) for line in (*text, "")),
            *(line for result in commissioning for line in (*_commissioned(result), "")),
            "## What it owes to its graph, its buildings and its training",
            "",
            *(f"- {say(studies[study])}" for study, say in STUDIES.items()),
            "",
            "## What it cannot see",
            "",
            *(f"- {line.format(**_hard_cases(views, trials), attacker=attacker)}" for line in CANNOT),
            "",
            "## Licence",
            "",
            "Apache-2.0, as the package that it comes with.",
            "",
        ]
    )


def _commissioned(result: Result) -> list[str]:
    """Return what trials of commissioning found in one kind of building."""
    text = (
        f"{kind_of_buildings(result)}. Command: {commissioning_command(result)}; page: docs/results/commissioning.md."
    )
    return [text, "", *commissioning_table(result)]


def zone_figures(name: str, shift: Result) -> dict[str, Any]:
    """Return the figures of the card for programs."""
    views = _views(shift)
    shipped, after = views[False], views.get(True, {})
    return {
        "measured": {
            "command": shift_command(name, shift).strip("`"),
            "page": "docs/results/shift.md",
            "buildings": len(shipped),
            "zones": shift["config"]["zones"],
            "commission_days": shift["config"].get("commission_days", 0),
        },
        "card": _figures(shipped),
        **({"commissioned": _figures(after)} if after else {}),
        "shift": [
            {
                "name": condition.replace("-", " "),
                "shipped": round(_rate(row), 4),
                "after": round(_rate(after[condition]), 4) if condition in after else None,
            }
            for condition, row in shipped.items()
        ],
    }


def _what(model: Model) -> list[str]:
    """Return what the model is and how it was trained."""
    adu, recipe, seen = model.adu_config, model.provenance["recipe"], model.provenance["cases_seen"]
    catalogue = f"{len(seen)} cases of the catalogue were seen" if seen else "no case of the catalogue was seen"
    return [
        f"It reads the {len(model.template.points)} points of a fan-coil unit once a minute and judges whether a zone "
        "is attacked, and then which node. Every zone is compared with the other zones of its building, and with what "
        "is usual at the site once it is commissioned.",
        "",
        f"A {adu['layer']} ADU of {adu['layers']} layers, {adu['heads']} heads and width {adu['width']}. What each "
        f"signal should read was learned in {recipe['expectation_buildings']} random simulated buildings, the usual "
        f"levels in {recipe['level_buildings']} and the attacks in {_lessons(model.provenance)}. The attacks were "
        f"generic ones of random size at random nodes; {catalogue}. Limits of the threshold come from "
        f"{recipe['validation_buildings']} further buildings. Seed {recipe['seed']}, graphghha "
        f"{model.provenance['versions']['graphghha']}.",
    ]


def _lessons(provenance: Mapping[str, Any]) -> str:
    """Return how many buildings the network was taught on, with those of the model that it was refined from."""
    own = f"{provenance['recipe']['attacked_buildings']} ({provenance['windows']} windows)"
    return f"{_lessons(provenance['base'])} and then in {own}" if "base" in provenance else own


def _views(shift: Result) -> dict[bool, dict[str, dict[str, Any]]]:
    views: dict[bool, dict[str, dict[str, Any]]] = {}
    for row in shift["rows"]:
        views.setdefault(row["commissioned"], {})[row["condition"]] = pool([row])
    return views


def _apart(shift: Result, views: Mapping[bool, Mapping[str, dict[str, Any]]]) -> list[str]:
    """Return false alarms apart, what was seen before, and what the figures are not."""
    lines = []
    for view, rows in views.items():
        false, quiet, days = (sum(row[name] for row in rows.values()) for name in ("false", "quiet", "days"))
        events, _, named = _totals(rows)
        misplaced = false - quiet
        lines.append(
            f"False alarms {_state(shift, view)}: {interval(quiet / days, poisson_interval(quiet, days))} a day are "
            "quiet, in zones that were not under attack then; "
            f"{interval(misplaced / days, poisson_interval(misplaced, days))} a "
            f"day, {misplaced / events:.2f} for each attack, name the wrong node of a zone under attack. The right "
            f"node was named in {named} of {events} attacks."
        )
    return [
        *lines,
        "All cases of these attacks are new to the model, and so are the buildings; what makes them differ lies mostly "
        "within the ranges that it was taught. No figure can be compared with the paper's tables, which are of other "
        "data and another protocol.",
    ]


def _state(shift: Result, is_commissioned: bool) -> str:
    return f"after {shift['config']['commission_days']} days of commissioning" if is_commissioned else "as shipped"


def _rate(row: Mapping[str, Any]) -> float:
    return float(row["false"]) / float(row["days"])


def _totals(rows: Mapping[str, dict[str, Any]]) -> tuple[int, int, int]:
    """Return visible attacks, found ones and those whose node was named."""
    events, found, named = (sum(int(row[name]) for row in rows.values()) for name in ("events", "found", "named"))
    return events, found, named


def _worst(rows: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    return max(rows.values(), key=_rate)


def _summary(rows: Mapping[str, dict[str, Any]]) -> tuple[str, ...]:
    events, found, named = _totals(rows)
    worst = _worst(rows)
    return (
        str(events),
        share(found, events),
        share(named, events),
        f"{median(map(_rate, rows.values())):.2f}",
        interval(_rate(worst), poisson_interval(worst["false"], worst["days"])),
    )


def _figures(rows: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    events, found, named = _totals(rows)
    worst = _worst(rows)
    return {
        "buildings": len(rows),
        "days": sum(row["days"] for row in rows.values()),
        "observable_events": events,
        "event_recall": round(found / events, 4),
        "event_recall_interval": _rounded(*wilson_interval(found, events)),
        "hit_at_1": round(named / events, 4),
        "hit_at_1_interval": _rounded(*wilson_interval(named, events)),
        "false_alarms_per_day": round(median(map(_rate, rows.values())), 4),
        "worst_false_alarms_per_day": round(_rate(worst), 4),
        "worst_false_alarms_per_day_interval": _rounded(*poisson_interval(worst["false"], worst["days"])),
    }


def _rounded(low: float, high: float) -> list[float]:
    return [round(low, 4), round(high, 4)]


def _hardest(views: Mapping[bool, Mapping[str, dict[str, Any]]]) -> Sequence[tuple[str, ...]]:
    after = views[True]
    names = sorted(after, key=lambda name: after[name]["found"] / after[name]["events"])[:HARDEST]
    return [
        (name, *(_found(views[view][name]) for view in (False, True)), f"{_rate(after[name]):.2f}") for name in names
    ]


def _found(row: Mapping[str, Any]) -> str:
    return f"{share(row['found'], row['events'])} of {row['events']}"


def _hard_cases(
    views: Mapping[bool, Mapping[str, dict[str, Any]]], trials: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    one, attacked = trials["1 zone"], trials["attacks on every zone in the 14 days"]
    everywhere = trials["the same attacks on all zones at once"]
    return {
        "points": _found(views[True]["points-14"]),
        "all": _found(views[True]["all-at-once"]),
        "one_zone": f"{one['event_recall']:.2f} of {one['events']}",
        "one_zone_named": f"{one['hit_at_1']:.2f}",
        "attacked": f"{attacked['event_recall']:.2f} of {attacked['events']}",
        "quiet": f"{trials['14 days']['event_recall']:.2f}",
        "everywhere": f"{everywhere['event_recall']:.2f} of {everywhere['events']}",
    }
