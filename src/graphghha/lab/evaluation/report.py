"""The report of an evaluation as plain data: what `graphghha evaluate --json` prints and what the page is made from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import numpy as np

from graphghha.lab.metrics import (
    BudgetPoint,
    Card,
    EvaluatedRecording,
    alarm_rows,
    attack_rows,
    best_within,
    budget_curve,
    building_rows,
    by_attack,
    by_class,
    count_by_hops,
    evaluate_recording,
    for_cases,
    make_card,
    minutes_to_detect,
    probabilities,
    reliability_curve,
    thin_pr_curve,
)
from graphghha.lab.runs import Recording
from graphghha.models import Thresholds
from graphghha.windows import HISTORY_ROWS

CURVE_PER_DAY = 2.0  # false alarms a day up to which an alert-budget curve is drawn

Curve = list[dict[str, float]]


def build_report(
    recordings: Sequence[Recording],
    thresholds: Thresholds,
    *,
    method: str,
    protocol: str,
    held_out: Mapping[str, Sequence[str]],
    with_budget: bool = True,
    false_alarm_rate: float | None = None,
) -> dict[str, Any]:
    """Return all figures of one detector. `held_out` names the cases that training never saw, by kind.

    The alert-budget curve is densest at `false_alarm_rate` (false alarms a day), where methods are compared; the
    default is the rate of this detector.
    """
    evaluated = _evaluate(recordings, thresholds)
    card = make_card(evaluated)
    rate = card.events.false_alarms_per_day if false_alarm_rate is None else false_alarm_rate
    curve = _budget_curve(recordings, thresholds, rate) if with_budget else []
    return {
        "protocol": protocol,
        "raise_at": thresholds.rule.raise_at,
        "card": card.row(),
        "rows": [_table_row(card, recordings, method, protocol)],
        "confusion": card.confusion.tolist(),
        "classes": by_class(card.confusion),
        "families": by_attack(evaluated, "family"),
        "cases": by_attack(evaluated, "case"),
        "attacks": attack_rows(evaluated),
        "attacks_not_judged": sum(_before_judged(recording) for recording in recordings),
        "alarms": alarm_rows(evaluated),
        "buildings": building_rows(evaluated),
        "held_out": {kind: for_cases(evaluated, cases) for kind, cases in held_out.items()},
        "curves": {
            **_node_curves(evaluated),
            "minutes_to_detect": minutes_to_detect(evaluated),
            "hops": count_by_hops(evaluated),
            "budget": {method: curve},
        },
    }


def baseline_row(
    recordings: Sequence[Recording],
    thresholds: Thresholds,
    *,
    method: str,
    protocol: str,
    false_alarm_rate: float,
) -> tuple[dict[str, Any], Curve]:
    """Return the table row of a baseline at its own threshold, and its alert-budget curve."""
    card = make_card(_evaluate(recordings, thresholds))
    row = _table_row(card, recordings, method, protocol)
    return row, _budget_curve(recordings, thresholds, false_alarm_rate)


def add_equal_false_alarms(report: dict[str, Any], false_alarm_rate: float) -> None:
    """Add to every row the best recall of its method, at any threshold, with at most this many false alarms a day.

    These thresholds are chosen on the test data, for the model too. The comparison is fair, but a threshold for use
    has to be found on validation data.
    """
    for row in report["rows"]:
        curve = [BudgetPoint(**point) for point in report["curves"]["budget"][row["method"]]]
        best = best_within([*curve, _own_point(row)], false_alarm_rate)
        row["equal_false_alarms_per_day"] = false_alarm_rate
        row["event_recall_at_equal"] = best.event_recall if best else 0.0
        row["hit_at_1_at_equal"] = best.hit_at_1 if best else 0.0


def without_nan(data: Any) -> Any:
    """Return the data with None instead of NaN and infinity, which JSON cannot hold."""
    if isinstance(data, dict):
        return {key: without_nan(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [without_nan(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def _evaluate(recordings: Sequence[Recording], thresholds: Thresholds) -> list[EvaluatedRecording]:
    return [evaluate_recording(recording, thresholds.rule, thresholds.group) for recording in recordings]


def _before_judged(recording: Recording) -> int:
    """Return how many attacks ended while the windows were still filled."""
    judged_from = recording.run.start + timedelta(seconds=HISTORY_ROWS * recording.step_s)
    ends = (case.start + case.duration for case in recording.run.cases if case.duration is not None)
    return sum(end <= judged_from for end in ends)


def _table_row(card: Card, recordings: Sequence[Recording], method: str, protocol: str) -> dict[str, Any]:
    return {"nodes": recordings[0].near.graph.num_nodes, "method": method, "protocol": protocol, **card.row()}


def _own_point(row: Mapping[str, Any]) -> BudgetPoint:
    """Return the point of a row's own threshold; the threshold itself is not needed."""
    figures = (row[name] for name in ("false_alarms_per_day", "event_recall", "hit_at_1", "median_ttd_min"))
    return BudgetPoint(float("nan"), *figures)


def _budget_curve(recordings: Sequence[Recording], thresholds: Thresholds, false_alarm_rate: float) -> Curve:
    points = budget_curve(
        recordings,
        thresholds.rule,
        thresholds.group,
        most_per_day=max(CURVE_PER_DAY, false_alarm_rate),
        false_alarm_rate=false_alarm_rate,
    )
    return [asdict(point) for point in points]


def _node_curves(evaluated: Sequence[EvaluatedRecording]) -> dict[str, Any]:
    attacked, prob = probabilities(evaluated)
    reliability = reliability_curve(attacked, prob)
    curves: dict[str, Any] = {
        "reliability": {
            name: getattr(reliability, name).tolist() for name in ("edges", "counts", "confidence", "frequency")
        },
        "pr": None,
    }
    if attacked.any():
        precision, recall, thresholds = thin_pr_curve(attacked, prob)
        curves["pr"] = {
            "precision": precision.tolist(),
            "recall": recall.tolist(),
            "threshold": thresholds.astype(np.float64).tolist(),
        }
    return curves
