"""What further studies say about a model that judges zones, in a few sentences each, for its card."""

from collections.abc import Mapping, Sequence
from typing import Any

from graphghha.lab.bench.pages.shift import pool
from graphghha.lab.markdown import Result

MODEL, PERCEPTRON, TREES = "graphghha", "zone_mlp", "zone_boosting"
STATISTICS = ("largest_evidence", "largest_relative_evidence", "gumbel_tail", "conformal_tail", "evidence_cusum")
EVERYTHING = "all families"


def reference_buildings(report: Result) -> str:
    """Return how it does in buildings of the reference kind, as shipped, and with really new cases: from `evaluate`."""
    card, config = report["card"], report["config"]
    new, attacks = report["unseen_cases"]["card"], report["unseen_cases"]["attacks"]
    named = sum(each["visible"] and each["found"] and each["rank"] == 1 for each in attacks)
    return (
        f"In {config['runs']} buildings of the reference kind, as shipped, {config['days']} days each, it finds "
        f"{_figure(card, 'event_recall')} of the {card['observable_events']} visible attacks, and "
        f"{_figure(card, 'event_recall_all')} of all {card['events']} if those that no reading shows are counted as "
        f"well; it names the right node in {_figure(card, 'hit_at_1')}, with {_figure(card, 'false_alarms_per_day')} "
        f"false alarms a day. Of the six cases that are kept as the really new ones it finds "
        f"{_figure(new, 'event_recall')} and names {named} of {new['observable_events']}, with "
        f"{_figure(new, 'false_alarms_per_day')} false alarms a day. The error of its probabilities (ECE) is "
        f"{card['ece']:.2f}, and {new['ece']:.2f} with the new cases (docs/results/zones/report.md)."
    )


def beside_other_methods(result: Result) -> str:
    """Return how many attacks methods with the same inputs find and name, from `bench whether-where`."""
    rows = {(row["question"], row["method"]): row for row in result["rows"] if row["group"] == "all"}
    whether = {method: row for (question, method), row in rows.items() if question == "whether"}
    learned = (MODEL, PERCEPTRON, TREES)
    statistic = max((whether[name] for name in STATISTICS), key=lambda row: row["found"])
    found, named = ([rows[question, name] for name in learned] for question in ("whether", "where"))
    return (
        f"In random buildings with 8 to 29 points and 1 to 12 zones, every method with the threshold that gives it at "
        f"most {result['config']['quiet_per_day']:g} quiet false alarms a day, it finds {found[0]['found']} of "
        f"{found[0]['events']} visible attacks; a zone-wide perceptron that was taught the same windows finds "
        f"{found[1]['found']}, boosted trees {found[2]['found']}, and the best statistic without a network "
        f"{statistic['found']}. At its alarms it names the right node in {named[0]['named_first']}, the perceptron in "
        f"{named[1]['named_first']}, the trees in {named[2]['named_first']} (docs/results/whether-where.md)."
    )


def without_effects(result: Result) -> str:
    """Return what a model does that never saw how systems report, from `bench effects`."""
    after = [row for row in result["rows"] if row["commissioned"] and row["condition"] != "reference"]
    with_effects, without = (
        pool([row for row in after if row["taught"] == taught]) for taught in dict.fromkeys(r["taught"] for r in after)
    )
    return (
        "A family of effects was held out of training in two small models: rounding, change of value, samples of "
        "minutes, lost readings and missing points. In buildings that report that way, after commissioning, the model "
        f"that never saw them has {_rate(without)} false alarms a day and finds {without['found']} of "
        f"{without['events']} attacks; the one that was taught them has {_rate(with_effects)} and finds "
        f"{with_effects['found']} (docs/results/effects.md)."
    )


def without_mechanisms(result: Result) -> str:
    """Return what networks do with attacks that they were not taught, from `bench diets`."""
    by = {(row["diet"], row["exam"]): row for row in result["rows"]}
    families = list(result["config"]["families"])
    taught, untaught = (
        [by[diet, family] for family, diet in zip(families, diets, strict=True)]
        for diets in ([EVERYTHING] * len(families), [f"without {family}" for family in families])
    )
    new = [by[diet, "new cases"] for diet in (EVERYTHING, "catalogue a third")]
    return (
        "Small networks that were taught without one family of the attack generator find "
        f"{_share(untaught, 'event_recall')} of the attacks of that family and name the right node in "
        f"{_share(untaught, 'hit_at_1')}; with it {_share(taught, 'event_recall')} and {_share(taught, 'hit_at_1')}. "
        f"Of the really new cases they find {new[0]['event_recall']:.2f} and name {new[0]['hit_at_1']:.2f}; with the "
        f"catalogue as a third of what they were taught, {new[1]['event_recall']:.2f} and {new[1]['hit_at_1']:.2f} "
        "(docs/results/diets.md)."
    )


def informed_attacker(result: Result) -> str:
    """Return what an attacker on readings can hide, from `bench attacker`."""
    rows = {(row["held_nodes"], row["defence"]): row for row in result["rows"]}
    held = sorted({number for number, _ in rows if number})
    least = {name: min(rows[number, name]["zones_in_alarm"] for number in held) for _, name in rows}
    best = max((name for name in least if name != "none"), key=lambda name: least[name])
    return (
        "An attacker who knows the model, the levels and all readings, and who may report anything at up to "
        f"{held[-1]} nodes, can stay hidden: of {rows[0, 'none']['zones_attacked']} attacked zones "
        f"{rows[0, 'none']['zones_in_alarm']} are in alarm without him and {least['none']} with him. Of the defences "
        f"that were tried and are not part of this model, the best keeps {least[best]} "
        "(docs/results/attacker.md)."
    )


def _figure(card: Mapping[str, Any], name: str) -> str:
    return f"{card[name]:.2f}"


def _rate(row: Mapping[str, Any]) -> str:
    return f"{row['false'] / row['days']:.2f}"


def _share(rows: Sequence[Mapping[str, Any]], key: str) -> str:
    """Return the mean of a share, weighted by the attacks of each exam."""
    return f"{sum(row[key] * row['events'] for row in rows) / sum(row['events'] for row in rows):.2f}"
