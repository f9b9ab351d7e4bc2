"""The report page of an evaluation: Markdown and figures, generated from the JSON of `graphghha evaluate`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphghha._util.files import atomic_write
from graphghha.lab.evaluation.protocols import FULL_HISTORY_HOURS
from graphghha.lab.evaluation.report_plots import draw_figures
from graphghha.lab.markdown import table
from graphghha.lab.metrics import poisson_interval, wilson_interval
from graphghha.plants.telemetry import make_folder, writing

Report = Mapping[str, Any]
Columns = Sequence[tuple[str, str]]  # key in the data, heading

_COLUMNS: Columns = (
    ("event_recall", "detected"),
    ("median_ttd_min", "median min"),
    ("p90_ttd_min", "p90 min"),
    ("false_alarms_per_day", "false/day"),
    ("hit_at_1", "Hit@1"),
    ("hit_at_1_strict", "strict"),
    ("hit_at_3", "Hit@3"),
    ("mean_rank", "rank"),
    ("p", "p"),
    ("r", "r"),
    ("f1", "F1"),
    ("f1_raw", "raw"),
    ("f1_ceiling", "ceiling"),
    ("f1_std", "F1 std"),
    ("macro_f1", "macro F1"),
    ("auc_pr", "AUC-PR"),
    ("ece", "ECE"),
    ("brier_skill", "Brier skill"),
)
_CLASS_COLUMNS: Columns = (("p", "p"), ("r", "r"), ("f1", "F1"), ("support", "node-minutes"))
_ATTACK_COLUMNS: Columns = (
    ("observable_events", "visible"),
    ("events", "of"),
    ("event_recall", "detected"),
    ("hit_at_1", "Hit@1"),
    ("hit_at_3", "Hit@3"),
    ("median_ttd_min", "median min"),
    ("p", "p"),
    ("r", "r"),
    ("f1", "F1"),
)
_UNSEEN_COLUMNS: Columns = (*_ATTACK_COLUMNS[:6], ("false_alarms_per_day", "false/day"), ("f1", "F1"))
_NOTES = """*detected*: share of visible attacks that were announced while they lasted. *min*: minutes from the first
visible minute to the announcement. *false/day*: announced incidents of the whole building whose root was neither
attacked nor recovering. *Hit@k*: the right node, or one that cannot be told apart from it, is among the first k nodes
named at the announcement; a missed attack counts as wrong. *strict*: only the attacked node counts. *F1*: node-minutes
in alarm, without minutes in which an attack is not visible; *raw* includes them, *ceiling* is the raw F1 of a detector
that finds exactly the visible ones, *std* is the spread over buildings. Events use the alarm logic of the monitor, and
scores are not point-adjusted. The paper reports the F1 of single windows of its own data under another protocol: no
figure of this page can be compared with its tables."""


def write_report(report: Report, directory: Path) -> Path:
    """Write `report.md`, its figures and `report.json` into a directory, and return the path of the page."""
    make_folder(directory)
    page = directory / "report.md"
    with writing(directory):
        atomic_write(directory / "report.json", json.dumps(report, indent=1) + "\n")
        figures = draw_figures(report, directory)
        atomic_write(page, report_page(report, figures))
    return page


def report_page(report: Report, figures: Mapping[str, str]) -> str:
    """Return the page as Markdown; `figures` are file names by title."""
    return "\n".join(_lines(report, figures)) + "\n"


def _lines(report: Report, figures: Mapping[str, str]) -> Iterable[str]:
    yield from (f"# Report card: {report['rows'][0]['method']}, {report['protocol']} protocol", "", _basis(report), "")
    yield from _table("method", [(row["method"], row) for row in report["rows"]], _COLUMNS)
    yield from ("", _NOTES, "", intervals(report["card"]), "")
    if len(report["rows"]) > 1:
        yield from _comparison(report)
    for title, file in figures.items():
        yield from (f"![{title}]({file})", "")
    yield from ("## By class of node-minutes", "", *_table("class", report["classes"].items(), _CLASS_COLUMNS), "")
    note = "Node scores here are those of the attacked zone while the attack lasts."
    yield from ("## By family", "", note, "", *_table("family", report["families"].items(), _ATTACK_COLUMNS), "")
    yield from ("## By case", "", *_table("case", report["cases"].items(), _ATTACK_COLUMNS), "")
    yield from ("## Never seen in training", "", *_unseen(report), "")
    if "unseen_cases" in report:
        yield from (unseen_named(report["unseen_cases"]), "")
    latency = report["latency"]
    yield (
        f"Latency of one minute with {latency['nodes']} nodes, from readings to calibrated probabilities, "
        f"{latency['backend']} backend: median {latency['p50_ms']:.2f} ms, p99 {latency['p99_ms']:.2f} ms over "
        f"{latency['rows']} minutes."
    )


def intervals(card: Mapping[str, Any]) -> str:
    """Return the headline figures of the model with their 95 % intervals, and the recall of all attacks."""
    if not card["observable_events"]:
        return "No attack was visible, so shares of attacks are not defined."
    parts = []
    for key, name, total in (
        ("event_recall", "detected", card["observable_events"]),
        ("hit_at_1", "right node first", card["observable_events"]),
        ("event_recall_all", "detected, attacks that are never visible counted as well", card["events"]),
    ):
        if card[key] is None:
            continue
        low, high = wilson_interval(round(card[key] * total), total)
        parts.append(f"{name} {card[key]:.3f} ({low:.3f} to {high:.3f}, of {total})")
    low, high = poisson_interval(round(card["false_alarms_per_day"] * card["days"]), card["days"])
    parts.append(f"false alarms a day {card['false_alarms_per_day']:.2f} ({low:.2f} to {high:.2f})")
    return (
        f"The model with 95 % intervals (Wilson, exact Poisson): {'; '.join(parts)}. {false_alarms_apart(card)} "
        "Attacks on one building are not independent, so the true intervals are somewhat wider."
    )


def false_alarms_apart(card: Mapping[str, Any]) -> str:
    """Return the false alarms of a card in quiet zones and in attacked ones, which grow with the number of attacks."""
    days, attacks = card["days"], card["events"]
    misplaced = round(card["misplaced_per_day"] * days)
    quiet = round(card["false_alarms_per_day"] * days) - misplaced
    low, high = poisson_interval(quiet, days)
    each = f", {misplaced / attacks:.3f} for each attack" if attacks else ""
    return (
        f"Of the false alarms, {quiet / days:.2f} a day ({low:.2f} to {high:.2f}) are in quiet zones; "
        f"{misplaced / days:.2f} a day{each}, name the wrong node of an attacked zone."
    )


def unseen_named(unseen: Mapping[str, Any]) -> str:
    """Return how many attacks of cases that training never saw have the right node first, in all and by case."""
    parts, every = [], [0, 0]
    for name, scores in unseen["cases"].items():
        total = scores["observable_events"]
        named = round((scores["hit_at_1"] or 0.0) * total)
        every = [every[0] + named, every[1] + total]
        parts.append(f"`{name}` {named} of {total}")
    if not every[1]:
        return "No attack of a case that training never saw was visible."
    low, high = wilson_interval(*every)
    ece = unseen["card"]["ece"]
    error = "" if ece is None else f" Their calibration error (ECE) is {ece:.3f}."
    return (
        f"Right node first in whole cases that training never saw: {every[0]} of {every[1]} ({low:.2f} to {high:.2f}); "
        f"by case: {', '.join(parts)}.{error}"
    )


def _basis(report: Report) -> str:
    """Return what the figures were computed on."""
    card, config = report["card"], report["config"]
    if report["protocol"] == "deploy":
        text = (
            f"Unseen buildings: {config['runs']}, zones in each: {config['zones']}, scored days of each: "
            f"{config['days']}, seed {config['seed']}."
        )
        if report["held_out"]["severities"]["events"]:
            text += " Some attacks have severities that training never saw."
        if config["history_hours"] < FULL_HISTORY_HOURS:
            text += f" Connected {config['history_hours']} hours before the first scored minute."
    else:
        text = (
            f"Telemetry: {', '.join(f'`{Path(file).name}`' for file in config['files'])}. The first "
            f"{config['history_days']} days of each file fill the windows and are not judged."
        )
        if early := report.get("attacks_not_judged"):
            text += f" Attacks in those days: {early}."
    text += (
        f" Visible attacks: {card['observable_events']} of {card['events']}, in {card['days']:.1f} days; "
        f"{card['prevalence']:.2%} of node-minutes attacked; alarms from P(attack) >= {report['raise_at']:.3f}."
    )
    if card["recovering"]:
        text += (
            f" Counted separately: {card['recovering']:,} node-minutes of zones that recover from an attack, "
            f"{card['recovering_alarmed']:.2%} of them in alarm, {card['late_per_day']:.2f} announcements a day."
        )
    return text


def _comparison(report: Report) -> Iterable[str]:
    rate, about = report["rows"][0]["equal_false_alarms_per_day"], report["baselines"]
    training = " of their own" if about["config"]["recipe"] else ", the same as the model"
    validation = "the same for all methods" if about["shares_validation"] else "the model on buildings of its own"
    yield from ("## At equal false alarms", "")
    yield (
        f"The baselines were trained on {_buildings(about['learnt_from'])}{training}, with the model's windows. "
        f"In the table above, every method has the threshold that keeps {about['budget_per_day']:g} false alarms a day "
        f"on {_buildings(about['config']['validation'])} for validation, {validation}. In the table below, every "
        f"method, the model included, has the best threshold with at most {rate:.2f} false alarms a day on the test "
        "data itself: a fair comparison, but not a prediction for other data."
    )
    yield ""
    columns = (
        ("event_recall_at_equal", "detected"),
        ("hit_at_1_at_equal", "Hit@1"),
        ("keeps_budget", "keeps the budget"),
    )
    kept = about["keeps_budget"]
    words = {None: "", True: "yes", False: "no, at no threshold"}
    rows = [(row["method"], row | {"keeps_budget": words[kept.get(row["method"])]}) for row in report["rows"]]
    yield from (*_table("method", rows, columns), "")


def _buildings(counts: Mapping[str, Any]) -> str:
    return f"{counts['attacked_runs']} attacked and {counts['normal_runs']} normal buildings"


def _unseen(report: Report) -> Iterable[str]:
    rows = [(f"{kind} held out", scores) for kind, scores in report["held_out"].items() if scores["events"]]
    if "unseen_cases" in report:
        rows.append(("whole cases, in further buildings", report["unseen_cases"]["card"]))
        rows += [(f"`{name}`", scores) for name, scores in report["unseen_cases"]["cases"].items()]
    return _table("", rows, _UNSEEN_COLUMNS) if rows else ["The data contains no such attack."]


def _table(head: str, rows: Iterable[tuple[str, Mapping[str, Any]]], columns: Columns) -> list[str]:
    cells = [[name, *(_cell(values.get(key)) for key, _ in columns)] for name, values in rows]
    return table([head, *(heading for _, heading in columns)], cells)


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"
    return value
