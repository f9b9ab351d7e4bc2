"""Sources that cannot be reached: reported within seconds, then at growing intervals."""

from graphghha.monitor.outage import FIRST_S, Outage


def test_an_outage_is_reported_soon_and_then_at_growing_intervals():
    outage = Outage()
    reports = [second for second in range(20_000) if outage.look(False, float(second)) == "lost"]
    assert reports[0] == FIRST_S and reports[:4] == [4, 64, 424, 2584]
    assert outage.look(True, 20_000.0) == "found" and outage.look(True, 20_001.0) is None


def test_a_short_break_is_not_reported():
    outage = Outage()
    assert outage.look(False, 0.0) is None and outage.look(True, FIRST_S - 0.1) is None
    assert outage.look(False, 100.0) is None, "the next break counts from its own beginning"
