"""kill -9: nothing acknowledged is lost, nothing is told twice, every state comes back."""

from faults.kill import try_kills
from faults.states import try_states


def test_kills_at_random_moments_change_nothing_in_the_journal(mosquitto, figures):
    assert figures(try_kills) == []


def test_every_alarm_state_and_timer_comes_back_after_a_kill(figures):
    assert figures(try_states) == []
