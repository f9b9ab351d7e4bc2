"""The report as data: held-out cases, comparison at equal false alarms, nothing that JSON cannot hold."""

from dataclasses import replace
from datetime import timedelta

import numpy as np

from evaluation_builders import DAY, RUN, recording, two_attacks
from graphghha.alarms import AlarmRule, GroupRule
from graphghha.lab.evaluation.report import add_equal_false_alarms, baseline_row, build_report, without_nan
from graphghha.models import Thresholds
from graphghha.plants import CaseSpec

GROUP = GroupRule(linger=5)
OWN = Thresholds(rule=AlarmRule(raise_at=0.5, clear_at=0.3, votes=1, window=1, clear_after=5), group=GROUP)
HIGH = Thresholds(rule=AlarmRule(raise_at=0.95, clear_at=0.3, votes=1, window=1, clear_after=5), group=GROUP)


def with_baseline(thresholds, baseline, name, rate):
    report = build_report([two_attacks()], thresholds, method="ours", protocol="deploy", held_out={"cases": ["hard"]})
    rate = report["card"]["false_alarms_per_day"] if rate is None else rate
    row, curve = baseline_row([baseline], thresholds, method=name, protocol="deploy", false_alarm_rate=rate)
    report["rows"].append(row)
    report["curves"]["budget"][name] = curve
    add_equal_false_alarms(report, rate)
    return report


def test_baselines_are_compared_at_the_false_alarms_of_the_model():
    report = with_baseline(OWN, recording(np.full((DAY, 8), 0.0, np.float32)), "blind", rate=None)
    assert report["held_out"]["cases"]["event_recall"] == 1
    assert [row["event_recall_at_equal"] for row in report["rows"]] == [1.0, 0.0]
    assert all(row["equal_false_alarms_per_day"] == 2 for row in report["rows"])


def test_at_equal_false_alarms_every_method_has_its_best_threshold():
    report = with_baseline(HIGH, two_attacks(), "twin", rate=0.0)
    assert [row["event_recall"] for row in report["rows"]] == [0.0, 0.0]
    assert [row["event_recall_at_equal"] for row in report["rows"]] == [0.5, 0.5]


def test_what_is_not_defined_is_null():
    assert without_nan({"a": [float("nan"), 1.0], "b": float("inf")}) == {"a": [None, 1.0], "b": None}


def test_every_attack_and_every_building_has_a_row_that_adds_up_to_the_card():
    report = build_report([two_attacks()] * 2, OWN, method="ours", protocol="deploy", held_out={})
    card, attacks, buildings = report["card"], report["attacks"], report["buildings"]
    visible = [row for row in attacks if row["visible"]]
    assert len(attacks) == card["events"] and len(visible) == card["observable_events"]
    assert sum(row["found"] for row in visible) == card["event_recall"] * len(visible)
    assert sum(row["found"] and row["rank"] == 1 for row in visible) == card["hit_at_1"] * len(visible)
    assert [row["recording"] for row in buildings] == [0, 1]
    assert sum(row["false_alarms"] for row in buildings) == card["false_alarms_per_day"] * card["days"]
    assert sum(row["found"] for row in buildings) == sum(row["found"] for row in visible)


def test_attacks_that_end_before_the_judged_days_are_counted():
    ends = [timedelta(days=2), timedelta(days=3), timedelta(days=3, minutes=1)]
    cases = [CaseSpec(name="easy", zone="1", start=RUN.start, duration=end) for end in ends]
    judged = replace(two_attacks(), run=replace(RUN, days=4, cases=tuple(cases)))
    report = build_report([judged] * 2, OWN, method="ours", protocol="files", held_out={})
    assert report["attacks_not_judged"] == 4
