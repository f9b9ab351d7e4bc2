import dataclasses

import numpy as np
import pytest

from evaluation_builders import DAY, STEP_S, building, incident
from graphghha.alarms import NONE, Proximity
from graphghha.errors import DataError, SchemaError
from graphghha.lab.metrics.events import event_scores, event_scores_by, judge
from graphghha.lab.runs.recording import AttackEvent

NEAR = Proximity(building(3))  # rows 0-3, 4-7, 8-11
ATTACK = AttackEvent(case="leak", targets=(1,), start=100, stop=200, observable_from=110, equivalent=(2,))


def judged(*incidents, attacks=(ATTACK,), recovering=None, num_steps=DAY):
    return judge(incidents, attacks, NEAR, num_steps=num_steps, step_s=STEP_S, recovering=recovering)


def scores(*incidents, **options):
    return event_scores([judged(*incidents, **options)])


def test_a_detected_attack_is_timed_from_its_first_observable_minute():
    found = scores(incident(1, 1, NEAR, 117))
    assert (found.event_recall, found.median_ttd_min, found.false_alarms_per_day) == (1.0, 7.0, 0.0)
    assert (found.hit_at_1, found.hit_at_1_strict, found.hit_at_3, found.mean_rank) == (1.0, 1.0, 1.0, 1.0)


def test_an_attack_announced_before_it_was_observable_took_no_time():
    assert scores(incident(1, 1, NEAR, 104)).median_ttd_min == 0.0


def test_an_attack_that_showed_before_the_recording_is_found_but_not_timed():
    before = dataclasses.replace(ATTACK, start=0, observable_from=0, has_shown=True)
    found = scores(incident(1, 1, NEAR, 3), attacks=(before,))
    assert found.event_recall == 1.0 and np.isnan(found.median_ttd_min)


@pytest.mark.parametrize("step", [99, 200, NONE], ids=["before", "after", "never-announced"])
def test_only_an_announcement_during_the_attack_detects_it(step):
    found = scores(incident(1, 1, NEAR, step))
    assert (found.event_recall, found.hit_at_1, found.hit_at_3, found.mean_rank) == (0.0, 0.0, 0.0, 4.0)
    assert np.isnan(found.median_ttd_min) and np.isnan(found.p90_ttd_min)


def test_the_first_announcement_in_the_zone_counts():
    late, early = incident(1, 1, NEAR, 150), incident(2, 3, NEAR, 120)
    (outcome,) = judged(late, early).outcomes
    assert (outcome.incident, outcome.rank, outcome.steps_to_detect) == (early, 3, 10)


def test_an_incident_in_another_zone_detects_nothing_and_is_a_false_alarm():
    found = scores(incident(1, 5, NEAR, 120))
    assert (found.event_recall, found.false_alarms_per_day, found.misplaced_per_day) == (0.0, 1.0, 0.0)


def test_a_wrong_root_in_the_right_zone_detects_but_is_a_false_alarm_too():
    found = scores(incident(1, 0, NEAR, 120, ranking=(0, 3, 1)))
    assert (found.event_recall, found.hit_at_1, found.hit_at_3, found.mean_rank) == (1.0, 0.0, 0.0 + 1.0, 3.0)
    assert (found.false_alarms_per_day, found.misplaced_per_day) == (1.0, 1.0)


def test_a_node_of_the_equivalence_set_is_a_hit_but_not_strictly():
    found = scores(incident(1, 2, NEAR, 120))
    assert (found.hit_at_1, found.hit_at_1_strict, found.false_alarms_per_day) == (1.0, 0.0, 0.0)


def test_a_target_that_is_not_ranked_at_all_is_no_hit():
    odd = dataclasses.replace(incident(1, 0, NEAR, 120), ranking=(0, 3))
    (outcome,) = judged(odd).outcomes
    assert outcome.rank == outcome.strict_rank == 3


def test_in_a_zone_of_three_nodes_an_undetected_attack_is_still_a_miss():
    tiny = Proximity(building(2, length=3))
    found = event_scores([judge([], [ATTACK], tiny, num_steps=DAY, step_s=STEP_S)])
    assert (found.mean_rank, found.hit_at_3) == (3.0, 0.0)


def test_an_alarm_on_a_recovering_node_is_not_false():
    recovering = np.zeros((DAY, 12), bool)
    recovering[200:300, 1] = True
    found = scores(incident(1, 1, NEAR, 250), recovering=recovering)
    assert (found.false_alarms_per_day, found.late_per_day) == (0.0, 1.0)
    assert scores(incident(1, 1, NEAR, 300), recovering=recovering).false_alarms_per_day == 1.0
    assert scores(incident(1, 0, NEAR, 250), recovering=recovering).false_alarms_per_day == 1.0


def test_unobservable_attacks_are_reported_but_not_held_against_the_detector():
    hidden = dataclasses.replace(ATTACK, targets=(9,), equivalent=(), observable_from=NONE)
    found = scores(incident(1, 1, NEAR, 120), attacks=(ATTACK, hidden))
    assert (found.events, found.observable_events) == (2, 1)
    assert (found.event_recall, found.event_recall_all, found.hit_at_1) == (1.0, 0.5, 1.0)


def test_false_alarms_are_counted_per_day_over_all_recordings():
    one = judged(incident(1, 5, NEAR, 7), attacks=(), num_steps=DAY)
    other = judged(attacks=(), num_steps=3 * DAY)
    found = event_scores([one, other])
    assert (found.false_alarms_per_day, found.days) == (0.25, 4.0)
    assert np.isnan(found.event_recall)


def test_median_and_p90_are_over_detected_events_in_minutes():
    attacks = [dataclasses.replace(ATTACK, start=s, stop=s + 100, observable_from=s) for s in range(0, 1100, 100)]
    incidents = [incident(n, 1, NEAR, a.start + n) for n, a in enumerate(attacks[:-1])]
    found = scores(*incidents, attacks=attacks)
    assert found.median_ttd_min == pytest.approx(np.median(range(10)))
    assert found.p90_ttd_min == pytest.approx(np.quantile(range(10), 0.9))
    assert found.event_recall == pytest.approx(10 / 11)


def test_two_attacks_at_once_in_two_zones_are_two_events():
    attacks = (ATTACK, dataclasses.replace(ATTACK, targets=(6,), equivalent=()))
    found = scores(incident(1, 1, NEAR, 115), incident(2, 6, NEAR, 115), attacks=attacks)
    assert (found.event_recall, found.hit_at_1_strict, found.false_alarms_per_day) == (1.0, 1.0, 0.0)


def test_events_are_scored_by_case_and_family():
    bias = dataclasses.replace(ATTACK, case="bias", family="sensor", targets=(6,), equivalent=())
    judgement = judged(incident(1, 6, NEAR, 115), attacks=(dataclasses.replace(ATTACK, family="valve"), bias))
    by_family, by_case = (event_scores_by([judgement], what) for what in ("family", "case"))
    assert {name: found.event_recall for name, found in by_family.items()} == {"sensor": 1.0, "valve": 0.0}
    assert {name: found.events for name, found in by_case.items()} == {"bias": 1, "leak": 1}


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(SchemaError, match="recovering"):
        judged(recovering=np.zeros((3, 12), bool))
    with pytest.raises(DataError, match="no recorded time"):
        event_scores([])
