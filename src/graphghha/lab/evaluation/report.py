"""Everything `graphghha evaluate` has to say about a detector, as plain data: what is printed, drawn and kept."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from graphghha.alarms import AlarmRule, GroupRule
from graphghha.lab.metrics.breakdown import by_attack, by_class, minutes_to_detect, of_cases, off_by
from graphghha.lab.metrics.budget_curve import BudgetPoint, best_within, budget_curve
from graphghha.lab.metrics.calibration_metrics import reliability_curve
from graphghha.lab.metrics.card import Card, Examined, card_of, examine, probabilities
from graphghha.lab.metrics.metrics import thin_pr_curve
from graphghha.lab.runs.recording import Recording

CURVE_PER_DAY = 2.0  # false alarms a day up to which an alert-budget curve is drawn


def row_of(card: Card, *, method: str, protocol: str, nodes: int) -> dict[str, Any]:
    """One row of a table, in the names of the public contract."""
    return {"nodes": nodes, "method": method, "protocol": protocol, **card.row()}


def findings(
    recordings: Sequence[Recording],
    rule: AlarmRule,
    group_rule: GroupRule,
    *,
    method: str,
    protocol: str,
    held_out: Mapping[str, Sequence[str]],
    with_budget: bool = True,
    price_per_day: float | None = None,
) -> dict[str, Any]:
    """The whole card of one detector. `held_out` names cases that training never saw, by kind.

    `price_per_day` is where methods are compared, and the alert-budget curve is finest; without: where this one stands.
    """
    examined = [examine(recording, rule, group_rule) for recording in recordings]
    card = card_of(examined)
    row = row_of(card, method=method, protocol=protocol, nodes=recordings[0].near.graph.num_nodes)
    price = card.events.false_alarms_per_day if price_per_day is None else price_per_day
    curve = _curve(recordings, rule, group_rule, price) if with_budget else []
    return {
        "protocol": protocol,
        "raise_at": rule.raise_at,
        "card": card.row(),
        "rows": [row],
        "confusion": card.confusion.tolist(),
        "classes": by_class(card.confusion),
        "families": by_attack(examined, "family"),
        "cases": by_attack(examined, "case"),
        "held_out": {kind: of_cases(examined, cases) for kind, cases in held_out.items()},
        "curves": {
            **_node_curves(examined),
            "minutes_to_detect": minutes_to_detect(examined),
            "hops": off_by(examined),
            "budget": {method: curve},
        },
    }


def baseline_row(
    recordings: Sequence[Recording],
    rule: AlarmRule,
    group_rule: GroupRule,
    *,
    method: str,
    protocol: str,
    price_per_day: float,
) -> tuple[dict[str, Any], list[dict[str, float]]]:
    """The row of a baseline at its own threshold, and its alert-budget curve on the same recordings."""
    card = card_of([examine(recording, rule, group_rule) for recording in recordings])
    row = row_of(card, method=method, protocol=protocol, nodes=recordings[0].near.graph.num_nodes)
    return row, _curve(recordings, rule, group_rule, price_per_day)


def at_equal_price(found: dict[str, Any], price: float) -> None:
    """Add to every row the most its method finds, at any threshold, for at most `price` false alarms a day.

    Those thresholds have seen the test data, the model's too: the comparison is even, and no promise.
    """
    for row in found["rows"]:
        curve = [BudgetPoint(**point) for point in found["curves"]["budget"][row["method"]]]
        _stand(row, price, best_within([*curve, _own(row)], price))


def _own(row: Mapping[str, Any]) -> BudgetPoint:
    """The point of a row's own threshold, whose height does not matter here."""
    figures = (row[name] for name in ("false_alarms_per_day", "event_recall", "hit_at_1", "median_ttd_min"))
    return BudgetPoint(float("nan"), *figures)


def _stand(row: dict[str, Any], price: float, point: BudgetPoint | None) -> None:
    row["equal_false_alarms_per_day"] = price
    row["event_recall_at_equal"] = point.event_recall if point else 0.0
    row["hit_at_1_at_equal"] = point.hit_at_1 if point else 0.0


def _curve(
    recordings: Sequence[Recording], rule: AlarmRule, group_rule: GroupRule, price: float
) -> list[dict[str, float]]:
    points = budget_curve(recordings, rule, group_rule, most_per_day=max(CURVE_PER_DAY, price), price_per_day=price)
    return [asdict(point) for point in points]


def _node_curves(examined: Sequence[Examined]) -> dict[str, Any]:
    attacked, prob = probabilities(examined)
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
