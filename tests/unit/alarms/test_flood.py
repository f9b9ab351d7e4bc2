"""Flood control: how many incidents are annunciated at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.alarms import FloodRule, FloodState, QueuedIncident, throttle

MINUTE = 60_000
RULE = FloodRule()


def drive(steps):
    """Feed minutes of (key, zone, strength); return the minute each key was announced in, and when floods were."""
    state, announced, floods = FloodState(), {}, []
    for minute, new in enumerate(steps):
        state, result = throttle(state, minute * MINUTE, [QueuedIncident(*each) for each in new], (), RULE)
        state = FloodState.from_dict(state.to_dict())
        announced |= dict.fromkeys(result.keys, minute)
        floods += [("began", minute)] if result.began else [("ended", minute)] if result.ended else []
    return announced, floods


@pytest.mark.slow
@given(st.lists(st.integers(0, 30), max_size=60))
def test_never_more_than_ten_in_any_ten_minutes_and_nothing_is_forgotten(counts):
    steps = [[(f"{minute}-{n}", f"zone-{n}", 0.9) for n in range(count)] for minute, count in enumerate(counts)]
    announced, _ = drive(steps + [[]] * (2 * sum(counts) + 1))
    assert len(announced) == sum(counts)
    times = sorted(announced.values())
    assert all(later - first >= 10 for first, later in zip(times, times[10:], strict=False))


def test_a_few_at_once_are_announced_at_once():
    announced, floods = drive([[(str(n), f"zone-{n}", 0.9) for n in range(5)]])
    assert set(announced.values()) == {0} and not floods


def test_a_new_attack_is_announced_during_a_flood():
    flood = [(f"f{n}", f"zone-{n}", 0.91 + n / 1000) for n in range(48)]
    announced, floods = drive([flood, [], [], [], [("new", "elsewhere", 0.99)], [], []])
    assert floods == [("began", 0)]
    assert announced["new"] <= 6, "the strongest of those that wait goes first"


def test_a_zone_not_announced_yet_goes_before_one_that_is():
    flood = [(f"f{n}", "zone-1", 0.99) for n in range(20)]
    announced, _ = drive([flood, [("quiet", "zone-2", 0.90)], [], []])
    assert announced["quiet"] == 2


def test_the_flood_ends_when_few_come_and_none_wait():
    flood = [(f"f{n}", f"zone-{n}", 0.9) for n in range(11)]
    _, floods = drive([flood] + [[]] * 30)
    assert floods == [("began", 0), ("ended", 12)]
