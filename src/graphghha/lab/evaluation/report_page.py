"""The report card as a page: Markdown and figures, written from the JSON of `graphghha evaluate`; nothing by hand."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphghha.lab.evaluation.protocols import FULL_HISTORY_HOURS
from graphghha.lab.evaluation.report_plots import draw_card
from graphghha.plants.telemetry import make_folder, writing

Found = Mapping[str, Any]

_COLUMNS = (
    ("event_recall", "found"),
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
_NOTES = """*found*: share of visible attacks that were announced while they lasted. *min*: from the first visible
minute to the announcement. *false/day*: announced incidents of the whole building whose root was neither attacked nor
recovering. *Hit@k*: the right node, or one that cannot be told apart from it, among the first k named at the
announcement, missed attacks counted as wrong; *strict* allows the target only. *F1*: node-minutes in alarm, minutes in
which an attack shows nowhere left out; *raw* keeps them, *ceiling* is the raw F1 of a perfect detector of the visible,
*std* is over buildings. Events are judged by the alarm logic of the monitor; no point is adjusted."""


def write_card(found: Found, directory: Path) -> Path:
    """`report.md`, its figures and `report.json` in a directory."""
    make_folder(directory)
    with writing(directory):
        (directory / "report.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        pictures = draw_card(found, directory)
        page = directory / "report.md"
        page.write_text("\n".join(_page(found, pictures)) + "\n", encoding="utf-8")
    return page


def _page(found: Found, pictures: Mapping[str, str]) -> Iterable[str]:
    yield from (f"# Report card: {found['rows'][0]['method']}, {found['protocol']} protocol", "", *_basis(found), "")
    yield from _table("method", [(row["method"], row) for row in found["rows"]], _COLUMNS)
    yield from ("", _NOTES, "")
    if len(found["rows"]) > 1:
        yield from _rivals(found)
    for title, file in pictures.items():
        yield from (f"![{title}]({file})", "")
    yield from ("## By class of node-minutes", "")
    classes = (("p", "p"), ("r", "r"), ("f1", "F1"), ("support", "node-minutes"))
    yield from (*_table("class", found["classes"].items(), classes), "")
    attacks = (
        ("observable_events", "visible"),
        ("events", "of"),
        ("event_recall", "found"),
        ("hit_at_1", "Hit@1"),
        ("hit_at_3", "Hit@3"),
        ("median_ttd_min", "median min"),
        ("p", "p"),
        ("r", "r"),
        ("f1", "F1"),
    )
    note = "Node scores here are of the attacked zone while the attack lasts."
    yield from ("## By family", "", note, "", *_table("family", found["families"].items(), attacks), "")
    yield from ("## By case", "", *_table("case", found["cases"].items(), attacks), "")
    yield from ("## Never seen in training", "")
    strange = [(f"{kind} held out", scores) for kind, scores in found["held_out"].items() if scores["events"]]
    if "unseen_cases" in found:
        strange.append(("whole cases, buildings of their own", found["unseen_cases"]["card"]))
        strange += [(f"`{name}`", scores) for name, scores in found["unseen_cases"]["cases"].items()]
    if strange:
        yield from (*_table("", strange, (*attacks[:6], ("false_alarms_per_day", "false/day"), ("f1", "F1"))), "")
    else:
        yield from ("Nothing of that kind happened here.", "")
    speed = found["latency"]
    yield (
        f"Latency of a minute of {speed['nodes']} nodes, readings to calibrated probabilities, {speed['backend']} "
        f"backend: median {speed['p50_ms']:.2f} ms, p99 {speed['p99_ms']:.2f} ms over {speed['rows']} minutes."
    )


def _basis(found: Found) -> list[str]:
    card, config = found["card"], found["config"]
    if found["protocol"] == "deploy":
        data = (
            f"Unseen buildings: {config['runs']}, zones in each: {config['zones']}, judged days of each: "
            f"{config['days']}, seed {config['seed']}."
        )
        if found["held_out"]["severities"]["events"]:
            data += " Severities that training never saw are among the attacks."
        if config["history_hours"] < FULL_HISTORY_HOURS:
            data += f" Connected {config['history_hours']} hours before the first judged minute."
    else:
        data = f"Telemetry: {', '.join(f'`{Path(file).name}`' for file in config['files'])}."
    return [
        f"{data} Visible attacks: {card['observable_events']} of {card['events']}, in {card['days']:.1f} days; "
        f"{card['prevalence']:.2%} of node-minutes attacked; alarms from P(attack) >= {found['raise_at']:.3f}."
        f"{_apart(card)}"
    ]


def _apart(card: Mapping[str, Any]) -> str:
    """What is in no other figure: zones after an attack, until nothing of it shows any more."""
    if not card["recovering"]:
        return ""
    return (
        f" Counted apart: {card['recovering']:,} node-minutes of zones that recover from an attack, "
        f"{card['recovering_alarmed']:.2%} of them in alarm, {card['late_per_day']:.2f} announcements a day."
    )


def _rivals(found: Found) -> Iterable[str]:
    price, about = found["rows"][0]["equal_false_alarms_per_day"], found["baselines"]
    whose = " of their own" if about["config"]["recipe"] else ", the very ones the model learnt from"
    validation = f"{_buildings(about['config']['validation'])} kept for that"
    validation += ", the same for all" if about["shares_validation"] else ", the model on others of its own"
    yield from ("## At equal false alarms", "")
    yield (
        f"Baselines learnt from {_buildings(about['learnt_from'])}{whose}, through the model's windows. "
        "Above, every method stands at the threshold that "
        f"keeps {about['budget_per_day']:g} false alarms a day on {validation}. "
        "Below, every method, the model too, stands at the best threshold "
        f"that costs at most {price:.2f} a day on the test data itself: an even comparison, and no promise."
    )
    yield ""
    columns = (("event_recall_at_equal", "found"), ("hit_at_1_at_equal", "Hit@1"), ("keeps_budget", "kept the budget"))
    rows = [(row["method"], row | {"keeps_budget": _kept(found, row["method"])}) for row in found["rows"]]
    yield from (*_table("method", rows, columns), "")


def _buildings(learnt: Mapping[str, Any]) -> str:
    return f"{learnt['attacked_runs']} attacked and {learnt['normal_runs']} normal buildings"


def _kept(found: Found, method: str) -> str:
    kept = found["baselines"]["keeps_budget"].get(method)
    return "" if kept is None else "yes" if kept else "no, at no threshold"


def _table(
    head: str, rows: Iterable[tuple[str, Mapping[str, Any]]], columns: Sequence[tuple[str, str]]
) -> Iterable[str]:
    yield f"| {head} | {' | '.join(word for _, word in columns)} |"
    yield "|---" * (1 + len(columns)) + "|"
    for name, values in rows:
        yield f"| {name} | {' | '.join(_cell(values.get(key)) for key, _ in columns)} |"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"
    return str(value)
