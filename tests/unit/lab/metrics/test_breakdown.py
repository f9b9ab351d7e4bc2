"""The report card by family, case and distance."""

import pytest

from evaluation_builders import quiet_recording, two_attacks
from graphghha.alarms import AlarmRule, GroupRule
from graphghha.lab.metrics import by_attack, count_by_hops, evaluate_recording, for_cases, minutes_to_detect

RULE, GROUP = AlarmRule(raise_at=0.5, clear_at=0.3, votes=1, window=1, clear_after=5), GroupRule(linger=5)


@pytest.fixture
def evaluated():
    return [evaluate_recording(two_attacks(), RULE, GROUP)]


def test_families_have_their_own_node_and_event_scores(evaluated):
    families = by_attack(evaluated, "family")
    assert families["bold"]["event_recall"] == 1 and families["bold"]["p"] == 1
    assert families["bold"]["r"] == pytest.approx(80 / 90)
    assert families["sly"]["hit_at_1"] == 0 and families["sly"]["f1"] == 0
    assert {name: scores["events"] for name, scores in families.items()} == {"bold": 1, "sly": 1}


def test_cases_can_be_selected_and_false_alarms_stay_those_of_all(evaluated):
    cases = by_attack(evaluated, "case")
    assert list(cases) == ["easy", "hard"]
    assert for_cases(evaluated, ["hard"]) == cases["hard"] and cases["hard"]["observable_events"] == 1
    assert cases["easy"]["false_alarms_per_day"] == cases["hard"]["false_alarms_per_day"] == 2


def test_attacks_are_counted_by_the_distance_of_the_named_node(evaluated):
    assert count_by_hops(evaluated) == {"0": 1, "1": 1, "2": 0, "3": 0, "4+": 0, "missed": 0}


def test_minutes_to_detect_are_pooled_over_recordings(evaluated):
    quiet = evaluate_recording(quiet_recording(), RULE, GROUP)
    assert minutes_to_detect([*evaluated, quiet]) == [10, 30]
