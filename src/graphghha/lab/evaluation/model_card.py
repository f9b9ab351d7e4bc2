"""The README of a model directory: what the model is, what it was trained on, and its report card."""

import math
from collections.abc import Mapping
from typing import Any

from graphghha.lab.evaluation.report_page import intervals, unseen_named
from graphghha.lab.markdown import table
from graphghha.models import Model

_FIGURES = (
    ("event_recall", "visible attacks that were detected"),
    ("median_ttd_min", "minutes from the first visible minute to the alarm, median"),
    ("p90_ttd_min", "minutes from the first visible minute to the alarm, 90th percentile"),
    ("false_alarms_per_day", "false alarms a day in a building of {zones} zones"),
    ("misplaced_per_day", "false alarms a day in the right zone but at the wrong node"),
    ("late_per_day", "further alarms a day in zones that still recover from an attack"),
    ("hit_at_1", "right node first, or one that cannot be told apart from it; missed attacks count as wrong"),
    ("hit_at_1_strict", "right node first, exactly that node"),
    ("hit_at_3", "right node among the first three"),
    ("f1", "F1 of node-minutes without invisible ones"),
    ("f1_raw", "F1 of all node-minutes"),
    ("f1_ceiling", "F1 of all node-minutes for a perfect detector of the visible ones"),
    ("macro_f1", "F1 averaged over the three attack classes"),
    ("auc_pr", "area under the precision-recall curve"),
    ("ece", "calibration error of probabilities from 0.05"),
    ("brier_skill", "Brier skill"),
)
_COMPARED = {
    "event_recall": "detected",
    "event_recall_at_equal": "at equal false alarms",
    "hit_at_1": "right node first",
    "f1": "F1",
    "false_alarms_per_day": "false alarms a day",
}
_OPTIONS = ("runs", "days", "zones", "unseen_runs", "seed")


def model_card(model: Model, report: Mapping[str, Any]) -> str:
    """Return the card as Markdown, from a model and the JSON of `graphghha evaluate`."""
    card, config = report["card"], report["config"]
    families = [
        [name, scores["observable_events"], _figure(scores["event_recall"]), _figure(scores["hit_at_1"])]
        for name, scores in sorted(report["families"].items())
        if scores["observable_events"]
    ]
    adu = model.adu_config
    return "\n".join(
        [
            f"# Detector for plant `{model.plant}`",
            "",
            f"A {adu['layer']} ADU of {adu['layers']} layers, {adu['heads']} heads, width {adu['width']}, trained on "
            f"{model.provenance['windows']} windows of {_lessons(model)}. It has never seen real telemetry.",
            "",
            f"Report card, deploy protocol: {config['runs']} unseen buildings of {config['zones']} zones, "
            f"{config['days']} scored days each, seed {config['seed']}, {card['observable_events']} visible attacks; "
            f"{'none of their cases was taught' if _is_exam(model) else 'unseen severities included'}.",
            "",
            *table(
                ["figure", "value"],
                [[meaning.format(**config), _figure(card[name])] for name, meaning in _FIGURES],
            ),
            "",
            *table(["family", "visible attacks", "detected", "right node first"], families),
            "",
            *_further(report),
            *_unseen_cases(report),
            *_comparison(report),
            f"Command: `{_command(report)}`.",
            "",
        ]
    )


def card_figures(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of an evaluation's JSON that a program shows of a card."""
    config = report["config"]
    figures: dict[str, Any] = {
        "measured": {
            "command": _command(report),
            "buildings": config["runs"],
            "zones": config["zones"],
            "days": config["days"],
        },
        "card": dict(report["card"]),
        "families": {
            name: {key: scores[key] for key in ("observable_events", "event_recall", "hit_at_1")}
            for name, scores in sorted(report["families"].items())
        },
        "curves": {"reliability": report["curves"]["reliability"]},
    }
    if "unseen_cases" in report:
        figures["unseen_cases"] = {"card": dict(report["unseen_cases"]["card"])}
    return {name: _finite(part) for name, part in figures.items()}


def _finite(value: Any) -> Any:
    """Return the value with None in place of numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _command(report: Mapping[str, Any]) -> str:
    options = " ".join(f"--{name.replace('_', '-')} {report['config'][name]}" for name in _OPTIONS)
    return f"graphghha evaluate MODEL {options}{' --baselines' if 'baselines' in report else ''}"


def _is_exam(model: Model) -> bool:
    """Return whether training saw no case of the catalogue."""
    return model.judges_zones and not model.provenance["cases_seen"]


def _lessons(model: Model) -> str:
    """Return what the training showed and held out."""
    provenance = model.provenance
    seen, held_out = len(provenance["cases_seen"]), len(provenance["unseen_cases"])
    if not model.judges_zones:
        return (
            f"simulated buildings ({seen} cases seen, {len(provenance['unseen_severities'])} severities and {held_out} "
            "whole cases held out)"
        )
    catalogue = "no case of the catalogue" if _is_exam(model) else f"{seen} cases of the catalogue"
    return f"random simulated buildings with generic attacks ({catalogue} seen); it judges zones first, then nodes"


def _further(report: Mapping[str, Any]) -> list[str]:
    """Return intervals, false alarms apart and cases by number."""
    texts = [intervals(report["card"])]
    if "unseen_cases" in report:
        texts.append(unseen_named(report["unseen_cases"]))
    texts.append("No figure can be compared with the paper's tables, which are of other data and another protocol.")
    return [line for text in texts for line in (text, "")]


def _unseen_cases(report: Mapping[str, Any]) -> list[str]:
    if "unseen_cases" not in report:
        return []
    card = report["unseen_cases"]["card"]
    return [
        f"Whole cases that training never saw, in further buildings: {_figure(card['event_recall'])} of "
        f"{card['observable_events']} detected, right node first {_figure(card['hit_at_1'])}, "
        f"{_figure(card['false_alarms_per_day'])} false alarms a day.",
        "",
    ]


def _comparison(report: Mapping[str, Any]) -> list[str]:
    if "baselines" not in report:
        return []
    rows = [[row["method"], *(_figure(row.get(name)) for name in _COMPARED)] for row in report["rows"]]
    return [
        "Compared with baselines on the same days. *At equal false alarms*: the best recall of a method at any "
        "threshold with no more false alarms a day than the model.",
        "",
        *table(["method", *_COMPARED.values()], rows),
        "",
    ]


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
