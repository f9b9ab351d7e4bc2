import dataclasses

import numpy as np
import pytest

from evaluation_builders import DAY, STEP_S, building, incident
from graphghha.alarms import NONE, BuildingRule, Proximity
from graphghha.errors import DataError, SchemaError
from graphghha.lab.metrics.events import event_scores, match_incidents
from graphghha.lab.runs import AttackEvent

NEAR = Proximity(building(3))  # rows 0-3, 4-7, 8-11
ATTACK = AttackEvent(case="leak", targets=(1,), start=100, stop=200, observable_from=110, equivalent=(2,))


def matched(*incidents, attacks=(ATTACK,), recovering=None, num_steps=DAY, building=None):
    return match_incidents(
        incidents, attacks, NEAR, num_steps=num_steps, step_s=STEP_S, recovering=recovering, building=building
    )


def scores(*incidents, **options):
    return event_scores([matched(*incidents, **options)])


def test_a_detected_attack_is_timed_from_its_first_observable_minute():
    result = scores(incident(1, 1, NEAR, 117))
    assert (result.event_recall, result.median_ttd_min, result.false_alarms_per_day) == (1.0, 7.0, 0.0)
    assert (result.hit_at_1, result.hit_at_1_strict, result.hit_at_3, result.mean_rank) == (1.0, 1.0, 1.0, 1.0)


def test_an_attack_announced_before_it_was_observable_took_no_time():
    assert scores(incident(1, 1, NEAR, 104)).median_ttd_min == 0.0


def test_an_attack_that_showed_before_the_recording_is_found_but_not_timed():
    before = dataclasses.replace(ATTACK, start=0, observable_from=0, has_shown=True)
    result = scores(incident(1, 1, NEAR, 3), attacks=(before,))
    assert result.event_recall == 1.0 and np.isnan(result.median_ttd_min)


@pytest.mark.parametrize("step", [99, 200, NONE], ids=["before", "after", "never-announced"])
def test_only_an_announcement_during_the_attack_detects_it(step):
    result = scores(incident(1, 1, NEAR, step))
    assert (result.event_recall, result.hit_at_1, result.hit_at_3, result.mean_rank) == (0.0, 0.0, 0.0, 4.0)
    assert np.isnan(result.median_ttd_min) and np.isnan(result.p90_ttd_min)


def test_the_first_announcement_in_the_zone_counts():
    late, early = incident(1, 1, NEAR, 150), incident(2, 3, NEAR, 120)
    (outcome,) = matched(late, early).outcomes
    assert (outcome.incident, outcome.rank, outcome.steps_to_detect) == (early, 3, 10)


def test_an_incident_in_another_zone_detects_nothing_and_is_a_false_alarm():
    result = scores(incident(1, 5, NEAR, 120))
    assert (result.event_recall, result.false_alarms_per_day, result.misplaced_per_day) == (0.0, 1.0, 0.0)


def test_a_wrong_root_in_the_right_zone_detects_but_is_a_false_alarm_too():
    result = scores(incident(1, 0, NEAR, 120, ranking=(0, 3, 1)))
    assert (result.event_recall, result.hit_at_1, result.hit_at_3, result.mean_rank) == (1.0, 0.0, 0.0 + 1.0, 3.0)
    assert (result.false_alarms_per_day, result.misplaced_per_day) == (1.0, 1.0)
    assert (result.quiet_false_alarms_per_day, result.misplaced_per_attack) == (0.0, 1.0)


def test_a_node_of_the_equivalence_set_is_a_hit_but_not_strictly():
    result = scores(incident(1, 2, NEAR, 120))
    assert (result.hit_at_1, result.hit_at_1_strict, result.false_alarms_per_day) == (1.0, 0.0, 0.0)


def test_a_target_that_is_not_ranked_at_all_is_no_hit():
    odd = dataclasses.replace(incident(1, 0, NEAR, 120), ranking=(0, 3))
    (outcome,) = matched(odd).outcomes
    assert outcome.rank == outcome.strict_rank == 3


