"""kill -9: nothing acknowledged is lost, no event is written twice, every alarm state is restored."""

from faults.kill import try_kills
from faults.states import try_states


def test_kills_at_random_moments_change_nothing_in_the_journal(mosquitto, failures):
    assert failures(try_kills) == []


def test_every_alarm_state_and_timer_is_restored_after_a_kill(failures):
    assert failures(try_states) == []
