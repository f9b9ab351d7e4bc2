"""A report card as lines for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MOST_LISTED = 40  # attacks or alarms of a recording; --json has all

# name in the JSON, its meaning, and how it is printed; %: a share
_CARD = (
    ("attacks", None, ""),
    ("events", "attacks in the judged days", "d"),
    ("observable_events", "of them visible in the readings", "d"),
    ("event_recall", "visible attacks found", "%"),
    ("hit_at_1", "right node named first", "%"),
    ("hit_at_1_strict", "the same, equivalent nodes not counted", "%"),
    ("hit_at_3", "right node among the first three", "%"),
    ("median_ttd_min", "minutes to detection, median", ".0f"),
    ("p90_ttd_min", "minutes to detection, 90 % within", ".0f"),
    ("alarms", None, ""),
    ("days", "building-days", ".1f"),
    ("false_alarms_per_day", "false alarms a day", ".2f"),
    ("quiet_false_alarms_per_day", "of them in zones not under attack at that time", ".2f"),
    ("misplaced_per_day", "of them in a zone under attack, at the wrong node", ".2f"),
    ("misplaced_per_attack", "the latter for each attack", ".2f"),
    ("late_per_day", "alarms a day while a zone recovers, not false", ".2f"),
    ("node-minutes", None, ""),
    ("p", "precision", ".3f"),
    ("r", "recall", ".3f"),
    ("f1", "F1 of those in which an attack is visible", ".3f"),
    ("f1_std", "its standard deviation over recordings", ".3f"),
    ("f1_raw", "F1 of all", ".3f"),
    ("f1_ceiling", "the best F1 of all that is possible", ".3f"),
    ("macro_f1", "F1 averaged over the attack classes", ".3f"),
    ("auc_pr", "area under the precision-recall curve", ".3f"),
    ("probabilities", None, ""),
    ("ece", "calibration error (0 is best)", ".3f"),
    ("brier_skill", "Brier skill (1 is best, 0 is guessing)", ".3f"),
)


_WITHOUT_ATTACKS = ("alarms", "days", "false_alarms_per_day")  # rows that mean something if no attack was judged


def report_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Return the report card of `graphghha evaluate`, one figure in a line."""
    card = report["card"]
    is_attacked = card.get("events") != 0
    if not is_attacked:  # figures of detection would be undefined, or flatter
        yield f"no report card: {_no_attack(report)}; the judged days show false alarms only"
    for name, meaning, form in _CARD:
        if not is_attacked and name not in _WITHOUT_ATTACKS:
            continue
        if meaning is None:
            yield name
        elif name in card:
            between = _between(card.get(f"{name}_interval"), form)
            yield f"  {meaning:<48} {_figure(card[name], form):>9}  {name}{between}"
    if any(scores["observable_events"] for scores in report["families"].values()):
        yield "families of attacks"
    for family, scores in report["families"].items():
        if scores["observable_events"]:
            recall, count = f"{scores['event_recall']:.0%}", scores["observable_events"]
            yield f"  {family:<48} {recall:>9}  of {count} visible attacks found"
    for row in report["rows"][1:]:
        recall = _figure(row["event_recall_at_equal"], ".2f")
        rate = row["equal_false_alarms_per_day"]
        yield f"{row['method']:<22} recall {recall} at the same {rate:.2f} false alarms a day"
    if report["protocol"] == "files":
        yield from _recorded(report)


def _no_attack(report: Mapping[str, Any]) -> str:
    """Return where the attacks lie, if none of them is judged."""
    early = report.get("attacks_not_judged", 0)
    if not early:
        return "the data has no attack"
    lie = "only attack lies" if early == 1 else f"{early} attacks lie"
    return f"the {lie} in the first {report['config']['history_days']} days of a file, which are not judged"


def _figure(value: float | None, form: str) -> str:
    return "undefined" if value is None else f"{value:.0%}" if form == "%" else f"{value:{form}}"


def _between(interval: Sequence[float | None] | None, form: str) -> str:
    if interval is None or None in interval:
        return ""
    low, high = (_figure(each, form) for each in interval)
    return f" (95 %: {low} to {high})"


def _recorded(report: Mapping[str, Any]) -> Iterator[str]:
    """Return each attack on recorded telemetry and each alarm that named no attacked node."""
    several = len(report["buildings"]) > 1
    days = report["config"]["history_days"]
    early = report.get("attacks_not_judged", 0)
    attacked = f", with {early} {'attack' if early == 1 else 'attacks'} in them" if early else ""
    yield (
        f"not judged: the first {days} days of each file, which fill the windows{attacked}; attacks are counted from "
        "then on"
    )
    attacks = sorted(report["attacks"], key=lambda row: (row["recording"], row["start"]))
    yield from _listed("each attack", [_attack(row, several) for row in attacks])
    yield from _listed(
        "alarms at nodes that were not under attack at that time", [_alarm(row, several) for row in report["alarms"]]
    )


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield title
    yield from lines[:MOST_LISTED]
    if len(lines) > MOST_LISTED:
        yield f"  and {len(lines) - MOST_LISTED} more, see --json"


def _attack(row: Mapping[str, Any], several: bool) -> str:
    if not row["visible"]:
        outcome = "shows in no reading"
    elif not row["found"]:
        outcome = "missed"
    else:
        minutes = row["minutes_to_detect"]
        after = "found" if minutes is None else f"found after {minutes:.0f} min"
        outcome = f"{after}, {'named' if row['rank'] == 1 else 'but named'} {row['named']}"
    return f"  {_where(row, several)}{row['start']}  {row['zone']}  {row['case']}: {outcome}"


_KINDS = {
    "quiet": "in a zone that was not under attack at that time",
    "misplaced": "in a zone under attack",
    "recovering": "in a zone that recovers from an attack, not counted as false",
}


def _alarm(row: Mapping[str, Any], several: bool) -> str:
    return f"  {_where(row, several)}{row['time']}  {row['named']}: {_KINDS[row['kind']]}"


def _where(row: Mapping[str, Any], several: bool) -> str:
    return f"{row['building']}  " if several else ""
