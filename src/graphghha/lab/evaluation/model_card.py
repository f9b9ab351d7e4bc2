"""The README of a model directory: what it is, what it was trained on, and its own report card."""

from collections.abc import Mapping
from typing import Any

from graphghha.models import Model

_FIGURES = (
    ("event_recall", "attacks found, of those that show at all"),
    ("median_ttd_min", "minutes from the first visible minute to the alarm, median"),
    ("p90_ttd_min", "the same, 90th percentile"),
    ("false_alarms_per_day", "false alarms a day, building of {zones} zones"),
    ("misplaced_per_day", "of them: right zone, wrong node"),
    ("late_per_day", "further alarms a day, in zones that still recover from an attack"),
    ("hit_at_1", "right node first, or one that cannot be told apart from it; missed attacks counted as wrong"),
    ("hit_at_1_strict", "the same, that very node only"),
    ("hit_at_3", "right node among the first three"),
    ("f1", "F1 of node-minutes, invisible ones left out"),
    ("f1_raw", "F1 of node-minutes, all"),
    ("f1_ceiling", "F1 of a perfect detector of the visible, all"),
    ("macro_f1", "F1 over the three attack classes"),
    ("auc_pr", "area under the precision-recall curve"),
    ("ece", "calibration error of probabilities from 0.05"),
    ("brier_skill", "Brier skill"),
)


def model_card(model: Model, found: Mapping[str, Any]) -> str:
    """Markdown from a model and the JSON of `graphghha evaluate`."""
    card, config, provenance = found["card"], found["config"], model.provenance
    rows = [f"| {meaning.format(**config)} | {_figure(card[name])} |" for name, meaning in _FIGURES]
    families = [
        f"| {family} | {scores['observable_events']} | {_figure(scores['event_recall'])} | "
        f"{_figure(scores['hit_at_1'])} |"
        for family, scores in sorted(found["families"].items())
        if scores["observable_events"]
    ]
    options = " ".join(
        f"--{name.replace('_', '-')} {config[name]}" for name in ("runs", "days", "zones", "unseen_runs")
    )
    adu = model.adu_config
    return "\n".join(
        [
            f"# Detector for plant `{model.plant}`",
            "",
            f"A {adu['layer']} ADU of {adu['layers']} layers, {adu['heads']} heads, width {adu['width']}, trained on "
            f"{provenance['windows']} windows of simulated buildings ({len(provenance['cases_seen'])} cases seen, "
            f"{len(provenance['unseen_severities'])} severities and {len(provenance['unseen_cases'])} whole cases held "
            "out). It has never seen real telemetry.",
            "",
            f"Report card, deploy protocol: {config['runs']} unseen buildings of {config['zones']} zones, "
            f"{config['days']} judged days each, seed {config['seed']}, {card['observable_events']} visible attacks; "
            "unseen severities included.",
            "",
            "| figure | value |",
            "|---|---|",
            *rows,
            "",
            "| family | visible attacks | found | right node first |",
            "|---|---|---|---|",
            *families,
            "",
            *_beside(found),
            f"Command: `graphghha evaluate MODEL {options} --seed {config['seed']}"
            f"{' --baselines' if 'baselines' in found else ''}`.",
            "",
        ]
    )


def _beside(found: Mapping[str, Any]) -> list[str]:
    """The rivals, and whole cases that training never saw."""
    lines = []
    if unseen := found.get("unseen_cases"):
        card = unseen["card"]
        lines += [
            f"Whole cases that training never saw, in buildings of their own: {_figure(card['event_recall'])} of "
            f"{card['observable_events']} found, right node first {_figure(card['hit_at_1'])}, "
            f"{_figure(card['false_alarms_per_day'])} false alarms a day.",
            "",
        ]
    if "baselines" not in found:
        return lines
    lines += [
        "Beside rivals on the same days; *at equal price*: the most a method finds for no more false alarms a day.",
        "",
        "| method | found | at equal price | right node first | F1 | false alarms a day |",
        "|---|---|---|---|---|---|",
    ]
    names = ("event_recall", "event_recall_at_equal", "hit_at_1", "f1", "false_alarms_per_day")
    for row in found["rows"]:
        cells = [_figure(row.get(name)) for name in names]
        lines.append(f"| {row['method']} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
