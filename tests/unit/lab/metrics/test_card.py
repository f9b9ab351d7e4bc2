"""The card pools recordings; what has no denominator is undefined."""

import numpy as np

from evaluation_builders import quiet_recording, two_attacks
from graphghha.alarms import AlarmRule, GroupRule
from graphghha.lab.metrics import evaluate_recording, make_card, report_card

RULE, GROUP = AlarmRule(raise_at=0.5, clear_at=0.3, votes=1, window=1, clear_after=5), GroupRule(linger=5)


def test_the_spread_of_f1_is_over_recordings():
    one = evaluate_recording(two_attacks(), RULE, GROUP)
    assert make_card([one]).seeds == 1 and np.isnan(make_card([one]).f1_std)
    assert make_card([one, one]).f1_std == 0


def test_a_quiet_day_without_an_alarm_has_no_f1_and_no_place_in_the_spread():
    alone, both = (report_card(days, RULE, GROUP) for days in ([quiet_recording()], [two_attacks(), quiet_recording()]))
    assert all(np.isnan([alone.p, alone.r, alone.f1, alone.f1_raw, alone.f1_ceiling])), "nothing to find is not a zero"
    assert alone.events.false_alarms_per_day == 0 and both.seeds == 2 and np.isnan(both.f1_std)
    assert 0 < both.f1 < 1
