"""Figures computed from recordings: node scores, events, calibration, alert budgets and the report card. No torch."""

from graphghha.lab.metrics.breakdown import (
    alarm_rows,
    attack_rows,
    building_rows,
    by_attack,
    by_class,
    count_by_hops,
    for_cases,
    minutes_to_detect,
)
from graphghha.lab.metrics.budget import count_incidents, rule_at, threshold_for_budget
from graphghha.lab.metrics.budget_curve import BudgetPoint, best_within, budget_curve, rule_within_budget
from graphghha.lab.metrics.calibration_metrics import brier_skill, expected_calibration_error, reliability_curve
from graphghha.lab.metrics.card import (
    Card,
    EvaluatedRecording,
    evaluate_recording,
    make_card,
    match_events,
    probabilities,
    report_card,
)
from graphghha.lab.metrics.classification import Scores, balanced_scores, counted, macro_over_cases, thin_pr_curve
from graphghha.lab.metrics.equivalence import kind_classes
from graphghha.lab.metrics.events import EventMatches, EventScores, event_scores, match_incidents
from graphghha.lab.metrics.intervals import poisson_interval, wilson_interval
from graphghha.lab.metrics.zone_samples import zone_samples

__all__ = [
    "BudgetPoint",
    "Card",
    "EvaluatedRecording",
    "EventMatches",
    "EventScores",
    "Scores",
    "alarm_rows",
    "attack_rows",
    "balanced_scores",
    "best_within",
    "brier_skill",
    "budget_curve",
    "building_rows",
    "by_attack",
    "by_class",
    "count_by_hops",
    "count_incidents",
    "counted",
    "evaluate_recording",
    "event_scores",
    "expected_calibration_error",
    "for_cases",
    "kind_classes",
    "macro_over_cases",
    "make_card",
    "match_events",
    "match_incidents",
    "minutes_to_detect",
    "poisson_interval",
    "probabilities",
    "reliability_curve",
    "report_card",
    "rule_at",
    "rule_within_budget",
    "thin_pr_curve",
    "threshold_for_budget",
    "wilson_interval",
    "zone_samples",
]
