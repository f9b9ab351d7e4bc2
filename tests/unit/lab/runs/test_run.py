"""Schedules of attacks are reproducible and leave the warm-up free."""

from datetime import datetime

from graphghha.lab.runs import Run, Schedule, attacked_run

RUN = Run(seed=5, start=datetime(2018, 3, 1), days=40, zones=6)


def test_a_schedule_is_decided_by_the_seed_and_respects_the_warm_up():
    cases = ("A", "B")
    first, again = (attacked_run(RUN, cases, Schedule()) for _ in range(2))
    assert first == again and first.cases
    assert min(case.start for case in first.cases) >= datetime(2018, 3, 4, 12), (
        "three days of history and a rest come first"
    )
    other = attacked_run(Run(seed=6, start=RUN.start, days=40, zones=6), cases, Schedule())
    assert other.cases != first.cases