def test_in_a_zone_of_three_nodes_an_undetected_attack_is_still_a_miss():
    tiny = Proximity(building(2, length=3))
    result = event_scores([match_incidents([], [ATTACK], tiny, num_steps=DAY, step_s=STEP_S)])
    assert (result.mean_rank, result.hit_at_3) == (3.0, 0.0)


def test_an_alarm_on_a_recovering_node_is_not_false():
    recovering = np.zeros((DAY, 12), bool)
    recovering[200:300, 1] = True
    result = scores(incident(1, 1, NEAR, 250), recovering=recovering)
    assert (result.false_alarms_per_day, result.late_per_day) == (0.0, 1.0)
    assert scores(incident(1, 1, NEAR, 300), recovering=recovering).false_alarms_per_day == 1.0
    assert scores(incident(1, 0, NEAR, 250), recovering=recovering).false_alarms_per_day == 1.0


def test_unobservable_attacks_are_reported_but_not_held_against_the_detector():
    hidden = dataclasses.replace(ATTACK, targets=(9,), equivalent=(), observable_from=NONE)
    result = scores(incident(1, 1, NEAR, 120), attacks=(ATTACK, hidden))
    assert (result.events, result.observable_events) == (2, 1)
    assert (result.event_recall, result.event_recall_all, result.hit_at_1) == (1.0, 0.5, 1.0)


def test_false_alarms_are_counted_per_day_over_all_recordings():
    one = matched(incident(1, 5, NEAR, 7), attacks=(), num_steps=DAY)
    other = matched(attacks=(), num_steps=3 * DAY)
    result = event_scores([one, other])
    assert (result.false_alarms_per_day, result.days) == (0.25, 4.0)
    assert np.isnan(result.event_recall)


def test_median_and_p90_are_over_detected_events_in_minutes():
    attacks = [dataclasses.replace(ATTACK, start=s, stop=s + 100, observable_from=s) for s in range(0, 1100, 100)]
    incidents = [incident(n, 1, NEAR, a.start + n) for n, a in enumerate(attacks[:-1])]
    result = scores(*incidents, attacks=attacks)
    assert result.median_ttd_min == pytest.approx(np.median(range(10)))
    assert result.p90_ttd_min == pytest.approx(np.quantile(range(10), 0.9))
    assert result.event_recall == pytest.approx(10 / 11)


def test_two_attacks_at_once_in_two_zones_are_two_events():
    attacks = (ATTACK, dataclasses.replace(ATTACK, targets=(6,), equivalent=()))
    result = scores(incident(1, 1, NEAR, 115), incident(2, 6, NEAR, 115), attacks=attacks)
    assert (result.event_recall, result.hit_at_1_strict, result.false_alarms_per_day) == (1.0, 1.0, 0.0)


def test_selected_attacks_keep_the_false_alarms_of_all():
    bias = dataclasses.replace(ATTACK, case="bias", targets=(6,), equivalent=())
    matches = matched(incident(1, 6, NEAR, 115), incident(2, 9, NEAR, 115), attacks=(ATTACK, bias))
    result = event_scores([matches.select(lambda attack: attack.case == "bias")])
    assert (result.events, result.event_recall, result.false_alarms_per_day) == (1, 1.0, 1.0)


def test_shapes_that_differ_and_empty_recordings_are_refused():
    with pytest.raises(SchemaError, match="recovering"):
        matched(recovering=np.zeros((3, 12), bool))
    with pytest.raises(DataError, match="recordings are empty"):
        event_scores([])


def test_false_alarms_of_most_zones_at_once_count_as_one_of_the_building():
    everywhere = [incident(number, 4 * number + 1, NEAR, 500 + number) for number in range(3)]
    later = [incident(3, 1, NEAR, 800), incident(4, 5, NEAR, 840)]
    rule = BuildingRule(zones=3, share=1 / 3, within=30)
    assert len(matched(*everywhere, *later).false_alarms) == 5
    found = matched(*everywhere, *later, building=rule)
    assert found.false_alarms == (everywhere[0], *later) and not found.misplaced
    apart = [incident(number, 4 * number + 1, NEAR, 500 + 31 * number) for number in range(3)]
    assert len(matched(*apart, building=rule).false_alarms) == 3
