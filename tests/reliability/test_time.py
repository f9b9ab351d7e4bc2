"""Wrong clocks, stored readings, cut connections: other zones are judged as in a clean run, and nothing is lost."""

from faults.clocks import try_backlog, try_clocks
from faults.live import try_cuts, try_restarts
from faults.own_clock import try_own_clock


def test_a_wrong_clock_concerns_its_own_zone_only_and_is_reported(failures):
    assert failures(try_clocks) == []


def test_what_gateways_and_brokers_have_stored_for_six_hours_is_judged(failures):
    assert failures(try_backlog) == []


def test_a_cut_connection_and_a_stopped_process_lose_nothing(mosquitto, failures):
    assert failures(try_cuts) == []


def test_messages_that_nobody_can_use_do_not_displace_what_the_broker_has_kept(mosquitto, failures):
    assert failures(try_restarts) == []


def test_setting_our_own_clock_changes_nothing(mosquitto, failures):
    assert failures(try_own_clock) == []
