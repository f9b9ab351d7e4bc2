"""Back-off: delays double up to a limit, with jitter, and start again after a success."""

from graphghha.monitor.backoff import BackOff


def test_delays_double_up_to_the_longest():
    back_off = BackOff(1.0, 30.0, seed="north")
    for longest in (1, 2, 4, 8, 16, 30, 30, 30):
        assert longest / 2 <= back_off.next_delay_s() <= longest
    assert back_off.failures == 8


def test_a_success_starts_again_at_the_first_delay():
    back_off = BackOff(1.0, 30.0, seed="north")
    for _ in range(5):
        back_off.next_delay_s()
    back_off.reset()
    assert back_off.failures == 0 and back_off.next_delay_s() <= 1.0


def test_a_thousand_failures_do_not_overflow():
    back_off = BackOff(1.0, 30.0, seed="north")
    assert max(back_off.next_delay_s() for _ in range(1000)) <= 30.0


def test_two_of_them_do_not_retry_in_step():
    north, south = BackOff(1.0, 30.0, seed="north"), BackOff(1.0, 30.0, seed="south")
    assert [north.next_delay_s() for _ in range(5)] != [south.next_delay_s() for _ in range(5)]
